"""The answer: every setting as charged and as it would have been, and what that changes, in words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from memdash import numbers
from memdash.metrics.what_if.order import Overtaking, Priced, overtakings, ranks
from memdash.metrics.what_if.repricing import Repriced
from memdash.metrics.what_if.terms import Terms

_MOST_SENTENCES = 5


@dataclass(frozen=True, slots=True)
class Row:
    """One setting on one script: means over its ``replays`` repeats; a cost is None where that of one of them is not known.

    ``finished`` says that every turn was played. Ranks are by cost among the finished settings of the script whose both costs are
    known, 1 the cheapest; None for any other.
    """

    label: str
    series: str
    strategy: str
    script: str
    replays: int
    charged_usd: float | None
    what_if_usd: float | None
    cache_share: float | None
    what_if_cache_share: float | None
    kept: int | None
    facts_total: int
    finished: bool
    rank: int | None = None
    what_if_rank: int | None = None
    problem: str | None = None

    @property
    def change(self) -> float | None:
        """What it would have cost more (+) or less (-), as a share of what was charged."""
        if self.what_if_usd is None or not self.charged_usd:
            return None
        return self.what_if_usd / self.charged_usd - 1


@dataclass(frozen=True, slots=True)
class Answer:
    """Every row of a comparison, who overtakes whom by script, and both in words.

    ``notes`` say what the figures rest on and leave out.
    """

    terms: Terms
    rows: tuple[Row, ...]
    overtakings: Mapping[str, Sequence[Overtaking]]
    sentences: tuple[str, ...]
    notes: tuple[str, ...]


def answer_to(terms: Terms, repriced: Iterable[Repriced], notes: Iterable[str] = ()) -> Answer:
    """Put the answer together from the replays of a comparison, in their order."""
    groups: dict[tuple[str, str], list[Repriced]] = {}
    for one in repriced:
        groups.setdefault((one.charged.script, one.charged.series), []).append(one)
    scripts = list(dict.fromkeys(script for script, _series in groups))
    several = len(scripts) > 1
    live_able = any(not one.charged.simulator_only for group in groups.values() for one in group)
    rows: list[Row] = []
    overtaken: dict[str, list[Overtaking]] = {}
    for script in scripts:
        chosen = [group for (where, _series), group in groups.items() if where == script]
        of_script = [_row(group, several) for group in chosen]
        ranked = [
            row.charged_usd is not None and row.what_if_usd is not None and _is_ranked(group, live_able)
            for row, group in zip(of_script, chosen, strict=True)
        ]
        rows += _with_ranks(of_script, ranked)
        overtaken[script] = overtakings(
            Priced(row.series, row.charged_usd or 0.0, row.what_if_usd or 0.0)
            for row, counts in zip(of_script, ranked, strict=True)
            if counts
        )
    sentences = _sentences(terms.question.lead, rows, overtaken)
    return Answer(terms, tuple(rows), overtaken, tuple(sentences), (*terms.notes, *notes))


def _is_ranked(group: Sequence[Repriced], live_able: bool) -> bool:
    return all(one.charged.done and not (live_able and one.charged.simulator_only) for one in group)


def _row(group: Sequence[Repriced], several: bool) -> Row:
    first = group[0].charged
    kept = [one.charged.kept for one in group]
    return Row(
        label=f"{first.series} · {first.script}" if several else first.series,
        series=first.series,
        strategy=first.strategy,
        script=first.script,
        replays=len(group),
        charged_usd=_mean([one.charged.cost_usd for one in group]),
        what_if_usd=_mean([one.cost_usd for one in group]),
        cache_share=_share(
            [(one.charged.cache_read_input_tokens, one.charged.prompt_tokens) for one in group]
        ),
        what_if_cache_share=_share(
            [(one.cache_read_input_tokens, one.charged.prompt_tokens) for one in group]
        ),
        kept=None if None in kept else sum(one for one in kept if one is not None),
        facts_total=sum(one.charged.facts_total for one in group),
        finished=all(one.charged.done for one in group),
        problem=next((one.problem for one in group if one.problem), None),
    )


def _mean(costs: Sequence[float | None]) -> float | None:
    known = [cost for cost in costs if cost is not None]
    return math.fsum(known) / len(known) if len(known) == len(costs) else None


def _share(parts: Sequence[tuple[int | None, int | None]]) -> float | None:
    """The share read of all prompt tokens; None where one of the counts is not known, or nothing was sent."""
    whole = sum(prompt or 0 for _read, prompt in parts)
    if not whole or any(read is None or prompt is None for read, prompt in parts):
        return None
    return sum(read or 0 for read, _prompt in parts) / whole


def _with_ranks(rows: Sequence[Row], ranked: Sequence[bool]) -> list[Row]:
    before = ranks([row.charged_usd if counts else None for row, counts in zip(rows, ranked, strict=True)])
    after = ranks([row.what_if_usd if counts else None for row, counts in zip(rows, ranked, strict=True)])
    return [
        replace(row, rank=one, what_if_rank=other)
        for row, one, other in zip(rows, before, after, strict=True)
    ]


def _sentences(lead: str, rows: Sequence[Row], overtaken: Mapping[str, Sequence[Overtaking]]) -> list[str]:
    if not any(overtaken.values()):
        compared = sum(row.rank is not None for row in rows)
        return [f"{lead} the order by cost stays as it was."] if compared > 1 else []
    headlines: list[str] = []
    told: list[tuple[bool, str]] = []
    for script, pairs in overtaken.items():
        where = f"{lead}, on {script}," if len(overtaken) > 1 else lead
        by_name = {row.series: row for row in rows if row.script == script}
        headlines += _cheapest_that_kept_all(where, list(by_name.values()))
        by_cheaper: dict[Priced, list[Priced]] = {}
        for pair in pairs:
            by_cheaper.setdefault(pair.cheaper, []).append(pair.dearer)
        for cheaper, dearer in by_cheaper.items():
            kept = _kept(by_name[cheaper.name])
            told.append((bool(kept), _told(f"{where} {cheaper.name}{kept}", cheaper, dearer)))
    # Being cheaper for having forgotten is the lesser news.
    ordered = [sentence for _forgets, sentence in sorted(told, key=lambda one: one[0])]
    if len(ordered) > _MOST_SENTENCES:
        more = numbers.count(len(ordered) - _MOST_SENTENCES, "more setting")
        ordered[_MOST_SENTENCES:] = [f"{more} become cheaper than others that were cheaper."]
    return [*headlines, *ordered]


def _cheapest_that_kept_all(where: str, rows: Sequence[Row]) -> list[str]:
    """Say which of several settings that kept every fact is the cheapest, and whether that is news."""
    whole = [row for row in rows if row.rank is not None and row.facts_total and row.kept == row.facts_total]
    if len(whole) < 2:
        return []
    before = [row for row in whole if row.rank == min(one.rank or 0 for one in whole)]
    after = [row for row in whole if row.what_if_rank == min(one.what_if_rank or 0 for one in whole)]
    cost = numbers.usd(after[0].what_if_usd)
    if still := [row for row in after if row in before]:
        stay = "stays" if len(still) == 1 else "stay"
        return [f"{where} {_names(still)} {stay} the cheapest of those that kept every fact, at {cost}."]
    become, was = ("becomes" if len(after) == 1 else "become"), ("was" if len(before) == 1 else "were")
    return [
        f"{where} {_names(after)} {become} the cheapest of those that kept every fact, at {cost}; "
        f"as charged it {was} {_names(before)}, at {numbers.usd(before[0].charged_usd)}."
    ]


def _names(rows: Sequence[Row]) -> str:
    return numbers.listing([row.series for row in rows])


def _kept(row: Row) -> str:
    """Say what a setting forgets: cheaper than others it may be for that alone."""
    if row.kept is None or row.kept == row.facts_total:
        return ""
    return f", which kept {row.kept} of {numbers.count(row.facts_total, 'fact')},"


def _told(who: str, cheaper: Priced, dearer: Sequence[Priced]) -> str:
    """Say whom a setting becomes cheaper than, with the costs after and before."""
    names = numbers.listing([one.name for one in dearer])
    after = _span([one.after for one in dearer])
    before = _span([one.before for one in dearer])
    return (
        f"{who} becomes cheaper than {names}: {numbers.usd(cheaper.after)} against {after}, "
        f"as charged {numbers.usd(cheaper.before)} against {before}."
    )


def _span(costs: Sequence[float]) -> str:
    low, high = numbers.usd(min(costs)), numbers.usd(max(costs))
    return low if low == high else f"{low} to {high}"

"""The answer: every setting as charged and as it would have been, and what that changes, in words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from memdash.metrics.what_if.order import Overtaking, Priced, overtakings, ranks
from memdash.metrics.what_if.repricing import Repriced
from memdash.metrics.what_if.sentences import sentences
from memdash.metrics.what_if.terms import Terms


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
    told = sentences(terms.question.lead, rows, overtaken)
    return Answer(terms, tuple(rows), overtaken, tuple(told), (*terms.notes, *notes))


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

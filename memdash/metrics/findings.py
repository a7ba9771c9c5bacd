"""What a comparison says: the headline numbers, and two or three sentences, all computed from its rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memdash import numbers
from memdash.metrics.refusals import explain
from memdash.metrics.summary import BASELINE, SeriesSummary, dearer_with_fewer_tokens
from memdash.records import Status

_SAME = 1e-9
"""Values nearer than this share are a tie."""


@dataclass(frozen=True, slots=True)
class Headline:
    """One headline number: what it is, its value for people, whose it is (several on a tie) and a remark.

    ``series`` is empty where nobody qualifies; ``value`` is then "–" and ``note`` says why.
    """

    title: str
    value: str
    series: tuple[str, ...]
    note: str

    @property
    def whose(self) -> str:
        """The names of its series, joined."""
        return numbers.listing(self.series, limit=2)


@dataclass(frozen=True, slots=True)
class Headlines:
    """The four numbers at the top of a comparison."""

    cheapest: Headline
    fewest_tokens: Headline
    best_cache_share: Headline
    longest_wait: Headline


def headlines(summaries: Sequence[SeriesSummary]) -> Headlines:
    """Pick the headline numbers among the series that may be ranked."""
    ranked = [one for one in summaries if one.ranked]
    waiting = "no strategy has finished" if not ranked else ""
    return Headlines(
        cheapest=_cheapest(ranked, waiting),
        fewest_tokens=_fewest_tokens(ranked, waiting),
        best_cache_share=_best_cache_share(ranked, waiting),
        longest_wait=_longest_wait(ranked, waiting),
    )


def sentences(summaries: Sequence[SeriesSummary]) -> tuple[str, ...]:
    """Say in at most three sentences what was found; empty until a series has finished or was refused."""
    ranked = [one for one in summaries if one.ranked]
    told = [
        _on_cost(ranked),
        _on_caching(ranked),
        _on_loss(ranked),
        _on_refusals(summaries),
    ]
    return tuple(sentence for sentence in told if sentence)[:3]


def _cheapest(ranked: Sequence[SeriesSummary], waiting: str) -> Headline:
    facts = any(one.facts_total for one in ranked)
    title = "Cheapest that kept every fact" if facts or not ranked else "Cheapest"
    able = [one for one in ranked if one.kept_all or not facts]
    best = _best(able, _cost, smallest=True)
    if not best:
        seen = any(one.kept is not None for one in ranked)
        lost = "no strategy kept every fact" if seen else "what was kept is not known"
        unknown = "the price of a model is not known" if able else lost
        return Headline(title, numbers.NOTHING, (), waiting or unknown)
    remarks = ["simulated" if best[0].simulated else "live"]
    if best[0].cost_against_full_history is not None:
        remarks.append(f"{numbers.change(best[0].cost_against_full_history)} against full history")
    return Headline(title, numbers.usd(_cost(best[0])), _names(best), " · ".join(remarks))


def _fewest_tokens(ranked: Sequence[SeriesSummary], waiting: str) -> Headline:
    title = "Fewest prompt tokens"
    best = _best(ranked, _tokens, smallest=True)
    if not best:
        return Headline(title, numbers.NOTHING, (), waiting or "the server does not report tokens")
    return Headline(title, numbers.tokens_short(_tokens(best[0])), _names(best), _fate_of_facts(best[0]))


def _fate_of_facts(one: SeriesSummary) -> str:
    if not one.facts_total:
        return "the script plants no facts"
    if one.kept is None:
        return "what it kept is not known"
    if one.kept_all:
        return "keeps every fact"
    return f"forgets {numbers.listing(one.lost)}"


def _best_cache_share(ranked: Sequence[SeriesSummary], waiting: str) -> Headline:
    title = "Best cache share"
    best = _best(ranked, lambda one: one.cache_share, smallest=False)
    if not best:
        return Headline(title, numbers.NOTHING, (), waiting or "the server does not report cache use")
    share = best[0].cache_share
    note = "of its prompt tokens were read from the cache" if share else "nothing was read from the cache"
    return Headline(title, numbers.percent(share), _names(best), note)


def _longest_wait(ranked: Sequence[SeriesSummary], waiting: str) -> Headline:
    title = "Longest wait"
    best = _best(ranked, lambda one: one.longest_wait_ms, smallest=False)
    if not best:
        return Headline(title, numbers.NOTHING, (), waiting or "no turn was finished")
    return Headline(
        title, numbers.seconds(best[0].longest_wait_ms), _names(best), f"in turn {best[0].longest_wait_turn}"
    )


def _on_cost(ranked: Sequence[SeriesSummary]) -> str:
    facts = any(one.facts_total for one in ranked)
    best = _best([one for one in ranked if one.kept_all or not facts], _cost, smallest=True)
    if best:
        kind = "the cheapest that kept every fact" if facts else "the cheapest"
        name = _start(numbers.listing(_names(best), limit=3))
        verb = "is" if len(best) == 1 else "are"
        delta = best[0].cost_against_full_history
        against = f", {_than(delta)} than full history" if delta is not None and round(delta * 100) else ""
        source = " in this simulation" if best[0].simulated else ""
        return f"{name} {verb} {kind}{source}: {numbers.usd(_cost(best[0]))} for one replay{against}."
    counted = [one for one in ranked if one.kept is not None and one.facts_total]
    if len(counted) < 2 or any(one.kept_all for one in counted):
        return ""
    most = max(counted, key=lambda one: (one.kept or 0) / one.facts_total)
    if not most.kept:
        return "No strategy that finished kept a single fact."
    kept = numbers.part(most.kept, most.facts_total)
    return f"No strategy that finished kept every fact; {most.series} kept most of them, {kept}."


def _on_caching(ranked: Sequence[SeriesSummary]) -> str:
    by_name = {one.series: one for one in ranked}
    pairs = dearer_with_fewer_tokens(ranked)
    preferred = [pair for pair in pairs if by_name[pair.other].strategy == BASELINE] or list(pairs)
    if preferred:
        pair = preferred[0]
        shares = by_name[pair.series].cache_share, by_name[pair.other].cache_share
        because = (
            f": {numbers.percent(shares[0])} of them came from the cache, against {numbers.percent(shares[1])}"
            if shares[0] is not None and shares[1] is not None
            else ""
        )
        fewer, more = _size(pair.tokens), _size(pair.cost)
        return f"{_start(pair.series)} sent {fewer} fewer prompt tokens than {pair.other}, yet cost {more} more{because}."
    compared = [
        one
        for one in ranked
        if one.tokens_against_full_history is not None and one.cost_against_full_history is not None
    ]
    if not compared:
        return ""
    least = min(compared, key=lambda one: one.tokens_against_full_history or 0.0)
    tokens, cost = least.tokens_against_full_history or 0.0, least.cost_against_full_history or 0.0
    if round(tokens * 100) >= 0 or round(cost * 100) >= 0:
        return ""
    return f"{_start(least.series)} sent {_size(tokens)} fewer prompt tokens than full history and cost {_size(cost)} less."


def _on_loss(ranked: Sequence[SeriesSummary]) -> str:
    losers = [one for one in ranked if one.kept is not None and one.kept < one.facts_total]
    if not losers:
        counted = [one for one in ranked if one.facts_total and one.kept is not None]
        return "Every strategy that finished kept every fact." if len(counted) > 1 else ""
    worst = min(losers, key=lambda one: (one.kept or 0) / one.facts_total)
    lost = f"{worst.facts_total - (worst.kept or 0)} of {numbers.count(worst.facts_total, 'fact')}"
    if len(worst.results) > 1:
        lost += f" over {len(worst.results)} replays"
    which = f" ({numbers.listing(worst.lost)})" if worst.lost else ""
    if len(losers) == 1:
        return f"{_start(worst.series)} lost {lost}{which}."
    return f"{len(losers)} of {len(ranked)} strategies lost facts; {worst.series} lost most, {lost}{which}."


def _on_refusals(summaries: Sequence[SeriesSummary]) -> str:
    refused = [one for one in summaries if one.status is Status.REJECTED]
    if not refused:
        return ""
    first = refused[0]
    result = next(one for one in first.results if one.status is Status.REJECTED)
    others = (
        f" (so {'was' if len(refused) == 2 else 'were'} {numbers.count(len(refused) - 1, 'other')})"
        if refused[1:]
        else ""
    )
    why = explain(result.errors[-1]) if result.errors else ""
    return f"The API refused {first.series} in turn {result.turns_completed + 1}{others}. {why}".strip()


def _best(
    able: Sequence[SeriesSummary], measure: Callable[[SeriesSummary], float | None], *, smallest: bool
) -> list[SeriesSummary]:
    """All series with the best value; empty where none has one."""
    valued = [(one, value) for one in able if (value := measure(one)) is not None]
    if not valued:
        return []
    values = [value for _, value in valued]
    best = min(values) if smallest else max(values)
    return [one for one, value in valued if abs(value - best) <= _SAME * max(abs(best), _SAME)]


def _names(group: Sequence[SeriesSummary]) -> tuple[str, ...]:
    return tuple(one.series for one in group)


def _cost(one: SeriesSummary) -> float | None:
    return one.cost_usd.mean if one.cost_usd else None


def _tokens(one: SeriesSummary) -> float | None:
    return one.prompt_tokens.mean if one.prompt_tokens else None


def _size(ratio: float) -> str:
    return numbers.percent(abs(ratio)) if abs(ratio) < 0.995 else f"{abs(ratio) * 100:,.0f} %"


def _than(ratio: float) -> str:
    return f"{_size(ratio)} {'less' if ratio < 0 else 'more'}"


def _start(text: str) -> str:
    return text[:1].upper() + text[1:]

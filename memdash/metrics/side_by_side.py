"""Replays of several comparisons held against each other: names that tell them apart, and differences to a baseline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from string import ascii_uppercase
from typing import NamedTuple

from memdash import numbers
from memdash.metrics.result import ReplayResult
from memdash.prices import PriceTable
from memdash.spec import ReplaySpec


@dataclass(frozen=True, slots=True)
class Origin:
    """The comparison that a replay was part of, and what its numbers rest on."""

    comparison: str
    title: str
    created_at: datetime
    token_counter: str
    versions: Mapping[str, str]
    prices: PriceTable


@dataclass(frozen=True, slots=True)
class Chosen:
    """A replay that was chosen from a comparison.

    ``result`` has the names that it has in that comparison; ``against_full`` is its cost against the full history there, None
    where there is none.
    """

    origin: Origin
    spec: ReplaySpec
    result: ReplayResult
    against_full: float | None = None


def letters(chosen: Iterable[Chosen]) -> dict[str, str]:
    """Return a letter for each comparison, by id, in the order in which they first appear: ``A``, ``B``, … ``Z``, ``AA``."""
    ids = dict.fromkeys(one.origin.comparison for one in chosen)
    return {comparison: _letter(place) for place, comparison in enumerate(ids)}


def named(chosen: Sequence[Chosen]) -> list[ReplayResult]:
    """Return the results under names that are unique among all of them.

    Where there are several comparisons the letter of its own stands before each name, so that it is seen even where a long name
    is cut off.
    """
    letter = letters(chosen)
    if len(letter) < 2:
        return [one.result for one in chosen]
    return [
        replace(
            one.result,
            label=f"{letter[one.origin.comparison]} · {one.result.label}",
            series=f"{letter[one.origin.comparison]} · {one.result.series}",
        )
        for one in chosen
    ]


class Delta(NamedTuple):
    """How a replay differs from its counterpart in the baseline; a value is None where either side does not have it.

    ``cost``, ``prompt_tokens`` and ``wait_p95`` are relative differences, ``cache_share`` one of shares (0 to 1), ``kept`` and
    ``recall`` counts of facts and of answers. ``counterpart`` is None where the baseline has none; ``unlike`` says in which
    settings it is another one, and ``reason`` why the numbers are not held against each other, None where they are.
    """

    result: ReplayResult
    counterpart: ReplayResult | None
    unlike: tuple[str, ...]
    reason: str | None = None
    cost: float | None = None
    prompt_tokens: float | None = None
    cache_share: float | None = None
    kept: int | None = None
    recall: int | None = None
    wait_p95: float | None = None


def counterparts(specs: Iterable[ReplaySpec], baseline: Sequence[ReplaySpec]) -> dict[str, str]:
    """Return by id which replay of the baseline each replay is held against: that of the same script, setting and repeat.

    Where there are several, it is the one with most in common; a replay without any is left out.
    """
    found = {}
    for spec in specs:
        alike = [other for other in baseline if _setting(other) == _setting(spec)]
        if alike:
            found[spec.id] = min(alike, key=lambda other: len(_unlike(spec, other))).id
    return found


def against_baseline(
    chosen: Iterable[Chosen], pairs: Mapping[str, str], known: Iterable[Chosen], names: Sequence[ReplayResult]
) -> list[Delta]:
    """Return how each chosen replay differs from its counterpart in ``pairs``.

    ``names`` are the results of ``known``, in its order, as :func:`named` gives them; every replay in ``pairs`` is among them.
    Only replays that came to their end, over as many turns, are held against each other.
    """
    specs = {one.spec.id: one.spec for one in known}
    results = {one.id: one for one in names}
    return [
        Delta(results[one.spec.id], None, ())
        if (other := pairs.get(one.spec.id)) is None
        else _delta(results[one.spec.id], results[other], _unlike(one.spec, specs[other]))
        for one in chosen
    ]


def _setting(spec: ReplaySpec) -> tuple[object, ...]:
    return spec.script.id, spec.repeat, spec.strategy, dict(spec.params)


def _unlike(one: ReplaySpec, other: ReplaySpec) -> tuple[str, ...]:
    """In which of the settings that vary within a comparison two replays are not the same."""
    values = {
        "model": (one.model, other.model),
        "cache lifetime": (one.cache, other.cache),
        "cache marks": (one.cache_marks, other.cache_marks),
        "provider": (one.provider, other.provider),
    }
    return tuple(name for name, (mine, theirs) in values.items() if mine != theirs)


def _delta(result: ReplayResult, base: ReplayResult, unlike: tuple[str, ...]) -> Delta:
    if not (result.done and base.done):
        return Delta(result, base, unlike, "not played to the end")
    if result.turns_completed != base.turns_completed:
        return Delta(
            result,
            base,
            unlike,
            f"{numbers.count(result.turns_completed, 'turn')} and not {base.turns_completed}",
        )
    waits = (
        result.wait_ms.p95 if result.wait_ms else None,
        base.wait_ms.p95 if base.wait_ms else None,
    )
    return Delta(
        result,
        base,
        unlike,
        cost=_relative(result.cost_usd, base.cost_usd),
        prompt_tokens=_relative(result.prompt_tokens, base.prompt_tokens),
        cache_share=_less(result.cache_share, base.cache_share),
        kept=_whole(_less(result.kept, base.kept)) if result.facts_total == base.facts_total else None,
        recall=result.recall_passed - base.recall_passed
        if result.recall_total and result.recall_total == base.recall_total
        else None,
        wait_p95=_relative(*waits),
    )


def _less(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one - other


def _relative(one: float | None, other: float | None) -> float | None:
    return None if one is None or not other else one / other - 1


def _whole(value: float | None) -> int | None:
    return None if value is None else round(value)


def _letter(place: int) -> str:
    """As the columns of a spreadsheet are called."""
    rest, last = divmod(place, len(ascii_uppercase))
    return (_letter(rest - 1) if rest else "") + ascii_uppercase[last]

"""Two comparisons of the JSON contract held against each other, number by number and fact by fact."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from memdash import numbers
from memdash.metrics.changes.facts import fact_changes
from memdash.metrics.changes.judging import exact, judged
from memdash.metrics.changes.model import Changes, Difference, GroupChange, NumberChange, Setting, Side
from memdash.metrics.changes.numbers import Number
from memdash.metrics.changes.pairing import Comparison, Group, Replay, pair
from memdash.metrics.changes.prices import price_changes, priced_alike
from memdash.metrics.changes.settings import setting_differences, version_differences


def changes_between(before: Comparison, after: Comparison, *, charged: Comparison | None = None) -> Changes:
    """Return what changed from ``before`` to ``after``, both as the JSON contract has them; either may be of an older version.

    ``charged`` is the later side at its own prices, where ``after`` counts its money at those of ``before``. Simulated settings
    are compared exactly, repeat by repeat; where either side is live, by the 95 % intervals over the repeats.
    """
    pairs = pair(before, after)
    compared = tuple(_group(then, now, before, after) for then, now in pairs.both)
    sides = _side(before), _side(after)
    return Changes(
        before=sides[0],
        after=sides[1],
        groups=compared,
        missing=tuple(Setting(one.label, one.script) for one in pairs.missing),
        new=tuple(Setting(one.label, one.script) for one in pairs.new),
        settings=setting_differences(before, after),
        versions=version_differences(before, after),
        prices=price_changes(before, charged or after),
        repriced=charged is not None,
        recommendation=_recommendation(before, after),
        notes=tuple(_notes(sides[0], sides[1], before, charged or after, repriced=charged is not None)),
    )


def is_alike(before: Replay, after: Replay) -> bool:
    """Whether two replays are of the same length and came as far, so that their totals can be held against each other."""
    return all(before[name] == after[name] for name in ("turns_planned", "turns_completed"))


def ended(replay: Replay) -> str:
    """Say how a replay ended: ``done``, ``rejected at turn 5 of 30``."""
    status = str(replay["status"]).replace("_", " ")
    completed, planned = replay["turns_completed"], replay["turns_planned"]
    return status if completed >= planned else f"{status} at turn {completed + 1} of {planned}"


def _group(then: Group, now: Group, before: Comparison, after: Comparison) -> GroupChange:
    live = then.live or now.live
    earlier, later = _compared(then, now, live)
    not_alike = _not_alike(earlier, later, live)
    priced = priced_alike(before, after, (*then.replays, *now.replays))
    counted = live or _counter(before) == _counter(after)
    unlike = {
        number
        for number in Number
        if not_alike or (number is Number.COST and not priced) or (number.depends_on_counter and not counted)
    }
    found = tuple(_number(number, earlier, later, live, comparable=number not in unlike) for number in Number)
    told = {error for replay in then.replays for error in replay["errors"]}
    endings = [_endings(one.replays) for one in (then, now)]
    return GroupChange(
        label=now.label,
        label_before=then.label,
        strategy=now.strategy,
        script=now.script,
        live=live,
        recall_simulated=any(one["recall_simulated"] for one in (*then.replays, *now.replays)),
        replays_before=len(earlier),
        replays_after=len(later),
        numbers=found,
        facts=fact_changes(earlier, later, live=live),
        outcome=Difference("outcome", *endings) if endings[0] != endings[1] else None,
        errors=tuple(
            dict.fromkeys(error for one in now.replays for error in one["errors"] if error not in told)
        ),
        not_alike=not_alike,
    )


def _compared(then: Group, now: Group, live: bool) -> tuple[list[Replay], list[Replay]]:
    """The replays that are held against each other: finished ones if live, else the repeats that both sides have."""
    if live:
        earlier, later = ([one for one in side.replays if one["status"] == "done"] for side in (then, now))
        return earlier, later
    partners = {one["repeat"]: one for one in then.replays}
    shared = [one for one in now.replays if one["repeat"] in partners]
    return [partners[one["repeat"]] for one in shared], shared


def _not_alike(earlier: Sequence[Replay], later: Sequence[Replay], live: bool) -> str | None:
    if not earlier or not later:
        side = "before" if not earlier else "now"
        return f"no replay finished {side}" if live else "the two have no repeat in common"
    lengths = [{one["turns_planned"] for one in side} for side in (earlier, later)]
    if lengths[0] != lengths[1]:
        then, now = (max(one) for one in lengths)
        return f"it played {numbers.count(then, 'turn')} before and {now} now"
    for before, after in () if live else zip(earlier, later, strict=True):
        if not is_alike(before, after):
            return f"before it was {ended(before)}, now {ended(after)}"
    return None


def _number(
    number: Number, earlier: Sequence[Replay], later: Sequence[Replay], live: bool, *, comparable: bool
) -> NumberChange:
    values = [[number.of(one) for one in side] for side in (earlier, later)]
    if live:
        return NumberChange(number, *judged(values[0], values[1], number, comparable=comparable))
    return NumberChange(number, *exact(values[0], values[1], number, comparable=comparable))


def _endings(replays: Iterable[Replay]) -> str:
    """How the replays of a group ended, each way once with how often."""
    found: dict[str, int] = {}
    for one in replays:
        found[ended(one)] = found.get(ended(one), 0) + 1
    if len(found) == 1:
        return next(iter(found))
    return ", ".join(f"{count} {words}" for words, count in found.items())


def _counter(comparison: Comparison) -> str:
    """Which counter counted the tokens, whatever its version."""
    return str(comparison["token_counter"]).split()[0]


def _side(comparison: Comparison) -> Side:
    return Side(
        comparison=comparison["comparison"],
        title=comparison["title"],
        created_at=comparison["created_at"],
        basis=comparison["versions"].get("rules", ""),
        token_counter=comparison["token_counter"],
        live=any(one["provider"] == "anthropic" for one in comparison["replays"]),
    )


def _recommendation(before: Comparison, after: Comparison) -> Difference | None:
    """The recommended setting of a sweep, where it is another one; with several models that of the first."""
    labels = [(one.get("recommendation") or {}).get("label") for one in (before, after)]
    if labels[0] == labels[1]:
        return None
    return Difference("recommendation", labels[0] or "none", labels[1] or "none")


def _notes(before: Side, after: Side, then: Comparison, now: Comparison, *, repriced: bool) -> Iterable[str]:
    if before.live != after.live:
        words = [("live" if one.live else "simulated") for one in (before, after)]
        yield f"it was {words[0]} before and is {words[1]} now: the simulator's error is in every difference"
    if _counter(then) != _counter(now) and not (before.live or after.live):
        yield (
            f"tokens were counted by {before.token_counter} before and by {after.token_counter} now: tokens, cost and waits "
            "differ by that alone, and thresholds are met elsewhere"
        )
    prices = price_changes(then, now)
    if prices is None:
        which = "the earlier side does" if then.get("prices") is None else "the later side does"
        yield f"{which} not say its prices: a change of price would show as a change of cost"
    elif prices and repriced:
        yield (
            f"prices changed for {numbers.listing(list(dict.fromkeys(one.model for one in prices)))}: both sides are counted at "
            f"those of before{_charged(now)}"
        )
    elif prices:
        yield "prices changed, and each side is counted at its own: costs are not comparable"


def _charged(now: Comparison) -> str:
    """What the later side costs at its own prices; nothing where a part is not known."""
    costs: list[Any] = [one["cost_usd"] for one in now["replays"]]
    return (
        "" if None in costs else f" (at its own prices the later side costs {numbers.usd(math.fsum(costs))})"
    )

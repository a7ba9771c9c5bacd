"""Assertions that compare with a baseline: ``cost_usd<=1.05*baseline``, ``kept>=baseline``, ``loss_mean<=baseline+0.02``.

Simulated replays are compared exactly, each with the baseline's of the same setting, script and repeat. Live ones differ from run
to run, so their repeats are compared together: an assertion fails where even those ends of the two 95 % intervals that speak for
it do not meet it. What the baseline does not have, or what did not come as far as it did there, has not been shown to hold and
fails.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from memdash import numbers
from memdash.assertions.expression import Assertion, Relative, spelled
from memdash.assertions.fields import FIELDS, GROUP_FIELDS, Kind, look_up
from memdash.errors import InputError

if TYPE_CHECKING:
    from memdash.metrics.changes import Comparison, Group, Replay, Value

_ENDINGS = frozenset(("status", "turns_completed", "errors", "marks"))
"""Fields that say how a replay ended: they are compared however far it came."""
_NEW = "not known in the baseline, which has no such {}; write the baseline anew"
_NO_INTERVAL = (
    "not known: one live replay has no interval; play more of them with --repeats, in the baseline too"
)


class Subject(NamedTuple):
    """What an assertion was held against: a replay or group, its script, and why it failed (None where it held)."""

    label: str
    script: str
    failure: str | None


class Baseline:
    """An earlier comparison beside a later one, setting by setting.

    ``after`` counts its money at the earlier one's prices; ``repriced`` says that those are no longer its own.
    """

    def __init__(self, before: Comparison, after: Comparison, *, repriced: bool = False) -> None:
        from memdash.metrics.changes import pair

        pairs = pair(before, after)
        self._pairs: list[tuple[Group | None, Group]] = [*pairs.both, *((None, new) for new in pairs.new)]
        self._groups = [
            {(one["label"], one["script"]): one for one in side.get("groups", ())} for side in (before, after)
        ]
        self._repriced = repriced

    def subjects(self, assertion: Assertion) -> Iterator[Subject]:
        """Hold a relative assertion against every replay or group that it speaks of."""
        live_number = FIELDS.get(assertion.field) in (Kind.NUMBER, Kind.LIST)
        for then, now in self._pairs:
            if assertion.of_groups:
                if assertion.concerns(now.label, now.label):
                    yield self._told(assertion, now.label, now.script, self._group(assertion, then, now))
            elif now.live and live_number:
                if any(assertion.concerns(one["label"], now.label) for one in now.replays):
                    found = _NEW.format("setting") if then is None else _live(assertion, then, now)
                    yield self._told(assertion, now.label, now.script, found)
            else:
                for replay in now.replays:
                    if assertion.concerns(replay["label"], now.label):
                        found = _exact(assertion, then, replay)
                        yield self._told(assertion, replay["label"], now.script, found, of_replay=True)

    def _told(
        self, assertion: Assertion, label: str, script: str, found: str | None, *, of_replay: bool = False
    ) -> Subject:
        if found is None:
            return Subject(label, script, None)
        if self._repriced and "cost" in assertion.field:
            found += ", at the baseline's prices"
        return Subject(label, script, assertion.told(label if of_replay else f"{label} on {script}", found))

    def _group(self, assertion: Assertion, then: Group | None, now: Group) -> str | None:
        before = None if then is None else self._groups[0].get((then.label, then.script))
        after = self._groups[1].get((now.label, now.script))
        if then is None or before is None or after is None:
            return _NEW.format("group")
        missing = assertion.found_in(after) or (
            (lacking := assertion.found_in(before)) and f"{lacking}, in the baseline"
        )
        name, part = GROUP_FIELDS[assertion.field]
        if missing is None and now.live and part == "mean":
            return _within(assertion, *(_interval(one[name]) for one in (before, after)))
        return (
            missing
            or _length(then.replays, now.replays)
            or _compared(assertion, before[name][part], after[name][part])
        )


def check_comparable(
    name: str,
    before: Comparison,
    assertions: Iterable[Assertion],
    *,
    live: bool,
    repeats: int,
    token_counter: str,
) -> None:
    """Raise :class:`InputError` where no relative assertion could hold against a baseline, before a run is paid for.

    ``name`` is the baseline's file; the rest is said of the run to come, ``token_counter`` by its first word.
    """
    relative = next((one for one in assertions if one.is_relative), None)
    if relative is None:
        return
    replays = before["replays"]
    was_live = any(one["provider"] == "anthropic" for one in replays)
    if was_live != live:
        kinds = [("live" if one else "simulated") for one in (was_live, live)]
        raise InputError(
            f"{name}: is {kinds[0]}, and this run is {kinds[1]}: {relative.source!r} would compare the simulator with the API; "
            f"use a {kinds[1]} baseline"
        )
    counted = before["token_counter"].split()[0]
    if not live and counted != token_counter:
        raise InputError(
            f"{name}: its tokens were counted by {counted}, those of this run by {token_counter}, which changes every number: "
            f"run with --token-counter {counted}, or write the baseline anew"
        )
    if live and min(repeats, max(one["repeat"] for one in replays)) < 2:
        where = f"{name} has one repeat" if repeats > 1 else "this run has one repeat"
        raise InputError(
            f"{relative.source!r}: live replays are held against a baseline by their 95 % intervals, and {where}; play "
            "several with --repeats, in the baseline too"
        )


def _exact(assertion: Assertion, then: Group | None, replay: Replay) -> str | None:
    from memdash.metrics.changes import is_alike

    if then is None:
        return _NEW.format("setting")
    partner = next((one for one in then.replays if one["repeat"] == replay["repeat"]), None)
    if partner is None:
        return _NEW.format("repeat")
    if assertion.field not in _ENDINGS and not is_alike(partner, replay):
        return _length([partner], [replay]) or _ending(partner, replay)
    return _compared(assertion, look_up(partner, assertion.field), look_up(replay, assertion.field))


def _live(assertion: Assertion, then: Group, now: Group) -> str | None:
    from memdash.metrics.changes.judging import interval

    finished = [[one for one in side.replays if one["status"] == "done"] for side in (then, now)]
    if len(finished[1]) < len(now.replays):
        count = len(now.replays) - len(finished[1])
        return f"not known: {count} of {len(now.replays)} replays did not finish"
    different = _length(then.replays, now.replays)
    if different:
        return different
    values = [[_number(look_up(one, assertion.field)) for one in side] for side in finished]
    most = 1.0 if assertion.field in ("recall", "cache_share") else None
    before, after = (interval(side, most=most) for side in values)
    if before.mean is None or after.mean is None:
        side = "" if after.mean is None else " in the baseline"
        return f"not reported or unknown{side}"
    return _within(assertion, before, after)


def _within(assertion: Assertion, before: Value, after: Value) -> str | None:
    """Hold it against two intervals: None where values inside of both meet it."""
    if before.low is None or before.high is None or after.low is None or after.high is None:
        return _NO_INTERVAL
    assert isinstance(assertion.value, Relative)
    low, high = assertion.value.of(before.low), assertion.value.of(before.high)
    if assertion.op == "==":
        held = _holds("<=", after.low, high) and _holds(">=", after.high, low)
    elif assertion.op in ("<", "<="):
        held = _holds(assertion.op, after.low, high)
    else:
        held = _holds(assertion.op, after.high, low)
    return None if held else f"{_spread(after)}, and the baseline {_spread(before)}"


def _compared(assertion: Assertion, before: Any, after: Any) -> str | None:
    """Hold it against two exact values."""
    if after is None:
        return "not reported or unknown"
    if before is None:
        return f"{spelled(after)}, and not reported or unknown in the baseline"
    assert isinstance(assertion.value, Relative)
    if isinstance(after, (str, bool)):
        return None if after == before else f"{spelled(after)}, and {spelled(before)} in the baseline"
    found, base = _number(after), _number(before)
    if found is None or base is None:  # a parameter that is neither text nor a number
        return None if after == before else f"{after}, and {before} in the baseline"
    limit = assertion.value.of(base)
    if _holds(assertion.op, found, limit):
        return None
    written = assertion.value.source
    told = f"{_digits(found)}, and {written} is {_digits(limit)}"
    return told if written == "baseline" else f"{told} (baseline {_digits(base)})"


def _holds(op: str, actual: float, limit: float) -> bool:
    """Compare, taking for equal what differs by the noise of its addition."""
    from memdash.metrics.changes.judging import same

    if same(actual, limit):
        return op in (">=", "<=", "==")
    return actual > limit if op in (">", ">=") else actual < limit if op in ("<", "<=") else False


def _length(before: Sequence[Replay], after: Sequence[Replay]) -> str | None:
    """Say that the two are of another length, None where they are not."""
    planned = [max(one["turns_planned"] for one in side) for side in (before, after)]
    if planned[0] == planned[1]:
        return None
    return f"not comparable: the baseline played {numbers.count(planned[0], 'turn')}, this run {planned[1]}"


def _ending(before: Replay, after: Replay) -> str:
    from memdash.metrics.changes import ended

    return f"not comparable: it was {ended(before)} in the baseline, and is {ended(after)} now"


def _number(value: Any) -> float | None:
    """A value as a number: a list by its length; None where it is none."""
    if isinstance(value, (list, tuple)):
        return float(len(value))
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _interval(estimate: Mapping[str, float | None]) -> Value:
    from memdash.metrics.changes import Value

    return Value(estimate["mean"], estimate["low"], estimate["high"])


def _spread(value: Value) -> str:
    assert value.mean is not None
    assert value.low is not None
    assert value.high is not None
    return f"{_digits(value.mean)} (95 % {_digits(value.low)} to {_digits(value.high)})"


def _digits(value: float) -> str:
    """To twelve digits, whole numbers without a point."""
    return f"{value:.12g}" if abs(value) < 1e12 else str(value)

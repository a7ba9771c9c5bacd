"""Which facts are kept and answered otherwise than before, from the recall questions of both sides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memdash.metrics.changes.judging import exact, judged
from memdash.metrics.changes.model import FactChange, Tally, Verdict
from memdash.metrics.changes.numbers import Number
from memdash.metrics.changes.pairing import Replay

Probe = Mapping[str, Any]


def fact_changes(before: Sequence[Replay], after: Sequence[Replay], *, live: bool) -> tuple[FactChange, ...]:
    """Return the questions of both sides whose outcome changed, the lost ones first.

    Questions whose controls did not hold on either side are no test and are left out, and so are those that only one side asked.
    """
    then, now = _asked(before), _asked(after)
    found = [_change(then[key], asked, live) for key, asked in now.items() if key in then]
    changed = [one for one in found if one.kept is not Verdict.SAME or one.right is not Verdict.SAME]
    return tuple(sorted(changed, key=lambda one: not one.lost))


def _asked(replays: Sequence[Replay]) -> dict[tuple[str, int], list[Probe]]:
    """The answers to each question, replay by replay; those left out that not every replay has as a test."""
    found: dict[tuple[str, int], list[Probe]] = {}
    for replay in replays:
        for probe in replay["probes"]:
            if probe["is_test"]:
                found.setdefault((probe["fact"], probe["asked_after"]), []).append(probe)
    return {key: probes for key, probes in found.items() if len(probes) == len(replays)}


def _change(before: Sequence[Probe], after: Sequence[Probe], live: bool) -> FactChange:
    judge = judged if live else exact
    kept = [[float(one["visible"]) for one in side] for side in (before, after)]
    right = [[float(one["passed"]) for one in side] for side in (before, after)]
    latest = after[0]
    return FactChange(
        fact=latest["fact"],
        asked_after=latest["asked_after"],
        question=latest["question"],
        kept_before=_tally(kept[0]),
        kept_after=_tally(kept[1]),
        kept=judge(kept[0], kept[1], Number.KEPT).verdict,
        right_before=_tally(right[0]),
        right_after=_tally(right[1]),
        right=judge(right[0], right[1], Number.RECALL).verdict,
        answer=next((one["answer"] for one in after if not one["passed"]), None),
    )


def _tally(values: Sequence[float]) -> Tally:
    return Tally(round(sum(values)), len(values))

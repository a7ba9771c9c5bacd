"""What a strategy broke: the facts that were lost or answered wrong, the worst first, each with the event that removed it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from memdash.inspection.survival import (
    Blocks,
    Change,
    FactLine,
    Whereabouts,
    fact_lines,
    latest_loss,
    texts_needed,
)
from memdash.metrics import ProbeResult, ReplayResult
from memdash.records import Survival
from memdash.replay_log import ReplayLog


class LossKind(StrEnum):
    """How a fact was lost, the worst first."""

    OUTDATED = "answered with an outdated value"
    """Wrong, and nobody notices: the value was right once."""
    WRONG = "answered wrong, text gone"
    UNUSED = "answered wrong, text in sight"
    """The strategy kept it; the model did not use it."""
    GONE = "text gone, no wrong answer"
    """Not asked about, or answered right all the same."""


@dataclass(frozen=True, slots=True)
class Loss:
    """A fact that a series lost, as in the repeat where it was lost worst.

    ``removed`` is the change since which its latest value could not be read, None where it still could; ``turn`` is the one to
    look at. ``question`` stands also where it was not asked; then ``answer`` and ``asked_after`` are None. Of the ``of`` repeats
    of the series ``replays`` lost it. ``missing`` is for how many turns it had been gone when it was asked, or by the end.
    """

    series: str
    script: str
    replay: str
    fact: str
    question: str
    answer: str | None
    asked_after: int | None
    kind: LossKind
    whereabouts: Whereabouts
    removed: Change | None
    turn: int
    missing: int
    replays: int
    of: int


def lost_facts(result: ReplayResult) -> frozenset[str]:
    """Return the facts of a replay that count as lost: those that :func:`losses` has to follow through its contexts."""
    wrong = {probe.fact for probe in result.probes if probe.is_test and not probe.passed}
    gone = {fact for fact, one in result.survival.items() if one in (Survival.STALE, Survival.GONE)}
    return frozenset(wrong | gone)


def texts_of_losses(replays: Iterable[tuple[ReplayLog, ReplayResult]]) -> list[str]:
    """Return the ids of the blocks that :func:`losses` reads, each once: replays of one comparison share most of them."""
    return list(
        dict.fromkeys(block for log, result in replays if lost_facts(result) for block in texts_needed(log))
    )


def losses(replays: Iterable[tuple[ReplayLog, ReplayResult]], blocks: Blocks) -> tuple[Loss, ...]:
    """Return what was lost in ``replays``, the worst first; ``blocks`` are those that :func:`texts_of_losses` names.

    The order is that of :class:`LossKind`, then how many of its repeats lost it, then for how long it had been missing. A probe
    that is not a test counts for nothing; a fact whose text is gone counts also where its question was answered right.
    """
    found: dict[tuple[str, str, str], list[Loss]] = {}
    repeats: dict[tuple[str, str], int] = {}
    for log, result in replays:
        group = result.series, result.script
        repeats[group] = repeats.get(group, 0) + 1
        if lost := lost_facts(result):
            for line in fact_lines(log, result.probes, blocks, lost):
                found.setdefault((*group, line.fact.id), []).append(_loss(result, line))
    merged = [_merged(group, repeats[key[:2]]) for key, group in found.items()]
    return tuple(sorted(merged, key=_badness))


def _badness(loss: Loss) -> tuple[int, float, int]:
    return _KINDS.index(loss.kind), -loss.replays / loss.of, -loss.missing


_KINDS: Final = tuple(LossKind)


def _merged(group: Sequence[Loss], of: int) -> Loss:
    worst = min(group, key=lambda one: (_KINDS.index(one.kind), -one.missing))
    return replace(worst, replays=len(group), of=of)


def _loss(result: ReplayResult, line: FactLine) -> Loss:
    wrong = [probe for probe in line.probes if probe.is_test and not probe.passed]
    if wrong:
        return min((_asked(result, line, probe) for probe in wrong), key=_badness)
    asked = [probe for probe in line.probes if probe.is_test]
    return _unasked(result, line, asked[-1] if asked else None)


def _asked(result: ReplayResult, line: FactLine, probe: ProbeResult) -> Loss:
    """A question that was answered wrong."""
    gone = probe.survival in (Survival.STALE, Survival.GONE)
    kind = LossKind.OUTDATED if probe.stale else LossKind.WRONG if gone else LossKind.UNUSED
    return _made(result, line, kind, probe, probe.asked_after, gone=gone)


def _unasked(result: ReplayResult, line: FactLine, probe: ProbeResult | None) -> Loss:
    """A fact whose text is gone by the end without a wrong answer."""
    return _made(result, line, LossKind.GONE, probe, line.through, gone=True)


def _made(
    result: ReplayResult, line: FactLine, kind: LossKind, probe: ProbeResult | None, after: int, *, gone: bool
) -> Loss:
    until = [change for change in line.changes if change.turn <= after + 1]
    if not gone and until[-1].is_loss and len(until) > 1:
        until.pop()  # the next turn's: the question was asked before it
    removed = latest_loss(until) if gone else None
    telling = removed or until[-1]
    return Loss(
        series=result.series,
        script=result.script,
        replay=result.id,
        fact=line.fact.id,
        question=line.fact.question,
        answer=None if probe is None else probe.answer,
        asked_after=None if probe is None else probe.asked_after,
        kind=kind,
        whereabouts=removed.now if removed else until[-1].now,
        removed=removed,
        turn=min(telling.turn, line.through),
        missing=max(after + 1 - removed.turn, 0) if removed else 0,
        replays=1,
        of=1,
    )

"""Recall and kept: which probes count, and what became of each fact."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from memdash.metrics.result import ProbeResult
from memdash.records import Control, Survival
from memdash.replay_log import AnyLog
from memdash.scripts.model import Script


class ProbePoint(NamedTuple):
    """A probe of a comparison: the controls of one script, model and repeat hold for every strategy."""

    comparison: str
    script: str
    model: str
    repeat: int
    fact: str
    asked_after: int


class Controls:
    """The controls of every probe, gathered from all replays of a comparison.

    One replay of each script, model and repeat asks them; a probe nobody has checked counts as a test.
    """

    def __init__(self, logs: Iterable[AnyLog]) -> None:
        self._not_tests: set[ProbePoint] = set()
        for log in logs:
            for probe in log.probes:
                failed_whole = probe.control is Control.WHOLE and not probe.passed
                passed_empty = probe.control is Control.EMPTY and probe.passed
                if failed_whole or passed_empty:
                    self._not_tests.add(_point(log, probe.fact, probe.asked_after))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Controls) and self._not_tests == other._not_tests

    __hash__ = None  # type: ignore[assignment]  # equal by what they hold, as a set is

    def is_test(self, log: AnyLog, fact: str, asked_after: int) -> bool:
        """Whether the probe passes with the whole history and fails with none, as far as that is known."""
        return _point(log, fact, asked_after) not in self._not_tests


def _point(log: AnyLog, fact: str, asked_after: int) -> ProbePoint:
    spec = log.spec
    return ProbePoint(spec.comparison_id, spec.script.id, spec.model, spec.repeat, fact, asked_after)


def planned_probes(script: Script, turns: int) -> tuple[tuple[str, int], ...]:
    """Return fact and turn of every probe that a replay of ``turns`` turns is to ask, in the order they are asked.

    A fact is asked for after each of its turns, after the last one where it names none, and only once it is stated.
    """
    points = [
        (after, place, fact.id)
        for place, fact in enumerate(script.facts)
        for after in sorted(set(fact.probe_after)) or [turns]
        if after <= turns and fact.stated_by(after)
    ]
    return tuple((fact, after) for after, _, fact in sorted(points))


def facts_stated(script: Script, turns: int) -> tuple[str, ...]:
    """Return the facts that are stated within the first ``turns`` turns."""
    return tuple(fact.id for fact in script.facts if fact.stated_by(turns))


def probes_of(log: AnyLog, controls: Controls) -> tuple[ProbeResult, ...]:
    """Return the questions asked of the strategy's memory; where one was asked twice, the latest answer counts."""
    latest: dict[tuple[str, int], ProbeResult] = {}
    for probe in log.probes:
        if probe.control is Control.MEMORY:
            latest[probe.fact, probe.asked_after] = ProbeResult(
                fact=probe.fact,
                asked_after=probe.asked_after,
                question=probe.question,
                answer=probe.answer,
                passed=probe.passed,
                stale=probe.stale,
                visible=probe.visible,
                is_test=controls.is_test(log, probe.fact, probe.asked_after),
                survival=probe.survival,
            )
    return tuple(latest.values())


def survival_of(log: AnyLog) -> Mapping[str, Survival]:
    """Return where the latest text of each fact is in the last context; empty until that has been looked at."""
    return {record.fact: record.survival for record in log.facts}


def still_there(survival: Survival) -> bool:
    """Whether the fact's latest value can be read in the context (the measure *kept*)."""
    return survival in (Survival.VERBATIM, Survival.RESTATED)

"""From a replay's records to its numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence

from memdash.collecting import uncollected
from memdash.errors import MemdashError
from memdash.metrics.ledger import Ledger, added, turn_rows
from memdash.metrics.marks import firing_events, puts_a_summary_into_use, threshold_marks
from memdash.metrics.pricing import Prices
from memdash.metrics.recall import Controls, facts_stated, planned_probes, probes_of, still_there, survival_of
from memdash.metrics.result import Mark, Percentiles, PurposeCosts, ReplayResult, Waits
from memdash.metrics.tokens import total, usage_faults
from memdash.metrics.verdicts import verdicts
from memdash.metrics.waits import nearest_rank
from memdash.records import EventKind, Purpose, Status, TurnRecord
from memdash.replay_log import AnyLog
from memdash.spec import Provider, ReplaySpec


class SumError(MemdashError):
    """Raised when totals do not add up to what they are made of: a fault of memdash, never of what was measured."""


def measure_all(logs: Sequence[AnyLog], prices: Prices) -> tuple[ReplayResult, ...]:
    """Return the numbers of every replay of a comparison, in the order given.

    All of them are needed at once, since one replay asks the controls of the probes for the others.
    """
    controls = Controls(logs)
    with uncollected():
        return tuple(measure(log, prices, controls) for log in logs)


def measure(log: AnyLog, prices: Prices, controls: Controls | None = None) -> ReplayResult:
    """Return the numbers of one replay; without ``controls`` only its own controls decide what is a test.

    Raises :class:`SumError` where the numbers contradict each other.
    """
    spec = log.spec
    controls = controls or Controls([log])
    status, completed = _state(log)
    ledger = Ledger.of(log.requests, prices)
    rows = turn_rows(log, ledger)
    costs = PurposeCosts(
        turn=ledger.spent(Purpose.TURN),
        tool=ledger.spent(Purpose.TOOL),
        summary=ledger.spent(Purpose.SUMMARY),
    )
    buckets = total(ledger.usages())
    cost = added([costs.turn, costs.tool, costs.summary])
    probes = probes_of(log, controls)
    planned = planned_probes(spec.script, spec.turns)
    tests = {point for point in planned if controls.is_test(log, *point)}
    tests.update((probe.fact, probe.asked_after) for probe in probes if probe.is_test)
    passed = sum(probe.passed for probe in probes if probe.is_test)
    answered = status in (Status.DONE, Status.REJECTED)
    stated = facts_stated(spec.script, spec.turns)
    survival = survival_of(log)
    result = ReplayResult(
        id=spec.id,
        script=spec.script.id,
        strategy=spec.strategy,
        params=dict(spec.params),
        label=spec.label,
        model=spec.model,
        effort=spec.effort,
        provider=str(spec.provider),
        cache=str(spec.cache),
        cache_marks=str(spec.cache_marks),
        repeat=spec.repeat,
        status=status,
        simulator_only=spec.relax_limits,
        turns_planned=spec.turns,
        turns_completed=completed,
        requests=ledger.requests,
        prompt_tokens=buckets.prompt_tokens,
        input_tokens=buckets.input_tokens,
        cache_creation_input_tokens=buckets.cache_creation_input_tokens,
        cache_read_input_tokens=buckets.cache_read_input_tokens,
        output_tokens=buckets.output_tokens,
        cache_share=buckets.cache_share,
        cost_usd=cost,
        cost_by_purpose_usd=costs,
        probe_requests=ledger.probe_requests,
        probe_cost_usd=ledger.spent(Purpose.PROBE),
        recall=passed / len(tests) if tests and answered else None,
        recall_passed=passed,
        recall_total=len(tests),
        recall_simulated=spec.provider is Provider.SIMULATOR,
        kept=sum(still_there(one) for one in survival.values()) if survival and stated else None,
        facts_total=len(stated),
        wait_ms=_waits(log.turns),
        ttft_ms=_first_texts(log.turns),
        compactions=sum(puts_a_summary_into_use(event.event, event.data) for event in log.events),
        marks=_marks(spec, status, completed, log),
        errors=_errors(log),
        turns=rows,
        probes=probes,
        series=spec.series,
        buckets=buckets,
        iterations=tuple(ledger.iterations),
        survival=survival,
        facts=stated,
        planned_probes=planned,
        usage_faults=tuple(fault for request in log.requests for fault in usage_faults(request)),
    )
    _check_sums(result)
    return result


def _state(log: AnyLog) -> tuple[Status, int]:
    """The present state, and how many turns have their final answer; the turns themselves know it sooner than the state."""
    finished = len({turn.turn for turn in log.turns})
    if not log.statuses:
        return (Status.RUNNING if log.requests else Status.QUEUED), finished
    return log.statuses[-1].status, max(finished, log.statuses[-1].turns_completed)


def _errors(log: AnyLog) -> tuple[str, ...]:
    """Every refusal, the reason of an early end and every violation of a replay's own rules, each once, in
    the order they came.
    """
    messages = [request.error_message or request.error_type for request in log.requests]
    if log.statuses and log.statuses[-1].status is not Status.DONE:
        messages.append(log.statuses[-1].message)
    for verdict in verdicts([log]):
        messages += [
            f"violation in request {one.request}, {one.rule}: {one.text}" for one in verdict.violations
        ]
    return tuple(dict.fromkeys(message for message in messages if message))


def _marks(spec: ReplaySpec, status: Status, completed: int, log: AnyLog) -> tuple[Mark, ...]:
    """What is odd about a replay: its threshold, and a brief that keeps growing."""
    fires = firing_events(spec.strategy)
    fired = {event.turn for event in log.events if event.event in fires}
    growing = (Mark.BRIEF_GROWING,) if any(one.event is EventKind.BRIEF_GROWING for one in log.events) else ()
    return (*threshold_marks(fires, status, completed, fired), *growing)


def _waits(turns: Sequence[TurnRecord]) -> Waits | None:
    waits = sorted(turn.wait_ms for turn in turns)
    if not waits:
        return None
    return Waits(
        p50=nearest_rank(waits, 0.50), p95=nearest_rank(waits, 0.95), max=waits[-1], total=math.fsum(waits)
    )


def _first_texts(turns: Sequence[TurnRecord]) -> Percentiles | None:
    times = sorted(turn.first_text_ms for turn in turns if turn.first_text_ms is not None)
    if not times:
        return None
    return Percentiles(p50=nearest_rank(times, 0.50), p95=nearest_rank(times, 0.95))


def _check_sums(result: ReplayResult) -> None:
    """Raise where totals, rows and purposes contradict each other."""
    if result.prompt_tokens is not None:
        parts = (result.input_tokens, result.cache_creation_input_tokens, result.cache_read_input_tokens)
        _must_equal(result, "the token buckets", sum(part or 0 for part in parts), result.prompt_tokens)
        rows = sum((row.prompt_tokens or 0) + (row.summary_tokens or 0) for row in result.turns)
        _must_equal(result, "the turns' and summaries' prompt tokens", rows, result.prompt_tokens)
        counted = sum(row.counted_tokens or 0 for row in result.turns)
        _must_equal(
            result,
            "the turns' uncached input and cache writes",
            counted,
            sum(part or 0 for part in parts[:2]),
        )
    if result.cost_usd is not None:
        purposes = result.cost_by_purpose_usd
        rows_cost = math.fsum(row.cost_usd or 0.0 for row in result.turns)
        _must_equal(result, "the turns' costs", rows_cost, (purposes.turn or 0.0) + (purposes.tool or 0.0))
        last = result.turns[-1].cumulative_cost_usd if result.turns else 0.0
        _must_equal(result, "the cost up to the last turn", last or 0.0, result.cost_usd)


def _must_equal(result: ReplayResult, what: str, found: float, expected: float) -> None:
    if not math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-12):
        raise SumError(
            f"{result.label}: {what} come to {found!r}, the total is {expected!r}; please report this"
        )

"""From columns of many replays to their outcomes, without a record in between.

It is the fast road beside :func:`memdash.metrics.outcome.outcome_of`: sweeps of thousands of replays are read this way. Every
rule is that of :mod:`memdash.metrics.measure`, whose modules give the reasons, and every number is the same to the last bit.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from memdash.collecting import uncollected
from memdash.metrics.marks import INTO_USE, firing_events, threshold_marks
from memdash.metrics.outcome import ProbeOutcome, ReplayOutcome, TurnColumns
from memdash.metrics.recall import facts_stated, planned_probes, still_there
from memdash.metrics.result import Mark
from memdash.metrics.waits import nearest_rank
from memdash.prices import Bills
from memdash.records import Control, EventKind, Purpose, Status, Survival
from memdash.replay_columns import (
    EVENT_KINDS,
    PURPOSES,
    Counts,
    EventColumns,
    ProbeRow,
    ReplayColumns,
    RequestColumns,
    State,
    WaitColumns,
)
from memdash.spec import Provider, ReplaySpec

_PROBE, _SUMMARY = PURPOSES.index(Purpose.PROBE), PURPOSES.index(Purpose.SUMMARY)
_VERDICT, _GROWING = EVENT_KINDS.index(EventKind.VERDICT), EVENT_KINDS.index(EventKind.BRIEF_GROWING)
_INTO_USE = [EVENT_KINDS.index(kind) for kind in sorted(INTO_USE)]


class ColumnPrices(Protocol):
    """What many requests cost in US dollars."""

    def bills(self, requests: RequestColumns) -> Bills:
        """Return the cost of each request, NaN where a price or a token count is not known."""


def outcomes_of(
    columns: ReplayColumns, specs: Iterable[ReplaySpec], prices: ColumnPrices
) -> tuple[ReplayOutcome, ...]:
    """Return the outcome of every replay that is in both, in the order of ``specs``.

    As with :func:`memdash.metrics.measure_all` the replays of a comparison belong together, since one of them asks the controls
    of the probes for the others: ``columns`` must hold them all for ``is_test`` to be right.
    """
    chosen = {spec.id: spec for spec in specs}
    places = {replay: place for place, replay in enumerate(columns.ids) if replay in chosen}
    by_place = {place: chosen[replay] for replay, place in places.items()}
    bills = prices.bills(columns.requests)
    tokens = _Tokens.of(columns.requests, len(columns.ids))
    costs = _costs(columns.requests, bills, tokens.counted, len(columns.ids))
    turns = _Turns.of(columns, bills, tokens)
    waits = _Waits.of(columns.turns, len(columns.ids))
    events = _Events.of(columns.events, len(columns.ids))
    probes = _Probes(columns.probes, by_place)
    survival: list[dict[str, Survival]] = [{} for _ in columns.ids]
    for row in columns.facts:
        survival[row.replay][row.fact] = row.survival
    scripts = _Scripts()
    thresholds = {name: firing_events(name) for name in {spec.strategy for spec in chosen.values()}}
    asked = np.bincount(columns.requests.replay, minlength=len(columns.ids)) > 0

    def outcome(spec: ReplaySpec) -> ReplayOutcome:
        place = places[spec.id]
        status, completed = _state(columns.states[place], bool(asked[place]), waits.finished[place])
        stated, planned = scripts.facts(spec), scripts.probes(spec)
        answers = probes.answers(place)
        fires = thresholds[spec.strategy]
        marks = threshold_marks(fires, status, completed, events.fired(place, fires))
        summaries = events.summaries(place)
        return ReplayOutcome(
            id=spec.id,
            script=spec.script.id,
            strategy=spec.strategy,
            params=dict(spec.params),
            label=spec.label,
            series=spec.series,
            model=spec.model,
            provider=str(spec.provider),
            cache=str(spec.cache),
            cache_marks=str(spec.cache_marks),
            repeat=spec.repeat,
            status=status,
            simulator_only=spec.relax_limits,
            turns_planned=spec.turns,
            turns_completed=completed,
            prompt_tokens=tokens.prompt[place],
            input_tokens=tokens.input[place],
            cache_creation_input_tokens=tokens.writes[place],
            cache_read_input_tokens=tokens.reads[place],
            output_tokens=tokens.output[place],
            cost_usd=costs[place],
            recall_passed=sum(one.passed for one in answers if one.is_test),
            recall_total=probes.tests(spec, planned, answers),
            recall_simulated=spec.provider is Provider.SIMULATOR,
            kept=sum(map(still_there, survival[place].values())) if survival[place] and stated else None,
            facts_total=len(stated),
            wait_p50_ms=waits.p50[place],
            wait_p95_ms=waits.p95[place],
            wait_total_ms=waits.total[place],
            compactions=len(summaries),
            marks=(*marks, Mark.BRIEF_GROWING) if events.growing[place] else marks,
            survival=survival[place],
            probes=answers,
            summary_turns=summaries,
            turns=turns.of_replay(place),
        )

    with uncollected():
        return tuple(outcome(spec) for spec in chosen.values() if spec.id in places)


def _state(state: State | None, asked: bool, finished: int) -> tuple[Status, int]:
    """The present state, and how many turns have their final answer; the turns themselves know it sooner than the state."""
    if state is None:
        return (Status.RUNNING if asked else Status.QUEUED), finished
    return state.status, max(finished, state.turns_completed)


# -- adding up by replay -------------------------------------------------------------------------------------------------


def _bounds(replay: NDArray[np.int64], replays: int) -> NDArray[np.int64]:
    """Where the rows of each replay begin, and one more for the end of the last; rows are in the order of replays."""
    return np.searchsorted(replay, np.arange(replays + 1)).astype(np.int64)


def _sums(values: NDArray[Any], bounds: NDArray[np.int64]) -> NDArray[np.int64]:
    """The sum of whole numbers between each two bounds; 0 where there are none."""
    upto = np.concatenate([np.zeros(1, np.int64), np.cumsum(values, dtype=np.int64)])
    sums: NDArray[np.int64] = upto[bounds[1:]] - upto[bounds[:-1]]
    return sums


def _slices(values: NDArray[Any], bounds: NDArray[np.int64]) -> Iterator[list[Any]]:
    every, ends = values.tolist(), bounds.tolist()
    return (every[start:end] for start, end in pairwise(ends))


def _known(values: NDArray[np.int64], known: NDArray[np.bool_]) -> list[int | None]:
    return [value if one else None for value, one in zip(values.tolist(), known.tolist(), strict=True)]


class _Tokens(NamedTuple):
    """The token buckets of every replay, by the rules of :class:`memdash.metrics.result.Buckets`.

    ``counted`` says of each request whether it is part of a replay's totals: it is no probe, and was not refused. ``billed`` says
    the same of each usage.
    """

    counted: NDArray[np.bool_]
    billed: NDArray[np.bool_]
    prompt: list[int | None]
    input: list[int | None]
    writes: list[int | None]
    reads: list[int | None]
    output: list[int | None]

    @classmethod
    def of(cls, requests: RequestColumns, replays: int) -> _Tokens:
        usages = requests.usages
        refused = requests.failed & ~requests.split
        refused[usages.request[usages.input_tokens.reported]] = False
        counted = (requests.purpose != _PROBE) & ~refused
        billed = counted[usages.request]
        bounds = _bounds(requests.replay[usages.request[billed]], replays)

        def added(bucket: Counts) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
            """The sums, and how many are reported."""
            return _sums(bucket.value[billed], bounds), _sums(bucket.reported[billed], bounds)

        every = np.diff(bounds)
        fresh, fresh_known = added(usages.input_tokens)
        writes, writes_known = added(usages.cache_creation_input_tokens)
        reads, reads_known = added(usages.cache_read_input_tokens)
        output, output_known = added(usages.output_tokens)
        return cls(
            counted=counted,
            billed=billed,
            prompt=_known(fresh + writes + reads, fresh_known == every),
            input=_known(fresh, fresh_known == every),
            writes=_known(writes, writes_known > 0),
            reads=_known(reads, reads_known > 0),
            output=_known(output, output_known == every),
        )


def _costs(
    requests: RequestColumns, bills: Bills, counted: NDArray[np.bool_], replays: int
) -> list[float | None]:
    """What each replay cost: the sum of what each purpose cost, as a ledger adds it up."""
    inside = counted & (bills.summary != 0)  # NaN too, whose own part is NaN as well
    replay = np.concatenate([requests.replay[counted], requests.replay[inside]])
    purpose = np.concatenate([requests.purpose[counted], np.full(int(inside.sum()), _SUMMARY)])
    cost = np.concatenate([bills.own[counted], bills.summary[inside]])
    accounts = replay * len(PURPOSES) + purpose
    order = np.argsort(accounts, kind="stable")
    bounds = _bounds(accounts[order], replays * len(PURPOSES))
    by_purpose = [math.fsum(some) for some in _slices(cost[order], bounds)]
    totals = (
        math.fsum(by_purpose[start : start + len(PURPOSES)])
        for start in range(0, len(by_purpose), len(PURPOSES))
    )
    return [None if math.isnan(total) else total for total in totals]


# -- turns ---------------------------------------------------------------------------------------------------------------


class _Turns(NamedTuple):
    """Every turn that anything is known of, in the order of replays."""

    bounds: list[int]
    columns: TurnColumns

    def of_replay(self, place: int) -> TurnColumns:
        part = slice(self.bounds[place], self.bounds[place + 1])
        turn, cost, counted, output = self.columns
        return TurnColumns(turn[part], cost[part], counted[part], output[part])

    @classmethod
    def of(cls, columns: ReplayColumns, bills: Bills, tokens: _Tokens) -> _Turns:
        requests, usages, events = columns.requests, columns.requests.usages, columns.events
        asked = requests.purpose != _PROBE
        happened = events.kind != _VERDICT  # that is of the replay as a whole, not of a turn
        step = 1 + max(int(one.turn.max(initial=0)) for one in (requests, columns.turns, events))
        keys = requests.replay * step + requests.turn
        rows = np.unique(
            np.concatenate(
                [
                    keys[asked],
                    columns.turns.replay * step + columns.turns.turn,
                    (events.replay * step + events.turn)[happened],
                ]
            )
        )
        row = np.searchsorted(rows, keys)

        def added(chosen: NDArray[np.bool_], values: NDArray[Any]) -> NDArray[np.float64]:
            return _by_turn(row[chosen], values[chosen], len(rows))

        summaries = requests.purpose == _SUMMARY
        own = added(tokens.counted & ~summaries, bills.own)
        for_summaries = added(tokens.counted, np.where(summaries, bills.own, bills.summary))
        of_usage = row[usages.request]
        answers = tokens.billed & ~usages.compaction & ~summaries[usages.request]

        def tokens_of(chosen: NDArray[np.bool_], bucket: Counts) -> NDArray[np.float64]:
            """Sums by turn, NaN where a part is not reported."""
            values = np.where(bucket.reported, bucket.value.astype(float), np.nan)
            return _by_turn(of_usage[chosen], values[chosen], len(rows))

        written = usages.cache_creation_input_tokens.value[tokens.billed]
        counted = tokens_of(tokens.billed, usages.input_tokens) + _by_turn(
            of_usage[tokens.billed], written, len(rows)
        )
        answered = np.bincount(of_usage[answers], minlength=len(rows)) > 0
        return cls(
            bounds=np.searchsorted(rows, np.arange(len(columns.ids) + 1) * step).tolist(),
            columns=TurnColumns(
                turn=rows % step,
                cost_usd=own + for_summaries,
                counted_tokens=counted,
                output_tokens=np.where(answered, tokens_of(answers, usages.output_tokens), np.nan),
            ),
        )


def _by_turn(row: NDArray[np.int64], values: NDArray[Any], rows: int) -> NDArray[np.float64]:
    """Sums by turn, added up in the order given, as the ledger does it."""
    return np.bincount(row, values.astype(float), rows).astype(float)


class _Waits(NamedTuple):
    """How many turns of each replay are finished, and what the user waited for in them."""

    finished: list[int]
    p50: list[float | None]
    p95: list[float | None]
    total: list[float | None]

    @classmethod
    def of(cls, turns: WaitColumns, replays: int) -> _Waits:
        finished = [len(set(some)) for some in _slices(turns.turn, _bounds(turns.replay, replays))]
        waits = [sorted(some) for some in _slices(turns.wait_ms, _bounds(turns.replay, replays))]
        return cls(
            finished=finished,
            p50=[nearest_rank(some, 0.50) if some else None for some in waits],
            p95=[nearest_rank(some, 0.95) if some else None for some in waits],
            total=[math.fsum(some) if some else None for some in waits],
        )


# -- events and probes ---------------------------------------------------------------------------------------------------


class _Events(NamedTuple):
    """The events of each replay that its outcome speaks of."""

    turn: list[int]
    kind: list[int]
    used: list[bool]
    bounds: list[int]
    growing: NDArray[np.bool_]

    @classmethod
    def of(cls, events: EventColumns, replays: int) -> _Events:
        bounds = _bounds(events.replay, replays)
        return cls(
            events.turn.tolist(),
            events.kind.tolist(),
            (np.isin(events.kind, _INTO_USE) & events.used).tolist(),
            bounds.tolist(),
            _sums(events.kind == _GROWING, bounds) > 0,
        )

    def summaries(self, place: int) -> tuple[int, ...]:
        """The turns in which a summary was put into use, once for each, in their order."""
        part = slice(self.bounds[place], self.bounds[place + 1])
        return tuple(
            sorted(turn for turn, used in zip(self.turn[part], self.used[part], strict=True) if used)
        )

    def fired(self, place: int, kinds: Set[EventKind]) -> set[int]:
        """The turns with an event of one of these kinds."""
        part = slice(self.bounds[place], self.bounds[place + 1])
        events = zip(self.turn[part], self.kind[part], strict=True)
        return {turn for turn, kind in events if EVENT_KINDS[kind] in kinds}


class _Point(NamedTuple):
    """The controls of one script, model and repeat hold for every strategy."""

    script: str
    model: str
    repeat: int


class _Probes:
    """The questions asked of every strategy's memory, and which of them are no tests by their controls."""

    def __init__(self, rows: Sequence[ProbeRow], specs: Mapping[int, ReplaySpec]) -> None:
        self._no_tests: dict[_Point, set[tuple[str, int]]] = defaultdict(set)
        self._asked: dict[int, list[ProbeRow]] = defaultdict(list)
        self._specs = specs
        for row in rows:
            if row.control is Control.MEMORY:
                self._asked[row.replay].append(row)
            elif row.replay in specs and row.passed is (row.control is Control.EMPTY):
                self._no_tests[_point(specs[row.replay])].add((row.fact, row.asked_after))

    def answers(self, place: int) -> tuple[ProbeOutcome, ...]:
        """The answers of a replay; where a question was asked twice, the latest counts."""
        no_tests = self._no_tests.get(_point(self._specs[place]), set())
        return tuple(
            {
                (row.fact, row.asked_after): ProbeOutcome(
                    row.fact,
                    row.asked_after,
                    row.passed,
                    row.stale,
                    row.visible,
                    (row.fact, row.asked_after) not in no_tests,
                )
                for row in self._asked.get(place, ())
            }.values()
        )

    def tests(self, spec: ReplaySpec, planned: Set[tuple[str, int]], answers: Sequence[ProbeOutcome]) -> int:
        """How many probes count: those planned and those asked that are tests."""
        no_tests = self._no_tests.get(_point(spec), set())
        asked = {(one.fact, one.asked_after) for one in answers}
        return len((planned | asked) - no_tests)


def _point(spec: ReplaySpec) -> _Point:
    return _Point(spec.script.id, spec.model, spec.repeat)


class _Scripts:
    """What follows from a script and a number of turns, worked out once for all replays of them."""

    def __init__(self) -> None:
        self._facts: dict[tuple[int, int], tuple[str, ...]] = {}
        self._probes: dict[tuple[int, int], Set[tuple[str, int]]] = {}

    def facts(self, spec: ReplaySpec) -> tuple[str, ...]:
        key = id(spec.script), spec.turns
        if key not in self._facts:
            self._facts[key] = facts_stated(spec.script, spec.turns)
        return self._facts[key]

    def probes(self, spec: ReplaySpec) -> Set[tuple[str, int]]:
        key = id(spec.script), spec.turns
        if key not in self._probes:
            self._probes[key] = frozenset(planned_probes(spec.script, spec.turns))
        return self._probes[key]

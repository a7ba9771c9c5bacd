"""How far each replay of a comparison is, counted as its records come in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self, TypeVar

from memdash.prices import PriceTable
from memdash.records import Purpose, Record, RequestRecord, Status, StatusRecord, TurnRecord
from memdash.replay_log import ReplayLog
from memdash.spec import ReplaySpec

if TYPE_CHECKING:
    from memdash.metrics.outcome import ReplayOutcome

N = TypeVar("N", int, float)


@dataclass(frozen=True, slots=True)
class ReplayProgress:
    """Where one replay stands. ``turn`` counts finished turns; tokens and dollars leave probes out.

    ``prompt_tokens`` and ``cost_usd`` are None where a server does not report them or a price is not known.
    """

    replay_id: str
    label: str
    status: Status
    turn: int
    turns: int
    prompt_tokens: int | None
    cost_usd: float | None
    message: str | None = None


@dataclass(frozen=True, slots=True)
class RunProgress:
    """Where the replays of a comparison stand together; ``over`` are those that have ended. See :class:`ReplayProgress`.

    ``rounds`` are those of a sweep's refinement so far; ``refining`` says that the next one is being worked out.
    """

    replays: int
    over: int
    turn: int
    turns: int
    prompt_tokens: int | None
    cost_usd: float | None
    rounds: int = 0
    refining: bool = False


def add_up(replays: Iterable[ReplayProgress]) -> RunProgress:
    """Add up where replays stand; tokens and dollars are None where they are not known of one of them."""
    count = over = turn = turns = 0
    tokens: int | None = 0
    dollars: float | None = 0.0
    for one in replays:
        count += 1
        over += one.status.over
        turn += one.turn
        turns += one.turns
        tokens = _plus(tokens, one.prompt_tokens)
        dollars = _plus(dollars, one.cost_usd)
    return RunProgress(count, over, turn, turns, tokens, dollars)


def add_up_outcomes(outcomes: Iterable[ReplayOutcome]) -> RunProgress:
    """Add up replays by what is stored of them."""
    return add_up(
        ReplayProgress(
            one.id,
            one.label,
            one.status,
            one.turns_completed,
            one.turns_planned,
            one.prompt_tokens,
            one.cost_usd,
        )
        for one in outcomes
    )


class Amount:
    """Requests added up; tokens and dollars are None once one is among them that does not report them or has no price."""

    def __init__(self) -> None:
        self.requests = 0
        self.prompt_tokens: int | None = 0
        self.output_tokens: int | None = 0
        self.cost_usd: float | None = 0.0

    def add(self, request: RequestRecord, prices: PriceTable) -> None:
        """Take in one request; where it has iterations, they say all that was used."""
        self.requests += 1
        self.cost_usd = _plus(self.cost_usd, prices.request_cost(request))
        if request.error_type is None:
            for usage in [one.usage for one in request.iterations] or [request.usage]:
                self.prompt_tokens = _plus(self.prompt_tokens, usage.prompt_tokens)
                self.output_tokens = _plus(self.output_tokens, usage.output_tokens)


class Tally:
    """Adds up the records of one replay while it runs; probes apart."""

    def __init__(self, spec: ReplaySpec, prices: PriceTable) -> None:
        self.spec = spec
        self.status = Status.QUEUED
        self.message: str | None = None
        self.turn = 0
        self.own = Amount()
        self.probes = Amount()
        self._prices = prices

    @classmethod
    def of(cls, log: ReplayLog, prices: PriceTable) -> Self:
        """Add up what is stored of a replay."""
        tally = cls(log.spec, prices)
        records: list[Record] = [*log.requests, *log.turns, *log.statuses]
        for record in records:
            tally.add(record)
        return tally

    def add(self, record: Record) -> None:
        """Take in one record."""
        if isinstance(record, TurnRecord):
            self.turn = record.turn
        elif isinstance(record, StatusRecord):
            self.status, self.message = record.status, record.message
        elif isinstance(record, RequestRecord):
            (self.probes if record.purpose is Purpose.PROBE else self.own).add(record, self._prices)

    def progress(self) -> ReplayProgress:
        """Return where the replay stands now."""
        return ReplayProgress(
            self.spec.id,
            self.spec.label,
            self.status,
            self.turn,
            self.spec.turns,
            self.own.prompt_tokens,
            self.own.cost_usd,
            self.message,
        )


def _plus(total: N | None, more: N | None) -> N | None:
    return None if total is None or more is None else total + more

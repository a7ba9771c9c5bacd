"""The requests of a replay, sorted into turns and purposes while their costs are added up."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from memdash.metrics.pricing import Prices
from memdash.metrics.result import Buckets, EventResult, IterationResult, TurnResult
from memdash.metrics.tokens import COMPACTION, compactions_of, own_usages, refused, total
from memdash.records import EventKind, MissReason, Purpose, Usage
from memdash.replay_log import AnyLog, AnyRequest

_NOTHING = total(())
"""The sums of no requests."""


@dataclass(slots=True)
class Page:
    """What is known of one turn: the usages and the cost of its own requests, and those of summaries made in it.

    ``own`` are turn and tool requests; ``summaries`` are summary requests and the compactions that the API made inside answers,
    which its top-level usage leaves out (Messages API, ``usage.iterations``). A cost is None once one part of it is not known.
    """

    own: tuple[Usage, ...] = ()
    summaries: tuple[Usage, ...] = ()
    cost: float | None = 0.0
    summary_cost: float | None = 0.0
    miss: MissReason | None = None


class Ledger:
    """All requests of a replay, entered once. A refused request counts as a request, and for nothing else."""

    def __init__(self) -> None:
        self.requests = 0
        self.probe_requests = 0
        self.pages: dict[int, Page] = defaultdict(Page)
        self.iterations: list[IterationResult] = []
        self._costs: dict[Purpose, list[float]] = {purpose: [] for purpose in Purpose}
        self._unknown: set[Purpose] = set()

    @classmethod
    def of(cls, requests: Iterable[AnyRequest], prices: Prices) -> Ledger:
        """Enter every request."""
        ledger = cls()
        for request in requests:
            ledger.enter(request, prices)
        return ledger

    def spent(self, purpose: Purpose) -> float | None:
        """What the requests of a purpose cost; 0 where there were none, None where a cost is not known."""
        return None if purpose in self._unknown else math.fsum(self._costs[purpose])

    def usages(self) -> Iterator[Usage]:
        """Every usage that production would pay for."""
        for page in self.pages.values():
            yield from page.own
            yield from page.summaries

    def enter(self, request: AnyRequest, prices: Prices) -> None:
        """Enter one request under its turn and purpose."""
        purpose = request.purpose
        if purpose is Purpose.PROBE:
            self.probe_requests += 1
            if not refused(request):
                shares = prices.cost_by_purpose(request)
                self._pay(purpose, None if shares is None else math.fsum(shares.values()))
            return
        self.requests += 1
        page = self.pages[request.turn]  # a turn that was refused has a row too
        if refused(request):
            return
        shares = prices.cost_by_purpose(request)
        cost = None if shares is None else shares.get(purpose, 0.0)
        self._pay(purpose, cost)
        if request.iterations:
            self._enter_iterations(request, page, shares)
        if purpose is Purpose.SUMMARY:
            page.summaries += own_usages(request)
            page.summary_cost = _plus(page.summary_cost, cost)
            return
        page.own += own_usages(request)
        page.cost = _plus(page.cost, cost)
        page.miss = page.miss or request.miss_reason

    def _enter_iterations(
        self, request: AnyRequest, page: Page, shares: Mapping[Purpose, float] | None
    ) -> None:
        compactions = compactions_of(request)
        page.summaries += compactions
        inside = None if shares is None else shares.get(Purpose.SUMMARY, 0.0)
        if (
            compactions and request.purpose is not Purpose.SUMMARY
        ):  # a summary request's cost holds them already
            self._pay(Purpose.SUMMARY, inside)
            page.summary_cost = _plus(page.summary_cost, inside)
        # The price table prices a request's compactions together; with several, no one of them has a price of its own.
        single = inside if len(compactions) == 1 else None
        for one in request.iterations:
            self.iterations.append(
                IterationResult(
                    turn=request.turn,
                    request=request.number,
                    type=one.type,
                    model=one.model or request.model,
                    prompt_tokens=one.usage.prompt_tokens,
                    output_tokens=one.usage.output_tokens,
                    cost_usd=single if one.type == COMPACTION else None,
                )
            )

    def _pay(self, purpose: Purpose, cost: float | None) -> None:
        if cost is None:
            self._unknown.add(purpose)
        else:
            self._costs[purpose].append(cost)


def turn_rows(log: AnyLog, ledger: Ledger) -> tuple[TurnResult, ...]:
    """Return one row for every turn that anything is known of."""
    waits = {turn.turn: turn.wait_ms for turn in log.turns}
    events: dict[int, list[EventResult]] = defaultdict(list)
    for event in log.events:
        if event.event is not EventKind.VERDICT:  # of the replay as a whole, not of a turn
            events[event.turn].append(EventResult(event.event, event.data))
    rows = []
    so_far: float | None = 0.0
    blank = Page()
    for number in sorted({*ledger.pages, *waits, *events}):
        page = ledger.pages.get(number, blank)
        so_far = _plus(_plus(so_far, page.cost), page.summary_cost)
        # Most turns are one request: no sum is needed.
        sums = page.own[0] if len(page.own) == 1 else total(page.own) if page.own else Usage()
        summaries = total(page.summaries) if page.summaries else _NOTHING
        rows.append(
            TurnResult(  # by place: by name it takes twice as long, and a page makes 12,000 of them
                number,
                sums.prompt_tokens,
                sums.cache_read_input_tokens,
                sums.cache_creation_input_tokens,
                sums.input_tokens,
                sums.output_tokens,
                page.cost,
                waits.get(number),
                page.miss,
                tuple(events[number]) if number in events else (),
                so_far,
                page.summary_cost,
                summaries.prompt_tokens,
                _counted(sums if page.own else _NOTHING, summaries),
            )
        )
    return tuple(rows)


def _counted(own: Usage | Buckets, summaries: Buckets) -> int | None:
    """What a rate limit counts; a cache bucket that is left out wrote nothing, input that is left out is not known."""
    if own.input_tokens is None or summaries.input_tokens is None:
        return None
    writes = (own.cache_creation_input_tokens or 0) + (summaries.cache_creation_input_tokens or 0)
    return own.input_tokens + summaries.input_tokens + writes


def added(parts: Iterable[float | None]) -> float | None:
    """Return the sum, None where any part is not known."""
    known = list(parts)
    return (
        None if any(part is None for part in known) else math.fsum(part for part in known if part is not None)
    )


def _plus(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other

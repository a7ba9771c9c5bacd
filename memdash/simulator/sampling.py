"""The iterations of one answer: each one a prompt read, billed and timed, one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from memdash.simulator.cache import Bill, PlacedMark, PromptCache
from memdash.simulator.latency import Pace, first_event_ms

MESSAGE = "message"
COMPACTION = "compaction"

NOTHING = Bill(0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Iteration:
    """One iteration: its bill and its output, and its times in milliseconds from the start of the request."""

    kind: str
    bill: Bill
    output_tokens: int
    thinking_tokens: int
    first_event_ms: float
    first_text_ms: float
    end_ms: float

    def usage(self) -> dict[str, Any]:
        """Return its entry in ``usage.iterations``."""
        return {"type": self.kind, **prompt_usage(self.bill), "output_tokens": self.output_tokens}


class Sampling:
    """Runs iterations against a cache.

    ``now_ms`` is when the request began, ``factor`` multiplies all latency. Where ``stores`` is off, nothing is
    written or refreshed.
    """

    def __init__(self, cache: PromptCache, pace: Pace, factor: float, now_ms: float) -> None:
        self.iterations: list[Iteration] = []
        self._cache = cache
        self._pace = pace
        self._factor = factor
        self._now_ms = now_ms
        self.stores = True

    def run(
        self,
        kind: str,
        marks: list[PlacedMark],
        total: int,
        output_tokens: int,
        thinking_tokens: int = 0,
        *,
        began_ms: float | None = None,
    ) -> Iteration:
        """Read a prompt of ``total`` tokens and write so many; ``began_ms`` is when the response really began, on the
        caller's clock, where that is known.
        """
        start = self.iterations[-1].end_ms if self.iterations else 0.0
        lookup = self._cache.look(marks, total, self._now_ms + start)
        first_event = start + first_event_ms(self._pace, lookup.bill) * self._factor
        per_token = self._pace.per_output_token * self._factor
        iteration = Iteration(
            kind=kind,
            bill=lookup.bill,
            output_tokens=output_tokens,
            thinking_tokens=thinking_tokens,
            first_event_ms=first_event,
            first_text_ms=first_event + per_token * (thinking_tokens + 1),
            end_ms=first_event + per_token * output_tokens,
        )
        if self.stores:
            ready = self._now_ms + first_event if began_ms is None else began_ms
            self._cache.store(lookup, self._now_ms + start, ready)
        self.iterations.append(iteration)
        return iteration


def prompt_usage(bill: Bill) -> dict[str, Any]:
    """Return the usage fields of a prompt."""
    return {
        "input_tokens": bill.plain,
        "cache_creation_input_tokens": bill.written,
        "cache_read_input_tokens": bill.read,
        "cache_creation": {
            "ephemeral_5m_input_tokens": bill.write_5m,
            "ephemeral_1h_input_tokens": bill.write_1h,
        },
    }

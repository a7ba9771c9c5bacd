"""The two clocks: real time for live replays, a virtual one that costs no time for simulated ones.

All times are milliseconds. Only differences mean anything to the simulator; a live replay's times are epoch
milliseconds.
"""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """What a replay asks of time: to read it and to let it pass."""

    def now_ms(self) -> float:
        """Return the present time; it never goes back."""
        ...

    def sleep_until(self, at_ms: float) -> None:
        """Let time pass until ``at_ms``; return at once where that is past."""
        ...

    def advance(self, by_ms: float) -> None:
        """Let ``by_ms`` pass; nothing or less returns at once."""
        ...


class RealClock:
    """Epoch milliseconds that a change of the system's clock cannot turn back."""

    def __init__(self) -> None:
        self._offset_s = time.time() - time.monotonic()

    def now_ms(self) -> float:
        """Return the milliseconds since the epoch, as of when this clock was made plus what has passed
        since."""
        return (self._offset_s + time.monotonic()) * 1000.0

    def sleep_until(self, at_ms: float) -> None:
        """Block the calling thread until ``at_ms``."""
        self.advance(at_ms - self.now_ms())

    def advance(self, by_ms: float) -> None:
        """Block the calling thread for ``by_ms``."""
        if by_ms > 0:
            time.sleep(by_ms / 1000.0)


class VirtualClock:
    """A clock that stands still until someone moves it: waits, lifetimes and pauses are exact and take no
    real time.

    It belongs to one thread.
    """

    def __init__(self, start_ms: float = 0.0) -> None:
        self._now_ms = start_ms

    def now_ms(self) -> float:
        """Return where the clock stands."""
        return self._now_ms

    def sleep_until(self, at_ms: float) -> None:
        """Put the clock forward to ``at_ms``."""
        self._now_ms = max(self._now_ms, at_ms)

    def advance(self, by_ms: float) -> None:
        """Put the clock forward by ``by_ms``."""
        self.sleep_until(self._now_ms + by_ms)

    def fork(self) -> VirtualClock:
        """Return a clock of its own that starts where this one stands."""
        return VirtualClock(self._now_ms)

"""Time as a replay counts it: milliseconds from its start, on whichever clock it runs."""

from __future__ import annotations

from memdash.clock import Clock, VirtualClock


class Timeline:
    """The replay's own time on a real or a virtual clock.

    While recorded answers are gone through again, time is taken from the records: a virtual clock is put forward, a real
    one is left alone and its reading shifted.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._origin = clock.now_ms()

    def now(self) -> float:
        """Return the time since the replay's start."""
        return self._clock.now_ms() - self._origin

    def since_start(self, clock_ms: float) -> float:
        """Turn a time of the clock into one of the replay."""
        return clock_ms - self._origin

    def on_clock(self, at: float) -> float:
        """Turn a time of the replay into one of the clock."""
        return at + self._origin

    def wait_until(self, at: float) -> None:
        """Let time pass until ``at``."""
        self._clock.sleep_until(self.on_clock(at))

    def jump_to(self, at: float) -> None:
        """Be at ``at`` without waiting; going back is only possible on a real clock's readings."""
        if isinstance(self._clock, VirtualClock):
            self._clock.sleep_until(self.on_clock(at))
        else:
            self._origin = self._clock.now_ms() - at

"""What a comparison will take, found out by rehearsing it in the simulator: nothing is stored and nothing is sent."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from threading import Condition
from time import monotonic

from memdash import codec
from memdash.children import Children, Outcome, Task
from memdash.prices import PriceTable
from memdash.progress import Tally
from memdash.records import Record, Status, from_line
from memdash.spec import ComparisonSpec, Provider, ReplaySpec

_FORGOTTEN_SECONDS = 5.0
"""A rehearsal that nobody has asked for in this time is given up when another is wanted."""
_ASKING_SECONDS = 1.0
_KEPT = 32


@dataclass(frozen=True, slots=True)
class ReplayEstimate:
    """What one replay, all its repeats together, will take. Dollars are None where a price is not known.

    ``cost_usd`` is what production would pay (turn, tool and summary requests); probes are apart. ``problem`` says why the
    rehearsal stopped early, if it did.
    """

    label: str
    requests: int
    prompt_tokens: int
    output_tokens: int
    cost_usd: float | None
    probe_cost_usd: float | None
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a comparison will take, replay by replay and in all. Probes count in ``total_usd`` only among the dollars."""

    replays: tuple[ReplayEstimate, ...]

    @property
    def requests(self) -> int:
        """Requests of every purpose."""
        return sum(one.requests for one in self.replays)

    @property
    def prompt_tokens(self) -> int:
        """Prompt tokens of every request."""
        return sum(one.prompt_tokens for one in self.replays)

    @property
    def output_tokens(self) -> int:
        """Output tokens of every request."""
        return sum(one.output_tokens for one in self.replays)

    @property
    def cost_usd(self) -> float | None:
        """Dollars without probes."""
        return _sum([one.cost_usd for one in self.replays])

    @property
    def total_usd(self) -> float | None:
        """Dollars with probes: what a live run would be charged."""
        return _sum([self.cost_usd, *(one.probe_cost_usd for one in self.replays)])


class Estimator:
    """Rehearses comparisons in the worker's children, the latest that was asked for first; results are kept by content.

    A page asks again and again until there is an answer; what is no longer asked for (its form has changed) is given up, so
    typing into a form piles up nothing.
    """

    def __init__(self, children: Children, prices: PriceTable) -> None:
        self._children = children
        self._prices = prices
        self._changed = Condition()
        self._rehearsals: dict[str, _Rehearsal] = {}

    def estimate(self, spec: ComparisonSpec) -> Estimate | None:
        """Return the estimate for ``spec``, None while it is being worked out; asks for it where nobody has."""
        rehearsed = _rehearsed(spec)
        key = f"{spec.repeats} × {_key(rehearsed)}"  # played once, but counted as often as it repeats
        with self._changed:
            if key in self._rehearsals:
                return self._rehearsals[key].ask()
        replays = rehearsed.replays()
        with self._changed:
            if key in self._rehearsals:
                return self._rehearsals[key].ask()
            forgotten = self._forget()
            rehearsal = self._rehearsals[key] = _Rehearsal(spec.repeats, len(replays))
            rehearsal.tasks = [self._task(key, rehearsal, replay) for replay in replays]
        for task in forgotten:
            self._children.cancel(task)
        self._children.submit(rehearsal.tasks, first=True)
        return None

    def wait(self, spec: ComparisonSpec) -> Estimate:
        """Return the estimate for ``spec`` once it is there."""
        while (estimate := self.estimate(spec)) is None:
            with self._changed:
                self._changed.wait(timeout=_ASKING_SECONDS)
        return estimate

    def _forget(self) -> list[Task]:
        """Drop rehearsals that are no longer asked for, and the oldest results; returns the tasks to cancel."""
        now = monotonic()
        tasks: list[Task] = []
        for key, one in list(self._rehearsals.items()):
            if one.estimate is None and now - one.asked_at > _FORGOTTEN_SECONDS:
                del self._rehearsals[key]
                tasks += one.tasks
        finished = [key for key, one in self._rehearsals.items() if one.estimate is not None]
        for key in finished[: max(0, len(finished) - _KEPT)]:
            del self._rehearsals[key]
        return tasks

    def _task(self, key: str, rehearsal: _Rehearsal, spec: ReplaySpec) -> Task:
        tally = Tally(spec, self._prices)

        def take(lines: Sequence[bytes]) -> None:
            for line in lines:
                tally.add(from_line(line))

        def end(outcome: Outcome, error: str | None) -> None:
            with self._changed:
                if outcome is Outcome.CANCELLED:
                    if self._rehearsals.get(key) is rehearsal:
                        del self._rehearsals[key]
                    return
                rehearsal.ended[spec.id] = _read(tally, rehearsal.repeats, error)
                if len(rehearsal.ended) == rehearsal.expected:
                    ordered = sorted(rehearsal.ended.items())
                    rehearsal.estimate = Estimate(tuple(one for _id, one in ordered))
                self._changed.notify_all()

        return Task(spec, _from_the_start, take, end)


class _Rehearsal:
    """One comparison being rehearsed, and its estimate once every replay has ended."""

    def __init__(self, repeats: int, expected: int) -> None:
        self.repeats = repeats
        self.expected = expected
        self.asked_at = monotonic()
        self.tasks: list[Task] = []
        self.ended: dict[str, ReplayEstimate] = {}
        self.estimate: Estimate | None = None

    def ask(self) -> Estimate | None:
        """Say that someone still wants it, and return it if it is there."""
        self.asked_at = monotonic()
        return self.estimate


def _rehearsed(spec: ComparisonSpec) -> ComparisonSpec:
    """The same comparison as the simulator plays it once, at the pace it would have."""
    pace = spec.pace
    if pace is None and spec.provider is Provider.ANTHROPIC:
        pace = 0.0
    return replace(
        spec, id="rehearsal", title="", provider=Provider.SIMULATOR, repeats=1, budget=None, pace=pace
    )


def _read(tally: Tally, repeats: int, error: str | None) -> ReplayEstimate:
    own, probes = tally.own, tally.probes
    return ReplayEstimate(
        tally.spec.label,
        repeats * (own.requests + probes.requests),
        repeats * ((own.prompt_tokens or 0) + (probes.prompt_tokens or 0)),
        repeats * ((own.output_tokens or 0) + (probes.output_tokens or 0)),
        _times(repeats, own.cost_usd),
        _times(repeats, probes.cost_usd),
        error or (tally.message if tally.status is not Status.DONE else None),
    )


def _key(spec: ComparisonSpec) -> str:
    scripts = [codec.dump_script(script).hash for script in spec.scripts]
    return hashlib.sha256(repr((codec.dump_settings(spec), scripts)).encode()).hexdigest()


def _from_the_start() -> list[Record]:
    return []


def _sum(dollars: Sequence[float | None]) -> float | None:
    known = [one for one in dollars if one is not None]
    return sum(known) if len(known) == len(dollars) else None


def _times(repeats: int, dollars: float | None) -> float | None:
    return None if dollars is None else repeats * dollars

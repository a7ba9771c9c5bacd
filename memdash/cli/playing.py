"""Playing a comparison from the terminal: what it will take, how far it is, and Ctrl-C."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event
from typing import TYPE_CHECKING

from memdash import numbers
from memdash.cli.output import complain
from memdash.cli.progress import progress
from memdash.models import facts
from memdash.spec import ComparisonSpec
from memdash.tables.lines import one_line

if TYPE_CHECKING:
    from memdash.worker import Worker

_POLL_SECONDS = 0.1
_CALM_POLL_SECONDS = 0.5
"""How often thousands of replays are looked at: counting them takes time that they could use."""
_CANCEL_SECONDS = 15.0
"""How long an interrupted run waits for requests under way, whose answers are kept."""


def announce(spec: ComparisonSpec, worker: Worker) -> None:
    """Say what a live run will take before it starts."""
    limit = "no limit" if spec.budget is None else f"budget {numbers.usd(spec.budget)}"
    unknown = [model for model in spec.models if facts(model) is None]
    if unknown:
        complain(f"no estimate: the simulator does not know {', '.join(unknown)}; {limit}")
        return
    estimate = worker.estimate_now(spec)
    complain(
        f"estimate, rehearsed in the simulator: {numbers.count(estimate.requests, 'request')}, "
        f"{numbers.tokens(estimate.prompt_tokens)} prompt tokens, {numbers.usd(estimate.total_usd)} with probes; {limit}"
    )
    for one in estimate.replays:
        if one.problem:
            complain(f"estimate: {one.label} would end early: {one_line(one.problem)}")


def watch(worker: Worker, comparison: str, *, quiet: bool, together: bool = False) -> bool:
    """Show the progress of a run to its end; returns whether the user interrupted it. What was measured is kept.

    With ``together`` the replays are counted, not named.
    """
    shown = None if quiet else progress(together=together)
    pause = _CALM_POLL_SECONDS if together else _POLL_SECONDS
    with _ctrl_c() as interrupted:
        while not (interrupted.is_set() or worker.wait(comparison, pause)):
            if shown:
                shown.show(worker, comparison)
        if interrupted.is_set():
            worker.cancel(comparison)
            worker.wait(comparison, _CANCEL_SECONDS)
        elif shown:
            shown.show(worker, comparison)
    if shown:
        shown.end()
    return interrupted.is_set()


@contextmanager
def _ctrl_c() -> Iterator[Event]:
    """Turn the first Ctrl-C into an event; a second one interrupts as ever.

    As an exception it would be raised wherever the program happens to be, which may be in a place that swallows it.
    """
    interrupted = Event()
    before = signal.getsignal(signal.SIGINT)

    def note(*_: object) -> None:
        interrupted.set()
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, note)
    try:
        yield interrupted
    finally:
        signal.signal(signal.SIGINT, before)

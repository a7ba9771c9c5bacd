"""How long a reply would take: a model of latency, not a measurement.

The figures are chosen so that the shape is right (a long uncached prompt delays the first token by seconds, a
cached one hardly; output is slower than reading; larger models are slower; hidden thinking delays the first
text). They say nothing about a real server's speed on a given day, and what is computed from them is labelled
as simulated wherever it is shown.
"""

from __future__ import annotations

from typing import NamedTuple

from memdash.models import ModelFacts
from memdash.simulator.cache import Bill


class Pace(NamedTuple):
    """Milliseconds: a fixed start, then per prompt token worked through, per prompt token read from the
    cache, per output token.
    """

    start: float
    per_prompt_token: float
    per_read_token: float
    per_output_token: float


# A published example took 20.9 s to the first token of an uncached prompt of 151,629 tokens and 1.9 s with it
# cached; a Sonnet of that time is taken as the middle, Opus and Fable slower, Haiku faster.
_PACES = {
    "haiku": Pace(350.0, 0.06, 0.004, 7.0),
    "sonnet": Pace(600.0, 0.12, 0.006, 13.0),
    "opus": Pace(800.0, 0.16, 0.008, 18.0),
    "fable": Pace(1_000.0, 0.20, 0.010, 24.0),
    "mythos": Pace(1_000.0, 0.20, 0.010, 24.0),
}
_FAST_OUTPUT = 0.4


def pace_of(model: ModelFacts, *, fast: bool = False) -> Pace:
    """Return the pace of a model; fast mode shortens its output only."""
    pace = _PACES[model.id.split("-")[1]]
    return pace._replace(per_output_token=pace.per_output_token * _FAST_OUTPUT) if fast else pace


def first_event_ms(pace: Pace, bill: Bill) -> float:
    """Return the time from the request's start to the first byte of its response."""
    worked_through = bill.plain + bill.written
    return pace.start + pace.per_prompt_token * worked_through + pace.per_read_token * bill.read

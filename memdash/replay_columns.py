"""Many replays as columns: the numbers that outcomes are made of, without the records they stand in.

A log (:mod:`memdash.replay_log`) holds everything about one replay; a sweep of 1,500 replays needs a dozen numbers of each
of 63,000 requests, and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memdash.records import Control, EventKind, Purpose, Status, Survival

PURPOSES = tuple(Purpose)
"""A purpose in a column is its place here."""
EVENT_KINDS = tuple(EventKind)
"""A kind of event in a column is its place here."""

Whole = NDArray[np.int64]
Flags = NDArray[np.bool_]


class Counts(NamedTuple):
    """One token bucket: ``value`` is 0 where ``reported`` is False, which is not the same as a reported 0."""

    value: Whole
    reported: Flags


class UsageColumns(NamedTuple):
    """Token buckets as they were billed, one row each: a request's iterations, or its top-level usage where it has none.

    ``request`` is the place of its request in :class:`RequestColumns`, in rising order; ``model`` the place of who was paid
    for it among the models; ``compaction`` says that it is one that the API made inside the request.
    """

    request: Whole
    model: Whole
    compaction: Flags
    input_tokens: Counts
    cache_creation_input_tokens: Counts
    ephemeral_5m_input_tokens: Counts
    ephemeral_1h_input_tokens: Counts
    cache_read_input_tokens: Counts
    output_tokens: Counts


class RequestColumns(NamedTuple):
    """Requests in the order of their replays and, within one, in which they were made.

    ``purpose`` is a place in :data:`PURPOSES`; ``failed`` says that it was answered with an error; ``split`` that its usage is
    reported by iterations. ``models`` are the models' names.
    """

    replay: Whole
    turn: Whole
    purpose: Whole
    failed: Flags
    split: Flags
    usages: UsageColumns
    models: Sequence[str]


class WaitColumns(NamedTuple):
    """Finished turns, in the order of their replays; waits in milliseconds."""

    replay: Whole
    turn: Whole
    wait_ms: NDArray[np.float64]


class EventColumns(NamedTuple):
    """Events in the order of their replays; ``kind`` is a place in :data:`EVENT_KINDS`.

    ``used`` is False where the event says of itself that it came to nothing.
    """

    replay: Whole
    turn: Whole
    kind: Whole
    used: Flags


class ProbeRow(NamedTuple):
    """A recall question or one of its controls, of the replay at place ``replay``."""

    replay: int
    fact: str
    asked_after: int
    control: Control
    passed: bool
    stale: bool
    visible: bool


class FactRow(NamedTuple):
    """Where a fact is in the last context of the replay at place ``replay``."""

    replay: int
    fact: str
    survival: Survival


class State(NamedTuple):
    """The latest state of a replay, as noted."""

    status: Status
    turns_completed: int


@dataclass(frozen=True, slots=True, eq=False)
class ReplayColumns:
    """Replays by their place in ``ids``; ``states`` has None where nothing was noted yet."""

    ids: tuple[str, ...]
    requests: RequestColumns
    turns: WaitColumns
    events: EventColumns
    probes: Sequence[ProbeRow]
    facts: Sequence[FactRow]
    states: Sequence[State | None]

"""Replays played in the simulator, as a page reads them: a log, and the recorded texts by id."""

from __future__ import annotations

from typing import NamedTuple

from memdash.claude import connect
from memdash.inspection.requests import InspectedRequest, blocks_of, inspect, opening_request
from memdash.records import RequestRecord
from memdash.replay import replay
from memdash.replay_log import ReplayLog
from memdash.spec import ReplaySpec


class Played(NamedTuple):
    """A replay and its texts."""

    log: ReplayLog
    texts: dict[str, str]

    def opening(self, turn: int) -> RequestRecord:
        """The first request of a turn."""
        record = opening_request(self.log, turn)
        assert record is not None
        return record

    def inspect(self, record: RequestRecord) -> InspectedRequest:
        """Look at a request with no more texts than it needs."""
        return inspect(self.log, record, {one: self.texts[one] for one in blocks_of(self.log, record)})

    def at(self, turn: int) -> InspectedRequest:
        """Look at the first request of a turn."""
        return self.inspect(self.opening(turn))


def play(spec: ReplaySpec) -> Played:
    """Play a replay to its end."""
    client, clock = connect(spec)
    log = ReplayLog.of(spec, replay(spec, client, clock))
    return Played(log, {name: text for one in log.requests for name, text in one.blocks.items()})

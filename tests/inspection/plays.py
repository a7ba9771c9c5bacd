"""Replays played in the simulator, with the texts of their blocks."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

from memdash.claude import connect
from memdash.metrics import ReplayResult, measure
from memdash.prices import PriceTable
from memdash.records import Record, RequestRecord
from memdash.replay import replay
from memdash.replay_log import ReplayLog
from memdash.scripts.model import Script
from tests.replay.scripts import spec, turn


class Played(NamedTuple):
    """What came of a replay; ``texts`` is the JSON of its blocks by id."""

    records: list[Record]
    log: ReplayLog
    result: ReplayResult
    texts: dict[str, str]


def play(script: Script, strategy: str, **changes: Any) -> Played:
    """Play a script with thresholds of any size."""
    one = spec(script, strategy, relax_limits=True, **changes)
    client, clock = connect(one)
    records = list(replay(one, client, clock))
    texts: dict[str, str] = {}
    for record in records:
        if isinstance(record, RequestRecord):
            texts.update(record.blocks)
    log = ReplayLog.of(one, records)
    return Played(records, log, measure(log, PriceTable.load()), texts)


def saying(script: Script, **words: str) -> Script:
    """The script with other words in some turns: ``t3="…"`` is what the user says in turn 3."""
    turns = [
        turn(one.number, words[f"t{one.number}"]) if f"t{one.number}" in words else one
        for one in script.turns
    ]
    return dataclasses.replace(script, turns=tuple(turns))

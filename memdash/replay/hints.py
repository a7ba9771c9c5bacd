"""What the simulator is told beside a request: the seed of its reply, and what the script says the assistant does."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from memdash.records import ProbeRecord, Purpose, RequestRecord
from memdash.scripts.model import Turn
from memdash.simulator.hint import Hint, HintedCall, HintedStep
from memdash.spec import ReplaySpec


def turn_hint(spec: ReplaySpec, turn: Turn, step: int) -> Hint:
    """Return the hint of the request number ``step`` (from 0) of a turn's exchange."""
    steps = tuple(
        HintedStep(tuple(HintedCall(call.name, call.input) for call in one.calls), one.text)
        for one in turn.steps
    )
    return Hint(_seed(spec.seed, "turn", turn.number, step), turn.reply, steps)


def probe_hint(spec: ReplaySpec, fact: str, asked_after: int) -> Hint:
    """Return the hint of a recall question about a fact, after a turn."""
    return Hint(_seed(spec.seed, "probe", fact, asked_after))


def summary_hint(spec: ReplaySpec, turn: int, nth: int) -> Hint:
    """Return the hint of a turn's ``nth`` (from 0) extra call of the strategy."""
    return Hint(_seed(spec.seed, "summary", turn, nth))


def hint_of(spec: ReplaySpec, record: RequestRecord, probes: Iterable[ProbeRecord]) -> Hint | None:
    """Return the hint that a recorded request went out with; None for a probe that none of ``probes`` is about."""
    match record.purpose:
        case Purpose.SUMMARY:
            return summary_hint(spec, record.turn, record.step)
        case Purpose.PROBE:
            about = next((one for one in probes if one.request == record.number), None)
            return None if about is None else probe_hint(spec, about.fact, about.asked_after)
        case _:
            return turn_hint(spec, spec.script.turns[record.turn - 1], record.step)


def _seed(seed: int, *where: object) -> int:
    """The seed of one request: the same for every strategy at the same place of the conversation."""
    digest = hashlib.blake2b("/".join(map(str, (seed, *where))).encode(), digest_size=6).digest()
    return int.from_bytes(digest, "big")

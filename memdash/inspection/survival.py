"""What became of each fact: where its text was in what the model was sent, turn by turn, and what changed that.

The rule is the one that a replay applies to the contexts of its probes (:mod:`memdash.replay.recall`), applied to the recorded
context of every turn. A context is told from the one before it by what came and what left, so that following a thousand turns
takes as long as reading each of their blocks once.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from memdash.inspection.events import EDITS
from memdash.metrics import ProbeResult
from memdash.records import EventKind, EventRecord, RequestRecord, Survival
from memdash.replay.clearing import cleared_from
from memdash.replay.contexts import CONVERSATION, ContextReader
from memdash.replay.journal import entry_block
from memdash.replay.recall import block_survival, strongest, visible_text
from memdash.replay_log import ReplayLog
from memdash.scripts.model import Fact


class Whereabouts(StrEnum):
    """Where a fact's latest value is in a context: :class:`~memdash.records.Survival`, with two ways of being restated."""

    VERBATIM = "verbatim"
    """In the message that stated it."""
    SUMMARY = "summary"
    """Only in a summary, which the strategy or the API wrote."""
    REPEATED = "repeated"
    """Only in another message of the conversation."""
    STALE = "stale"
    """Only a value that has been replaced is still there."""
    GONE = "gone"

    @property
    def there(self) -> bool:
        """Whether a model can read the latest value (the measure *kept*)."""
        return self not in (Whereabouts.STALE, Whereabouts.GONE)


_PLAIN: Mapping[Survival, Whereabouts] = {
    Survival.VERBATIM: Whereabouts.VERBATIM,
    Survival.RESTATED: Whereabouts.REPEATED,
    Survival.STALE: Whereabouts.STALE,
    Survival.GONE: Whereabouts.GONE,
}


class Change(NamedTuple):
    """A fact is somewhere else from ``turn`` on: the first turn whose request shows it.

    One after the last turn that was looked at is of the memory that is left then. ``event`` is what caused it, None where the
    conversation itself did: the fact was stated, or said again. ``before`` is None where it was stated first.
    """

    turn: int
    before: Whereabouts | None
    now: Whereabouts
    event: EventRecord | None

    @property
    def is_loss(self) -> bool:
        """Whether the latest value cannot be read from here on."""
        return not self.now.there


@dataclass(frozen=True, slots=True)
class FactLine:
    """One fact through a replay. ``through`` is the last turn looked at; ``probes`` are the questions asked about it.

    ``measured`` is where it is in the last context as the replay itself noted it, None where it has not come to its end.
    """

    fact: Fact
    stated: tuple[int, ...]
    changes: tuple[Change, ...]
    through: int
    measured: Survival | None
    probes: tuple[ProbeResult, ...]

    @property
    def now(self) -> Whereabouts:
        """Where it was last seen."""
        return self.changes[-1].now

    @property
    def lost(self) -> Change | None:
        """The change since which the latest value cannot be read; None where it still can."""
        return latest_loss(self.changes)

    def at(self, turn: int) -> Whereabouts | None:
        """Where it was in the request of a turn; None before it was stated."""
        latest = None
        for change in self.changes:
            if change.turn <= turn:
                latest = change.now
        return latest


def latest_loss(changes: Iterable[Change]) -> Change | None:
    """Return the one of ``changes`` since which the latest value cannot be read; None where by the last of them it can."""
    found: Change | None = None
    for change in changes:
        found = (found or change) if change.is_loss else None
    return found


class Blocks:
    """Each block's words, read once, and what they hold of each fact.

    Replays of one comparison share most of their blocks, and their script's facts: follow them with the same ``Blocks``. Made of
    the blocks' JSON by id.
    """

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts
        self._words: dict[str, str] = {}
        self._tools: dict[str, Mapping[str, Any] | None] = {}
        self._holds: dict[tuple[int, int], tuple[Fact, dict[str, Survival]]] = {}
        self.compactions: set[str] = set()

    def words(self, block: str) -> str:
        """Return the words of a block that a model can read."""
        if block not in self._words:
            self._words[block] = self._read(block)
        return self._words[block]

    def tool(self, block: str) -> Mapping[str, Any] | None:
        """Return what tells which tool use a block belongs to, None where it belongs to none."""
        if block not in self._tools:
            content = json.loads(self._texts[block])
            told = {name: content.get(name) for name in ("type", "id", "name", "tool_use_id")}
            self._tools[block] = told if told["type"] in ("tool_use", "tool_result") else None
        return self._tools[block]

    def holding(self, fact: Fact, values: int) -> dict[str, Survival]:
        """Return what is known so far of blocks that did not state the fact, when this many of its ``values`` are stated."""
        # By object, which is kept here as long as its number is used: a fact takes long to compare.
        return self._holds.setdefault((id(fact), values), (fact, {}))[1]

    def _read(self, block: str) -> str:
        content = json.loads(self._texts[block])
        if content.get("type") == "compaction":
            self.compactions.add(block)
        return visible_text(content)


def texts_needed(log: ReplayLog) -> list[str]:
    """Return the ids of every block that the conversation's requests hold, each once; their texts are what is read."""
    entries: dict[str, None] = {}
    for request in _conversation(log.requests):
        entries.update(dict.fromkeys(request.entries))
    return list(dict.fromkeys(map(entry_block, entries)))


def fact_lines(
    log: ReplayLog,
    probes: Sequence[ProbeResult],
    blocks: Blocks,
    only: Collection[str] | None = None,
) -> tuple[FactLine, ...]:
    """Return a line for each fact that was stated by the last turn looked at, or for those of the ids ``only``.

    ``blocks`` are those that :func:`texts_needed` names. Raises :class:`~memdash.errors.MemdashError` where the records have
    gaps.
    """
    watched = [_Watched(fact, blocks) for fact in log.spec.script.facts if only is None or fact.id in only]
    events = sorted((one for one in log.events if one.event in _CAUSES), key=lambda one: one.seq)
    clears = {one.data.get("request"): one for one in log.events if one.event is EventKind.CLEAR}
    places = [one.seq for one in events]
    done = 0
    moment: _Moment | None = None
    for moment in _moments(log.requests, blocks):
        until = bisect_left(places, moment.seq)
        cleared = clears.get(moment.request)  # told after the answer to the very request it changed
        for one in watched:
            one.look(moment, [*events[done:until], *([cleared] if cleared else ())])
        done = until
    if moment is None:
        return ()
    measured = {record.fact: record.survival for record in log.facts}
    cleared = clears.get(moment.request)  # where the memory that is left lacks more, it went on from there
    after = [*events[done:], *([cleared] if cleared else ())]
    lines = []
    for one in watched:
        if one.changes:
            one.end(moment.turn, measured.get(one.fact.id), after)
            lines.append(
                FactLine(
                    fact=one.fact,
                    stated=tuple(value.turn for value in one.fact.stated_by(moment.turn)),
                    changes=tuple(one.changes),
                    through=moment.turn,
                    measured=measured.get(one.fact.id),
                    probes=tuple(probe for probe in probes if probe.fact == one.fact.id),
                )
            )
    return tuple(lines)


def cost_per_surviving_fact(cost_usd: float | None, surviving: int | None) -> float | None:
    """Return what a replay cost for each fact whose latest value is still there; None where none is, or one is not known."""
    return cost_usd / surviving if cost_usd is not None and surviving else None


# -- the contexts, by what came and what left ---------------------------------------------------------------------------


class _Moment(NamedTuple):
    """What the model had before it when it gave its last answer of a turn, in ``request``.

    ``entries`` is the whole context but for what the API had cleared from it; ``came`` and ``left`` are the blocks that are new
    in it and gone from it. ``stating`` holds the blocks that each turn so far brought along, ``own`` every block of the
    conversation itself: what is not among them was written by the strategy.
    """

    turn: int
    seq: int
    request: int
    entries: tuple[str, ...]
    came: frozenset[str]
    left: frozenset[str]
    stating: Mapping[int, set[str]]
    own: Collection[str]


def _conversation(requests: Iterable[RequestRecord]) -> Iterator[RequestRecord]:
    return (one for one in requests if one.purpose in CONVERSATION and one.error_message is None)


def _moments(requests: Sequence[RequestRecord], blocks: Blocks) -> Iterator[_Moment]:
    """The contexts of the last answered request of each turn, each told from the one before it."""
    reader = ContextReader()
    answered = list(_conversation(requests))
    stating: dict[int, set[str]] = {}
    own: set[str] = set()
    before: tuple[str, ...] = ()
    tools = _ToolUses(blocks)
    hidden: frozenset[str] = frozenset()
    shared = 0
    last = {request.turn: request.number for request in answered}
    for request in answered:
        context = reader.take(request)
        shared = min(shared, request.shared)
        brought = _last_user_message(request.entries)
        stating.setdefault(request.turn, set()).update(brought)
        own.update(brought)
        if last[request.turn] == request.number:
            old, new = frozenset(before[shared:]), frozenset(context.entries[shared:])
            left, came = frozenset(map(entry_block, old - new)), frozenset(map(entry_block, new - old))
            staying = frozenset(map(entry_block, context.entries)) & left if left else left
            left -= staying
            entries = context.entries
            tools.follow(entries, shared)
            if (cleared := tools.cleared_from(request)) or hidden:
                left |= cleared - hidden
                came = (came | (hidden - cleared - left)) - cleared
                entries = tuple(one for one in entries if entry_block(one) not in cleared)
                hidden = cleared
            yield _Moment(request.turn, request.seq, request.number, entries, came, left, stating, own)
            before = context.entries
            shared = len(before)
        own.update(request.reply_blocks)


class _ToolUses:
    """The blocks of a context that belong to tool uses, each with its place."""

    def __init__(self, blocks: Blocks) -> None:
        self._blocks = blocks
        self._found: list[tuple[int, str, Mapping[str, Any]]] = []
        self._followed = 0

    def follow(self, entries: Sequence[str], shared: int) -> None:
        """Take in the next context, whose first ``shared`` entries are those of the one before."""
        start = min(shared, self._followed)
        while self._found and self._found[-1][0] >= start:
            self._found.pop()
        for at in range(start, len(entries)):
            block = entry_block(entries[at])
            if (told := self._blocks.tool(block)) is not None:
                self._found.append((at, block, told))
        self._followed = len(entries)

    def cleared_from(self, request: RequestRecord) -> frozenset[str]:
        """Return the blocks of this context that the API cleared from a request."""
        cleared = cleared_from(request, (told for _at, _block, told in self._found))
        if not cleared.results:
            return frozenset()
        return frozenset(
            block
            for _at, block, told in self._found
            if told["tool_use_id"] in cleared.results or told["id"] in cleared.inputs
        )


def _last_user_message(entries: Sequence[str]) -> list[str]:
    """The blocks of the last message where that is of role user: what the user said, or the results of the tools."""
    opens = next((at for at in range(len(entries) - 1, -1, -1) if not entries[at].startswith("+")), None)
    if opens is None or not entries[opens].startswith("user:"):
        return []
    return [entry_block(one) for one in entries[opens:]]


# -- one fact ------------------------------------------------------------------------------------------------------------


class _Watched:
    """A fact on its way through the contexts.

    While the message that stated it is there, nothing else matters, so no other block is read for it. From then on ``_found``
    holds what the present blocks say of it.
    """

    def __init__(self, fact: Fact, blocks: Blocks) -> None:
        self.fact = fact
        self.changes: list[Change] = []
        self._blocks = blocks
        self._values = fact.stated_by(0)
        self._held: dict[str, Survival] = {}
        self._stating: set[str] = set()
        self._found: dict[str, Survival] | None = None

    def look(self, moment: _Moment, events: Sequence[EventRecord]) -> None:
        """Take in the context of the next turn; ``events`` are what was done to the history since the one before it."""
        values = self.fact.stated_by(moment.turn)
        if not values:
            return
        if len(values) > len(self._values):
            self._values = values
            self._held = self._blocks.holding(self.fact, len(values))
            self._found = None
            brought = moment.stating.get(values[-1].turn, set())
            present = frozenset(map(entry_block, moment.entries))
            self._stating = {one for one in brought & present if self._states(one)}
        else:
            self._stating -= moment.left
            back = moment.came & moment.stating.get(values[-1].turn, set())
            self._stating |= {one for one in back if self._states(one)}
        now = self._whereabouts(moment)
        before = self.changes[-1].now if self.changes else None
        if now is not before:
            self._note(moment.turn, now, events)

    def end(self, turn: int, measured: Survival | None, events: Sequence[EventRecord]) -> None:
        """Take in where the replay found it in the memory that is left after the last ``turn``."""
        before = self.changes[-1].now
        if measured is None or measured is _survival_of(before):
            return
        now = _PLAIN[measured]
        if now is Whereabouts.REPEATED and any(one.event not in _TAKE_AWAY for one in events):
            now = Whereabouts.SUMMARY
        self._note(turn + 1, now, events)

    def _note(self, turn: int, now: Whereabouts, events: Sequence[EventRecord]) -> None:
        before = self.changes[-1].now if self.changes else None
        change = Change(turn, before, now, None)
        self.changes.append(change._replace(event=_cause(change, events, self._values[-1].turn)))

    def _whereabouts(self, moment: _Moment) -> Whereabouts:
        if self._stating:
            self._found = None
            return Whereabouts.VERBATIM
        if self._found is None:
            self._found = {}
            self._take(map(entry_block, moment.entries))
        else:
            for block in moment.left & self._found.keys():
                del self._found[block]
            self._take(moment.came)
        best = Survival.GONE
        for one in self._found.values():
            best = strongest(best, one)
        if best is Survival.RESTATED and any(
            one is Survival.RESTATED and self._is_summary(block, moment) for block, one in self._found.items()
        ):
            return Whereabouts.SUMMARY
        return _PLAIN[best]

    def _take(self, blocks: Iterable[str]) -> None:
        assert self._found is not None
        for block in blocks:
            if (held := self._held.get(block)) is None:
                held = block_survival(self._values, self._blocks.words(block), stating=False)
                self._held[block] = held
            if held is not Survival.GONE:
                self._found[block] = held

    def _states(self, block: str) -> bool:
        words = self._blocks.words(block)
        return block_survival(self._values, words, stating=True) is Survival.VERBATIM

    def _is_summary(self, block: str, moment: _Moment) -> bool:
        return block not in moment.own or block in self._blocks.compactions


_CAUSES = (*EDITS, EventKind.CAP)
_TAKE_AWAY = (EventKind.TRIM, EventKind.CLEAR)
"""What writes no summary."""


def _survival_of(one: Whereabouts) -> Survival:
    return Survival.RESTATED if one in (Whereabouts.SUMMARY, Whereabouts.REPEATED) else Survival(one.value)


_FROM_BEST = tuple(Whereabouts)


def _cause(change: Change, events: Sequence[EventRecord], stated: int) -> EventRecord | None:
    """The event among ``events`` that put a fact where it is now; None where the conversation itself did.

    Of several edits it is the one that names the turn which ``stated`` the fact, else the latest. What is not there in the turn
    that states it can only have been taken out of a tool's result, or cleared with it.
    """
    if stated == change.turn:
        cut = [one for one in events if one.event in (EventKind.CAP, EventKind.CLEAR) and one.turn == stated]
        return cut[-1] if cut and change.is_loss else None
    better = change.before is None or _FROM_BEST.index(change.now) < _FROM_BEST.index(change.before)
    if better and change.now is not Whereabouts.SUMMARY:
        return None
    edits = [one for one in events if one.event in EDITS and one.data.get("used", True) is not False]
    naming = [one for one in edits if stated in _turns_taken_out(one)]
    clears = [one for one in events if one.event is EventKind.CLEAR]
    return next((group[-1] for group in (naming, edits, clears) if group), None)


def _turns_taken_out(event: EventRecord) -> Collection[int]:
    """The turns that an edit names as no longer there."""
    return event.data.get("dropped_turns") or event.data.get("replaced_turns") or ()

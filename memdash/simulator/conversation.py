"""The ``messages`` of a request together: the rules between neighbours.

A conversation is sent again and again with a little more at its end, so what was read is kept as a tree: a
path from the root is a conversation, and a request walks down it, comparing each message with the one that
was there before. Only what is new is checked.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

from memdash.simulator import compaction_block, fields
from memdash.simulator.digests import digest
from memdash.simulator.errors import ApiError, invalid
from memdash.simulator.marks import Lifetime
from memdash.simulator.messages import NEVER_EMPTY, Message, read_message, telling_text
from memdash.simulator.prompt import Prompt
from memdash.simulator.rules import Rules

MOST_MESSAGES = 100_000
"""Messages a request may have (Messages API, create a message)."""

# About 1.2 kB a step, texts included once. A conversation longer than that is still kept whole.
_MOST_STEPS = 10_000
_MOST_STEPS_OF_THE_LONGEST = 4
_MOST_READ = 5_000


class Step:
    """One message in its place: a node of the tree of conversations.

    ``index`` is the message's in the request. ``asked`` are the ids of the latest tool calls and the index of
    their message, ``pending`` those that still lack a result, ``leading`` whether the user turn has held
    nothing but results so far. ``latest`` is the step that followed here last. ``marks`` are all cache marks
    up to here, with their steps. ``cut`` is the step and the block of the latest compaction, from which on the
    conversation is read, ``is_sealed`` whether a signed one opens it. ``rendered`` remembers the prompt that
    ends here, with the prompt that it began with, ``edited`` what :mod:`memdash.simulator.clearing` found here.
    """

    __slots__ = (
        "_count",
        "_ids",
        "_next",
        "_trail",
        "asked",
        "cut",
        "edited",
        "has_citations",
        "has_image",
        "has_system",
        "index",
        "is_sealed",
        "latest",
        "leading",
        "marks",
        "message",
        "parent",
        "pending",
        "rendered",
        "rendered_from",
    )

    def __init__(self, parent: Step | None, message: Message | None) -> None:
        self.parent = parent
        self.message = message
        self.index: int = -1 if parent is None else parent.index + 1
        self.asked: tuple[tuple[str, int], ...] = ()
        self.pending: frozenset[str] = frozenset()
        self.leading = False
        self.marks: tuple[tuple[Step, int, Lifetime, str], ...] = () if parent is None else parent.marks
        self.has_image: bool = parent is not None and parent.has_image
        self.has_citations: bool = parent is not None and parent.has_citations
        self.has_system: bool = parent is not None and parent.has_system
        self.cut: tuple[Step, int] | None = None if parent is None else parent.cut
        self.is_sealed: bool = parent is not None and parent.is_sealed
        self.edited: object = None
        self._trail: bytes | None = None
        self.rendered: Prompt | None = None
        self.rendered_from: Prompt | None = None
        self.latest: Step | None = None
        self._next: dict[Message, Step] | None = None
        # The ids of all tool calls so far. Steps of one conversation share the dictionary; the first
        # ``_count`` are this step's.
        self._ids: dict[str, int] = {} if parent is None else parent._ids
        self._count: int = 0 if parent is None else parent._count

    @property
    def role(self) -> str | None:
        """The role of the message, None at the root."""
        return None if self.message is None else self.message.role

    @property
    def trail(self) -> bytes:
        """The fingerprint of all messages up to here as they were sent, without their cache marks."""
        missing = []
        at: Step | None = self
        while at is not None and at._trail is None:
            missing.append(at)
            at = at.parent
        trail = at._trail if at is not None and at._trail is not None else b""
        for step in reversed(missing):
            if step.message is not None:
                blocks = b"".join(block.content for block in step.message.blocks)
                trail = digest(trail, step.message.role[:1].encode("ascii"), blocks)
            step._trail = trail
        return trail

    @property
    def ends_in_compaction(self) -> bool:
        """Whether the last thing is a compaction, failed or not: the model goes on from there."""
        return self.message is not None and any(
            block.kind == "compaction" for block in self.message.blocks[-1:]
        )

    def follow(self, message: Message) -> tuple[Step, bool]:
        """Return the step that ``message`` leads to, and whether it is new.

        Raises ApiError where it may not follow here.
        """
        known = self._next.get(message) if self._next else None
        step = known or self._new(message)
        self.latest = step
        return step, known is None

    def finish(self) -> None:
        """Raise where the conversation cannot end here: a tool call is still open."""
        if self.pending:
            raise self._unanswered()

    def _new(self, message: Message) -> Step:
        if self.message is not None and not self.message.blocks:
            raise invalid(f"messages.{self.index}: {NEVER_EMPTY}")
        step = Step(self, message)
        step._compact(message)
        if message.marks:
            step.marks += tuple(
                (step, index, lifetime, f"messages.{step.index}.{path}")
                for index, lifetime, path in message.marks
            )
        read = message.blocks[message.opens_at or 0 :]
        step.has_image = step.has_image or any(block.has_image for block in read)
        step.has_citations = step.has_citations or any(block.has_citations for block in read)
        if message.role == "assistant":
            self._call(step, message)
        elif message.role == "user":
            self._answer(step, message)
        else:
            step.has_system = True
            if self.message is None:
                raise invalid("messages.0: the first message cannot use the `system` role")
            self.finish()
        if self._next is None:
            self._next = {}
        self._next[message] = step
        return step

    def _compact(self, message: Message) -> None:
        """Take in the compactions of this step's message; whatever stands before them is not read any more."""
        for index, block in enumerate(message.blocks):
            if not block.is_compaction:
                continue
            path = f"messages.{self.index}.content.{index}"
            if self.is_sealed or (block.seal is not None and self.cut is not None):
                raise compaction_block.ambiguous(path)
            if block.seal is not None:
                if self.index or index:
                    raise compaction_block.misplaced(path)
                self.is_sealed = True
            self.cut = (self, index)
            self.has_image = self.has_citations = False

    def _call(self, step: Step, message: Message) -> None:
        if self.role == "assistant":
            step.asked, step.pending = self.asked, self.pending
        else:
            self.finish()
        calls = [(index, block.call) for index, block in enumerate(message.blocks) if block.call is not None]
        if not calls:
            return
        if step._count < len(step._ids):
            step._ids = dict(list(step._ids.items())[: step._count])
        for index, call in calls:
            if call in step._ids:
                raise invalid(f"messages.{step.index}.content.{index}: `tool_use` ids must be unique")
            step._ids[call] = step.index
        step._count = len(step._ids)
        step.asked += tuple((call, step.index) for _, call in calls)
        step.pending |= {call for _, call in calls}

    def _answer(self, step: Step, message: Message) -> None:
        if self.role == "user":
            step.asked, step.pending, step.leading = self.asked, self.pending, self.leading
        elif self.role == "assistant":
            step.asked, step.pending, step.leading = self.asked, self.pending, True
        else:
            self.finish()
            step.leading = True
        asked = {call for call, _ in step.asked}
        for index, block in enumerate(message.blocks):
            if block.answers is None:
                # Results come before anything else, so a call that has none by now gets none.
                step.leading = False
                step.finish()
            elif block.answers not in asked:
                raise invalid(
                    f"messages.{step.index}.content.{index}: unexpected `tool_use_id` found in `tool_result` blocks: "
                    f"{block.answers}. Each `tool_result` block must have a corresponding `tool_use` block in the "
                    "previous message."
                )
            elif block.answers not in step.pending:
                raise invalid(
                    f"messages.{step.index}.content.{index}: each tool_use must have a single result. "
                    f"Found multiple `tool_result` blocks with id: {block.answers}"
                )
            else:
                step.pending -= {block.answers}

    def _unanswered(self) -> ApiError:
        first = next(index for call, index in self.asked if call in self.pending)
        ids = ", ".join(call for call, index in self.asked if index == first and call in self.pending)
        return invalid(
            f"messages.{first}: `tool_use` ids were found without `tool_result` blocks immediately after: {ids}. "
            "Each `tool_use` block must have a corresponding `tool_result` block in the next message."
        )


class Conversations:
    """Everything read under one set of rules: the tree, and the messages by a string that is likely to tell
    them apart.
    """

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._root = Step(None, None)
        self._steps = 0
        self._longest = 0
        self._last: Step = self._root
        self._read: dict[tuple[str, str], Message] = {}

    @property
    def is_full(self) -> bool:
        """Whether so much has been read that it is time to start anew."""
        return self._steps > max(_MOST_STEPS, _MOST_STEPS_OF_THE_LONGEST * self._longest)

    def read(self, messages: Any, *, to_compact: bool = False, unchanged: int = 0) -> Step:
        """Return the step at the end of these messages; ``to_compact``: they are to be summarised, not answered.

        ``unchanged`` is how many of them the caller vouches for: they open what was read last, so they are not compared again.
        Raises ApiError where the API would refuse a message's shape, else where it would refuse their order.
        """
        fields.array(messages, "messages")
        if not messages:
            raise invalid("messages: at least one message is required")
        if len(messages) > MOST_MESSAGES:
            raise invalid(
                f"messages: a request can hold at most {MOST_MESSAGES} messages, found {len(messages)}"
            )
        self._longest = max(self._longest, len(messages))
        step = self._opening(unchanged)
        for index, raw in enumerate(islice(messages, step.index + 1, None), step.index + 1):
            latest = step.latest
            if latest is not None and latest.message is not None:
                message = latest.message
                # Nearly every message of a request was there in the one before; this line decides what those
                # cost.
                if (message.raw == raw and message.is_plain) or message.is_same(raw):
                    step = latest
                    continue
            message = self._message(raw, index)
            try:
                step, is_new = step.follow(message)
            except ApiError:
                self._check_shapes(messages, index + 1)
                raise
            self._steps += is_new
        if to_compact and step.pending and step.role == "assistant":
            raise invalid(
                f"messages.{step.index}: the conversation ends on an assistant turn that is not finished; "
                "send the results of its tool calls before it is compacted",
                "compaction_incomplete_turn",
            )
        step.finish()
        self._last = step
        return step

    def _opening(self, messages: int) -> Step:
        """Return the step at the end of so many messages of what was read last."""
        step = self._last if messages else self._root
        while step.index >= messages and step.parent is not None:
            step = step.parent
        return step

    def _check_shapes(self, messages: Sequence[Any], start: int) -> None:
        """Read the rest, so that a wrong shape anywhere is reported before a wrong order."""
        for index in range(start, len(messages)):
            self._message(messages[index], index)

    def _message(self, raw: Any, index: int) -> Message:
        key = telling_text(raw)
        if key is None:
            return read_message(raw, index, self._rules)
        message = self._read.get(key)
        if message is None or not message.is_same(raw):
            message = read_message(raw, index, self._rules)
            if len(self._read) >= _MOST_READ:
                self._read.clear()
            self._read[key] = message
        return message

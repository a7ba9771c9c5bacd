"""The prompt the model reads: tools, then system, then messages, one after the other.

A :class:`Prompt` is the prompt up to the end of one message (or of the tools, or of the system prompt) and
points to what stands before it, so that the requests of one conversation share all but their ends. At every
block it knows the fingerprint and the token count of everything up to and including it, which is all that the
cache needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from memdash.models import ModelFacts
from memdash.simulator.blocks import Block
from memdash.simulator.compaction_block import Seal
from memdash.simulator.digests import digest
from memdash.simulator.messages import Message
from memdash.simulator.thinking import NO_THOUGHT, Thought, fits
from memdash.tokens import TokenCounter

REPLY_FRAME_TOKENS = 3
"""What stands after the last message and opens the reply; it lies behind every mark, so it is always plain
input.
"""
SYSTEM_FRAME_TOKENS = 3
_MESSAGE_FRAME_TOKENS = {6: 3, 7: 4, 11: 3}
"""What opens a message, by what a request of one user message costs in all beside its text."""

_ROLE_MARKS = {"user": b"u", "assistant": b"a", "system": b"s", "tool": b"t", "prompt": b"p"}


class Thinking(StrEnum):
    """What becomes of the thinking of a message.

    A model that strips the thinking of earlier turns never looks at it. Thinking that context editing clears is
    checked, and counts as what later blocks were made after, but the model does not see it.
    """

    SHOWN = "shown"
    STRIPPED = "stripped"
    CLEARED = "cleared"


class Trouble(StrEnum):
    """What may be wrong with a thinking block that is sent back; the values are the API's reasons where it
    has one.
    """

    ALTERED = "altered"
    ACCOUNT = "organization_binding_mismatch"
    MODEL = "model_binding_mismatch"
    PREFIX = "prefix_binding_mismatch"


@dataclass(frozen=True, slots=True)
class Note:
    """Trouble with a thinking block; ``message`` and ``index`` are its place in the request, ``meaning`` the
    fingerprint of what stands before
    it. ``dropped``: the model does not see it.
    """

    message: int
    index: int
    trouble: Trouble
    thought: Thought | None
    meaning: bytes
    dropped: bool

    @property
    def path(self) -> str:
        """The block's path in the request."""
        return f"messages.{self.message}.content.{self.index}"


@dataclass(frozen=True, slots=True, eq=False)
class Reader:
    """Who reads the prompt, and what that means for thinking blocks.

    ``account`` is a short fingerprint of the caller's. ``drops_mismatches`` is ``prefix_mismatch_behavior:
    drop_block``. ``tools`` and ``system`` are short fingerprints of these, as signatures carry them.
    """

    facts: ModelFacts
    counter: TokenCounter
    account: bytes
    drops_mismatches: bool
    tools: bytes = b""
    system: bytes = b""

    @property
    def message_frame(self) -> int:
        """Tokens that open a message."""
        return _MESSAGE_FRAME_TOKENS[self.facts.frame_tokens]


class Prompt:
    """The prompt up to the end of one part.

    ``content`` and ``total`` are fingerprint and tokens of all up to here; ``contents`` and ``totals`` those
    at each block of this part, and ``shown`` the index of each of these blocks in its message. ``meaning`` is
    the fingerprint that thinking is bound to: it leaves out thinking blocks, options and what context editing
    does. ``thoughts`` counts the thinking blocks so far, ``last_thought`` is the id of the last. ``seal`` is that
    of the compaction block the prompt ends with: what comes next says whether thinking goes on from the
    conversation it stands for. ``is_fixed`` marks tools and system.
    """

    __slots__ = (
        "_next",
        "content",
        "contents",
        "is_fixed",
        "last_thought",
        "meaning",
        "notes",
        "parent",
        "reader",
        "role",
        "seal",
        "shown",
        "thoughts",
        "total",
        "totals",
        "troubled",
    )

    def __init__(
        self, reader: Reader, parent: Prompt | None, *, content: bytes, meaning: bytes, total: int = 0
    ) -> None:
        self.reader = reader
        self.parent = parent
        self.content = content
        self.meaning = meaning
        self.total = total
        self.contents: tuple[bytes, ...] = ()
        self.totals: tuple[int, ...] = ()
        self.shown: tuple[int, ...] = ()
        self.role: str | None = None
        self.is_fixed = True
        self.seal: Seal | None = None
        self.thoughts = 0
        self.last_thought = NO_THOUGHT
        self.notes: tuple[Note, ...] = ()
        self.troubled = 0
        self._next: dict[tuple[Message, int, Thinking], Prompt] | None = None

    def and_part(self, name: str, blocks: Iterable[Block], *, frame: int = 0) -> Prompt:
        """Return the prompt with tools or system blocks after it; ``frame`` tokens open them if there are
        any.
        """
        prompt = Prompt(self.reader, self, content=self.content, meaning=self.meaning, total=self.total)
        parts = list(enumerate(blocks))
        prompt._extend(name, parts, frame)
        for _, block in parts:
            prompt.meaning = digest(prompt.meaning, _ROLE_MARKS[name], block.meaning)
        return prompt

    def and_options(self, content: bytes, *, more_tokens: int = 0) -> Prompt:
        """Return the prompt under options that everything after this point depends on, in the cache but not
        for thinking.
        """
        return Prompt(
            self.reader,
            self,
            content=digest(self.content, content),
            meaning=self.meaning,
            total=self.total + more_tokens,
        )

    def and_message(self, message: Message, at: int, thinking: Thinking = Thinking.SHOWN) -> Prompt:
        """Return the prompt with the message at that index of the request after it, from its latest compaction
        on.
        """
        if self._next is None:
            self._next = {}
        key = (message, at, thinking)
        prompt = self._next.get(key)
        if prompt is None:
            prompt = self._next[key] = self._with_message(message, at, thinking)
        return prompt

    def resumed(self, role: str) -> tuple[bytes, int, bytes]:
        """Return ``meaning``, ``thoughts`` and ``last_thought`` as they are for a block of ``role`` that comes next.

        Behind a compaction on demand, turns that were kept go on from the conversation that was summarised, if
        that was done by a model that binds thinking to its prefix, under this system prompt and these tools, and
        the first of them is not of the role that the summarised part ended with (Messages API, compaction).
        """
        seal = self.seal
        if seal is None or not seal.preserves or role == seal.last_role:
            return self.meaning, self.thoughts, self.last_thought
        return seal.meaning, seal.thoughts, seal.last_thought

    def back_from(self, index: int) -> Iterator[tuple[bytes, int]]:
        """Yield fingerprint and tokens at block ``index`` of this part and at every block before it,
        backwards.
        """
        prompt: Prompt | None = self
        at = index
        while prompt is not None:
            while at >= 0:
                yield prompt.contents[at], prompt.totals[at]
                at -= 1
            prompt = prompt.parent
            if prompt is not None:
                at = len(prompt.contents) - 1

    def all_notes(self) -> list[Note]:
        """Return all trouble with thinking blocks up to here, in the order of the request."""
        notes: list[Note] = []
        prompt: Prompt | None = self
        while prompt is not None and prompt.troubled:
            notes[:0] = prompt.notes
            prompt = prompt.parent
        return notes

    def _with_message(self, message: Message, at: int, thinking: Thinking) -> Prompt:
        prompt = Prompt(self.reader, self, content=self.content, meaning=self.meaning, total=self.total)
        prompt.is_fixed = False
        prompt.seal = self.seal
        prompt.thoughts, prompt.last_thought = self.thoughts, self.last_thought
        blocks: list[tuple[int, Block]] = []
        notes: list[Note] = []
        role = message.role
        role_mark = _ROLE_MARKS[role]
        dropping = False
        start = message.opens_at or 0
        for index, block in enumerate(message.blocks[start:] if start else message.blocks, start):
            if block.is_failed_compaction or (
                thinking is Thinking.STRIPPED and block.kind in ("thinking", "redacted_thinking")
            ):
                continue
            if prompt.seal is not None:
                prompt.meaning, prompt.thoughts, prompt.last_thought = prompt.resumed(role)
                prompt.seal = None
            if not block.is_thinking:
                if block.kind == "redacted_thinking":
                    if thinking is Thinking.CLEARED:
                        continue
                else:
                    dropping = False
                    if block.seal is not None and block.seal.opening == self.meaning:
                        prompt.seal = block.seal
                    prompt.meaning = digest(prompt.meaning, role_mark, block.meaning)
                blocks.append((index, block))
                continue
            trouble = prompt._trouble(block.thought, prompt.meaning)
            # A mismatch takes the rest of the turn's consecutive thinking blocks with it.
            if trouble is None and dropping:
                trouble = Trouble.PREFIX
            dropped = trouble in _ALWAYS_DROPPED or (
                trouble is Trouble.PREFIX and self.reader.drops_mismatches
            )
            if trouble is not None:
                notes.append(Note(at, index, trouble, block.thought, prompt.meaning, dropped))
            if dropped:
                dropping = trouble is Trouble.PREFIX
                continue
            if thinking is not Thinking.CLEARED:
                blocks.append((index, block))
            if block.thought is not None:
                prompt.thoughts += 1
                prompt.last_thought = block.thought.id
        prompt._extend(role, blocks, self.reader.message_frame if self.role != role else 0)
        # A message of which nothing is shown does not come between its neighbours.
        prompt.role = role if blocks else self.role
        prompt.notes = tuple(notes)
        prompt.troubled = self.troubled + len(notes)
        return prompt

    def _extend(self, role: str, blocks: list[tuple[int, Block]], frame: int) -> None:
        """Put blocks at the end, with the tokens that open them."""
        counter, family = self.reader.counter, self.reader.facts.token_family
        role_mark = _ROLE_MARKS[role]
        total, content = self.total + (frame if blocks else 0), self.content
        contents, totals = [], []
        for _, block in blocks:
            content = digest(content, role_mark, block.content)
            total += block.tokens(counter, family)
            contents.append(content)
            totals.append(total)
        self.content, self.total = content, total
        self.contents, self.totals = tuple(contents), tuple(totals)
        self.shown = tuple(index for index, _ in blocks)

    def _trouble(self, thought: Thought | None, meaning: bytes) -> Trouble | None:
        """Return what is wrong with a thinking block here; of several the first in the API's order of
        precedence.
        """
        reader = self.reader
        if thought is None:
            return Trouble.ALTERED
        if reader.facts.checks_account and thought.account != reader.account:
            return Trouble.ACCOUNT
        if thought.model not in reader.facts.reads_thinking_of:
            return Trouble.MODEL
        if reader.facts.checks_prefix and not fits(thought, meaning, self.last_thought, self.thoughts):
            return Trouble.PREFIX
        return None


_ALWAYS_DROPPED = (Trouble.ACCOUNT, Trouble.MODEL)

"""From a draft to the content of a reply: blocks, ids, signatures, and where it is cut off."""

from __future__ import annotations

import string
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from memdash.models import ThinkingType
from memdash.simulator.blocks import TOOL_USE_TOKENS
from memdash.simulator.digests import as_written, digest
from memdash.simulator.hint import HintedCall
from memdash.simulator.pretend.draft import Draft
from memdash.simulator.request import Request
from memdash.simulator.thinking import ID_SIZE, Thought, sign

STOP_TOKENS = 1
"""The token that ends a reply of its own accord; a reply that is cut off has none."""

_TO_ID_CHARACTERS = bytes((string.ascii_letters + string.digits).encode()[value % 62] for value in range(256))
_ID_LENGTH = 22
_SUMMARIES = (
    "Looking at what was asked and at what has been said so far before answering.",
    "Weighing what matters most here, then answering directly.",
    "Checking the earlier details that bear on this before replying.",
    "Working out what a useful answer needs to contain.",
)


@dataclass(frozen=True, slots=True)
class Reply:
    """The content of a message and why it ended; ``thinking_tokens`` are part of ``output_tokens``."""

    content: list[dict[str, Any]]
    stop_reason: str
    stop_sequence: str | None
    output_tokens: int
    thinking_tokens: int

    @property
    def has_text(self) -> bool:
        """Whether there is a text block."""
        return any(block["type"] == "text" for block in self.content)


class Ids:
    """Ids in the API's form, drawn one after the other from a seed."""

    def __init__(self, seed: bytes) -> None:
        self._seed = seed
        self._drawn = 0

    def draw(self, prefix: str) -> str:
        """Return the next id: ``msg_01…``, ``toolu_01…``."""
        return f"{prefix}_01{self.draw_bytes(_ID_LENGTH).translate(_TO_ID_CHARACTERS).decode('ascii')}"

    def draw_bytes(self, size: int) -> bytes:
        """Return the next random bytes, at most 64."""
        self._drawn += 1
        return blake2b(self._seed + self._drawn.to_bytes(4, "big"), digest_size=size).digest()

    def choose(self, choices: tuple[str, ...]) -> str:
        """Return one of the choices."""
        return choices[self.draw_bytes(1)[0] % len(choices)]


def no_reply() -> Reply:
    """Return the empty reply of a pre-warming request (``max_tokens: 0``)."""
    return Reply([], "max_tokens", None, 0, 0)


def write_reply(draft: Draft, request: Request, ids: Ids) -> Reply:
    """Make a reply of a draft within the request's limits."""
    draft = _as_allowed(draft, request)
    writer = _Writer(request, ids)
    writer.think(draft.thinking_tokens)
    writer.say(draft.text)
    for call in draft.calls:
        writer.call(call)
    return writer.reply()


def _as_allowed(draft: Draft, request: Request) -> Draft:
    """Fit a draft to what the request asks for: which tools may or must be called, and whether the model
    thinks.
    """
    options = request.options
    calls = tuple(call for call in draft.calls if call.name in request.tools.names)
    if options.tool_choice == "none":
        calls = ()
    if options.chosen_tool is not None:
        calls = tuple(call for call in calls if call.name == options.chosen_tool)
    if options.forces_tool and not calls:
        name = options.chosen_tool or request.tools.first
        calls = (HintedCall(name, {}),) if name is not None else ()
    if not options.parallel_tools:
        calls = calls[:1]
    thinking_tokens = draft.thinking_tokens if _thinks(request) else 0
    if options.thinking.budget_tokens is not None:
        thinking_tokens = min(thinking_tokens, options.thinking.budget_tokens)
    text = draft.text
    if calls and text and thinking_tokens and request.continues_loop and not request.model.text_between_tools:
        # These models give text between tool calls as thinking (Messages API, thinking).
        reader = request.prompt.reader
        thinking_tokens += reader.counter.count(text, reader.facts.token_family)
        text = ""
    return Draft(text, thinking_tokens, calls)


def _thinks(request: Request) -> bool:
    kind = request.options.thinking.type
    return kind is not ThinkingType.DISABLED and (
        kind is not ThinkingType.BETWEEN_TOOLS or request.continues_loop
    )


class _Writer:
    """Writes blocks one after the other until one does not fit."""

    def __init__(self, request: Request, ids: Ids) -> None:
        limit = request.options.max_tokens or 0
        window = request.model.context_window - request.total
        self._request = request
        self._ids = ids
        self._left = min(limit, window)
        self._reason_when_full = "max_tokens" if limit <= window else "model_context_window_exceeded"
        self._content: list[dict[str, Any]] = []
        self._tokens = 0
        self._thinking_tokens = 0
        self._stop: tuple[str, str | None] | None = None

    def think(self, tokens: int) -> None:
        """Write a thinking block of so many tokens."""
        if tokens <= 0:
            return
        if tokens >= self._left:
            tokens = self._left
            self._stop = (self._reason_when_full, None)
        self._spend(tokens)
        self._thinking_tokens = tokens
        if tokens:
            self._content.append(self._thinking_block(tokens))

    def say(self, text: str) -> None:
        """Write a text block, up to a stop sequence."""
        if self._stop is not None:
            return
        found = [
            (text.find(sequence), sequence)
            for sequence in self._request.options.stop_sequences
            if sequence in text
        ]
        if found:
            at, sequence = min(found)
            text = text[:at]
        if not text:
            if found:
                self._stop = ("stop_sequence", sequence)
            return
        tokens = self._count(text)
        if tokens > self._left:
            text, tokens = self._cut(text)
            self._stop = (self._reason_when_full, None)
        elif found:
            self._stop = ("stop_sequence", sequence)
        self._spend(tokens)
        if text:
            self._content.append({"type": "text", "text": text})

    def call(self, call: HintedCall) -> None:
        """Write a tool call; one that does not fit whole is left out, since half of its input would be no
        JSON.
        """
        if self._stop is not None:
            return
        tokens = TOOL_USE_TOKENS + self._count(call.name) + self._count(as_written(call.input))
        if tokens > self._left:
            self._spend(self._left)
            self._stop = (self._reason_when_full, None)
            return
        self._spend(tokens)
        self._content.append(
            {
                "type": "tool_use",
                "id": self._ids.draw("toolu"),
                "name": call.name,
                "input": _plain_json(call.input),
            }
        )

    def reply(self) -> Reply:
        """Return what was written."""
        reason, sequence = self._stop or (None, None)
        if reason is None:
            if self._left < STOP_TOKENS:
                reason = self._reason_when_full
            else:
                self._spend(STOP_TOKENS)
                calls = any(block["type"] == "tool_use" for block in self._content)
                reason = "tool_use" if calls else "end_turn"
        return Reply(self._content, reason, sequence, self._tokens, self._thinking_tokens)

    def _spend(self, tokens: int) -> None:
        self._tokens += tokens
        self._left -= tokens

    def _count(self, text: str) -> int:
        reader = self._request.prompt.reader
        return reader.counter.count(text, reader.facts.token_family)

    def _cut(self, text: str) -> tuple[str, int]:
        """Return the longest beginning of ``text``, cut between words, that fits, and what it costs: all that
        was left.
        """
        words = text.split(" ")
        low, high = 0, len(words)
        while low + 1 < high:
            middle = (low + high) // 2
            if self._count(" ".join(words[:middle])) <= self._left:
                low = middle
            else:
                high = middle
        return " ".join(words[:low]), self._left

    def _thinking_block(self, tokens: int) -> dict[str, Any]:
        prompt = self._request.prompt
        text = "" if self._request.options.thinking.omitted else self._ids.choose(_SUMMARIES)
        meaning, thoughts, last_thought = prompt.resumed("assistant")
        thought = Thought(
            id=self._ids.draw_bytes(ID_SIZE),
            model=self._request.model.id,
            account=prompt.reader.account,
            previous=last_thought,
            count=thoughts,
            binding=meaning,
            tools=prompt.reader.tools,
            system=prompt.reader.system,
            tokens=tokens,
        )
        return {"type": "thinking", "thinking": text, "signature": sign(thought, text)}


def _plain_json(value: Any) -> Any:
    """Return a copy in plain dictionaries and lists."""
    if isinstance(value, Mapping):
        return {name: _plain_json(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain_json(part) for part in value]
    return value


def seed_of(*parts: bytes) -> bytes:
    """Return the seed that follows from these parts."""
    return digest(b"reply ", *parts)

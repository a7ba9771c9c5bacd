"""Context editing: what is left out of the prompt although the client sends it (Messages API, context editing).

Nothing is remembered between requests. What is cleared follows from the messages alone: they are gone through as they
were said, and whenever the prompt of that moment passes the trigger, the oldest results are cleared. So a request that
only appends sees what its predecessor cleared cleared again, and the cache holds until the boundary moves. The API
does not say how it decides; that its boundary stays put between clearings has been observed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from memdash.simulator.blocks import TOOL_RESULT_TOKENS, Block
from memdash.simulator.context_management import (
    CLEAR_THINKING,
    CLEAR_TOOL_USES,
    ClearToolUses,
    ContextManagement,
)
from memdash.simulator.conversation import Step
from memdash.simulator.digests import as_written, digest, text_bytes
from memdash.simulator.messages import Message
from memdash.simulator.prompt import REPLY_FRAME_TOKENS, Prompt, Thinking

PLACEHOLDER = "[This tool result was cleared to save context.]"
"""What stands in the place of a cleared result; the API's own words are not documented."""

_MOST_VARIANTS = 5_000
_NO_INPUT: Mapping[str, Any] = {}
_THINKING_KINDS = frozenset({"thinking", "redacted_thinking"})


@dataclass(frozen=True, slots=True)
class Edited:
    """A prompt after context editing.

    ``prompts`` are those at the end of each message that is read, ``applied`` the edits as a response reports them,
    ``original_total`` the tokens there were before. ``cleared`` are the ids of the tool uses whose results went.
    """

    prompts: Mapping[Step, Prompt]
    applied: tuple[dict[str, Any], ...]
    original_total: int
    cleared: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Moment:
    """What was cleared when the conversation had come to a step, under these settings and behind this start."""

    start: Prompt
    edit: ClearToolUses
    cleared: frozenset[str]
    prompt: Prompt


class Clearing:
    """Applies context editing; it remembers messages with parts cleared, so that they are made once."""

    def __init__(self) -> None:
        self._variants: dict[tuple[Message, frozenset[str], frozenset[str] | None], Message] = {}

    def clear(self) -> None:
        """Forget all messages."""
        self._variants.clear()

    def apply(self, path: list[Step], start: Prompt, management: ContextManagement) -> Edited:
        """Return the prompt of the messages on ``path``, which begins behind ``start``, after the edits."""
        plain = self._render(path, start, frozenset(), None, 0)[path[-1]]
        total = plain.total
        applied: list[dict[str, Any]] = []
        thinking_from = 0
        if management.clear_thinking is not None and management.clear_thinking.keep is not None:
            thinking_from, turns = _kept_thinking(path, management.clear_thinking.keep)
            shown = self._render(path, start, frozenset(), None, thinking_from)[path[-1]].total
            if turns:
                applied.append(
                    {
                        "type": CLEAR_THINKING,
                        "cleared_thinking_turns": turns,
                        "cleared_input_tokens": total - shown,
                    }
                )
            total = shown
        cleared: frozenset[str] = frozenset()
        edit = management.clear_tool_uses
        if edit is not None:
            cleared = self._cleared(path, start, edit)
        prompts = self._render(path, start, cleared, edit, thinking_from)
        if cleared:
            applied.append(
                {
                    "type": CLEAR_TOOL_USES,
                    "cleared_tool_uses": len(cleared),
                    "cleared_input_tokens": max(0, total - prompts[path[-1]].total),
                }
            )
        return Edited(prompts, tuple(applied), plain.total, cleared)

    def _cleared(self, path: list[Step], start: Prompt, edit: ClearToolUses) -> frozenset[str]:
        """Return the tool uses that are cleared by the end of the path."""
        known = len(path)
        cleared: frozenset[str] = frozenset()
        prompt = start
        while known:
            moment = path[known - 1].edited
            if isinstance(moment, _Moment) and moment.start is start and moment.edit == edit:
                cleared, prompt = moment.cleared, moment.prompt
                break
            known -= 1
        for index in range(known, len(path)):
            step = path[index]
            assert step.message is not None
            prompt = prompt.and_message(step.message, step.index)
            if step.role == "user":
                more = self._due(path[: index + 1], prompt, cleared, edit)
                if more:
                    cleared |= more
                    prompt = self._render(path[: index + 1], start, cleared, edit, 0)[step]
            step.edited = _Moment(start, edit, cleared, prompt)
        return cleared

    def _due(
        self, path: list[Step], prompt: Prompt, cleared: frozenset[str], edit: ClearToolUses
    ) -> frozenset[str]:
        """Return what is to be cleared at the end of this path beside what was cleared before."""
        tokens = prompt.total + REPLY_FRAME_TOKENS
        if edit.over_tokens is not None and tokens <= edit.over_tokens:
            return frozenset()
        uses = _answered(path)
        if edit.over_uses is not None and len(uses) - len(cleared) <= edit.over_uses:
            return frozenset()
        older = uses[: max(0, len(uses) - edit.keep)]
        due = [use for use in older if use[0] not in cleared and use[1] not in edit.excluded]
        reader = prompt.reader
        counter, family = reader.counter, reader.facts.token_family
        saved = 0
        for _, _, call, result in due:
            saved += result.tokens(counter, family) - _without_result(result).tokens(counter, family)
            if _loses_input(call, edit):
                saved += call.tokens(counter, family) - _without_input(call).tokens(counter, family)
        return frozenset(use[0] for use in due) if saved >= edit.at_least else frozenset()

    def _render(
        self,
        path: list[Step],
        start: Prompt,
        cleared: frozenset[str],
        edit: ClearToolUses | None,
        thinking_from: int,
    ) -> dict[Step, Prompt]:
        prompts = {}
        prompt = start
        for step in path:
            message = step.message
            assert message is not None
            if cleared and edit is not None:
                message = self._variant(message, cleared, edit)
            thinking = Thinking.CLEARED if step.index < thinking_from else Thinking.SHOWN
            prompt = prompts[step] = prompt.and_message(message, step.index, thinking)
        return prompts

    def _variant(self, message: Message, cleared: frozenset[str], edit: ClearToolUses) -> Message:
        """Return the message with the results of these tool uses cleared, and their inputs where that is asked."""
        here = frozenset(
            id
            for block in message.blocks
            if (id := block.answers or block.call) in cleared
            and (block.answers is not None or _loses_input(block, edit))
        )
        if not here:
            return message
        key = (message, here, edit.clears_inputs_of)
        variant = self._variants.get(key)
        if variant is None:
            blocks = tuple(_cleared_block(block, here) for block in message.blocks)
            if len(self._variants) >= _MOST_VARIANTS:
                self._variants.clear()
            variant = self._variants[key] = replace(message, blocks=blocks)
        return variant


def shown_messages(
    messages: Iterable[Mapping[str, Any]], cleared: frozenset[str], edit: ClearToolUses | None
) -> list[Mapping[str, Any]]:
    """Return messages as the model sees them once the results of these tool uses are cleared."""
    shown: list[Mapping[str, Any]] = []
    for message in messages:
        content = message["content"]
        if not isinstance(content, str):
            content = [_shown_block(block, cleared, edit) for block in content]
        shown.append({**message, "content": content})
    return shown


def _shown_block(
    block: Mapping[str, Any], cleared: frozenset[str], edit: ClearToolUses | None
) -> Mapping[str, Any]:
    if block.get("tool_use_id") in cleared and block["type"] == "tool_result":
        return {**block, "content": PLACEHOLDER}
    if edit is not None and block["type"] == "tool_use" and block["id"] in cleared:
        names = edit.clears_inputs_of
        if names is None or block["name"] in names:
            return {**block, "input": {}}
    return block


def _answered(path: list[Step]) -> list[tuple[str, str, Block, Block]]:
    """Return id, tool name, call and result of every tool use that has its result, oldest first."""
    calls: dict[str, Block] = {}
    uses = []
    for step in path:
        assert step.message is not None
        for block in step.message.blocks[step.message.opens_at or 0 :]:
            if block.call is not None:
                calls[block.call] = block
            elif block.answers is not None and block.answers in calls:
                call = calls[block.answers]
                uses.append((block.answers, call.texts[0], call, block))
    return uses


def _kept_thinking(path: list[Step], keep: int) -> tuple[int, int]:
    """Return the index from which on thinking stays, and the number of turns that lose theirs.

    A turn is everything the assistant says between two messages of the user, tool calls and their results included.
    """
    starts: list[int] = []
    turn_starts = path[0].index
    for step in path:
        message = step.message
        assert message is not None
        if message.opens_turn:
            turn_starts = step.index
        read = message.blocks[message.opens_at or 0 :]
        if any(block.kind in _THINKING_KINDS for block in read) and turn_starts not in starts[-1:]:
            starts.append(turn_starts)
    lost = len(starts) - keep
    return (starts[lost], lost) if lost > 0 else (0, 0)


def _loses_input(block: Block, edit: ClearToolUses) -> bool:
    names = edit.clears_inputs_of
    return block.call is not None and (names is None or block.texts[0] in names)


def _cleared_block(block: Block, ids: frozenset[str]) -> Block:
    if block.answers in ids:
        return _without_result(block)
    return _without_input(block) if block.call in ids else block


def _without_result(block: Block) -> Block:
    """Return a result as the prompt shows it cleared; for thinking it is what it was."""
    content = digest(b"cleared ", text_bytes(block.answers or ""))
    return Block(
        "tool_result", content, block.meaning, (PLACEHOLDER,), TOOL_RESULT_TOKENS, answers=block.answers
    )


def _without_input(block: Block) -> Block:
    content = digest(b"without input ", text_bytes(as_written([block.call, block.texts[0]])))
    texts = (block.texts[0], as_written(_NO_INPUT))
    return Block("tool_use", content, block.meaning, texts, block.more_tokens, call=block.call)

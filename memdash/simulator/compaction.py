"""Compaction by the API itself: the pretend model is asked for a summary of what the request shows.

The summary call reads the request's own prompt and one instruction more, so it reads and writes the cache where the
request's marks lie. A summary that is cut off is none: past a threshold by the end of the window or by a room of its own,
on demand by ``max_tokens`` too (our rule for the first: the documentation says that it can fail, not when).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from memdash.simulator.compaction_block import Seal, sign
from memdash.simulator.errors import ApiError, invalid
from memdash.simulator.pretend.draft import Overloaded, PretendModel
from memdash.simulator.pretend.handover import open_message, with_open_message
from memdash.simulator.pretend.visible import last_user_text, messages
from memdash.simulator.prompt import Prompt
from memdash.simulator.reply import STOP_TOKENS
from memdash.simulator.request import Request

MOST_TOOLS = 1_000
"""Distinct tools a block can record; the API has a limit and does not say which."""

_ROOM = 16_384
"""Tokens a summary past a threshold may have; the reply's ``max_tokens`` is for the reply. Our assumption."""

_PROMPT = (
    "Please summarise our conversation so far, so that it can go on without the messages themselves. Keep what was asked and "
    "decided, names, numbers and identifiers, what tools returned, corrections and what is still open."
)
_WITH_INSTRUCTIONS = "Please summarise our conversation so far. "


@dataclass(frozen=True, slots=True)
class Summary:
    """An attempt at a summary: its text, None where it failed, and why it ended.

    ``prompt_tokens`` is the whole prompt of the call, ``output_tokens`` what it wrote, also in vain.
    """

    text: str | None
    stop_reason: str
    prompt_tokens: int
    output_tokens: int


def summarise(model: PretendModel, request: Request, instructions: str | None, seed: int) -> Summary:
    """Have the conversation of ``request`` summarised; instructions replace the default ones. An unanswered message of
    the user is handed over in its own words.

    Raises ApiError where the model cannot answer now.
    """
    asked = _PROMPT if instructions is None else _WITH_INSTRUCTIONS + instructions
    prompt_tokens = prompt_size(request, instructions)
    max_tokens = _ROOM if request.options.compaction is None else request.options.max_tokens or 0
    room = request.model.context_window - prompt_tokens
    limit = max(0, min(max_tokens, room))
    cut_off = "max_tokens" if max_tokens <= room else "model_context_window_exceeded"
    reader = request.prompt.reader
    counter, family = reader.counter, reader.facts.token_family
    shown = request.shown()
    unanswered = ""
    if request.step.role == "user":
        given = messages(shown)
        unanswered = last_user_text(given)[1] or open_message(given)
    body = {name: value for name, value in shown.items() if name not in ("tool_choice", "thinking")}
    body["max_tokens"] = max(1, limit - counter.count(unanswered, family))
    body["messages"] = [*shown["messages"], {"role": "user", "content": asked}]
    try:
        text = model.draft(body, None, seed).text.strip()
    except Overloaded as error:
        message = str(error) or "The conversation could not be compacted. Please try again."
        raise ApiError(529, "overloaded_error", message, "compaction_unavailable") from None
    if not text:
        return Summary(None, "end_turn", prompt_tokens, min(STOP_TOKENS, limit))
    text = with_open_message(text, unanswered)
    tokens = counter.count(text, family) + STOP_TOKENS
    if tokens > limit:
        return Summary(None, cut_off, prompt_tokens, limit)
    return Summary(text, "compaction", prompt_tokens, tokens)


def prompt_size(request: Request, instructions: str | None) -> int:
    """Return the tokens of the summary call's prompt."""
    asked = _PROMPT if instructions is None else _WITH_INSTRUCTIONS + instructions
    prompt = request.prompt
    reader = prompt.reader
    frame = 0 if prompt.role == "user" else reader.message_frame
    return request.total + frame + reader.counter.count(asked, reader.facts.token_family)


def check_can_compact(request: Request) -> None:
    """Raise where there is nothing to summarise, or more than a block can record."""
    step = request.step
    tools: set[str] = set()
    has_content = False
    at = step
    while at.parent is not None and at.message is not None:
        for block in at.message.blocks:
            has_content = has_content or (at.role != "system" and not block.is_failed_compaction)
            if block.call is not None:
                tools.add(block.texts[0])
        at = at.parent
    if not has_content:
        raise invalid(
            "messages: there is no `user` or `assistant` content to summarize",
            "compaction_nothing_to_summarize",
        )
    if len(tools) > MOST_TOOLS:
        raise invalid(
            f"messages: the conversation references {len(tools)} distinct tools, more than the {MOST_TOOLS} that a "
            "`compaction` block can record",
            "compaction_too_many_tool_references",
        )


def threshold_block(text: str | None) -> dict[str, Any]:
    """Return the block of a compaction past a threshold; it carries no signature."""
    return {"type": "compaction", "content": text}


def signed_block(text: str, request: Request) -> dict[str, Any]:
    """Return the block of a compaction on demand."""
    prompt: Prompt = request.prompt
    last_role = request.step.role or "user"
    meaning, thoughts, last_thought = prompt.meaning, prompt.thoughts, prompt.last_thought
    seal = Seal(
        preserves=request.model.checks_prefix,
        last_role=last_role,
        opening=request.opening.end.meaning,
        meaning=meaning,
        thoughts=thoughts,
        last_thought=last_thought,
    )
    # No tool comes or goes in the middle of a conversation here.
    changes: list[Any] = []
    return {
        "type": "compaction",
        "content": text,
        "signature": sign(seal, text, changes),
        "tool_changes": changes,
    }

"""What a request starts with: its tools, its system prompt, and the options that everything after them depends on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from memdash.models import ModelFacts
from memdash.simulator.conversation import Step
from memdash.simulator.digests import as_written, digest, text_bytes
from memdash.simulator.options import Options
from memdash.simulator.prompt import REPLY_FRAME_TOKENS, SYSTEM_FRAME_TOKENS, Prompt, Reader
from memdash.simulator.rules import Rules
from memdash.simulator.thinking import mark_of
from memdash.simulator.tools import NO_SYSTEM, NO_TOOLS, SystemPrompt, ToolSet, read_system, read_tools
from memdash.tokens import TokenCounter

_MOST_OPENINGS = 512


@dataclass(frozen=True, slots=True)
class Opening:
    """What stands before the messages.

    ``tools`` and ``system`` are where marks on them lie, ``end`` is where the messages begin.
    """

    tool_set: ToolSet
    system_prompt: SystemPrompt
    tools: Prompt
    system: Prompt
    end: Prompt


class Openings:
    """Openings by what makes them, so that one that comes again is neither read nor counted again."""

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter
        self._known: dict[tuple[object, ...], Opening] = {}

    def clear(self) -> None:
        """Forget all of them, and with them the prompts that grew from them."""
        self._known.clear()

    def read(
        self, body: Mapping[str, Any], key: str, model: ModelFacts, options: Options, rules: Rules, step: Step
    ) -> Opening:
        """Return the opening of a request whose messages end at ``step``.

        Raises ApiError where the API would refuse its tools or its system prompt.
        """
        tools, system = body.get("tools"), body.get("system")
        drops_mismatches = options.thinking.mismatch == "drop_block"
        before_system = (options.fast, options.output_format, step.has_citations)
        before_messages = (
            options.tool_choice,
            options.chosen_tool,
            options.parallel_tools,
            step.has_image,
            options.thinking.type,
            options.thinking.budget_tokens,
            options.effort,
        )
        memo = (
            key,
            model.id,
            rules,
            None if tools is None else as_written(tools),
            system if system is None or isinstance(system, str) else (as_written(system),),
            drops_mismatches,
            before_system,
            before_messages,
        )
        opening = self._known.get(memo)
        if opening is None:
            reader = Reader(model, self._counter, mark_of(_account(key)), drops_mismatches)
            tool_set = NO_TOOLS if tools is None else read_tools(tools)
            system_prompt = NO_SYSTEM if system is None else read_system(system, rules)
            opening = _build(key, reader, tool_set, system_prompt, options, before_system, before_messages)
            if len(self._known) >= _MOST_OPENINGS:
                self._known.clear()
            self._known[memo] = opening
        return opening


def _account(key: str) -> bytes:
    return digest(b"account ", text_bytes(key))


def _build(
    key: str,
    reader: Reader,
    tool_set: ToolSet,
    system_prompt: SystemPrompt,
    options: Options,
    before_system: tuple[object, ...],
    before_messages: tuple[object, ...],
) -> Opening:
    """Lay out the levels; an option stands right before the first level that a change of it invalidates.

    The order is tools, system, messages, and a change loses its level and all that follow (Messages API, prompt caching). How
    thinking and effort affect tools and system differs by model; here they are kept.
    """
    model = reader.facts
    reader = replace(
        reader,
        tools=mark_of(digest(*(block.meaning for block in tool_set.blocks))),
        system=mark_of(digest(*(block.meaning for block in system_prompt.blocks))),
    )
    root = Prompt(
        reader, None, content=digest(_account(key), model.id.encode()), meaning=digest(b"messages api")
    )
    tools = root.and_part("tool", tool_set.blocks, frame=model.tool_prompt.auto)
    system = tools.and_options(text_bytes(as_written(before_system))).and_part(
        "prompt", system_prompt.blocks, frame=SYSTEM_FRAME_TOKENS
    )
    forced = model.tool_prompt.forced - model.tool_prompt.auto if options.forces_tool else 0
    opening = model.frame_tokens - reader.message_frame - REPLY_FRAME_TOKENS
    end = system.and_options(text_bytes(as_written(before_messages)), more_tokens=forced + opening)
    return Opening(tool_set, system_prompt, tools, system, end)

"""From a JSON body to a validated request with its prompt: the way every request takes into the simulator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from memdash.models import ModelFacts, facts
from memdash.simulator import fields, thinking
from memdash.simulator.cache import PlacedMark
from memdash.simulator.conversation import Conversations, Step
from memdash.simulator.digests import as_written, digest, text_bytes
from memdash.simulator.errors import ApiError, invalid
from memdash.simulator.marks import MOST_MARKS, Lifetime, Mark, check_order, too_many
from memdash.simulator.options import Options, read_options
from memdash.simulator.prompt import REPLY_FRAME_TOKENS, SYSTEM_FRAME_TOKENS, Prompt, Reader, Trouble
from memdash.simulator.rules import BINDING_CONTROLS, Rules, rules_for
from memdash.simulator.tools import NO_SYSTEM, NO_TOOLS, SystemPrompt, ToolSet, read_system, read_tools
from memdash.tokens import TokenCounter

_MOST_STARTS = 512

_COUNTED = frozenset(
    (
        "model",
        "messages",
        "system",
        "tools",
        "tool_choice",
        "thinking",
        "output_config",
        "cache_control",
        "speed",
    )
)
_CREATED = _COUNTED | {
    "max_tokens",
    "metadata",
    "service_tier",
    "inference_geo",
    "stop_sequences",
    "stream",
    "container",
    "diagnostics",
    "user_profile_id",
    "workspace_id",
}
_SAMPLING = frozenset(("temperature", "top_p", "top_k"))


@dataclass(frozen=True, slots=True)
class Request:
    """A valid request.

    ``total`` counts the whole prompt. ``transformations`` is None unless the beta header asks for them.
    ``continues_loop`` says that the request hands in tool results.
    """

    body: Mapping[str, Any]
    model: ModelFacts
    options: Options
    tools: ToolSet
    prompt: Prompt
    marks: list[PlacedMark]
    total: int
    transformations: list[dict[str, str]] | None
    continues_loop: bool


@dataclass(frozen=True, slots=True)
class _Start:
    """What stands before the messages; ``tools`` and ``system`` are where marks on them lie."""

    tool_set: ToolSet
    system_prompt: SystemPrompt
    tools: Prompt
    system: Prompt
    end: Prompt


class _Automatic(NamedTuple):
    """The automatic mark, and the message it lies in."""

    step: Step
    mark: Mark


class RequestReader:
    """Validates requests and builds their prompts, remembering what earlier requests had in common with them."""

    def __init__(self, counter: TokenCounter, *, enforce_binding: bool) -> None:
        self._counter = counter
        self._enforce_binding = enforce_binding
        self._conversations: dict[Rules, Conversations] = {}
        self._starts: dict[tuple[object, ...], _Start] = {}

    def read(
        self, body: Any, key: str, api_version: str, betas: frozenset[str], *, is_count: bool = False
    ) -> Request:
        """Return the request that ``body`` is.

        Raises ApiError where the API would refuse it: its shape first, then the order of its messages, then
        its thinking blocks.
        """
        rules = rules_for(api_version, betas)
        _check_fields(body, rules, is_count)
        model = _model(body["model"])
        options = read_options(body, model, rules, is_count=is_count)
        step = self._conversation(rules).read(body["messages"])
        start = self._start(body, key, model, options, rules, has_image=step.has_image)
        self._check_fit(step, model, options, start)
        prompt, marks = _place(step, start, options)
        transformations = self._check_thinking(prompt, step, options, rules)
        total = prompt.total + REPLY_FRAME_TOKENS
        if not is_count and total > model.context_window:
            raise invalid(f"prompt is too long: {total} tokens > {model.context_window} maximum")
        return Request(
            body=body,
            model=model,
            options=options,
            tools=start.tool_set,
            prompt=prompt,
            marks=marks,
            total=total,
            transformations=transformations if rules.allows(BINDING_CONTROLS) else None,
            continues_loop=_hands_in_results(step),
        )

    def _conversation(self, rules: Rules) -> Conversations:
        conversations = self._conversations.get(rules)
        if conversations is None or conversations.is_full:
            # Nothing but speed is lost: what the cache holds is kept by fingerprint.
            self._starts.clear()
            conversations = self._conversations[rules] = Conversations(rules)
        return conversations

    def _start(
        self,
        body: Mapping[str, Any],
        key: str,
        model: ModelFacts,
        options: Options,
        rules: Rules,
        *,
        has_image: bool,
    ) -> _Start:
        tools, system = body.get("tools"), body.get("system")
        thinking = options.thinking
        memo = (
            key,
            model.id,
            rules,
            None if tools is None else as_written(tools),
            system if system is None or isinstance(system, str) else (as_written(system),),
            options.fast,
            options.output_format,
            options.tool_choice,
            options.chosen_tool,
            options.parallel_tools,
            options.effort,
            thinking.type,
            thinking.budget_tokens,
            thinking.mismatch == "drop_block",
            has_image,
        )
        start = self._starts.get(memo)
        if start is None:
            tool_set = NO_TOOLS if tools is None else read_tools(tools)
            system_prompt = NO_SYSTEM if system is None else read_system(system, rules)
            if len(self._starts) >= _MOST_STARTS:
                self._starts.clear()
            start = self._starts[memo] = self._build_start(
                key, model, options, tool_set, system_prompt, has_image
            )
        return start

    def _build_start(
        self,
        key: str,
        model: ModelFacts,
        options: Options,
        tool_set: ToolSet,
        system_prompt: SystemPrompt,
        has_image: bool,
    ) -> _Start:
        """Lay out the levels of the prompt; an option stands before all that a change of it invalidates."""
        account = digest(b"account ", text_bytes(key))
        reader = Reader(
            model,
            self._counter,
            account=thinking.mark_of(account),
            drops_mismatches=options.thinking.mismatch == "drop_block",
            tools=thinking.mark_of(digest(*(block.meaning for block in tool_set.blocks))),
            system=thinking.mark_of(digest(*(block.meaning for block in system_prompt.blocks))),
        )
        root = Prompt(
            reader, None, content=digest(account, model.id.encode()), meaning=digest(b"messages api")
        )
        tools = root.and_part("tool", tool_set.blocks, frame=model.tool_prompt.auto)
        before_system = as_written([options.fast, options.output_format])
        system = tools.and_options(text_bytes(before_system)).and_part(
            "prompt", system_prompt.blocks, frame=SYSTEM_FRAME_TOKENS
        )
        before_messages = as_written(
            [
                options.tool_choice,
                options.chosen_tool,
                options.parallel_tools,
                has_image,
                options.thinking.type,
                options.thinking.budget_tokens,
                options.effort,
            ]
        )
        forced = model.tool_prompt.forced - model.tool_prompt.auto if options.forces_tool else 0
        opening = model.frame_tokens - reader.message_frame - REPLY_FRAME_TOKENS
        end = system.and_options(text_bytes(before_messages), more_tokens=forced + opening)
        return _Start(tool_set, system_prompt, tools, system, end)

    def _check_fit(self, step: Step, model: ModelFacts, options: Options, start: _Start) -> None:
        """Check what depends on several parts of the request together."""
        if options.chosen_tool is not None and options.chosen_tool not in start.tool_set.names:
            raise invalid(f"tool_choice: Tool '{options.chosen_tool}' not found in provided tools")
        if step.has_system and not model.system_messages:
            raise invalid(
                'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, '
                'not "system" as an input message role, for this model.'
            )
        if step.role == "assistant" and (not model.prefill or options.thinking.budget_tokens is not None):
            raise invalid(
                "This model does not support assistant message prefill. The conversation must end with a user message."
            )

    def _check_thinking(
        self, prompt: Prompt, step: Step, options: Options, rules: Rules
    ) -> list[dict[str, str]]:
        """Return what was done about thinking blocks that do not fit; raise where one of them fails the
        request.
        """
        if not prompt.troubled:
            return []
        behavior = options.thinking.mismatch
        enforced = behavior == "error" or (behavior is None and self._enforce_binding)
        transformations = []
        for note in prompt.all_notes():
            if note.trouble is Trouble.ALTERED or note.thought is None:
                if _hands_in_results(step) and note.message == _latest_assistant(step):
                    raise thinking.altered_in_latest_turn(note.path)
                raise thinking.altered(note.path)
            if enforced and not note.dropped:
                raise thinking.bound_elsewhere(
                    note.path,
                    note.thought,
                    binding=note.meaning,
                    tools=prompt.reader.tools,
                    system=prompt.reader.system,
                    controls=rules.allows(BINDING_CONTROLS),
                )
            kind = "thinking_dropped" if note.dropped else "thinking_mismatch_allowed"
            transformations.append({"type": kind, "path": note.path, "reason": str(note.trouble)})
        return transformations


def _check_fields(body: Any, rules: Rules, is_count: bool) -> None:
    if not isinstance(body, Mapping):
        raise invalid("Input should be a valid dictionary")
    known = _COUNTED if is_count else _CREATED
    if not rules.strict and not is_count:
        known |= _SAMPLING
    for name in body:
        if name not in known:
            raise fields.extra(str(name))
    for name in ("model", "messages") if is_count else ("model", "max_tokens", "messages"):
        if name not in body:
            raise fields.required(name)


def _model(value: Any) -> ModelFacts:
    name = fields.string(value, "model")
    model = facts(name)
    if model is None:
        raise ApiError(404, "not_found_error", f"model: {name}")
    return model


def _place(step: Step, start: _Start, options: Options) -> tuple[Prompt, list[PlacedMark]]:
    """Return the whole prompt and the cache marks on it."""
    strips_before = -1 if start.end.reader.facts.keeps_thinking else _turn_start(step)
    prompt = _render(step, start.end, strips_before)
    marks = [*start.tool_set.marks, *start.system_prompt.marks]
    marks += [Mark(index, lifetime, path) for _, index, lifetime, path in step.marks]
    automatic = None if options.automatic_mark is None else _automatic_mark(step, options.automatic_mark)
    found = len(marks) + (automatic is not None)
    if not found:
        return prompt, []
    if found > MOST_MARKS:
        raise too_many(found)
    check_order(marks if automatic is None else [*marks, automatic.mark])
    placed = [PlacedMark(start.tools, mark.index, mark.lifetime) for mark in start.tool_set.marks]
    placed += [PlacedMark(start.system, mark.index, mark.lifetime) for mark in start.system_prompt.marks]
    for marked, index, lifetime, _ in step.marks:
        part = _render(marked, start.end, strips_before)
        placed.append(PlacedMark(part, part.shown.index(index), lifetime))
    if automatic is not None:
        part = _render(automatic.step, start.end, strips_before)
        placed.append(PlacedMark(part, part.shown.index(automatic.mark.index), automatic.mark.lifetime))
    return prompt, placed


def _automatic_mark(step: Step, lifetime: Lifetime) -> _Automatic | None:
    """Return where the automatic mark goes: the last block that may carry one; None where it carries one
    already.
    """
    at: Step | None = step
    while at is not None and at.message is not None:
        for index in range(len(at.message.blocks) - 1, -1, -1):
            if at.message.blocks[index].is_cacheable:
                on_block = {there for where, place, there, _ in step.marks if where is at and place == index}
                if on_block - {lifetime}:
                    raise invalid(
                        "cache_control: the last cacheable block already has cache_control with a different ttl; "
                        "use the same ttl or leave one of them out"
                    )
                return None if on_block else _Automatic(at, Mark(index, lifetime, ""))
        at = at.parent
    return None


def _render(step: Step, start: Prompt, strips_before: int) -> Prompt:
    """Return the prompt that ends with this step's message; assistant thinking before that index is left out."""
    if strips_before >= 0:
        prompt = start
        for part in _path(step):
            if part.message is not None:
                prompt = prompt.and_message(part.message, without_thinking=part.index < strips_before)
        return prompt
    missing = []
    at: Step | None = step
    while at is not None and at.message is not None and at.rendered_from is not start:
        missing.append(at)
        at = at.parent
    prompt = at.rendered if at is not None and at.message is not None and at.rendered is not None else start
    for part in reversed(missing):
        if part.message is not None:
            prompt = prompt.and_message(part.message)
            part.rendered, part.rendered_from = prompt, start
    return prompt


def _path(step: Step) -> list[Step]:
    path = []
    at: Step | None = step
    while at is not None:
        path.append(at)
        at = at.parent
    path.reverse()
    return path


def _turn_start(step: Step) -> int:
    """Return the index of the last message that opens a user turn."""
    at: Step | None = step
    while at is not None and at.message is not None:
        if at.message.opens_turn:
            return at.index
        at = at.parent
    return 0


def _hands_in_results(step: Step) -> bool:
    return step.role == "user" and step.message is not None and not step.message.opens_turn


def _latest_assistant(step: Step) -> int:
    at: Step | None = step
    while at is not None and at.role not in ("assistant", None):
        at = at.parent
    return -1 if at is None else at.index

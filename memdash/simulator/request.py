"""From a JSON body to a validated request with its prompt: the way every request takes into the simulator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memdash.models import ModelFacts, facts
from memdash.simulator import fields, thinking
from memdash.simulator.cache import PlacedMark
from memdash.simulator.clearing import Clearing, shown_messages
from memdash.simulator.conversation import Conversations, Step
from memdash.simulator.errors import ApiError, invalid
from memdash.simulator.opening import Opening, Openings
from memdash.simulator.options import Options, read_options
from memdash.simulator.placing import Placed, place
from memdash.simulator.prompt import REPLY_FRAME_TOKENS, Prompt, Trouble
from memdash.simulator.rules import BINDING_CONTROLS, Rules, rules_for
from memdash.simulator.tools import ToolSet
from memdash.tokens import TokenCounter

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
        "context_management",
        "compaction",
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

    ``rules`` are those it fell under, ``step`` is where its messages end, ``opening`` what stands before them.
    ``placed`` is how they are laid out, ``total`` counts the whole prompt. ``transformations`` is None unless
    the beta header asks for them.
    """

    body: Mapping[str, Any]
    rules: Rules
    model: ModelFacts
    options: Options
    step: Step
    opening: Opening
    placed: Placed
    total: int
    transformations: list[dict[str, str]] | None

    @property
    def tools(self) -> ToolSet:
        """The tools it offers."""
        return self.opening.tool_set

    @property
    def prompt(self) -> Prompt:
        """The whole prompt."""
        return self.placed.prompt

    @property
    def marks(self) -> list[PlacedMark]:
        """The cache marks on it."""
        return self.placed.marks

    @property
    def continues_loop(self) -> bool:
        """Whether it hands in tool results."""
        return _hands_in_results(self.step)

    @property
    def original_total(self) -> int:
        """What the prompt would count without context editing."""
        return self.placed.original + REPLY_FRAME_TOKENS

    @property
    def compacts(self) -> bool:
        """Whether it has reached the threshold past which the API compacts.

        A request that hands a compaction back to have the model go on from it is not compacted again, or a paused
        conversation with a long fixed part would never go on.
        """
        edit = self.options.context.compact
        return edit is not None and self.total >= edit.trigger and not self.step.ends_in_compaction

    def shown(self) -> Mapping[str, Any]:
        """Return the body as the model sees it: without what context editing cleared."""
        cleared = self.placed.cleared
        if not cleared:
            return self.body
        messages = shown_messages(self.body["messages"], cleared, self.options.context.clear_tool_uses)
        return {**self.body, "messages": messages}


class RequestReader:
    """Validates requests and builds their prompts, remembering what earlier requests had in common with them."""

    def __init__(self, counter: TokenCounter, *, enforce_binding: bool, relax_limits: bool = False) -> None:
        self._enforce_binding = enforce_binding
        self._relax_limits = relax_limits
        self._clearing = Clearing()
        self._conversations: dict[Rules, Conversations] = {}
        self._latest: Conversations | None = None
        self._openings = Openings(counter)

    def read(
        self,
        body: Any,
        key: str,
        api_version: str,
        betas: frozenset[str],
        *,
        is_count: bool = False,
        unchanged: int = 0,
    ) -> Request:
        """Return the request that ``body`` is.

        ``unchanged`` is how many of its first messages are those of the request read before, which the caller vouches for.
        Raises ApiError where the API would refuse it: its shape first, then the order of its messages, then
        its thinking blocks.
        """
        rules = rules_for(api_version, betas)
        _check_fields(body, rules, is_count)
        model = _model(body["model"])
        options = read_options(body, model, rules, is_count=is_count, relax_limits=self._relax_limits)
        to_compact = options.compaction is not None and not is_count
        conversations = self._conversation(rules.of_content)
        known = unchanged if conversations is self._latest else 0
        self._latest = None
        step = conversations.read(body["messages"], to_compact=to_compact, unchanged=known)
        self._latest = conversations
        opening = self._openings.read(body, key, model, options, rules.of_content, step)
        _check_fit(step, model, options, opening.tool_set)
        placed = place(step, opening, options, self._clearing)
        transformations = self._check_thinking(placed.prompt, step, options, rules)
        total = placed.prompt.total + REPLY_FRAME_TOKENS
        if not is_count and total > model.context_window:
            raise invalid(f"prompt is too long: {total} tokens > {model.context_window} maximum")
        return Request(
            body=body,
            rules=rules,
            model=model,
            options=options,
            step=step,
            opening=opening,
            placed=placed,
            total=total,
            transformations=transformations if rules.allows(BINDING_CONTROLS) else None,
        )

    def _conversation(self, rules: Rules) -> Conversations:
        conversations = self._conversations.get(rules)
        if conversations is None or conversations.is_full:
            # Nothing but speed is lost: what the cache holds is kept by fingerprint.
            self._openings.clear()
            self._clearing.clear()
            conversations = self._conversations[rules] = Conversations(rules)
        return conversations

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


def _check_fit(step: Step, model: ModelFacts, options: Options, tools: ToolSet) -> None:
    """Check what depends on several parts of the request together."""
    if options.chosen_tool is not None and options.chosen_tool not in tools.names:
        raise invalid(f"tool_choice: Tool '{options.chosen_tool}' not found in provided tools")
    if step.has_system and not model.system_messages:
        raise invalid(
            'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, '
            'not "system" as an input message role, for this model.'
        )
    if step.is_sealed and options.context.compact is not None:
        raise invalid(
            "context_management: a signed `compaction` block in `messages` cannot be combined with a compaction edit"
        )
    if step.role != "assistant" or step.ends_in_compaction or options.compaction is not None:
        return
    if not model.prefill or options.thinking.budget_tokens is not None:
        raise invalid(
            "This model does not support assistant message prefill. The conversation must end with a user message."
        )


def _hands_in_results(step: Step) -> bool:
    return step.role == "user" and step.message is not None and not step.message.opens_turn


def _latest_assistant(step: Step) -> int:
    at: Step | None = step
    while at is not None and at.role not in ("assistant", None):
        at = at.parent
    return -1 if at is None else at.index

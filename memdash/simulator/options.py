"""The parameters of a request beside its tools, system prompt and messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memdash.models import ModelFacts, ThinkingType
from memdash.simulator import fields
from memdash.simulator.context_management import (
    NO_MANAGEMENT,
    ContextManagement,
    Summarize,
    read_compaction,
    read_context_management,
)
from memdash.simulator.digests import as_written
from memdash.simulator.errors import ApiError, invalid
from memdash.simulator.marks import Lifetime, lifetime_of
from memdash.simulator.rules import BINDING_CONTROLS, THINKING_UPDATES, Rules

EFFORTS = ("low", "medium", "high", "xhigh", "max")
FORCED_CHOICES = frozenset({"any", "tool"})

_DISABLED_EFFORTS = ("low", "medium", "high")
_THINKING_FIELDS: Mapping[str, tuple[str, ...]] = {
    "adaptive": ("display", "block_binding"),
    "enabled": ("budget_tokens", "display", "block_binding"),
    "disabled": (),
    "between_tools": (),
}
_STEER = 'Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.'


@dataclass(frozen=True, slots=True)
class Thinking:
    """How the model is to think: ``budget_tokens`` for ``enabled`` only; ``mismatch`` is
    ``prefix_mismatch_behavior`` where set.
    """

    type: ThinkingType
    omitted: bool
    budget_tokens: int | None = None
    mismatch: str | None = None


@dataclass(frozen=True, slots=True)
class Options:
    """Validated parameters with defaults filled in.

    ``max_tokens`` is None for a count. ``automatic_mark`` is the lifetime of the top-level ``cache_control``.
    ``output_format`` is the requested format as JSON. ``compaction`` asks for a compaction instead of a reply.
    ``asks_diagnosis`` says that the request has ``diagnostics``, ``previous_message`` what it names there.
    """

    max_tokens: int | None
    thinking: Thinking
    effort: str | None
    tool_choice: str
    chosen_tool: str | None
    parallel_tools: bool
    fast: bool
    speed: str | None
    output_format: str | None
    stop_sequences: tuple[str, ...]
    automatic_mark: Lifetime | None
    inference_geo: str | None
    context: ContextManagement
    compaction: Summarize | None
    asks_diagnosis: bool
    previous_message: str | None

    @property
    def forces_tool(self) -> bool:
        """Whether the model must call a tool."""
        return self.tool_choice in FORCED_CHOICES


def read_options(
    body: Mapping[str, Any], model: ModelFacts, rules: Rules, *, is_count: bool, relax_limits: bool
) -> Options:
    """Read the parameters of a request for ``model``; ``relax_limits`` takes triggers below the API's floors.

    Raises ApiError where the API would refuse one of them.
    """
    effort, output_format = _output_config(body.get("output_config"), model)
    thinking = _thinking(body.get("thinking"), model, rules, effort)
    tool_choice, chosen_tool, parallel_tools = _tool_choice(body, model)
    speed = _speed(body.get("speed"), model)
    max_tokens = None if is_count else _max_tokens(body, model, thinking)
    _sampling(body)
    _metadata(body.get("metadata"))
    if body.get("service_tier") is not None:
        fields.one_of(body["service_tier"], "service_tier", ("auto", "standard_only"))
    for name in ("inference_geo", "user_profile_id", "workspace_id"):
        if body.get(name) is not None:
            fields.string(body[name], name)
    if body.get("container") is not None and not isinstance(body["container"], str):
        fields.open_object(body["container"], "container")
    context, compaction = NO_MANAGEMENT, None
    if "context_management" in body:
        context = read_context_management(body["context_management"], model, rules, relax_limits=relax_limits)
    if "compaction" in body:
        compaction = read_compaction(body["compaction"], model, rules)
    stream = body.get("stream") is not None and fields.boolean(body["stream"], "stream")
    options = Options(
        max_tokens=max_tokens,
        thinking=thinking,
        effort=effort,
        tool_choice=tool_choice,
        chosen_tool=chosen_tool,
        parallel_tools=parallel_tools,
        fast=speed == "fast",
        speed=speed,
        output_format=output_format,
        stop_sequences=_stop_sequences(body.get("stop_sequences")),
        automatic_mark=lifetime_of(body, ""),
        inference_geo=body.get("inference_geo"),
        context=context,
        compaction=compaction,
        asks_diagnosis=body.get("diagnostics") is not None,
        previous_message=_previous_message(body.get("diagnostics")),
    )
    if max_tokens == 0:
        _check_prewarming(options, stream)
    if compaction is not None and not is_count:
        _check_compaction(options)
    return options


def _previous_message(value: Any) -> str | None:
    if value is None:
        return None
    diagnostics = fields.closed_object(value, "diagnostics", may=("previous_message_id",))
    if diagnostics.get("previous_message_id") is None:
        return None
    return fields.string(diagnostics["previous_message_id"], "diagnostics.previous_message_id")


def _check_compaction(options: Options) -> None:
    """Refuse what only shapes a reply together with a compaction on demand, which gives none."""
    conflicts = {
        "context_management": options.context.asked,
        "stop_sequences": bool(options.stop_sequences),
        "output_config.format": options.output_format is not None,
        f'tool_choice of type "{options.tool_choice}"': options.forces_tool,
        "max_tokens: 0": options.max_tokens == 0,
    }
    for name, present in conflicts.items():
        if present:
            raise invalid(f"compaction: cannot be combined with {name}")


def _max_tokens(body: Mapping[str, Any], model: ModelFacts, thinking: Thinking) -> int:
    value = fields.integer(body["max_tokens"], "max_tokens", at_least=0)
    if value > model.max_output:
        raise invalid(
            f"max_tokens: {value} > {model.max_output}, which is the maximum allowed number of output tokens for {model.id}"
        )
    # With max_tokens 0 the pre-warming rules name the conflict.
    if value and thinking.budget_tokens is not None and value <= thinking.budget_tokens:
        raise invalid("`max_tokens` must be greater than `thinking.budget_tokens`.")
    return value


def _check_prewarming(options: Options, stream: bool) -> None:
    conflicts = {
        "stream": stream,
        "thinking.type.enabled": options.thinking.type is ThinkingType.ENABLED,
        "output_config.format": options.output_format is not None,
        f'tool_choice of type "{options.tool_choice}"': options.forces_tool,
    }
    for name, present in conflicts.items():
        if present:
            raise invalid(f"max_tokens: 0 is not supported together with {name}")


def _output_config(value: Any, model: ModelFacts) -> tuple[str | None, str | None]:
    if value is None:
        return model.default_effort, None
    config = fields.closed_object(value, "output_config", may=("effort", "format"))
    effort, output_format = config.get("effort"), config.get("format")
    if effort is not None:
        fields.one_of(effort, "output_config.effort", EFFORTS)
        if model.default_effort is None:
            raise invalid("This model does not support the effort parameter.")
    if output_format is not None:
        fields.closed_object(output_format, "output_config.format", needs=("type", "schema"))
        fields.one_of(output_format["type"], "output_config.format.type", ("json_schema",))
        fields.open_object(output_format["schema"], "output_config.format.schema")
        output_format = as_written(output_format)
    return effort or model.default_effort, output_format


def _thinking(value: Any, model: ModelFacts, rules: Rules, effort: str | None) -> Thinking:
    if value is None:
        return Thinking(model.thinking_default, model.omits_thinking)
    kind = fields.tag(value, "thinking", _THINKING_FIELDS)
    path = f"thinking.{kind}"
    may = _THINKING_FIELDS[kind]
    if not rules.allows(BINDING_CONTROLS):
        may = tuple(name for name in may if name != "block_binding")
    fields.closed_object(value, path, needs=("type",), may=may)
    type = ThinkingType(kind)
    if type not in model.thinking_types:
        raise _unsupported_thinking(type, model)
    if type is ThinkingType.BETWEEN_TOOLS and effort not in _DISABLED_EFFORTS:
        raise invalid('"thinking.type.between_tools" is only supported at effort "low", "medium" or "high".')
    if type is ThinkingType.DISABLED and effort is not None and effort not in _DISABLED_EFFORTS:
        raise invalid(f'"thinking.type.disabled" is not supported at effort "{effort}" for this model.')
    budget = None
    if type is ThinkingType.ENABLED:
        if "budget_tokens" not in value:
            raise fields.required(f"{path}.budget_tokens")
        budget = fields.integer(value["budget_tokens"], f"{path}.budget_tokens", at_least=1024)
    return Thinking(type, _omitted(value, path, model, rules), budget, _mismatch(value, path))


def _omitted(value: Mapping[str, Any], path: str, model: ModelFacts, rules: Rules) -> bool:
    display = value.get("display")
    if display is None:
        return model.omits_thinking
    choices: tuple[str, ...] = ("summarized", "omitted")
    if rules.allows(THINKING_UPDATES):
        choices += ("updates",)
    return fields.one_of(display, f"{path}.display", choices) == "omitted"


def _mismatch(value: Mapping[str, Any], path: str) -> str | None:
    if value.get("block_binding") is None:
        return None
    path = f"{path}.block_binding"
    binding = fields.closed_object(value["block_binding"], path, may=("prefix_mismatch_behavior",))
    behavior = binding.get("prefix_mismatch_behavior")
    if behavior is None:
        return None
    return fields.one_of(behavior, f"{path}.prefix_mismatch_behavior", ("error", "drop_block"))


def _unsupported_thinking(type: ThinkingType, model: ModelFacts) -> ApiError:
    if type is ThinkingType.ADAPTIVE:
        return invalid("adaptive thinking is not supported on this model")
    steer = _STEER
    if type is ThinkingType.DISABLED and ThinkingType.BETWEEN_TOOLS in model.thinking_types:
        steer = 'Use "thinking.type.between_tools" to limit thinking to the time between tool calls.'
    return invalid(f'"thinking.type.{type}" is not supported for this model. {steer}')


def _tool_choice(body: Mapping[str, Any], model: ModelFacts) -> tuple[str, str | None, bool]:
    value = body.get("tool_choice")
    if value is None:
        return "auto", None, True
    kind = fields.tag(value, "tool_choice", ("auto", "any", "tool", "none"))
    path = f"tool_choice.{kind}"
    needs = ("type", "name") if kind == "tool" else ("type",)
    fields.closed_object(
        value, path, needs=needs, may=() if kind == "none" else ("disable_parallel_tool_use",)
    )
    single = value.get("disable_parallel_tool_use")
    if single is not None:
        fields.boolean(single, f"{path}.disable_parallel_tool_use")
    if kind in FORCED_CHOICES and not model.forced_tool_choice:
        raise invalid('tool_choice: type "tool" and "any" are not supported for this model.')
    if not body.get("tools"):
        raise invalid("tool_choice: tool_choice may only be specified while providing tools")
    name = fields.string(value["name"], f"{path}.name") if kind == "tool" else None
    return kind, name, not single


def _speed(value: Any, model: ModelFacts) -> str | None:
    if value is None:
        return None
    speed = fields.one_of(value, "speed", ("standard", "fast"))
    if speed == "fast" and not model.fast_mode:
        raise invalid(f'speed: "fast" is not supported for {model.id}')
    return speed


def _sampling(body: Mapping[str, Any]) -> None:
    """Check sampling parameters; under the newer API version they never get here."""
    for name in ("temperature", "top_p"):
        if body.get(name) is not None:
            fields.fraction(body[name], name)
    if body.get("top_k") is not None:
        fields.integer(body["top_k"], "top_k", at_least=0)


def _metadata(value: Any) -> None:
    if value is not None:
        metadata = fields.closed_object(value, "metadata", may=("user_id",))
        if metadata.get("user_id") is not None:
            fields.string(metadata["user_id"], "metadata.user_id")


def _stop_sequences(value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    sequences = fields.array(value, "stop_sequences")
    for index, sequence in enumerate(sequences):
        if not fields.string(sequence, f"stop_sequences.{index}").strip():
            raise invalid(f"stop_sequences.{index}: each stop sequence must contain non-whitespace")
    return tuple(sequences)

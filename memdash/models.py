"""What each Claude model allows and how it behaves, as far as the lab and its simulator need it.

Sources: the model overview, "What's new" and feature pages of the Messages API documentation, August to
November 2026. Where a page says nothing the value is an assumption, and a comment says so. Prices are not
here: see ``memdash.prices``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType


class TokenFamily(StrEnum):
    """The two tokenizer generations; models from 4.7 on count about 30 % more tokens for the same text."""

    OLD = "old"
    NEW = "new"


class ThinkingType(StrEnum):
    """The values of ``thinking.type``."""

    ADAPTIVE = "adaptive"
    ENABLED = "enabled"
    DISABLED = "disabled"
    BETWEEN_TOOLS = "between_tools"


@dataclass(frozen=True, slots=True)
class ToolPrompt:
    """Tokens of the hidden system prompt that any tool definition adds, by kind of ``tool_choice``.

    ``estimated`` says that no figure is published for the model and a sibling's stands in.
    """

    auto: int
    forced: int
    estimated: bool = False


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """One model's limits and behaviour; all sizes are tokens.

    ``frame_tokens`` is what a request of one user message costs beside its text. ``keeps_thinking`` is False
    where thinking of earlier turns is stripped when a new user turn begins. ``checks_prefix`` says that
    thinking blocks are bound to everything before them, ``checks_account`` that they are also bound to the
    account. ``reads_thinking_of`` lists the models whose thinking blocks this one can read. ``compaction`` says
    that the API can summarise its conversations. ``retires_on`` is an ISO date for deprecated models.
    """

    id: str
    context_window: int
    max_output: int
    min_cacheable: int
    token_family: TokenFamily
    frame_tokens: int
    thinking_types: frozenset[ThinkingType]
    thinking_default: ThinkingType
    default_effort: str | None
    keeps_thinking: bool
    checks_prefix: bool
    checks_account: bool
    reads_thinking_of: frozenset[str]
    omits_thinking: bool
    forced_tool_choice: bool
    prefill: bool
    system_messages: bool
    fast_mode: bool
    text_between_tools: bool
    tool_prompt: ToolPrompt
    compaction: bool = True
    retires_on: str | None = None

    @property
    def thinks_by_default(self) -> bool:
        """Whether the model thinks when a request says nothing about thinking."""
        return self.thinking_default is not ThinkingType.DISABLED


def facts(model_id: str) -> ModelFacts | None:
    """Return the facts of a model id or one of its dated aliases, None for an unknown one."""
    return MODELS.get(_ALIASES.get(model_id, model_id))


_ALIASES: Mapping[str, str] = {
    "claude-haiku-4-5-20251001": "claude-haiku-4-5",
    "claude-opus-4-5-20251101": "claude-opus-4-5",
    "claude-sonnet-4-5-20250929": "claude-sonnet-4-5",
}

_ADAPTIVE = frozenset({ThinkingType.ADAPTIVE})
_OPTIONAL = frozenset({ThinkingType.ADAPTIVE, ThinkingType.DISABLED})
_BOTH = _OPTIONAL | {ThinkingType.ENABLED}
_MANUAL = frozenset({ThinkingType.ENABLED, ThinkingType.DISABLED})
_SONNET_55 = frozenset({ThinkingType.ADAPTIVE, ThinkingType.BETWEEN_TOOLS})

_OPUS = {"claude-opus-4-5": 45, "claude-opus-4-6": 46, "claude-opus-4-7": 47, "claude-opus-4-8": 48}
_OPUS |= {"claude-opus-5": 50, "claude-opus-5-5": 55}
_SONNET = {"claude-sonnet-4-5": 45, "claude-sonnet-4-6": 46, "claude-sonnet-5": 50, "claude-sonnet-5-5": 55}
_HAIKU = {"claude-haiku-4-5": 45, "claude-haiku-5-5": 55}
_FABLE = {"claude-fable-5": 50, "claude-fable-5-1": 51, "claude-fable-5-2": 52}
_FABLE |= {"claude-mythos-5": 50, "claude-mythos-5-1": 51, "claude-mythos-5-2": 52}


def _up_to(*, opus: int, sonnet: int, haiku: int, fable: int = 0) -> frozenset[str]:
    """Return the models up to these generations (45 for 4.5), the ones whose thinking can be read."""
    limits = ((_OPUS, opus), (_SONNET, sonnet), (_HAIKU, haiku), (_FABLE, fable))
    return frozenset(
        model for line, limit in limits for model, generation in line.items() if generation <= limit
    )


def _model(
    id: str,
    *,
    min_cacheable: int,
    reads: frozenset[str],
    thinking: frozenset[ThinkingType],
    default: ThinkingType = ThinkingType.ADAPTIVE,
    effort: str | None = "high",
    tool_prompt: ToolPrompt,
    context_window: int = 1_000_000,
    max_output: int = 128_000,
    family: TokenFamily = TokenFamily.NEW,
    frame_tokens: int = 6,
    keeps_thinking: bool = True,
    bound: bool = False,
    checks_account: bool = False,
    omits_thinking: bool = True,
    forced_tool_choice: bool = True,
    prefill: bool = False,
    system_messages: bool = False,
    fast_mode: bool = False,
    text_between_tools: bool = True,
    compaction: bool = True,
    retires_on: str | None = None,
) -> ModelFacts:
    return ModelFacts(
        id=id,
        context_window=context_window,
        max_output=max_output,
        min_cacheable=min_cacheable,
        token_family=family,
        frame_tokens=frame_tokens,
        thinking_types=thinking,
        thinking_default=default,
        default_effort=effort,
        keeps_thinking=keeps_thinking,
        checks_prefix=bound,
        checks_account=checks_account,
        reads_thinking_of=reads,
        omits_thinking=omits_thinking,
        forced_tool_choice=forced_tool_choice,
        prefill=prefill,
        system_messages=system_messages,
        fast_mode=fast_mode,
        text_between_tools=text_between_tools,
        tool_prompt=tool_prompt,
        compaction=compaction,
        retires_on=retires_on,
    )


def _fable(id: str, generation: int) -> ModelFacts:
    # Which thinking Fable and Mythos read is not documented beyond their own line: everything older is
    # assumed. Forced tool_choice is documented as refused for Fable 5.1 and assumed for its successors and
    # Mythos; pages disagree on Mythos 5.1's prefix check.
    newer = generation > 50
    return _model(
        id,
        min_cacheable=512,
        reads=_up_to(opus=50, sonnet=50, haiku=45, fable=generation),
        thinking=_ADAPTIVE,
        tool_prompt=ToolPrompt(286, 406, estimated=True),
        bound=newer,
        forced_tool_choice=not newer,
        system_messages=True,
        fast_mode=generation >= 52,
    )


def _old_generation(
    id: str, *, min_cacheable: int, keeps_thinking: bool, retires_on: str | None = None
) -> ModelFacts:
    """Return a 4.5 model: 200k window, manual thinking only, prefill still allowed."""
    return _model(
        id,
        context_window=200_000,
        max_output=64_000,
        min_cacheable=min_cacheable,
        family=TokenFamily.OLD,
        frame_tokens=7,
        reads=_up_to(opus=45, sonnet=45, haiku=45),
        thinking=_MANUAL,
        default=ThinkingType.DISABLED,
        effort=None,
        # Published for Haiku 4.5 only.
        tool_prompt=ToolPrompt(496, 588, estimated=id != "claude-haiku-4-5"),
        keeps_thinking=keeps_thinking,
        omits_thinking=False,
        prefill=True,
        compaction=False,
        retires_on=retires_on,
    )


_ALL = (
    _model(
        "claude-opus-5-5",
        min_cacheable=512,
        reads=_up_to(opus=55, sonnet=50, haiku=45),
        thinking=_ADAPTIVE,
        effort="medium",
        tool_prompt=ToolPrompt(286, 406, estimated=True),
        bound=True,
        forced_tool_choice=False,
        system_messages=True,
        fast_mode=True,
        text_between_tools=False,
    ),
    _model(
        "claude-sonnet-5-5",
        min_cacheable=512,
        reads=_up_to(opus=48, sonnet=55, haiku=45),
        thinking=_SONNET_55,
        tool_prompt=ToolPrompt(354, 474, estimated=True),
        bound=True,
        checks_account=True,
        forced_tool_choice=False,
        system_messages=True,
        text_between_tools=False,
    ),
    _model(
        "claude-sonnet-5",
        min_cacheable=1_024,
        reads=_up_to(opus=50, sonnet=50, haiku=45),
        thinking=_OPTIONAL,
        tool_prompt=ToolPrompt(354, 474),
    ),
    # Whether Haiku 5.5 keeps earlier thinking, and whose blocks it reads, is not stated; its siblings'
    # behaviour is assumed.
    _model(
        "claude-haiku-5-5",
        min_cacheable=512,
        reads=_up_to(opus=48, sonnet=50, haiku=55),
        thinking=_OPTIONAL,
        effort="medium",
        tool_prompt=ToolPrompt(354, 474, estimated=True),
        bound=True,
        checks_account=True,
    ),
    _model(
        "claude-opus-5",
        min_cacheable=512,
        reads=_up_to(opus=50, sonnet=50, haiku=45),
        thinking=_OPTIONAL,
        tool_prompt=ToolPrompt(286, 406),
        system_messages=True,
        fast_mode=True,
    ),
    _model(
        "claude-opus-4-8",
        min_cacheable=1_024,
        reads=_up_to(opus=48, sonnet=46, haiku=45),
        thinking=_OPTIONAL,
        default=ThinkingType.DISABLED,
        tool_prompt=ToolPrompt(290, 410),
        system_messages=True,
    ),
    _model(
        "claude-opus-4-7",
        min_cacheable=2_048,
        reads=_up_to(opus=47, sonnet=46, haiku=45),
        thinking=_OPTIONAL,
        default=ThinkingType.DISABLED,
        tool_prompt=ToolPrompt(675, 804),
        frame_tokens=11,
    ),
    _model(
        "claude-opus-4-6",
        min_cacheable=4_096,
        family=TokenFamily.OLD,
        frame_tokens=7,
        reads=_up_to(opus=46, sonnet=46, haiku=45),
        thinking=_BOTH,
        default=ThinkingType.DISABLED,
        tool_prompt=ToolPrompt(497, 589),
        omits_thinking=False,
    ),
    _model(
        "claude-sonnet-4-6",
        min_cacheable=1_024,
        family=TokenFamily.OLD,
        frame_tokens=7,
        reads=_up_to(opus=46, sonnet=46, haiku=45),
        thinking=_BOTH,
        default=ThinkingType.DISABLED,
        tool_prompt=ToolPrompt(497, 589),
        omits_thinking=False,
    ),
    _old_generation("claude-opus-4-5", min_cacheable=4_096, keeps_thinking=True, retires_on="2027-01-22"),
    _old_generation("claude-sonnet-4-5", min_cacheable=1_024, keeps_thinking=False, retires_on="2026-11-30"),
    _old_generation("claude-haiku-4-5", min_cacheable=4_096, keeps_thinking=False),
    *(_fable(id, generation) for id, generation in _FABLE.items()),
)

MODELS: Mapping[str, ModelFacts] = MappingProxyType({model.id: model for model in _ALL})
"""Every known model by its id."""

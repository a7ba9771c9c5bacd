"""Compaction: once a prompt passes a trigger, one summary of everything replaces everything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from memdash.errors import InputError
from memdash.records import EventKind, Usage
from memdash.strategies.base import Exchange, Message, Strategy, Workspace
from memdash.strategies.capping import CAP_HELP
from memdash.strategies.folding import FoldedHistory, as_user_message
from memdash.strategies.parameters import param, with_extras
from memdash.strategies.registry import register
from memdash.strategies.session_memory import (
    INSTRUCTIONS_HELP,
    LIVE_PREFIX_HELP,
    MAX_TOKENS_HELP,
    SUMMARY_MODEL_HELP,
    WORDS_HELP,
    check_summary_params,
    summarise_inline,
)


@dataclass(frozen=True, slots=True)
class CompactionParams:
    """When to summarise, and how."""

    trigger: int = param(
        2_000,
        "Summarise once a turn's last prompt is larger than this, the fixed part counted",
        minimum=100,
        maximum=1_000_000,
        unit="tokens",
    )
    words: int = param(150, WORDS_HELP, minimum=5, maximum=5_000, unit="words")
    instructions: str | None = param(None, INSTRUCTIONS_HELP)
    summary_model: str | None = param(None, SUMMARY_MODEL_HELP)
    when: Literal["over", "cold"] = param(
        "over",
        "Summarise as soon as the prompt is over the trigger, or wait until the cache has expired anyway",
    )
    ceiling: int | None = param(
        None,
        "With when=cold: do not wait for a cold cache beyond this prompt size; four times the trigger if not given",
        minimum=100,
        maximum=10_000_000,
        unit="tokens",
    )
    live_prefix: bool = param(False, LIVE_PREFIX_HELP)
    max_tokens: int | None = param(None, MAX_TOKENS_HELP, minimum=1, maximum=128_000)
    cap_results: int | None = param(None, CAP_HELP, minimum=50, maximum=1_000_000, unit="tokens")

    def __post_init__(self) -> None:
        """Settle the ceiling, which only means something while waiting for a cold cache."""
        if self.when == "cold" and self.ceiling is None:
            object.__setattr__(self, "ceiling", self.usual_ceiling)
        if self.ceiling is not None and self.ceiling < self.trigger:
            raise InputError(f"ceiling: {self.ceiling} is below trigger ({self.trigger})")
        check_summary_params(self)

    @property
    def usual_ceiling(self) -> int:
        """The ceiling where none is given: four times the trigger."""
        return min(4 * self.trigger, 10_000_000)


@register
class Compaction(Strategy):
    """Replace the whole history, the previous summary included, by one summary as a user message."""

    name: ClassVar[str] = "compaction"
    title: ClassVar[str] = "compaction"
    description: ClassVar[str] = (
        "Replaces the whole history by one summary when the prompt grows past a trigger."
    )
    Params: ClassVar[type] = CompactionParams
    fires: ClassVar[frozenset[EventKind]] = frozenset({EventKind.COMPACTION})

    def __init__(self, params: CompactionParams) -> None:
        super().__init__(params)
        self._history = FoldedHistory(as_user_message)
        self._prompt_tokens = 0

    @classmethod
    def label(cls, params: CompactionParams) -> str:
        """Return ``compaction at 2000`` and what differs from the defaults."""
        usual = params.when == "cold" and params.ceiling == params.usual_ceiling
        told = ["trigger", "ceiling"] if usual else ["trigger"]
        return with_extras(f"compaction at {params.trigger}", params, told=told)

    def open(self, message: Message, workspace: Workspace) -> None:
        """With ``when=cold``: summarise now if the cache has expired while the user was away."""
        if self.params.when == "cold" and self._prompt_tokens > self.params.trigger and _cold(workspace):
            self._compact(workspace)

    def context(self) -> Sequence[Message]:
        """Return the summary, if there is one, and what came after it."""
        return self._history.messages()

    def close(self, exchange: Exchange, usage: Usage, workspace: Workspace) -> None:
        """Append the exchange; summarise if its last prompt was over the limit."""
        self._history.append(exchange)
        measured = usage.prompt_tokens
        self._prompt_tokens = (
            workspace.fixed_tokens + workspace.estimate(self.context()) if measured is None else measured
        )
        limit = self.params.trigger if self.params.when == "over" else self.params.ceiling
        if self._prompt_tokens > limit:
            self._compact(workspace)

    def _compact(self, workspace: Workspace) -> None:
        if summarise_inline(self._history, self.params, workspace, before_tokens=self._prompt_tokens):
            self._prompt_tokens = workspace.fixed_tokens + workspace.estimate(self.context())


def _cold(workspace: Workspace) -> bool:
    """Whether nothing of the last request is in the cache any more."""
    if workspace.cache_lifetime_ms is None:
        return True
    return workspace.idle_ms is not None and workspace.idle_ms > workspace.cache_lifetime_ms

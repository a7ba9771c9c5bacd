"""Compaction: once a prompt passes a trigger, one summary of everything replaces everything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from memdash.errors import InputError
from memdash.records import EventKind, Usage
from memdash.strategies.base import Exchange, Message, RequestOptions, Workspace, param, register
from memdash.strategies.messages import flatten, user_message, with_extras
from memdash.strategies.session_memory import read_memory, summary_request

SUMMARY_HEADING = "This conversation continues an earlier one. What matters of it:"


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
    words: int = param(150, "How long the summary may be", minimum=5, maximum=5_000, unit="words")
    instructions: str | None = param(None, "What the summary is asked for, in place of our own instructions")
    summary_model: str | None = param(
        None, "Another model for the summary; it cannot read the main model's cache"
    )
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
    max_tokens: int | None = param(
        None,
        "max_tokens of the summary call; room for the words and for thinking if not given",
        minimum=1,
        maximum=128_000,
    )

    def __post_init__(self) -> None:
        """Settle the ceiling, which only means something while waiting for a cold cache."""
        if self.when == "cold" and self.ceiling is None:
            object.__setattr__(self, "ceiling", min(4 * self.trigger, 10_000_000))
        if self.ceiling is not None and self.ceiling < self.trigger:
            raise InputError(f"ceiling: {self.ceiling} is below trigger ({self.trigger})")


@register
class Compaction:
    """Replace the whole history, the previous summary included, by one summary as a user message."""

    name: ClassVar[str] = "compaction"
    title: ClassVar[str] = "compaction"
    description: ClassVar[str] = (
        "Replaces the whole history by one summary when the prompt grows past a trigger."
    )
    Params: ClassVar[type] = CompactionParams
    fires: ClassVar[frozenset[EventKind]] = frozenset({EventKind.COMPACTION})

    def __init__(self, params: CompactionParams) -> None:
        self._params = params
        self._summary: Message | None = None
        self._exchanges: list[Exchange] = []
        self._prompt_tokens = 0

    @classmethod
    def label(cls, params: CompactionParams) -> str:
        """Return ``compaction at 2000`` and what differs from the defaults."""
        told = ["trigger"]
        if params.when == "cold" and params.ceiling == min(4 * params.trigger, 10_000_000):
            told.append("ceiling")
        words = {
            "words": "{} words",
            "when": "when {}",
            "summary_model": "summary by {}",
            "instructions": "instructions “{}”",
        }
        return with_extras(f"compaction at {params.trigger}", params, told=told, words=words)

    def open(self, message: Message, workspace: Workspace) -> None:
        """With ``when=cold``: summarise now if the cache has expired while the user was away."""
        if self._params.when == "cold" and self._prompt_tokens > self._params.trigger and _cold(workspace):
            self._compact(workspace)

    def context(self) -> Sequence[Message]:
        """Return the summary, if there is one, and what came after it."""
        summary = [self._summary] if self._summary is not None else []
        return [*summary, *flatten(self._exchanges)]

    def options(self) -> RequestOptions:
        """Return no options."""
        return RequestOptions()

    def close(self, exchange: Exchange, usage: Usage, workspace: Workspace) -> None:
        """Append the exchange; summarise if its last prompt was over the limit."""
        self._exchanges.append(exchange)
        measured = usage.prompt_tokens
        self._prompt_tokens = (
            workspace.fixed_tokens + workspace.estimate(self.context()) if measured is None else measured
        )
        limit = self._params.trigger if self._params.when == "over" else self._params.ceiling
        assert limit is not None  # settled with the parameters
        if self._prompt_tokens > limit:
            self._compact(workspace)

    def _compact(self, workspace: Workspace) -> None:
        answer = workspace.ask(
            summary_request(
                self.context(),
                words=self._params.words,
                instructions=self._params.instructions,
                model=self._params.summary_model,
                max_tokens=self._params.max_tokens,
            )
        )
        memory = read_memory(answer)
        if memory.problem:
            workspace.note(
                EventKind.COMPACTION,
                used=False,
                problem=memory.problem,
                request=answer.request,
                before_tokens=self._prompt_tokens,
            )
            return
        replaced = [exchange.turn for exchange in self._exchanges]
        summary = user_message(f"{SUMMARY_HEADING}\n\n{memory.text}")
        self._summary, self._exchanges = summary, []
        after = workspace.fixed_tokens + workspace.estimate([summary])
        workspace.note(
            EventKind.COMPACTION,
            used=True,
            request=answer.request,
            before_tokens=self._prompt_tokens,
            after_tokens=after,
            elapsed_ms=answer.elapsed_ms,
            replaced_turns=replaced,
            summary=memory.text,
        )
        self._prompt_tokens = after


def _cold(workspace: Workspace) -> bool:
    """Whether nothing of the last request is in the cache any more."""
    if workspace.cache_lifetime_ms is None:
        return True
    return workspace.idle_ms is not None and workspace.idle_ms > workspace.cache_lifetime_ms

"""Blocking compaction: a session memory is made while the user waits, before a turn that would not fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

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
    context_size,
    summarise_inline,
)

CONTEXT_LIMIT_HELP = (
    "Tokens the conversation may take up: fixed part, history, its last answer and the new message"
)


@dataclass(frozen=True, slots=True)
class BlockingCompactionParams:
    """When to summarise, and how."""

    context_limit: int = param(12_000, CONTEXT_LIMIT_HELP, minimum=500, maximum=1_000_000, unit="tokens")
    words: int = param(400, WORDS_HELP, minimum=5, maximum=5_000, unit="words")
    instructions: str | None = param(None, INSTRUCTIONS_HELP)
    summary_model: str | None = param(None, SUMMARY_MODEL_HELP)
    live_prefix: bool = param(False, LIVE_PREFIX_HELP)
    max_tokens: int | None = param(None, MAX_TOKENS_HELP, minimum=1, maximum=128_000)
    cap_results: int | None = param(None, CAP_HELP, minimum=50, maximum=1_000_000, unit="tokens")

    def __post_init__(self) -> None:
        """Refuse parameters that do not fit together."""
        check_summary_params(self)


@register
class BlockingCompaction(Strategy):
    """Before a turn that would reach the context limit, replace everything by a session memory; the turn waits for it."""

    name: ClassVar[str] = "blocking_compaction"
    title: ClassVar[str] = "blocking compaction"
    description: ClassVar[str] = (
        "Summarises the conversation when the next message would not fit, while the user waits."
    )
    Params: ClassVar[type] = BlockingCompactionParams
    fires: ClassVar[frozenset[EventKind]] = frozenset({EventKind.COMPACTION})

    def __init__(self, params: BlockingCompactionParams) -> None:
        super().__init__(params)
        self._history = FoldedHistory(as_user_message)
        self._size = 0

    @classmethod
    def label(cls, params: BlockingCompactionParams) -> str:
        """Return ``blocking compaction at 12000``."""
        return with_extras(f"blocking compaction at {params.context_limit}", params, told=("context_limit",))

    def open(self, message: Message, workspace: Workspace) -> None:
        """Summarise now if the context and the new message would reach the limit."""
        if not self._history.exchanges:
            return
        if self._size + workspace.estimate([message]) >= self.params.context_limit:
            summarise_inline(self._history, self.params, workspace, before_tokens=self._size)

    def context(self) -> Sequence[Message]:
        """Return the memory, if there is one, and what came after it."""
        return self._history.messages()

    def close(self, exchange: Exchange, usage: Usage, workspace: Workspace) -> None:
        """Append the exchange and take its size."""
        self._history.append(exchange)
        self._size = context_size(usage, self._history, workspace)

"""Instant compaction: a background job keeps a session memory ready, which is swapped in when the context is full."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from memdash.errors import InputError
from memdash.records import EventKind, Usage
from memdash.strategies.base import Answer, Ask, Exchange, Job, Message, Strategy, Workspace
from memdash.strategies.blocking_compaction import CONTEXT_LIMIT_HELP
from memdash.strategies.capping import CAP_HELP
from memdash.strategies.folding import FoldedHistory, as_user_message
from memdash.strategies.messages import THINKING_HELP, Thinking, flatten
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
    put_into_use,
    read_memory,
    summary_request,
)


@dataclass(frozen=True, slots=True)
class InstantCompactionParams:
    """When the memory is first built, how often it is refreshed, and when it is swapped in."""

    context_limit: int = param(12_000, CONTEXT_LIMIT_HELP, minimum=500, maximum=1_000_000, unit="tokens")
    first_summary_at: int = param(
        7_500,
        "Build the first memory once the context is this large",
        minimum=100,
        maximum=1_000_000,
        unit="tokens",
    )
    update_every: int = param(
        2_000, "Refresh the memory after this many more tokens", minimum=50, maximum=1_000_000, unit="tokens"
    )
    update: Literal["incremental", "full"] = param(
        "incremental", "Refresh from the memory and what came since, or from the whole context"
    )
    words: int = param(400, WORDS_HELP, minimum=5, maximum=5_000, unit="words")
    thinking: Thinking = param("strip", THINKING_HELP)
    instructions: str | None = param(None, INSTRUCTIONS_HELP)
    summary_model: str | None = param(None, SUMMARY_MODEL_HELP)
    live_prefix: bool = param(False, LIVE_PREFIX_HELP)
    max_tokens: int | None = param(None, MAX_TOKENS_HELP, minimum=1, maximum=128_000)
    cap_results: int | None = param(None, CAP_HELP, minimum=50, maximum=1_000_000, unit="tokens")

    def __post_init__(self) -> None:
        """Refuse parameters that do not fit together."""
        if self.first_summary_at >= self.context_limit:
            raise InputError(
                f"first_summary_at: {self.first_summary_at} is not below context_limit ({self.context_limit}); "
                "the memory would never be ready in time"
            )
        check_summary_params(self)


@dataclass(frozen=True, slots=True)
class _ReadyMemory:
    """A memory in waiting: the answer that holds it, and the last turn it covers."""

    answer: Answer
    through: int

    @property
    def text(self) -> str:
        return read_memory(self.answer).text


@register
class InstantCompaction(Strategy):
    """Keep a session memory ready in the background and swap it in at the limit; turns it does not cover stay.

    One job at a time. A memory names the last turn it covers, so a refresh that ends after a swap is as good as one that
    ends before it, and no turn can vanish. Where no memory is ready at the limit the turn waits for the running job, else
    builds one.
    """

    name: ClassVar[str] = "instant_compaction"
    title: ClassVar[str] = "instant compaction"
    description: ClassVar[str] = (
        "Keeps a summary ready in the background and swaps it in at once when the context is full."
    )
    Params: ClassVar[type] = InstantCompactionParams
    fires: ClassVar[frozenset[EventKind]] = frozenset({EventKind.SWAP})

    def __init__(self, params: InstantCompactionParams) -> None:
        super().__init__(params)
        self._history = FoldedHistory(as_user_message, params.thinking)
        self._memory: _ReadyMemory | None = None
        self._job: Job | None = None
        self._job_through = 0
        self._size = 0
        self._size_at_job = 0

    @classmethod
    def label(cls, params: InstantCompactionParams) -> str:
        """Return ``instant compaction at 12000``."""
        words = {"first_summary_at": "first at {}", "update_every": "every {}", "update": "{} updates"}
        return with_extras(
            f"instant compaction at {params.context_limit}", params, told=("context_limit",), words=words
        )

    def open(self, message: Message, workspace: Workspace) -> None:
        """Take in a finished job; swap if the context and the new message would reach the limit."""
        self._collect(workspace)
        if not self._history.exchanges:
            return
        if self._size + workspace.estimate([message]) >= self.params.context_limit:
            self._swap(workspace)

    def context(self) -> Sequence[Message]:
        """Return the memory in use, if there is one, and the exchanges it does not cover."""
        return self._history.messages()

    def close(self, exchange: Exchange, usage: Usage, workspace: Workspace) -> None:
        """Append the exchange; start a job where the memory is missing or has fallen behind."""
        self._history.append(exchange)
        self._size = context_size(usage, self._history, workspace)
        self._collect(workspace)
        if self._job is not None:
            return
        if self._memory is None:
            due = self._size >= self.params.first_summary_at
        else:
            due = self._size - self._size_at_job >= self.params.update_every
        if due:
            self._job_through = self._history.last_turn
            self._size_at_job = self._size
            self._job = workspace.start(self._request())
            workspace.note(EventKind.BACKGROUND_STARTED, covers_through=self._job_through)

    def _request(self) -> Ask:
        """Ask for a memory through the latest turn: of the whole context, or of the memory so far and what it does not cover."""
        memory = self._memory
        if memory is None or self.params.update == "full" or self.params.live_prefix:
            return summary_request(self.params, self._history.messages())
        since = [one for one in self._history.exchanges if one.turn > memory.through]
        return summary_request(self.params, flatten(since), previous=memory.text)

    def _collect(self, workspace: Workspace, *, wait: bool = False) -> None:
        """Take in the running job if it has ended, or wait for it."""
        if self._job is None:
            return
        ready = self._job.ready()
        if not (ready or wait):
            return
        answer = self._job.result()
        self._job = None
        problem = read_memory(answer).problem
        workspace.note(
            EventKind.BACKGROUND_READY if problem is None else EventKind.BACKGROUND_DISCARDED,
            request=answer.request,
            covers_through=self._job_through,
            held_up=not ready,
            elapsed_ms=answer.elapsed_ms,
            problem=problem,
        )
        if problem is None:
            self._memory = _ReadyMemory(answer, self._job_through)

    def _swap(self, workspace: Workspace) -> None:
        if self._memory is None:
            self._collect(workspace, wait=True)
        if self._memory is None:
            workspace.note(EventKind.FALLBACK_INLINE, problem="no memory was ready")
            through = self._history.last_turn
            memory = _ReadyMemory(
                workspace.ask(summary_request(self.params, self._history.messages())), through
            )
            built = "inline"
        else:
            memory, built = self._memory, "background"
        used = put_into_use(
            self._history,
            memory.answer,
            memory.through,
            workspace,
            before_tokens=self._size,
            event=EventKind.SWAP,
            built=built,
            stale_turns=self._history.last_turn - memory.through,
        )
        if used:
            self._memory = None
            self._size = workspace.fixed_tokens + workspace.estimate(self._history.messages())
            # Growth is counted from here on: a size from before the swap would put the next refresh off
            # until it is reached again.
            self._size_at_job = self._size

"""Compaction on demand: the API summarises when asked, inline or in the background, with or without a kept tail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from memdash.records import EventKind, Usage
from memdash.strategies.base import Answer, Ask, Exchange, Job, Message, RequestOptions, Strategy, Workspace
from memdash.strategies.capping import CAP_HELP
from memdash.strategies.messages import flatten
from memdash.strategies.parameters import param, with_extras
from memdash.strategies.registry import register
from memdash.strategies.session_memory import INSTRUCTIONS_HELP, MAX_TOKENS_HELP

BETA = "compact-2026-09-04"


@dataclass(frozen=True, slots=True)
class CompactOnDemandParams:
    """When the API is asked to compact, and what stays beside the block."""

    trigger: int = param(
        12_000,
        "Ask for a compaction once a turn's last prompt is larger than this",
        minimum=100,
        maximum=1_000_000,
        unit="tokens",
    )
    tail: int = param(
        0,
        "Exchanges that stay as they are after the compaction block",
        minimum=0,
        maximum=1_000,
        unit="exchanges",
    )
    background: bool = param(
        False, "Compact while the conversation goes on, and put it into use in the next turn"
    )
    instructions: str | None = param(None, INSTRUCTIONS_HELP)
    max_tokens: int | None = param(None, MAX_TOKENS_HELP, minimum=1, maximum=128_000)
    cap_results: int | None = param(None, CAP_HELP, minimum=50, maximum=1_000_000, unit="tokens")


@register
class CompactOnDemand(Strategy):
    """Send the conversation with ``compaction: {"type": "summarize"}``; the block that comes back stands first from then on.

    The kept turns follow it unchanged, thinking included: the API keeps that valid. An empty answer is billed, an event, and
    changes nothing.
    """

    name: ClassVar[str] = "compact_on_demand"
    title: ClassVar[str] = "compaction on demand"
    description: ClassVar[str] = (
        "Asks the API to summarise the conversation at a trigger, and goes on from its block."
    )
    Params: ClassVar[type] = CompactOnDemandParams
    fires: ClassVar[frozenset[EventKind]] = frozenset({EventKind.COMPACTION})
    signed_by_api: ClassVar[bool] = True

    def __init__(self, params: CompactOnDemandParams) -> None:
        super().__init__(params)
        self._head: tuple[Message, ...] = ()
        self._exchanges: list[Exchange] = []
        self._job: Job | None = None
        self._through = 0
        self._prompt_tokens = 0

    @classmethod
    def label(cls, params: CompactOnDemandParams) -> str:
        """Return ``compaction on demand at 12000``."""
        words = {"tail": "tail of {}", "background": "in the background"}
        return with_extras(
            f"compaction on demand at {params.trigger}", params, told=("trigger",), words=words
        )

    def open(self, message: Message, workspace: Workspace) -> None:
        """Put a background compaction into use if it has ended."""
        if self._job is not None and self._job.ready():
            job, self._job = self._job, None
            self._use(job.result(), workspace)

    def context(self) -> Sequence[Message]:
        """Return the compaction block, if there is one, and the exchanges after it."""
        return [*self._head, *flatten(self._exchanges)]

    def options(self) -> RequestOptions:
        """Say that a compaction block is among the messages."""
        return RequestOptions(betas=(BETA,)) if self._head else RequestOptions()

    def close(self, exchange: Exchange, usage: Usage, workspace: Workspace) -> None:
        """Append the exchange; ask for a compaction if its last prompt was over the trigger."""
        self._exchanges.append(exchange)
        measured = usage.prompt_tokens
        self._prompt_tokens = (
            workspace.fixed_tokens + workspace.estimate(self.context()) if measured is None else measured
        )
        older = len(self._exchanges) - self.params.tail
        if self._prompt_tokens <= self.params.trigger or older <= 0 or self._job is not None:
            return
        self._through = self._exchanges[older - 1].turn
        if self.params.background:
            self._job = workspace.start(self._request(older))
            workspace.note(EventKind.BACKGROUND_STARTED, covers_through=self._through)
        else:
            self._use(workspace.ask(self._request(older)), workspace)

    def _request(self, older: int) -> Ask:
        """Ask for a compaction of everything but the tail, on the conversation's own prefix."""
        compaction: dict[str, Any] = {"type": "summarize"}
        if self.params.instructions is not None:
            compaction["instructions"] = self.params.instructions
        return Ask(
            (*self._head, *flatten(self._exchanges[:older])),
            max_tokens=self.params.max_tokens or 4_096,
            live_prefix=True,
            options=RequestOptions(body={"compaction": compaction}, betas=(BETA,)),
        )

    def _use(self, answer: Answer, workspace: Workspace) -> None:
        block = answer.content[0] if answer.content else None
        problem = answer.problem
        if problem is None and (
            block is None or block.get("type") != "compaction" or not block.get("content")
        ):
            problem = f"the API returned no compaction (stop reason {answer.stop_reason})"
        if problem is not None or block is None:
            workspace.note(
                EventKind.COMPACTION,
                used=False,
                by="server",
                problem=problem,
                request=answer.request,
                before_tokens=self._prompt_tokens,
            )
            return
        replaced = [one.turn for one in self._exchanges if one.turn <= self._through]
        self._exchanges = [one for one in self._exchanges if one.turn > self._through]
        self._head = ({"role": "assistant", "content": [block]},)
        workspace.note(
            EventKind.COMPACTION,
            used=True,
            by="server",
            request=answer.request,
            before_tokens=self._prompt_tokens,
            after_tokens=workspace.fixed_tokens + workspace.estimate(self.context()),
            elapsed_ms=answer.elapsed_ms,
            replaced_turns=replaced,
            kept_turns=[one.turn for one in self._exchanges],
            summary=block["content"],
        )

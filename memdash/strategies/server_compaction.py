"""Server compaction: the API summarises the conversation itself once a request passes a threshold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from memdash.records import EventKind, Usage
from memdash.strategies.base import Exchange, Message, RequestOptions, Strategy, Workspace
from memdash.strategies.capping import CAP_HELP
from memdash.strategies.parameters import param, with_extras
from memdash.strategies.registry import register
from memdash.strategies.session_memory import INSTRUCTIONS_HELP

BETA = "compact-2026-01-12"


@dataclass(frozen=True, slots=True)
class ServerCompactionParams:
    """The threshold edit's own settings. Only a simulator with relaxed limits takes a trigger below 50,000."""

    trigger: int = param(
        150_000,
        "Input tokens at which the API compacts; the API takes no less than 50,000",
        minimum=100,
        maximum=1_000_000,
        unit="tokens",
    )
    instructions: str | None = param(None, INSTRUCTIONS_HELP)
    pause: bool = param(False, "Have the API return the compaction alone and wait for the next call")
    cap_results: int | None = param(None, CAP_HELP, minimum=50, maximum=1_000_000, unit="tokens")


@register
class ServerCompaction(Strategy):
    """Send the history with ``compact_20260112``; from the latest compaction block on it is all the API
    reads, and all that is sent.

    Blocks go back untouched. A compaction whose content is null failed: it is billed, an event, and changes nothing.
    """

    name: ClassVar[str] = "server_compaction"
    title: ClassVar[str] = "server compaction"
    description: ClassVar[str] = (
        "Lets the API summarise the conversation itself when a request passes a threshold."
    )
    Params: ClassVar[type] = ServerCompactionParams
    fires: ClassVar[frozenset[EventKind]] = frozenset({EventKind.COMPACTION})
    signed_by_api: ClassVar[bool] = True

    def __init__(self, params: ServerCompactionParams) -> None:
        super().__init__(params)
        self._messages: list[Message] = []
        self._turns: list[int] = []

    @classmethod
    def label(cls, params: ServerCompactionParams) -> str:
        """Return ``server compaction at 150000``."""
        label = f"server compaction at {params.trigger}"
        return with_extras(label, params, told=("trigger",), words={"pause": "paused"})

    def context(self) -> Sequence[Message]:
        """Return the history from the latest compaction block on."""
        return self._messages

    def options(self) -> RequestOptions:
        """Ask for the threshold edit."""
        edit: dict[str, Any] = {
            "type": "compact_20260112",
            "trigger": {"type": "input_tokens", "value": self.params.trigger},
        }
        if self.params.pause:
            edit["pause_after_compaction"] = True
        if self.params.instructions is not None:
            edit["instructions"] = self.params.instructions
        return RequestOptions(body={"context_management": {"edits": [edit]}}, betas=(BETA,))

    def close(self, exchange: Exchange, usage: Usage, workspace: Workspace) -> None:
        """Append the exchange; what precedes its latest compaction block is no longer read by the API and is dropped."""
        before = workspace.fixed_tokens + workspace.estimate(self._messages)
        self._turns.append(exchange.turn)
        for message in exchange.messages:
            self._messages.append(message)
            for index, block in enumerate(message["content"]):
                if block.get("type") == "compaction":
                    self._compacted(message, index, block, before, workspace)

    def _compacted(
        self, message: Message, index: int, block: Mapping[str, Any], before: int, workspace: Workspace
    ) -> None:
        if not block.get("content"):
            workspace.note(
                EventKind.COMPACTION,
                used=False,
                problem="the API returned an empty compaction",
                before_tokens=before,
            )
            return
        kept = message["content"][index:]
        self._messages = [message if index == 0 else {"role": message["role"], "content": list(kept)}]
        workspace.note(
            EventKind.COMPACTION,
            used=True,
            by="server",
            before_tokens=before,
            after_tokens=workspace.fixed_tokens + workspace.estimate(self._messages),
            replaced_turns=self._turns[:-1],
            summary=block["content"],
        )
        self._turns = self._turns[-1:]

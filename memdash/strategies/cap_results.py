"""Cap results: the full history, with large tool results shortened when they are added."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from memdash.records import EventKind
from memdash.strategies.base import Workspace
from memdash.strategies.capping import cap_result
from memdash.strategies.full_history import FullHistory
from memdash.strategies.parameters import param, with_extras
from memdash.strategies.registry import register


@dataclass(frozen=True, slots=True)
class CapResultsParams:
    """How large a tool result may be."""

    limit: int = param(
        2_000, "Tokens of a tool result that are kept", minimum=50, maximum=1_000_000, unit="tokens"
    )


@register
class CapResults(FullHistory):
    """Append-only: a tool result over the limit keeps its head and tail, the cut is said, and nothing is edited later."""

    name: ClassVar[str] = "cap_results"
    title: ClassVar[str] = "cap results"
    description: ClassVar[str] = (
        "Shortens large tool results when they arrive and otherwise sends everything."
    )
    Params: ClassVar[type] = CapResultsParams
    fires: ClassVar[frozenset[EventKind]] = frozenset({EventKind.CAP})

    @classmethod
    def label(cls, params: CapResultsParams) -> str:
        """Return ``cap results at 2000``."""
        return with_extras(f"cap results at {params.limit}", params, told=("limit",))

    def admit(self, result: Mapping[str, Any], workspace: Workspace) -> Mapping[str, Any]:
        """Return the result, shortened where it is over the limit."""
        return cap_result(result, self.params.limit, workspace)

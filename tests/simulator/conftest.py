"""What the simulator's tests share: an engine with fixed answers, and one real server for the whole
session."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from memdash.simulator.engine import Caller, Outcome, SimulatorConfig, Timing
from memdash.simulator.errors import ApiError
from memdash.simulator.server import running


@dataclass
class CannedEngine:
    """Stands in for the engine where a test is about the wire: answers without thinking, remembers what it
    was asked."""

    timing: Timing = field(default_factory=lambda: Timing(100.0, 300.0, 1000.0))
    error: Exception | None = None
    content: list[dict[str, Any]] = field(
        default_factory=lambda: [{"type": "text", "text": "Lisbon, for the trams."}]
    )
    asked: list[tuple[Mapping[str, Any], Caller, float, bool]] = field(default_factory=list)
    absorbed: list[tuple[Mapping[str, Any], Caller, float, float, Mapping[str, Any]]] = field(
        default_factory=list
    )

    def create_message(
        self, body: Mapping[str, Any], caller: Caller, now_ms: float, *, commit: bool = True
    ) -> Outcome:
        self.asked.append((body, caller, now_ms, commit))
        if self.error is not None:
            raise self.error
        message = {
            "id": f"msg_{len(self.asked)}",
            "type": "message",
            "role": "assistant",
            "model": "claude-opus-5-5",
            "content": self.content,
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "stop_details": None,
            "usage": {"input_tokens": 9, "output_tokens": 7},
        }
        return Outcome(message, self.timing)

    def count_tokens(self, body: Mapping[str, Any], caller: Caller, now_ms: float) -> dict[str, Any]:
        if not body:
            raise ApiError(400, "invalid_request_error", "messages: Field required")
        return {"input_tokens": 9}

    def absorb(
        self,
        body: Mapping[str, Any],
        caller: Caller,
        started_ms: float,
        first_event_ms: float,
        message: Mapping[str, Any],
    ) -> None:
        self.absorbed.append((body, caller, started_ms, first_event_ms, message))


@pytest.fixture
def canned() -> CannedEngine:
    """An engine with fixed answers."""
    return CannedEngine()


@pytest.fixture(scope="session")
def simulator_server() -> Iterator[str]:
    """The address of a simulator over real HTTP: replies differ from request to request, latency 0."""
    with running(SimulatorConfig(token_counter="estimate")) as url:
        yield url

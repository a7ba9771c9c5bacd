"""The simulated Messages API behind both of its doors: the SDK transport and the HTTP server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memdash.simulator.hint import Hint
from memdash.simulator.pretend.draft import PretendModel


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks and under which rules: the key, ``anthropic-version``, the beta names and our own hint."""

    key: str
    api_version: str
    betas: frozenset[str]
    hint: Hint | None = None


@dataclass(frozen=True, slots=True)
class Timing:
    """Modelled latency of one request in milliseconds from its start; no text, no ``first_text_ms``."""

    first_event_ms: float
    first_text_ms: float | None
    total_ms: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """An answered request: the complete Message as JSON data, and how long it would have taken."""

    message: dict[str, Any]
    timing: Timing


@dataclass(frozen=True, slots=True)
class SimulatorConfig:
    """How one simulator behaves.

    ``seed`` makes all replies and ids repeatable; None draws them afresh. ``enforce_binding`` checks thinking blocks as the API
    does for new accounts. ``relax_limits`` accepts thresholds below the API's floors. ``token_counter`` is ``auto``, ``ctok`` or
    ``estimate``. ``warm_fixed_part`` bills the first use of a marked tools or system prefix as a read.
    ``latency_factor`` multiplies every modelled latency, and with it the moment a cache entry becomes readable: over HTTP 0 answers
    at once, and the next request must already be able to read what this one wrote.
    """

    seed: int | None = None
    enforce_binding: bool = False
    relax_limits: bool = False
    token_counter: str = "auto"
    warm_fixed_part: bool = False
    latency_factor: float = 1.0


class Engine:
    """Answers Messages API requests from its own rules, cache and pretend model; safe to call from several threads.

    Bodies are parsed JSON. Times are milliseconds of the caller's clock, real or virtual, and only their differences matter.
    """

    def __init__(self, config: SimulatorConfig, model: PretendModel | None = None) -> None:
        raise NotImplementedError

    def create_message(
        self, body: Mapping[str, Any], caller: Caller, now_ms: float, *, commit: bool = True
    ) -> Outcome:
        """Answer ``POST /v1/messages``.

        With ``commit=False`` the answer is computed as a copy of cache and clock would, and nothing is written or refreshed.
        Raises ApiError where the API would refuse.
        """
        raise NotImplementedError

    def count_tokens(self, body: Mapping[str, Any], caller: Caller, now_ms: float) -> dict[str, Any]:
        """Answer ``POST /v1/messages/count_tokens``. Raises ApiError where the API would refuse."""
        raise NotImplementedError

    def absorb(
        self,
        body: Mapping[str, Any],
        caller: Caller,
        started_ms: float,
        first_event_ms: float,
        message: Mapping[str, Any],
    ) -> None:
        """Bring the cache to the state it would have, had this request been sent then and answered with ``message``.

        ``first_event_ms`` is absolute, on the clock of ``started_ms``: when the response began and its entries became readable.
        """
        raise NotImplementedError

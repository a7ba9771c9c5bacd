"""The simulated Messages API behind both of its doors: the SDK transport and the HTTP server."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memdash.simulator.cache import Bill, PromptCache
from memdash.simulator.errors import invalid
from memdash.simulator.hint import Hint
from memdash.simulator.latency import first_event_ms, pace_of
from memdash.simulator.pretend import HonestModel, PretendModel
from memdash.simulator.reply import Ids, Reply, no_reply, seed_of, write_reply
from memdash.simulator.request import Request, RequestReader
from memdash.tokens import TokenCounter
from memdash.tokens import counter as named_counter

_MOST_OCCURRENCES = 100_000


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

    ``seed`` makes all replies and ids repeatable; None draws them afresh. ``enforce_binding`` checks thinking
    blocks as the API does for new accounts. ``relax_limits`` accepts thresholds below the API's floors.
    ``token_counter`` is ``auto``, ``ctok`` or ``estimate``. ``warm_fixed_part`` bills the first use of a
    marked tools or system prefix as a read. ``latency_factor`` multiplies every modelled latency, and with it
    the moment a cache entry becomes readable: over HTTP 0 answers at once, and the next request must already
    be able to read what this one wrote.
    """

    seed: int | None = None
    enforce_binding: bool = False
    relax_limits: bool = False
    token_counter: str = "auto"
    warm_fixed_part: bool = False
    latency_factor: float = 1.0


class Engine:
    """Answers Messages API requests from its own rules, cache and pretend model; safe to call from several
    threads.

    Bodies are parsed JSON. Times are milliseconds of the caller's clock, real or virtual, and only their
    differences matter. ``counter`` replaces the one that ``config`` names.
    """

    def __init__(
        self, config: SimulatorConfig, model: PretendModel | None = None, counter: TokenCounter | None = None
    ) -> None:
        self.config = config
        self.token_counter = counter or named_counter(config.token_counter)
        self._model = model or HonestModel()
        self._reader = RequestReader(self.token_counter, enforce_binding=config.enforce_binding)
        self._cache = PromptCache(warm_fixed_part=config.warm_fixed_part)
        self._seed = secrets.token_bytes(16) if config.seed is None else str(config.seed).encode()
        self._occurrences: dict[bytes, int] = {}
        self._lock = threading.Lock()

    def create_message(
        self, body: Mapping[str, Any], caller: Caller, now_ms: float, *, commit: bool = True
    ) -> Outcome:
        """Answer ``POST /v1/messages``.

        With ``commit=False`` the answer is computed as a copy of cache and clock would, and nothing is
        written or refreshed. Raises ApiError where the API would refuse.
        """
        with self._lock:
            request = self._read(body, caller)
            lookup = self._cache.look(request.marks, request.total, now_ms)
            ids, draft_seed = self._seeds(request, caller)
            if request.options.max_tokens:
                reply = write_reply(self._model.draft(body, caller.hint, draft_seed), request, ids)
            else:
                reply = no_reply()
            timing = self._timing(request, lookup.bill, reply)
            if commit:
                self._cache.store(lookup, now_ms, now_ms + timing.first_event_ms)
                self._count_occurrence(request)
        return Outcome(_message(request, lookup.bill, reply, ids), timing)

    def count_tokens(self, body: Mapping[str, Any], caller: Caller, now_ms: float) -> dict[str, Any]:
        """Answer ``POST /v1/messages/count_tokens``. Raises ApiError where the API would refuse."""
        with self._lock:
            return {"input_tokens": self._read(body, caller, is_count=True).total}

    def absorb(
        self,
        body: Mapping[str, Any],
        caller: Caller,
        started_ms: float,
        first_event_ms: float,
        message: Mapping[str, Any],
    ) -> None:
        """Bring the cache to the state it would have, had this request been sent then and answered with
        ``message``.

        ``first_event_ms`` is absolute, on the clock of ``started_ms``: when the response began and its
        entries became readable. Raises ApiError where the API would have refused the request.
        """
        with self._lock:
            request = self._read(body, caller)
            self._cache.store(
                self._cache.look(request.marks, request.total, started_ms), started_ms, first_event_ms
            )
            self._count_occurrence(request)

    def _read(self, body: Mapping[str, Any], caller: Caller, *, is_count: bool = False) -> Request:
        try:
            return self._reader.read(body, caller.key, caller.api_version, caller.betas, is_count=is_count)
        except RecursionError:
            raise invalid("The request body is nested too deeply") from None

    def _seeds(self, request: Request, caller: Caller) -> tuple[Ids, int]:
        """Return the source of ids and the seed of the draft.

        On our own road the text follows the hint's seed alone, so that strategies meet the same model. For
        other clients equal requests get different replies, as from a real model, unless the whole simulator
        is seeded; then only the nth occurrence tells them apart.
        """
        content = request.prompt.content
        if caller.hint is not None:
            return Ids(seed_of(content, str(caller.hint.seed).encode())), caller.hint.seed
        occurrence = self._occurrences.get(content, 0)
        seed = seed_of(content, occurrence.to_bytes(8, "big"), self._seed)
        return Ids(seed), int.from_bytes(seed[:8], "big")

    def _count_occurrence(self, request: Request) -> None:
        content = request.prompt.content
        count = self._occurrences.pop(content, 0)
        if len(self._occurrences) >= _MOST_OCCURRENCES:
            # The dictionary is in order of last use; forget the content that was not asked for the longest.
            del self._occurrences[next(iter(self._occurrences))]
        self._occurrences[content] = count + 1

    def _timing(self, request: Request, bill: Bill, reply: Reply) -> Timing:
        pace = pace_of(request.model, fast=request.options.fast)
        factor = self.config.latency_factor
        first_event = first_event_ms(pace, bill)
        first_text = first_event + pace.per_output_token * (reply.thinking_tokens + 1)
        return Timing(
            first_event_ms=first_event * factor,
            first_text_ms=first_text * factor if reply.has_text else None,
            total_ms=(first_event + pace.per_output_token * reply.output_tokens) * factor,
        )


def _message(request: Request, bill: Bill, reply: Reply, ids: Ids) -> dict[str, Any]:
    usage: dict[str, Any] = {
        "input_tokens": bill.plain,
        "cache_creation_input_tokens": bill.written,
        "cache_read_input_tokens": bill.read,
        "cache_creation": {
            "ephemeral_5m_input_tokens": bill.write_5m,
            "ephemeral_1h_input_tokens": bill.write_1h,
        },
        "output_tokens": reply.output_tokens,
        "output_tokens_details": {"thinking_tokens": reply.thinking_tokens},
        "service_tier": "standard",
        "inference_geo": request.options.inference_geo or "global",
    }
    if request.options.speed is not None:
        usage["speed"] = request.options.speed
    message: dict[str, Any] = {
        "id": ids.draw("msg"),
        "type": "message",
        "role": "assistant",
        "model": request.body["model"],
        "content": reply.content,
        "stop_reason": reply.stop_reason,
        "stop_sequence": reply.stop_sequence,
        "stop_details": None,
        "usage": usage,
    }
    if request.transformations is not None:
        message["input_transformations"] = request.transformations
    return message

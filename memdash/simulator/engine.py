"""The simulated Messages API behind both of its doors: the SDK transport and the HTTP server."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from memdash.simulator.answer import compose
from memdash.simulator.cache import Bill, PromptCache
from memdash.simulator.compaction import (
    Summary,
    check_can_compact,
    prompt_size,
    signed_block,
    summarise,
    threshold_block,
)
from memdash.simulator.diagnostics import Diagnostics
from memdash.simulator.errors import ApiError, invalid
from memdash.simulator.hint import Hint
from memdash.simulator.latency import pace_of
from memdash.simulator.pretend import HonestModel, Overloaded, PretendModel
from memdash.simulator.reply import Ids, Reply, no_reply, seed_of, write_reply
from memdash.simulator.request import Request, RequestReader
from memdash.simulator.rules import CACHE_DIAGNOSTICS
from memdash.simulator.sampling import COMPACTION, MESSAGE, Sampling
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
    be able to read what this one wrote. ``smallest_prefix`` replaces, by model, what a model caches at least.
    """

    seed: int | None = None
    enforce_binding: bool = False
    relax_limits: bool = False
    token_counter: str = "auto"
    warm_fixed_part: bool = False
    latency_factor: float = 1.0
    smallest_prefix: Mapping[str, int] = field(default_factory=dict)


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
        self._reader = RequestReader(
            self.token_counter, enforce_binding=config.enforce_binding, relax_limits=config.relax_limits
        )
        self._cache = PromptCache(
            warm_fixed_part=config.warm_fixed_part, smallest_prefix=config.smallest_prefix
        )
        self._diagnostics = Diagnostics()
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
            ids, seed = self._seeds(request, caller)
            # The second iteration of a compaction reads what the first one wrote, even in a trial.
            trial = not commit and request.compacts
            sampling = self._sampling(request, now_ms, self._cache.copy() if trial else self._cache)
            sampling.stores = commit or trial
            reply = self._reply(request, caller, ids, seed, sampling)
            message = compose(request, reply, sampling.iterations, ids)
            self._diagnose(request, caller, message, sampling, commit=commit)
            if commit:
                self._count_occurrence(request)
        last = sampling.iterations[-1]
        return Outcome(
            message,
            Timing(
                first_event_ms=sampling.iterations[0].first_event_ms,
                first_text_ms=last.first_text_ms if reply.has_text else None,
                total_ms=last.end_ms,
            ),
        )

    def count_tokens(self, body: Mapping[str, Any], caller: Caller, now_ms: float) -> dict[str, Any]:
        """Answer ``POST /v1/messages/count_tokens``. Raises ApiError where the API would refuse."""
        with self._lock:
            request = self._read(body, caller, is_count=True)
            count: dict[str, Any] = {"input_tokens": request.total}
            if request.options.context.asked:
                count["context_management"] = {"original_input_tokens": request.original_total}
            return count

    def absorb(
        self,
        body: Mapping[str, Any],
        caller: Caller,
        started_ms: float,
        first_event_ms: float,
        message: Mapping[str, Any],
        unchanged: int = 0,
    ) -> tuple[Bill, ...]:
        """Bring cache and diagnostics to the state they would have, had this request been sent then and answered
        with ``message``; returns how each of its iterations is billed.

        ``first_event_ms`` is absolute, on the clock of ``started_ms``: when the response began and its
        entries became readable. ``message`` needs its id and its content, and where the API compacted inside it
        the output tokens in ``usage.iterations``. ``unchanged`` is how many of the first messages are those of the
        request before, which the caller vouches for. Raises ApiError where the API would have refused the request.
        """
        with self._lock:
            request = self._read(body, caller, unchanged=unchanged)
            sampling = self._sampling(request, started_ms, self._cache)
            on_demand = request.options.compaction
            if on_demand is not None:
                total = prompt_size(request, on_demand.instructions)
                sampling.run(COMPACTION, request.marks, total, 0, began_ms=first_event_ms)
            elif (edit := request.options.context.compact) is not None and _is_compacted(message):
                total = prompt_size(request, edit.instructions)
                output = _compaction_output(message)
                sampling.run(COMPACTION, request.marks, total, output, began_ms=first_event_ms)
                if message.get("stop_reason") != "compaction":
                    block = message["content"][0]
                    request_behind = self._behind(request, caller, block) if block["content"] else request
                    sampling.run(MESSAGE, request_behind.marks, request_behind.total, 0)
            else:
                sampling.run(MESSAGE, request.marks, request.total, 0, began_ms=first_event_ms)
            self._diagnose(request, caller, {"id": message.get("id")}, sampling, commit=True)
            self._count_occurrence(request)
            return tuple(one.bill for one in sampling.iterations)

    def _sampling(self, request: Request, now_ms: float, cache: PromptCache) -> Sampling:
        pace = pace_of(request.model, fast=request.options.fast)
        return Sampling(cache, pace, self.config.latency_factor, now_ms)

    def _reply(self, request: Request, caller: Caller, ids: Ids, seed: int, sampling: Sampling) -> Reply:
        """Find what is to be answered, iteration by iteration."""
        options = request.options
        if options.compaction is not None:
            check_can_compact(request)
            summary = self._summarise(request, options.compaction.instructions, seed, sampling)
            content = [signed_block(summary.text, request)] if summary.text is not None else []
            return Reply(content, summary.stop_reason, None, 0, 0)
        if not options.max_tokens:
            reply = no_reply()
            sampling.run(MESSAGE, request.marks, request.total, 0)
            return reply
        edit = options.context.compact
        if edit is None or not request.compacts:
            return self._message(request, request.shown(), caller, ids, seed, sampling)
        summary = self._summarise(request, edit.instructions, seed, sampling)
        block = threshold_block(summary.text)
        if edit.pause:
            return Reply([block], "compaction", None, 0, 0)
        shown = request.shown()
        behind = request
        if summary.text is not None:
            behind = self._behind(request, caller, block)
            shown = {**shown, "messages": [*shown["messages"], _said(block)]}
        reply = self._message(behind, shown, caller, ids, seed, sampling)
        return replace(reply, content=[block, *reply.content])

    def _summarise(
        self, request: Request, instructions: str | None, seed: int, sampling: Sampling
    ) -> Summary:
        summary = summarise(self._model, request, instructions, seed)
        sampling.run(COMPACTION, request.marks, summary.prompt_tokens, summary.output_tokens)
        return summary

    def _message(
        self,
        request: Request,
        shown: Mapping[str, Any],
        caller: Caller,
        ids: Ids,
        seed: int,
        sampling: Sampling,
    ) -> Reply:
        """Have the model answer ``shown``, which is what ``request`` puts into the prompt."""
        try:
            draft = self._model.draft(shown, caller.hint, seed)
        except Overloaded as error:
            raise ApiError(529, "overloaded_error", str(error) or "Overloaded") from None
        reply = write_reply(draft, request, ids)
        sampling.run(MESSAGE, request.marks, request.total, reply.output_tokens, reply.thinking_tokens)
        return reply

    def _behind(self, request: Request, caller: Caller, block: Mapping[str, Any]) -> Request:
        """Return the request as it goes on behind a compaction: as the client will send it, with the block at its end."""
        body = {**request.body, "messages": [*request.body["messages"], _said(block)]}
        return self._read(body, caller)

    def _diagnose(
        self,
        request: Request,
        caller: Caller,
        message: dict[str, Any],
        sampling: Sampling,
        *,
        commit: bool,
    ) -> None:
        """Add ``diagnostics`` to a message where the request asks for them under their beta header."""
        if not (request.options.asks_diagnosis and request.rules.allows(CACHE_DIAGNOSTICS)):
            return
        bill = sampling.iterations[0].bill
        message["diagnostics"] = self._diagnostics.compare(request, caller.betas, caller.key, bill)
        if commit and message["id"] is not None:
            self._diagnostics.remember(request, caller.betas, caller.key, message["id"], bill)

    def _read(
        self, body: Mapping[str, Any], caller: Caller, *, is_count: bool = False, unchanged: int = 0
    ) -> Request:
        try:
            return self._reader.read(
                body, caller.key, caller.api_version, caller.betas, is_count=is_count, unchanged=unchanged
            )
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


def _said(block: Mapping[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": [block]}


def _is_compacted(message: Mapping[str, Any]) -> bool:
    return any(block.get("type") == COMPACTION for block in (message.get("content") or ())[:1])


def _compaction_output(message: Mapping[str, Any]) -> int:
    """Return the output tokens of the compaction inside a recorded message."""
    iterations = (message.get("usage") or {}).get("iterations") or ()
    return next((int(one["output_tokens"]) for one in iterations if one["type"] == COMPACTION), 0)

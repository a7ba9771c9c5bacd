"""Building the body of a request: the fixed part, the cache marks, the thinking configuration and the strategy's options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memdash.fixed_part import FixedPart
from memdash.models import ThinkingType, facts
from memdash.simulator.hint import Hint
from memdash.spec import CacheLifetime, CacheMarks, ReplaySpec
from memdash.strategies.base import Ask, Message, RequestOptions

BINDING_BETA = "thinking-binding-controls-2026-08-01"
"""Lets a request say what happens to thinking blocks under an edited history, and has the answer report it."""


@dataclass(frozen=True, slots=True)
class Request:
    """One call to the Messages API before it is made: the whole body, the beta headers and what the simulator is told."""

    body: Mapping[str, Any]
    betas: tuple[str, ...] = ()
    hint: Hint | None = None

    @property
    def options(self) -> dict[str, Any]:
        """The body without messages, system and tools."""
        return {key: value for key, value in self.body.items() if key not in ("messages", "system", "tools")}


@dataclass(slots=True)
class RequestBuilder:
    """Builds the requests of one replay; the same parts always give the same objects, which are cheap to recognise."""

    spec: ReplaySpec
    _system_blocks: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def conversation(
        self, fixed: FixedPart, messages: Sequence[Message], options: RequestOptions, hint: Hint | None
    ) -> Request:
        """Build a request of the conversation itself, or a probe of it."""
        body = self._frame(self.spec.model, self.spec.max_tokens)
        system = self._system("" if options.omit_system else fixed.system)
        if system:
            body["system"] = system
        if fixed.tools:
            body["tools"] = list(fixed.tools)
        if self.spec.cache is not CacheLifetime.OFF:
            body["cache_control"] = self._mark()
        return self._finish(body, messages, options, hint)

    def summary(self, fixed: FixedPart, ask: Ask, options: RequestOptions, hint: Hint | None) -> Request:
        """Build an extra call of the strategy.

        It carries no cache mark unless it goes out with the conversation's own prefix: a mark pays for a write nobody reads.
        """
        if ask.live_prefix:
            merged = RequestOptions(
                {**options.body, **ask.options.body},
                {**options.thinking, **ask.options.thinking},
                options.betas + ask.options.betas,
                options.omit_system,
            )
            request = self.conversation(fixed, ask.messages, merged, hint)
            return Request({**request.body, "max_tokens": ask.max_tokens}, request.betas, hint)
        body = self._frame(ask.model or self.spec.model, ask.max_tokens)
        if self.spec.salt or ask.system:
            body["system"] = [{"type": "text", "text": self._salted(ask.system or "")}]
        return self._finish(body, ask.messages, ask.options, hint)

    def _frame(self, model: str, max_tokens: int) -> dict[str, Any]:
        body: dict[str, Any] = {"model": model, "max_tokens": max_tokens}
        if self.spec.effort is not None:
            body["output_config"] = {"effort": self.spec.effort}
        return body

    def _finish(
        self, body: dict[str, Any], messages: Sequence[Message], options: RequestOptions, hint: Hint | None
    ) -> Request:
        body["messages"] = list(messages)
        thinking, betas = self._thinking(body["model"], options)
        if thinking:
            body["thinking"] = thinking
        body.update(options.body)
        return Request(body, betas, hint)

    def _thinking(self, model: str, options: RequestOptions) -> tuple[dict[str, Any], tuple[str, ...]]:
        """The thinking configuration and all beta headers.

        The binding header always goes out to a model that can think adaptively, so that mismatches come back as
        ``input_transformations``. The history check adds the behaviour, which a strategy's own choice beats.
        """
        known = facts(model)
        adaptive = known is not None and ThinkingType.ADAPTIVE in known.thinking_types
        thinking: dict[str, Any] = {}
        if self.spec.check and adaptive:
            thinking["block_binding"] = {"prefix_mismatch_behavior": "error"}
        thinking.update(options.thinking if adaptive else {})
        if thinking and "type" not in thinking:
            assert known is not None
            thinking["type"] = known.thinking_default.value
            if known.thinking_default is ThinkingType.DISABLED:
                thinking = {}
        betas = dict.fromkeys(((BINDING_BETA,) if adaptive else ()) + options.betas)
        return thinking, tuple(betas)

    def _system(self, text: str) -> list[dict[str, Any]]:
        text = self._salted(text)
        if not text:
            return []
        if text not in self._system_blocks:
            block: dict[str, Any] = {"type": "text", "text": text}
            marked = (
                self.spec.cache_marks is CacheMarks.FIXED_AND_AUTO
                and self.spec.cache is not CacheLifetime.OFF
            )
            if marked:
                block["cache_control"] = self._mark()
            self._system_blocks[text] = [block]
        return self._system_blocks[text]

    def _salted(self, text: str) -> str:
        """Put the salt first: a prefix cache tells two replays apart only by what they start with."""
        return f"[{self.spec.salt}]\n{text}" if self.spec.salt else text

    def _mark(self) -> dict[str, str]:
        return cache_mark(self.spec.cache)


def cache_mark(lifetime: CacheLifetime) -> dict[str, str]:
    """Return ``cache_control`` for a lifetime; five minutes is the API's default and is left out."""
    if lifetime is CacheLifetime.ONE_HOUR:
        return {"type": "ephemeral", "ttl": "1h"}
    return {"type": "ephemeral"}

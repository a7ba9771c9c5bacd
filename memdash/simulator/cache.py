"""The prompt cache: what is stored, what a request reads from it, and how that is billed (Messages API,
prompt caching).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import islice

from memdash.models import ModelFacts
from memdash.simulator.marks import Lifetime
from memdash.simulator.prompt import Prompt

LOOK_BACK = 20
"""Blocks that are looked at from a mark backwards, the marked one included."""

_MOST_WARMED = 100_000


@dataclass(frozen=True, slots=True)
class PlacedMark:
    """A mark at the block ``at`` of the last part of ``prompt``."""

    prompt: Prompt
    at: int
    lifetime: Lifetime

    @property
    def tokens(self) -> int:
        """Tokens of the prompt up to and including the marked block."""
        return self.prompt.totals[self.at]

    @property
    def content(self) -> bytes:
        """Fingerprint of the prompt up to and including the marked block."""
        return self.prompt.contents[self.at]


@dataclass(slots=True)
class _Entry:
    """One stored prefix: readable from ``ready_ms``, gone at ``expires_ms``; ``lifetime`` is what a read
    renews.
    """

    ready_ms: float
    expires_ms: float
    lifetime: Lifetime


@dataclass(frozen=True, slots=True)
class Bill:
    """The four buckets of a prompt, in tokens."""

    plain: int
    write_5m: int
    write_1h: int
    read: int

    @property
    def written(self) -> int:
        """Tokens written to the cache at either lifetime."""
        return self.write_5m + self.write_1h


@dataclass(frozen=True, slots=True)
class Lookup:
    """What a request finds: its bill, the entries it reads, and the marks at which it stores."""

    bill: Bill
    hits: tuple[bytes, ...]
    marks: tuple[PlacedMark, ...]


class PromptCache:
    """Prefixes by fingerprint. Fingerprints start from the caller's key and the model, so these never share
    an entry.

    ``warm_fixed_part`` treats a marked end of tools or system as already stored by somebody else the first
    time it is seen. ``smallest_prefix`` replaces, by model, how many tokens are cached at least.
    """

    def __init__(
        self, *, warm_fixed_part: bool = False, smallest_prefix: Mapping[str, int] | None = None
    ) -> None:
        self._entries: dict[bytes, _Entry] = {}
        self._warm_fixed_part = warm_fixed_part
        self._smallest_prefix = smallest_prefix or {}
        self._warmed: set[bytes] = set()
        self._next_sweep_ms = float("-inf")

    def copy(self) -> PromptCache:
        """Return a cache with the same entries, to try something out."""
        other = PromptCache(warm_fixed_part=self._warm_fixed_part, smallest_prefix=self._smallest_prefix)
        other._entries = {content: replace(entry) for content, entry in self._entries.items()}
        other._warmed = set(self._warmed)
        other._next_sweep_ms = self._next_sweep_ms
        return other

    def look(self, marks: list[PlacedMark], total: int, now_ms: float) -> Lookup:
        """Return what a request of ``total`` tokens with these marks reads and writes if it is sent now;
        changes nothing.
        """
        placed = tuple(mark for mark in marks if mark.tokens >= self._at_least(mark.prompt.reader.facts))
        read = 0
        hits: list[bytes] = []
        for mark in placed:
            if self._is_warm(mark):
                read = max(read, mark.tokens)
                continue
            for content, tokens in islice(mark.prompt.back_from(mark.at), LOOK_BACK):
                if self._is_readable(content, now_ms):
                    hits.append(content)
                    read = max(read, tokens)
                    break
        # A the furthest hit, B the furthest 1h mark after it, C the last mark: A is read, B-A written at the
        # 1h price, C-B at the 5m price.
        last = max((mark.tokens for mark in placed), default=read)
        hour = max((mark.tokens for mark in placed if mark.lifetime is Lifetime.ONE_HOUR), default=read)
        hour = max(hour, read)
        last = max(last, hour)
        bill = Bill(plain=total - last, write_5m=last - hour, write_1h=hour - read, read=read)
        return Lookup(bill, tuple(hits), placed)

    def store(self, lookup: Lookup, started_ms: float, ready_ms: float) -> None:
        """Store and renew what a request that started then wrote and read; its response begins at
        ``ready_ms``.
        """
        for content in lookup.hits:
            entry = self._entries[content]
            entry.expires_ms = max(entry.expires_ms, started_ms + entry.lifetime.milliseconds)
        for mark in lookup.marks:
            if self._warm_fixed_part and mark.prompt.is_fixed:
                ready = started_ms if self._is_warm(mark) else ready_ms
                self._remember_warmed(mark.content)
            else:
                ready = ready_ms
            self._put(mark.content, mark.lifetime, started_ms, ready)
        self._sweep(started_ms)

    def _at_least(self, model: ModelFacts) -> int:
        return self._smallest_prefix.get(model.id, model.min_cacheable)

    def _put(self, content: bytes, lifetime: Lifetime, started_ms: float, ready_ms: float) -> None:
        expires = started_ms + lifetime.milliseconds
        entry = self._entries.get(content)
        if entry is None or entry.expires_ms <= started_ms:
            self._entries[content] = _Entry(ready_ms, expires, lifetime)
            return
        # The prefix is there already, or on its way from a request sent before; it keeps the lifetime it was
        # written with.
        entry.ready_ms = min(entry.ready_ms, ready_ms)
        entry.expires_ms = max(entry.expires_ms, started_ms + entry.lifetime.milliseconds)

    def _is_readable(self, content: bytes, now_ms: float) -> bool:
        entry = self._entries.get(content)
        return entry is not None and entry.ready_ms <= now_ms < entry.expires_ms

    def _is_warm(self, mark: PlacedMark) -> bool:
        return self._warm_fixed_part and mark.prompt.is_fixed and mark.content not in self._warmed

    def _remember_warmed(self, content: bytes) -> None:
        if len(self._warmed) >= _MOST_WARMED:
            self._warmed.clear()
        self._warmed.add(content)

    def _sweep(self, now_ms: float) -> None:
        """Drop what expired, about once per lifetime, so that a server can run for weeks."""
        if now_ms >= self._next_sweep_ms:
            self._entries = {key: entry for key, entry in self._entries.items() if entry.expires_ms > now_ms}
            self._next_sweep_ms = now_ms + Lifetime.FIVE_MINUTES.milliseconds

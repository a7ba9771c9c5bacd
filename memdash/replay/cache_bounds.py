"""What the prompt cache can have given a request, from what a replay sent before (Messages API, prompt caching).

An entry is written at a marked block and holds everything before it. Replays do not share a cache: a live one begins with a salt
of its own, a simulated one has its own cache. So what a request reads was written by an earlier one of the replay that it holds
whole, or ends with the fixed part, where that carries a mark.
"""

from __future__ import annotations

from memdash.models import facts
from memdash.records import RequestRecord
from memdash.replay.calls import lifetime_ms
from memdash.replay.contexts import ContextReader
from memdash.replay.journal import Context, entry_block, shared_length
from memdash.replay.legality import is_compaction
from memdash.replay.misses import Sent, find_miss
from memdash.spec import CacheMarks, ReplaySpec

_SLACK = 64
"""Tokens by which a live read may pass our bound: the API counts a request's opening now on one side, now on the other."""

_Fixed = tuple[str, str | None, str | None]


class CacheBounds:
    """Remembers what was written, by prefix, and holds what is read against it."""

    def __init__(self, spec: ReplaySpec) -> None:
        self._fixed_is_marked = spec.cache_marks is CacheMarks.FIXED_AND_AUTO or spec.warm
        self._lifetime_ms = lifetime_ms(spec)
        self._written: dict[tuple[_Fixed, int], int] = {}
        self._shortest: dict[_Fixed, int] = {}
        self._hashes: list[int] = []
        self._hashed: tuple[str, ...] = ()
        self._before: tuple[RequestRecord, Context] | None = None
        self._compacted: set[str] = set()

    def excess(self, record: RequestRecord, context: Context) -> str | None:
        """Say that more was read than an earlier request can have written; None where it was not, or is not reported."""
        read = record.usage.cache_read_input_tokens
        if not read:
            return None
        fixed = _fixed(record, context)
        bound = 0
        if self._fixed_is_marked:
            prompt = record.usage.prompt_tokens or 0
            bound = min(prompt, self._shortest.get(fixed, prompt))
        slack = 0 if record.modelled else _SLACK
        hashes = self._running(context.entries)
        for at in range(len(context.entries) - 1, -1, -1):
            bound = max(bound, self._written.get((fixed, hashes[at]), 0))
            if read <= bound + slack:
                return None
            if entry_block(context.entries[at]) in self._compacted:
                # What the API wrote while it compacted is not in its usage by prefix.
                return None
        return f"{read} tokens were read, but no earlier request wrote more than {bound} of its prefix"

    def unexplained_miss(self, record: RequestRecord, context: Context, reader: ContextReader) -> str | None:
        """Say that less was read than the request before had in the cache, though nothing explains it.

        Only of the simulator can it be said: the API promises no hit.
        """
        if self._before is None or not record.modelled:
            return None
        before, earlier = self._before
        model = facts(record.model)
        ready = before.first_event_ms if before.first_event_ms is not None else before.finished_ms
        server_side = (
            record.transformations or before.transformations or record.applied_edits or before.applied_edits
        )
        if ready > record.started_ms or server_side or model is None or not model.keeps_thinking:
            return None
        fresh = context.entries[len(earlier.entries) :]
        if any(_changes_prefix(reader.block(entry_block(one))) for one in fresh):
            return None
        miss = find_miss(_sent(before, earlier), _sent(record, context), self._lifetime_ms)
        if miss.reason is None and miss.tokens is not None and miss.tokens > 0:
            return f"{miss.tokens} tokens that request {before.number} left in the cache were not read, and nothing had changed"
        return None

    def remember(self, record: RequestRecord, context: Context, reader: ContextReader) -> None:
        """Take in what an answered request can have written."""
        usages = [record.usage, *(one.usage for one in record.iterations)]
        stored = max(
            (one.cache_read_input_tokens or 0) + (one.cache_creation_input_tokens or 0) for one in usages
        )
        fixed = _fixed(record, context)
        prompt = record.usage.prompt_tokens
        if prompt:
            self._shortest[fixed] = min(prompt, self._shortest.get(fixed, prompt))
        if context.entries and stored:
            key = fixed, self._running(context.entries)[-1]
            self._written[key] = max(stored, self._written.get(key, 0))
        self._compacted.update(one for one in record.reply_blocks if is_compaction(reader.block(one)))
        if record.purpose in ("turn", "tool"):
            self._before = record, context

    def _running(self, entries: tuple[str, ...]) -> list[int]:
        """Return, for each entry, the hash of everything up to it; of what the last context shared they are known."""
        same = shared_length(self._hashed, entries)
        hashes = self._hashes[:same]
        total = hashes[-1] if hashes else 0
        for entry in entries[same:]:
            total = hash((total, entry))
            hashes.append(total)
        self._hashes, self._hashed = hashes, entries
        return hashes


def _fixed(record: RequestRecord, context: Context) -> _Fixed:
    return record.model, context.system, context.tools


def _sent(record: RequestRecord, context: Context) -> Sent:
    return Sent.of(record.model, record.options, context, record.started_ms, record)


def _changes_prefix(block: object) -> bool:
    """Whether a new block changes what stands before it: the first image does, a compaction closes it."""
    text = str(block)
    return isinstance(block, dict) and (is_compaction(block) or "'type': 'image'" in text)

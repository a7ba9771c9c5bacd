"""Which blocks of a prompt were read from the cache, which were written to it, and which were plain input.

The API reports how many tokens went into each, not where one ends and the next begins. A prompt is read from its start up to a
place where an earlier request of the replay left a mark, and written up to its own last mark (Messages API, prompt caching). So
where what was read is just what an earlier request had left there, the boundary is that request's end. Elsewhere it is
estimated by our own counts, and says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate
from typing import NamedTuple

from memdash.models import facts
from memdash.records import RequestRecord, Usage
from memdash.replay_log import ReplayLog
from memdash.spec import CacheMarks

_SLACK = 64
"""Tokens by which two figures of the API for one place may differ: it counts a request's opening now on one side, now on the
other."""
_SLACK_OF_COUNT = 0.05
"""The share by which our count of the fixed part may differ from what was read of it."""


class Bucket(StrEnum):
    """How a part of a prompt was billed; the values are the words for it."""

    READ = "read from cache"
    WRITTEN = "written to cache"
    UNCACHED = "uncached"


class Boundary(NamedTuple):
    """Where a bucket ends: before part ``at`` of the prompt; ``estimated`` where only our own counts tell."""

    at: int
    estimated: bool


class Part(NamedTuple):
    """A block as the split sees it: ``tokens`` as we count them, and whether a cache mark may stand on it."""

    tokens: int
    markable: bool


class Share(NamedTuple):
    """One bucket of a prompt: the tokens the API reports, and those that we count in the blocks that belong to it."""

    bucket: Bucket
    reported: int
    counted: int

    @property
    def around(self) -> int:
        """What no block accounts for: what the API writes around blocks, and the error of the count."""
        return self.reported - self.counted


@dataclass(frozen=True, slots=True)
class Split:
    """A prompt by bucket: it was read up to ``read``, written from there up to ``written``, and plain input after that."""

    read: Boundary
    written: Boundary
    shares: tuple[Share, ...]

    def bucket(self, at: int) -> Bucket:
        """Return the bucket of part ``at``."""
        if at < self.read.at:
            return Bucket.READ
        return Bucket.WRITTEN if at < self.written.at else Bucket.UNCACHED

    @property
    def estimated(self) -> bool:
        """Whether a boundary is estimated."""
        return self.read.estimated or self.written.estimated


def prompt_usage(record: RequestRecord) -> Usage:
    """Return the usage of the prompt as it was sent: where the API compacted on the way, that of the first time it was read."""
    if any(one.type == "compaction" for one in record.iterations):
        return record.iterations[0].usage
    return record.usage


def split(log: ReplayLog, record: RequestRecord, parts: Sequence[Part], fixed: int) -> Split | None:
    """Return how a request's prompt was billed; None where the API does not report it.

    ``parts`` are all blocks of the request: tools and system prompt (the first ``fixed`` ones), then those of its context. One
    that the API left out has no tokens.
    """
    usage = prompt_usage(record)
    read, written = usage.cache_read_input_tokens, usage.cache_creation_input_tokens
    if usage.input_tokens is None or read is None or written is None:
        return None
    prompt = usage.input_tokens + read + written
    requests = {one.number: one for one in log.requests}
    sizes = [0, *accumulate(part.tokens for part in parts)]
    read_end = _read_end(log, record, sizes, fixed, read, prompt, requests)
    written_end = _written_end(log, record, parts, sizes, fixed, read_end, usage, prompt)
    ends = (0, read_end.at, written_end.at, len(parts))
    reported = (read, written, usage.input_tokens)
    shares = tuple(
        Share(bucket, tokens, sizes[end] - sizes[start])
        for bucket, tokens, start, end in zip(Bucket, reported, ends[:-1], ends[1:], strict=True)
    )
    return Split(read_end, written_end, shares)


def _read_end(
    log: ReplayLog,
    record: RequestRecord,
    sizes: Sequence[int],
    fixed: int,
    read: int,
    prompt: int,
    requests: Mapping[int, RequestRecord],
) -> Boundary:
    if not read:
        return Boundary(0, False)
    slack = 0 if record.modelled else _SLACK
    behind = len(sizes) - 1 - record.shared - len(record.entries)
    for earlier, length in _prefixes(record, requests):
        left = earlier.usage
        if any(one.type == "compaction" for one in earlier.iterations):
            continue
        stored = (left.cache_read_input_tokens or 0) + (left.cache_creation_input_tokens or 0)
        if abs(stored - read) <= slack:
            return Boundary(max(behind + length, 0), False)
    if _is_end_of_fixed_part(log, record, sizes[fixed], read):
        return Boundary(fixed, False)
    return Boundary(_nearest(sizes, read / prompt), True)


def _written_end(
    log: ReplayLog,
    record: RequestRecord,
    parts: Sequence[Part],
    sizes: Sequence[int],
    fixed: int,
    read: Boundary,
    usage: Usage,
    prompt: int,
) -> Boundary:
    if not usage.cache_creation_input_tokens:
        return read
    last = max((at for at, part in enumerate(parts, 1) if part.markable), default=0)
    compacted = any(one.type == "compaction" for one in record.iterations)
    # Behind the last mark of a prompt that is compacted stands the API's own instruction, and no block.
    if compacted or (usage.input_tokens or 0) <= _SLACK:
        return Boundary(max(last, read.at), False)
    marked = prompt - (usage.input_tokens or 0)
    if _is_end_of_fixed_part(log, record, sizes[fixed], marked):
        return Boundary(max(fixed, read.at), False)
    return Boundary(max(_nearest(sizes, marked / prompt), read.at), True)


def _prefixes(
    record: RequestRecord, requests: Mapping[int, RequestRecord]
) -> Iterator[tuple[RequestRecord, int]]:
    """Yield earlier requests whose whole context opens this one's, the latest first, each with its number of blocks."""
    shared, base = record.shared, record.base_request
    while base is not None and (earlier := requests.get(base)) is not None and shared:
        length = earlier.shared + len(earlier.entries)
        same = (earlier.model, earlier.system_block, earlier.tools_block)
        if length <= shared and same == (record.model, record.system_block, record.tools_block):
            yield earlier, length
        shared, base = min(shared, earlier.shared), earlier.base_request


def _is_end_of_fixed_part(log: ReplayLog, record: RequestRecord, counted: int, tokens: int) -> bool:
    """Whether so many tokens are about those of the fixed part, and a mark stands at its end."""
    if not counted or not (log.spec.cache_marks is CacheMarks.FIXED_AND_AUTO or log.spec.warm):
        return False
    known = facts(record.model)
    hidden = known.tool_prompt.auto if known and record.tools_block else 0
    return abs(counted + hidden - tokens) <= max(_SLACK, _SLACK_OF_COUNT * tokens)


def _nearest(sizes: Sequence[int], share: float) -> int:
    """Return where the parts before make up this share of all, as nearly as whole blocks can."""
    wanted = share * sizes[-1]
    return min(range(len(sizes)), key=lambda at: abs(sizes[at] - wanted))

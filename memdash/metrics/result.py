"""The numbers of one replay, as the page, the command line and the JSON contract read them.

Token counts and shares are None where the server did not report them, money is None where a price is not known; neither
is ever 0 for "we do not know".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from memdash.records import EventKind, MissReason, Status, Survival


class Mark(StrEnum):
    """What is odd about a replay without being an error: mostly, its threshold on the script at hand."""

    NEVER_FIRES = "never_fires"
    """The threshold was not reached in the whole replay: the strategy did nothing."""
    FIRES_EVERY_TURN = "fires_every_turn"
    """The fixed part and one exchange already reach the threshold."""
    BRIEF_GROWING = "brief_growing"
    """The brief was longer after each of three revisions in a row."""

    @property
    def words(self) -> str:
        """What it says of a replay, to follow its name."""
        return _MARK_WORDS[self]


_MARK_WORDS = {
    Mark.NEVER_FIRES: "its threshold was never reached",
    Mark.FIRES_EVERY_TURN: "its threshold is reached by the fixed part and one exchange: it would fire on every turn",
    Mark.BRIEF_GROWING: "its brief kept growing over three revisions",
}


@dataclass(frozen=True, slots=True)
class Buckets:
    """Token buckets summed over requests; the names are the API's own.

    ``input_tokens`` and ``output_tokens`` are None where any answered request did not report them, since a sum that leaves
    something out is no total. A cache bucket is None where no request reported it; a request that leaves it out beside others
    that report it wrote or read nothing. So input, writes and reads always add up to ``prompt_tokens``.
    """

    prompt_tokens: int | None = None
    input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    output_tokens: int | None = None
    ephemeral_5m_input_tokens: int | None = None
    ephemeral_1h_input_tokens: int | None = None
    thinking_tokens: int | None = None

    @property
    def cache_share(self) -> float | None:
        """Reads over prompt tokens, from 0 to 1; None where the server reports no reads or nothing was sent."""
        if self.cache_read_input_tokens is None or not self.prompt_tokens:
            return None
        return self.cache_read_input_tokens / self.prompt_tokens


@dataclass(frozen=True, slots=True)
class Percentiles:
    """Percentiles in milliseconds by nearest rank: each is a value that was measured, never a mean of two."""

    p50: float
    p95: float


@dataclass(frozen=True, slots=True)
class Waits:
    """What the user waited for in the turns of a replay, in milliseconds; percentiles by nearest rank."""

    p50: float
    p95: float
    max: float
    total: float


@dataclass(frozen=True, slots=True)
class PurposeCosts:
    """What a replay cost in US dollars by what its requests were for; compaction inside an answer counts as summary."""

    turn: float | None
    tool: float | None
    summary: float | None


class EventResult(NamedTuple):
    """An event of a turn; ``data`` depends on the kind. Named tuples cost a fifth of a frozen dataclass to make."""

    kind: EventKind
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class IterationResult:
    """One entry of ``usage.iterations`` as a sub-row of its turn; ``cost_usd`` is set for compaction entries alone."""

    turn: int
    request: int
    type: str
    model: str
    prompt_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None


class TurnResult(NamedTuple):
    """One turn: the sums of its turn and tool requests.

    ``cumulative_cost_usd`` is what the replay cost up to the end of this turn, summaries included, so that its last value is
    the replay's cost; None from the first request on whose cost is not known. ``wait_ms`` is None until the turn is finished.
    ``summary_cost_usd`` and ``summary_tokens`` are what the summaries made in this turn took. ``counted_tokens`` are the prompt
    tokens that a rate limit counts, of the turn's own requests and its summaries: uncached input and cache writes, not reads
    (Messages API, rate limits).
    """

    turn: int
    prompt_tokens: int | None
    cache_read_input_tokens: int | None
    cache_creation_input_tokens: int | None
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    wait_ms: float | None
    cache_miss_reason: MissReason | None
    events: tuple[EventResult, ...]
    cumulative_cost_usd: float | None
    summary_cost_usd: float | None
    summary_tokens: int | None
    counted_tokens: int | None

    @property
    def cache_share(self) -> float | None:
        """Reads over prompt tokens of this turn; None where not reported."""
        if self.cache_read_input_tokens is None or not self.prompt_tokens:
            return None
        return self.cache_read_input_tokens / self.prompt_tokens


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """One recall question asked of the strategy's memory.

    ``is_test`` is whether its controls held: the whole history answers it and an empty one does not. Where it is False the
    probe is left out of every rate.
    """

    fact: str
    asked_after: int
    question: str
    answer: str
    passed: bool
    stale: bool
    visible: bool
    is_test: bool
    survival: Survival


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """Everything measured about one replay: the fields of the JSON contract, then what only the page needs.

    ``requests``, tokens, cost and waits are what production would pay: requests of purpose turn, tool and summary. ``recall``
    is None until the replay is done or rejected. ``kept`` is None until the last context has been looked at.
    """

    id: str
    script: str
    strategy: str
    params: Mapping[str, Any]
    label: str
    model: str
    effort: str | None
    provider: str
    cache: str
    cache_marks: str
    repeat: int
    status: Status
    simulator_only: bool
    turns_planned: int
    turns_completed: int
    requests: int
    prompt_tokens: int | None
    input_tokens: int | None
    cache_creation_input_tokens: int | None
    cache_read_input_tokens: int | None
    output_tokens: int | None
    cache_share: float | None
    cost_usd: float | None
    cost_by_purpose_usd: PurposeCosts
    probe_requests: int
    probe_cost_usd: float | None
    recall: float | None
    recall_passed: int
    recall_total: int
    recall_simulated: bool
    kept: int | None
    facts_total: int
    wait_ms: Waits | None
    ttft_ms: Percentiles | None
    compactions: int
    marks: tuple[Mark, ...]
    errors: tuple[str, ...]
    turns: tuple[TurnResult, ...]
    probes: tuple[ProbeResult, ...]

    series: str
    buckets: Buckets
    iterations: tuple[IterationResult, ...]
    survival: Mapping[str, Survival]
    facts: tuple[str, ...]
    planned_probes: tuple[tuple[str, int], ...]
    usage_faults: tuple[str, ...]

    @property
    def done(self) -> bool:
        """Whether every planned turn was played; only then may the replay be ranked."""
        return self.status is Status.DONE

    @property
    def kept_all(self) -> bool:
        """Whether the latest value of every fact is still in the last context; False where there are no facts."""
        return self.facts_total > 0 and self.kept == self.facts_total

"""Adding up token buckets, and checking that what a server reports adds up."""

from __future__ import annotations

from collections.abc import Iterable

from memdash.metrics.result import Buckets
from memdash.records import Usage
from memdash.replay_log import AnyRequest

COMPACTION = "compaction"
"""The type of a ``usage.iterations`` entry that the top-level usage leaves out (Messages API, server compaction)."""


def refused(request: AnyRequest) -> bool:
    """Whether the request was answered with an error and no usage: nothing was billed and nothing is missing."""
    failed = request.error_type is not None or request.error_status is not None
    return failed and request.usage.input_tokens is None and not request.iterations


def own_usages(request: AnyRequest) -> tuple[Usage, ...]:
    """The usages of the request itself: its iterations without compactions, the top-level usage where there are none."""
    if not request.iterations:
        return (request.usage,)
    return tuple(one.usage for one in request.iterations if one.type != COMPACTION)


def compactions_of(request: AnyRequest) -> tuple[Usage, ...]:
    """The usages of the compactions the API made inside this request."""
    return tuple(one.usage for one in request.iterations if one.type == COMPACTION)


def total(usages: Iterable[Usage]) -> Buckets:
    """Add up usages by the rules of :class:`Buckets`; no usages at all sum up to 0 and report no cache."""
    input_tokens = output_tokens = writes = reads = short = long = thinking = 0
    has_input = has_output = True
    has_writes = has_reads = has_short = has_long = has_thinking = False
    for usage in usages:
        if usage.input_tokens is None:
            has_input = False
        else:
            input_tokens += usage.input_tokens
        if usage.output_tokens is None:
            has_output = False
        else:
            output_tokens += usage.output_tokens
        if usage.cache_creation_input_tokens is not None:
            has_writes = True
            writes += usage.cache_creation_input_tokens
        if usage.cache_read_input_tokens is not None:
            has_reads = True
            reads += usage.cache_read_input_tokens
        if usage.ephemeral_5m_input_tokens is not None:
            has_short = True
            short += usage.ephemeral_5m_input_tokens
        if usage.ephemeral_1h_input_tokens is not None:
            has_long = True
            long += usage.ephemeral_1h_input_tokens
        if usage.thinking_tokens is not None:
            has_thinking = True
            thinking += usage.thinking_tokens
    return Buckets(
        prompt_tokens=input_tokens + writes + reads if has_input else None,
        input_tokens=input_tokens if has_input else None,
        cache_creation_input_tokens=writes if has_writes else None,
        cache_read_input_tokens=reads if has_reads else None,
        output_tokens=output_tokens if has_output else None,
        ephemeral_5m_input_tokens=short if has_short else None,
        ephemeral_1h_input_tokens=long if has_long else None,
        thinking_tokens=thinking if has_thinking else None,
    )


def usage_faults(request: AnyRequest) -> list[str]:
    """Say what in a request's usage does not add up as the Messages API promises (prompt caching; usage iterations)."""
    faults = _faults_of(request.usage, "")
    if request.iterations:
        for index, one in enumerate(request.iterations):
            faults += _faults_of(one.usage, f"iteration {index + 1}: ")
        faults += _iteration_faults(request)
    return [f"request {request.number}: {fault}" for fault in faults] if faults else faults


def _faults_of(usage: Usage, where: str) -> list[str]:
    faults = []
    writes, output = usage.cache_creation_input_tokens or 0, usage.output_tokens or 0
    if (usage.input_tokens or 0) < 0 or writes < 0 or (usage.cache_read_input_tokens or 0) < 0 or output < 0:
        faults.append(f"{where}a token count is negative")
    short, long = usage.ephemeral_5m_input_tokens, usage.ephemeral_1h_input_tokens
    if (short is not None or long is not None) and (short or 0) + (long or 0) != writes:
        split = (short or 0) + (long or 0)
        faults.append(
            f"{where}the 5-minute and 1-hour writes are {split:,} tokens together, "
            f"but cache_creation_input_tokens is {writes:,}"
        )
    if (
        usage.thinking_tokens is not None
        and usage.output_tokens is not None
        and usage.thinking_tokens > output
    ):
        faults.append(
            f"{where}{usage.thinking_tokens:,} thinking tokens are more than all {output:,} output tokens"
        )
    return faults


def _iteration_faults(request: AnyRequest) -> list[str]:
    """The top-level usage is the sum of all iterations but the compactions (Messages API, ``usage.iterations``)."""
    sums = total(own_usages(request))
    return [
        f"{top:,} {name} tokens are reported, but its iterations come to {below:,}"
        for name, top, below in (
            ("prompt", request.usage.prompt_tokens, sums.prompt_tokens),
            ("output", request.usage.output_tokens, sums.output_tokens),
        )
        if top is not None and below is not None and top != below
    ]

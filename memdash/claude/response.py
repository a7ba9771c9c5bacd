"""Reading an answer: the one place that knows where the Messages API keeps its numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memdash.records import NOT_FINISHED, NOTHING_CHANGED, Iteration, Usage


@dataclass(frozen=True, slots=True)
class Response:
    """An answered request. Times are milliseconds on the client's clock; content blocks are exactly as received."""

    content: tuple[Mapping[str, Any], ...]
    stop_reason: str | None
    usage: Usage
    iterations: tuple[Iteration, ...]
    message_id: str | None
    request_id: str | None
    transformations: tuple[Mapping[str, Any], ...]
    applied_edits: tuple[Mapping[str, Any], ...]
    retries: int
    modelled: bool
    started_ms: float
    first_event_ms: float | None
    first_text_ms: float | None
    finished_ms: float
    message: Mapping[str, Any]
    diagnosis: Mapping[str, Any] | None = None


class Refused(Exception):  # an outcome of a request, named for what happened
    """Raised where a request has no usable answer; carries what is known of it.

    ``status`` is the HTTP status, None where there was no answer at all. ``by_api`` says that the API refused the
    request itself (it is malformed, too large or unknown to it), which is a result; else the service, the
    network or the key failed.
    ``usage`` is what a stream had reported before it broke off.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | None,
        type: str | None,
        request_id: str | None,
        started_ms: float,
        finished_ms: float,
        retries: int = 0,
        usage: Usage | None = None,
        modelled: bool = False,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.type = type
        self.request_id = request_id
        self.started_ms = started_ms
        self.finished_ms = finished_ms
        self.retries = retries
        self.usage = usage or Usage()
        self.modelled = modelled

    @property
    def by_api(self) -> bool:
        """Whether the API refused the request itself."""
        return refused_by_api(self.status)


def refused_by_api(status: int | None) -> bool:
    """Whether an HTTP status says that the request itself was refused: malformed, too large, or of an unknown model."""
    return status in (400, 404, 413, 422)


def read_usage(usage: Mapping[str, Any] | None) -> Usage:
    """Read a usage object; what the server left out or sent as null is None, never 0.

    Where the split of cache writes by lifetime is given without its sum, the sum is taken from it.
    """
    if not isinstance(usage, Mapping):
        return Usage()
    split = usage.get("cache_creation")
    split = split if isinstance(split, Mapping) else {}
    details = usage.get("output_tokens_details")
    details = details if isinstance(details, Mapping) else {}
    five, hour = _count(split, "ephemeral_5m_input_tokens"), _count(split, "ephemeral_1h_input_tokens")
    written = _count(usage, "cache_creation_input_tokens")
    if written is None and (five is not None or hour is not None):
        written = (five or 0) + (hour or 0)
    return Usage(
        input_tokens=_count(usage, "input_tokens"),
        cache_creation_input_tokens=written,
        ephemeral_5m_input_tokens=five,
        ephemeral_1h_input_tokens=hour,
        cache_read_input_tokens=_count(usage, "cache_read_input_tokens"),
        output_tokens=_count(usage, "output_tokens"),
        thinking_tokens=_count(details, "thinking_tokens"),
    )


def read_iterations(usage: Mapping[str, Any] | None) -> tuple[Iteration, ...]:
    """Read ``usage.iterations``, empty where there is none.

    With a compaction, the top-level usage leaves its tokens out, so cost is the sum over these (Messages API, compaction).
    """
    entries = usage.get("iterations") if isinstance(usage, Mapping) else None
    return tuple(
        Iteration(str(entry.get("type")), read_usage(entry), entry.get("model"))
        for entry in entries or ()
        if isinstance(entry, Mapping)
    )


def read_diagnosis(message: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Read what the API says of the prompt cache; None where it was not asked (Messages API, cache diagnostics).

    A null in place of the whole says that nothing had changed, a null in place of the reason that the comparison was not
    finished in time; both get a ``type`` of our own.
    """
    if "diagnostics" not in message:
        return None
    told = message["diagnostics"]
    if told is None:
        return {"type": NOTHING_CHANGED}
    if not isinstance(told, Mapping) or "cache_miss_reason" not in told:
        return None
    reason = told["cache_miss_reason"]
    if not isinstance(reason, Mapping):
        return {"type": NOT_FINISHED}
    missed = _count(reason, "cache_missed_input_tokens")
    diagnosis: dict[str, Any] = {"type": str(reason.get("type"))}
    return diagnosis if missed is None else {**diagnosis, "cache_missed_input_tokens": missed}


def _count(fields: Mapping[str, Any], name: str) -> int | None:
    value = fields.get(name)
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def read_message(
    message: Mapping[str, Any],
    *,
    request_id: str | None,
    retries: int,
    modelled: bool,
    started_ms: float,
    first_event_ms: float | None,
    first_text_ms: float | None,
    finished_ms: float,
) -> Response:
    """Read a complete Message object."""
    usage = message.get("usage")
    management = message.get("context_management")
    return Response(
        content=tuple(message.get("content") or ()),
        stop_reason=message.get("stop_reason"),
        usage=read_usage(usage),
        iterations=read_iterations(usage),
        message_id=message.get("id"),
        request_id=request_id,
        transformations=tuple(message.get("input_transformations") or ()),
        applied_edits=tuple(management.get("applied_edits") or ()) if isinstance(management, Mapping) else (),
        retries=retries,
        modelled=modelled,
        started_ms=started_ms,
        first_event_ms=first_event_ms,
        first_text_ms=first_text_ms,
        finished_ms=finished_ms,
        message=message,
        diagnosis=read_diagnosis(message),
    )

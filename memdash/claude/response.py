"""Reading an answer: the one place that knows where the Messages API keeps its numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memdash.records import NOT_FINISHED, NOTHING_CHANGED, Iteration, Usage
from memdash.usage import read_count, read_iterations, read_usage


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
    missed = read_count(reason, "cache_missed_input_tokens")
    diagnosis: dict[str, Any] = {"type": str(reason.get("type"))}
    return diagnosis if missed is None else {**diagnosis, "cache_missed_input_tokens": missed}


def in_whole_characters(value: Any) -> Any:
    """Return what a server sent with every text in whole characters.

    JSON can carry half a surrogate pair, which no text that is stored or sent can hold. A server that cuts its stream between
    two halves sends them one after the other: they are joined. A half without the other is replaced as unknown.
    """
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, Mapping):
        return {in_whole_characters(key): in_whole_characters(one) for key, one in value.items()}
    if isinstance(value, list):
        return [in_whole_characters(one) for one in value]
    return value


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

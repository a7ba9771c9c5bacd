"""The one error the simulator raises: a refusal by the Messages API, with its status, type and message."""

from __future__ import annotations

from collections.abc import Mapping


class ApiError(Exception):
    """Raised when the Messages API would refuse a request; the wire turns it into the JSON error body.

    ``type`` is the API's error type (``invalid_request_error``), ``message`` its exact text, ``error_code``
    the value of ``error.details.error_code`` where the API gives one, ``headers`` what the response carries
    beside the body.
    """

    def __init__(
        self,
        status: int,
        type: str,
        message: str,
        error_code: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.status = status
        self.type = type
        self.message = message
        self.error_code = error_code
        self.headers: Mapping[str, str] = headers or {}
        super().__init__(message)


def invalid(message: str, error_code: str | None = None) -> ApiError:
    """Return the 400 ``invalid_request_error`` with this message."""
    return ApiError(400, "invalid_request_error", message, error_code)

"""Asking the API why the prompt cache missed, for as long as the server takes the question."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from memdash.claude.request import Request
from memdash.claude.response import Refused
from memdash.spec import Provider, ReplaySpec, Replies

BETA: Final = "cache-diagnosis-2026-04-07"
FIELD: Final = "diagnostics"


class CacheDiagnosis:
    """The question as one replay asks it: of every request of the conversation, until the server turns out not to know it.

    Only a server that answers the whole conversation is asked; it compares each request with the one before (Messages API,
    cache diagnostics).
    """

    def __init__(self, spec: ReplaySpec) -> None:
        self._asking = not (spec.provider is Provider.ANTHROPIC and spec.replies is Replies.RECORDED)
        self._taken = False

    def ask(self, request: Request, previous_message_id: str | None) -> Request:
        """Return the request with the question in it, or as it is where it is not asked (any more)."""
        if not self._asking:
            return request
        body = {**request.body, FIELD: {"previous_message_id": previous_message_id}}
        return Request(body, (*request.betas, BETA), request.hint)

    def leave_out(self, request: Request) -> Request:
        """Return the request without the question, and ask it no more: the server does not take it."""
        self._asking = False
        betas = tuple(one for one in request.betas if one != BETA)
        body = {name: value for name, value in request.body.items() if name != FIELD}
        return Request(body, betas, request.hint)

    def accepted(self, betas: tuple[str, ...]) -> None:
        """Take note that a request with these betas was answered."""
        self._taken = self._taken or BETA in betas

    def is_refused(self, request: Request, refused: Refused) -> bool:
        """Whether the question may be why the server refused this request.

        Until it has answered one with the question in it, every refusal of the body may be; after that only one that
        names it.
        """
        if BETA not in request.betas or refused.status not in (400, 422):
            return False
        return not self._taken or "diagnos" in refused.message.lower()


def without_question(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request's options as they are recorded.

    The betas say whether the question was asked, and the message it named is that of the request before; left in, it would make
    every request's options different ones.
    """
    return {name: value for name, value in options.items() if name != FIELD}

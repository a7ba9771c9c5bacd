"""Who gets to the server at all: anybody where people sign in, and else only this machine, unless told otherwise.

The address to listen on is checked at the start. That does not say everything: a reverse proxy on the same machine, or another
server program, can bring others in, and so can a web page whose name is made to lead here. So every request is looked at too.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from typing import Final

import streamlit as st
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from memdash.access import WITHOUT_SIGN_IN, is_loopback
from memdash.errors import InputError
from memdash.views import people

_REFUSAL: Final = (
    "memdash: nobody signs in here, so only its own machine is answered. Configure [auth] in .streamlit/secrets.toml "
    f"(docs/deploy.md), open it as localhost, or set {WITHOUT_SIGN_IN}=yes where others are meant to come in.\n"
)


def check_start() -> None:
    """End the process with one line and exit code 2 where its configuration cannot be used or would let anybody in."""
    try:
        rules = people.access()
        rules.check_address(st.get_option("server.address"), told=_is_open_to_all())
        if rules.sign_in and importlib.util.find_spec("authlib") is None:
            raise InputError(
                "sign-in needs the package Authlib, which is not installed: pip install 'memdash[team]'"
            )
    except InputError as error:
        print(f"memdash: {error}", file=sys.stderr)
        raise SystemExit(2) from None


def _is_open_to_all() -> bool:
    return os.environ.get(WITHOUT_SIGN_IN, "").casefold() == "yes"


class Door:
    """Answers nobody but this machine where nobody signs in."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._open = people.access().sign_in or _is_open_to_all()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if self._open or scope["type"] not in ("http", "websocket") or _is_from_here(scope):
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008, "reason": "no sign-in"})
        else:
            await PlainTextResponse(_REFUSAL, status_code=403)(scope, receive, send)


_PASSED_ON: Final = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip")
"""What a proxy says of a request that it passes on, also where it gives our own address as the name that was asked for."""


def _is_from_here(scope: Scope) -> bool:
    """Whether it came in on a loopback address, was meant for one, and is passed on for nobody."""
    reached, _port = scope.get("server") or (None, None)
    headers = Headers(scope=scope)
    passed_on = any(name in headers for name in _PASSED_ON)
    return is_loopback(reached) and is_loopback(_name(headers.get("host", ""))) and not passed_on


def _name(host: str) -> str:
    """A ``Host`` header without its port."""
    return host.partition("]")[0] if host.startswith("[") else host.partition(":")[0]

"""The way back to the link that somebody followed before signing in: Streamlit's own sign-in ends on the start page."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote, unquote

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memdash.views import people

COOKIE: Final = "memdash_way_back"
"""Where the browser keeps the link meanwhile: on no other device, out of reach of scripts, for a quarter of an hour."""

_USER_COOKIE: Final = "_streamlit_user"
_CALLBACK: Final = "/oauth2callback"
_KEPT_SECONDS: Final = 15 * 60
_MOST_CHARACTERS: Final = 2000
"""A longer link than this is not kept: browsers drop cookies of more than 4,096 bytes."""

_HERE: Final = re.compile(r"/(?![/\\])[!-\[\]-~]*")
"""A path on this server: printable ASCII without a backslash, and not ``//host``, which would lead elsewhere."""


class WayBack:
    """Where people sign in, notes in a cookie which page somebody unknown asked for, and leads there after signing in."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._is_needed = people.access().sign_in
        self._root = f"/{st.get_option('server.baseUrlPath').strip('/')}".rstrip("/")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; note where it wanted to go, or send it there."""
        if not self._is_needed or scope["type"] != "http" or scope["method"] != "GET":
            await self.app(scope, receive, send)
            return
        asked = Headers(scope=scope)
        cookies = cookie_parser(asked.get("Cookie", ""))

        async def send_on_the_way(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if scope["path"] == f"{self._root}{_CALLBACK}":
                    self._lead_back(headers, cookies)
                elif _USER_COOKIE not in cookies and _is_page(message["status"], asked, headers):
                    self._note(headers, _link(scope))
            await send(message)

        await self.app(scope, receive, send_on_the_way)

    def _note(self, headers: MutableHeaders, link: str) -> None:
        if _leads_here(link):
            headers.append("Set-Cookie", self._cookie(quote(link, safe=""), _KEPT_SECONDS))

    def _lead_back(self, headers: MutableHeaders, cookies: Mapping[str, str]) -> None:
        has_signed_in = any(one.startswith(f"{_USER_COOKIE}=") for one in headers.getlist("Set-Cookie"))
        link = unquote(cookies.get(COOKIE, ""))
        if has_signed_in and _leads_here(link):
            headers["Location"] = link
            headers.append("Set-Cookie", self._cookie("", 0))

    def _cookie(self, value: str, seconds: int) -> str:
        return f"{COOKIE}={value}; Path={self._root or '/'}; Max-Age={seconds}; HttpOnly; SameSite=Lax"


def _link(scope: Scope) -> str:
    """The path and query of a request, as they were asked for."""
    path = quote(scope["path"], safe="/:@!$&'()*+,;=~")
    query = scope["query_string"].decode("latin-1")
    return f"{path}?{query}" if query else path


def _leads_here(link: str) -> bool:
    return len(link) <= _MOST_CHARACTERS and _HERE.fullmatch(link) is not None


def _is_page(status: int, asked: Headers, headers: Headers) -> bool:
    """Whether the answer is a page that fills the window, and no part of one."""
    is_whole = asked.get("Sec-Fetch-Dest", "document") == "document"
    return status == 200 and is_whole and headers.get("Content-Type", "").startswith("text/html")

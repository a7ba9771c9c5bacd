"""What the server process does beside serving pages: it opens and closes the store, runs the first comparison, takes in results.

Imported by ``app.py`` alone.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import anyio.to_thread
import streamlit as st
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memdash.errors import MemdashError, StoreError
from memdash.store import Ownership
from memdash.views.choices import DEMO, to_spec
from memdash.views.door import Door
from memdash.views.state import close_services, scripts_on_disk, services
from memdash.views.way_back import WayBack

_log = logging.getLogger(__name__)

_CARE_SECONDS: Final = 3.0

_HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self' ws: wss:; worker-src 'self' blob:; "
        "frame-src 'self'; frame-ancestors 'none'; object-src 'none'; base-uri 'self'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}
"""No page may load anything from elsewhere, whatever stands in a script: the browser itself refuses."""


_FIRST_DRAWN: Final = (
    "PlotlyChart",
    "DataFrame",
    "Multiselect",
    "NumberInput",
    "Button",
    "ButtonGroup",
    "Metric",
)
"""The parts of Streamlit's page code that our first page draws."""


def _preload() -> str:
    """Return a ``Link`` header by which a browser loads and compiles what it will need while our page is being made.

    Else it asks for each part when it first has to draw one, one after the other. A release of Streamlit that names its parts
    in another way is served without.
    """
    folder = Path(st.__file__).parent / "static" / "static" / "js"
    found = [file.name for part in _FIRST_DRAWN for file in folder.glob(f"{part}.*.js")]
    return ", ".join(f"<./static/js/{name}>; rel=modulepreload; crossorigin" for name in found)


class Headers:
    """Adds the security headers to every answer, and to a page what it will need."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._preload = _preload()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on and add the headers to what comes back."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                if self._preload and _is_page(headers):
                    headers.append("Link", self._preload)
            await send(message)

        await self.app(scope, receive, send_with_headers)


def _is_page(headers: MutableHeaders) -> bool:
    """Tell a page from a report that is downloaded, which is HTML as well and needs nothing more."""
    html = headers.get("Content-Type", "").startswith("text/html")
    return html and "Content-Disposition" not in headers


MIDDLEWARE: Final = [Middleware(Headers), Middleware(Door), Middleware(WayBack)]


def routes() -> list[BaseRoute]:
    """Return the routes beside the pages: the server's health."""
    return [Route("/api/health", _health)]


async def _health(_request: Request) -> Response:
    try:
        held = await anyio.to_thread.run_sync(services)
    except StoreError as error:
        return JSONResponse({"status": "no database", "problem": str(error)}, status_code=503)
    return JSONResponse({"status": "ok", "running": len(held.worker.running())})


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncIterator[dict[str, Any]]:
    """Own the store and the worker from the server's start to its stop."""
    caretaker = _Caretaker()
    caretaker.start()
    try:
        yield {}
    finally:
        await anyio.to_thread.run_sync(caretaker.stop)
        await anyio.to_thread.run_sync(close_services)


class _Caretaker(threading.Thread):
    """Opens the database, also when it was not free at first, and looks after it every few seconds."""

    def __init__(self) -> None:
        super().__init__(name="memdash-caretaker", daemon=True)
        self._stopping = threading.Event()
        self._ownership: Ownership | None = None
        self._complaint = ""

    def run(self) -> None:
        """Care until stopped; what goes wrong is logged, and tried again."""
        while not self._stopping.is_set():
            try:
                self._care()
            except MemdashError as error:
                self._complain(str(error))
            except Exception:  # it must live as long as the server: without it nothing is taken in any more
                _log.exception("the caretaker stumbled")
            self._stopping.wait(_CARE_SECONDS)

    def stop(self) -> None:
        """Stop and wait until nothing is being done any more: a thread inside DuckDB at exit aborts the process."""
        self._stopping.set()
        self.join()
        if self._ownership is not None:
            self._ownership.close()

    def _complain(self, text: str) -> None:
        """Log what is wrong, once for as long as it stays the same."""
        if text != self._complaint:
            _log.warning("%s", text)
        self._complaint = text

    def _care(self) -> None:
        if self._ownership is None:
            self._ownership = Ownership(services().store)
            run_demo_once()
        else:
            self._ownership.care()


def run_demo_once() -> str | None:
    """Run the demo comparison where nothing has ever been run; returns its id."""
    held = services()
    if held.store.comparisons():
        return None
    return held.worker.submit(to_spec(DEMO, scripts_on_disk()))

"""The real dashboard in a real browser: one server and one database a test module, Debian's chromium, no network."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Request,
    TimeoutError,
    expect,
    sync_playwright,
)

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
PATIENCE_MS = 60_000
"""How long to wait for something to appear: machines of CI are slow, and nothing here measures time."""

PROBE = re.compile(r"/[a-z_]+/_stcore/(health|host-config)$")

LONG_RUN = "/?scripts=long-project&repeats=20"
"""A form whose run takes longer than a slow browser needs to press a button of it, so that no test races with its end."""

expect.set_options(timeout=PATIENCE_MS)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(item.path).parent == Path(__file__).parent:
            item.add_marker(pytest.mark.browser)


class Server:
    """``streamlit run app.py`` with a database of its own; can be stopped and started again.

    ``environment`` is what it finds there beside what every server finds.
    """

    def __init__(self, database: Path, environment: Mapping[str, str] | None = None) -> None:
        self.database = database
        self._environment = dict(environment or {})
        self.port = _free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = database.with_suffix(".log")
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("ANTHROPIC_", "MEMDASH_", "STREAMLIT_"))
        }
        no_secrets = {"STREAMLIT_SECRETS_FILES": str(self.database.with_suffix(".toml"))}
        environment |= {"MEMDASH_DB": str(self.database), **no_secrets, **self._environment}
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(self.port)],
                cwd=ROOT,
                env=environment,
                stdout=log,
                stderr=log,
            )
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                with urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=2) as answer:
                    if answer.status == 200:
                        return
            except (urllib.error.URLError, OSError):
                if self._process.poll() is not None:
                    break
                time.sleep(0.1)
        raise AssertionError(f"the server did not come up:\n{self.log.read_text()}")

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        assert self._process is not None
        self._process.send_signal(how)
        code = self._process.wait(timeout=60)
        self._process = None
        return code

    def close(self) -> None:
        if self._process is not None:
            self.stop()

    def log_text(self) -> str:
        return self.log.read_text(encoding="utf-8")


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    one = Server(tmp_path_factory.mktemp("dashboard") / "lab.duckdb")
    one.start()
    yield one
    one.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser for the tests of a file; none is left behind, since an event loop runs in this thread while there is one."""
    if CHROMIUM is None:
        pytest.skip("no chromium on this machine")
    with sync_playwright() as playwright:
        one = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield one
        one.close()


class Watch:
    """What a browser context asked of other machines, and what its console complained of."""

    def __init__(self, context: BrowserContext, own: str) -> None:
        self.elsewhere: list[str] = []
        self.complaints: list[str] = []
        self._own = own
        context.on("request", self._note_request)
        context.on("console", self._note_message)
        context.on("weberror", lambda error: self.complaints.append(str(error.error)))

    def _note_request(self, request: Request) -> None:
        if not request.url.startswith((self._own, "data:", "blob:")):
            self.elsewhere.append(request.url)

    def _note_message(self, message: ConsoleMessage) -> None:
        # A page that is opened by its own path looks for the server below that path first, in vain (Streamlit).
        if message.type == "error" and not PROBE.search(message.location.get("url", "")):
            self.complaints.append(message.text)


@pytest.fixture
def visit(browser: Browser, server: Server) -> Iterator[Visit]:
    """Open a page of the dashboard in a browser context of its own; afterwards nothing may have gone wrong in any of them."""
    visits = Visit(browser, server)
    yield visits
    visits.close()


class Visit:
    def __init__(self, browser: Browser, server: Server) -> None:
        self._browser = browser
        self._server = server
        self._contexts: list[tuple[BrowserContext, Watch]] = []

    def __call__(
        self, path: str = "/", *, width: int = 1280, height: int = 800, theme: str = "light"
    ) -> Page:
        context = self._browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if theme == "dark" else "light",
            accept_downloads=True,
        )
        context.set_default_timeout(PATIENCE_MS)
        self._contexts.append((context, Watch(context, self._server.url)))
        page = context.new_page()
        page.goto(self._server.url + path)
        return page

    def close(self) -> None:
        for context, watch in self._contexts:
            context.close()
            assert watch.elsewhere == []
            assert watch.complaints == []


def finished(page: Page) -> None:
    """Wait until the comparison on the page is over and drawn."""
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
    expect(page.get_by_text("What this says")).to_be_visible()
    expect(page.get_by_text("The findings stand here")).to_have_count(0)
    expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()


def cancel(page: Page) -> None:
    """Press Cancel until it is heard: a press that arrives while the page is still being sent may be lost (Streamlit)."""
    button = page.get_by_role("button", name="Cancel", exact=True)
    heard = page.get_by_text(re.compile(r"Cancelling…|replays? cancelled")).first
    deadline = time.monotonic() + PATIENCE_MS / 1000
    while time.monotonic() < deadline:
        with suppress(TimeoutError):
            button.click(timeout=5_000)
        with suppress(AssertionError):
            expect(heard).to_be_visible(timeout=5_000)
            return
    expect(heard).to_be_visible()

"""The server: what it answers besides pages, what it says in its log, how it stops and starts again."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.conftest import LONG_RUN, ROOT, Server, cancel

Visit = Callable[..., Page]


def test_a_restart_marks_what_was_running_and_offers_to_resume_it(visit: Visit, server: Server) -> None:
    page = visit(LONG_RUN)
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_text(re.compile(r"\d+ of 80 replays"))).to_be_visible()
    link = page.url.removeprefix(server.url)
    page.close()

    server.stop(signal.SIGKILL)
    server.start()

    page = visit(link)
    expect(page.get_by_text(re.compile(r"\d+ replays interrupted"))).to_be_visible()
    page.get_by_role("button", name="Resume").click()
    expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    expect(page.get_by_text(re.compile(r"\d+ of 80 replays"))).to_be_visible()
    cancel(page)
    expect(page.get_by_text(re.compile(r"\d+ replays? cancelled"))).to_be_visible()


def test_every_answer_forbids_the_browser_to_load_anything_from_elsewhere(server: Server) -> None:
    with urllib.request.urlopen(server.url) as answer:
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'self'" in policy
        assert "http" not in policy
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["X-Frame-Options"] == "DENY"


def test_a_page_names_the_parts_it_will_need_so_that_they_are_loaded_meanwhile(server: Server) -> None:
    with urllib.request.urlopen(server.url) as answer:
        parts = re.findall(r"<\./(static/js/(\w+)\.[^>]+\.js)>; rel=modulepreload", answer.headers["Link"])
    assert {"PlotlyChart", "DataFrame", "Multiselect"} <= {name for _path, name in parts}
    for path, _name in parts:
        with urllib.request.urlopen(f"{server.url}/{path}") as part:
            assert part.status == 200


def test_the_health_route_says_whether_the_database_is_open(server: Server) -> None:
    with urllib.request.urlopen(f"{server.url}/api/health") as answer:
        assert json.load(answer)["status"] == "ok"


def test_a_command_beside_the_open_dashboard_reads_and_writes_through_it(
    visit: Visit, server: Server
) -> None:
    ran = subprocess.run(
        [
            sys.executable,
            "-m",
            "memdash",
            "run",
            "--turns",
            "3",
            "--title",
            "From a terminal",
            "--quiet",
            "--db",
            server.database,
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stderr
    page = visit()
    expect(page.get_by_role("heading", name="From a terminal")).to_be_visible()


def test_the_log_holds_no_warning_and_the_server_stops_cleanly(server: Server) -> None:
    code = server.stop()
    assert code in (0, -signal.SIGTERM)
    log = server.log_text()
    for word in ("Traceback", "deprecat", "Deprecat", "will be removed", "WARNING", "ERROR"):
        assert word not in log

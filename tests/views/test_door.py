"""Who is answered at all: only this machine where nobody signs in, unless told; and what keeps the server from starting."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest

from memdash.access import Access
from memdash.views import people
from memdash.views.door import Door
from tests.test_access import AUTH

ROOT = Path(__file__).resolve().parents[2]


def asked(
    host: str | None, reached: str | None = "127.0.0.1", kind: str = "http", **others: str
) -> list[Mapping[str, Any]]:
    """Ask for a page as ``host`` on a connection to the address ``reached``; returns what comes back."""
    sent: list[Mapping[str, Any]] = []

    async def app(_scope: object, _receive: object, send: Any) -> None:
        await send({"type": "answered"})

    async def send(message: Mapping[str, Any]) -> None:
        sent.append(message)

    async def receive() -> Mapping[str, Any]:
        return {"type": "http.request"}

    headers = [] if host is None else [(b"host", host.encode())]
    headers += [(name.replace("_", "-").encode(), value.encode()) for name, value in others.items()]
    scope = {
        "type": kind,
        "method": "GET",
        "path": "/",
        "headers": headers,
        "server": reached and (reached, 8501),
    }
    anyio.run(Door(app), scope, receive, send)  # type: ignore[arg-type]
    return sent


@pytest.mark.parametrize("host", ["localhost", "localhost:8501", "127.0.0.1:8501", "[::1]:8501"])
def test_its_own_machine_is_answered(host: str) -> None:
    assert asked(host) == asked(host, kind="websocket") == [{"type": "answered"}]
    assert asked(host, "::1") == [{"type": "answered"}]


@pytest.mark.parametrize(
    ("host", "reached"),
    [
        ("lab.example.com", "127.0.0.1"),  # through a proxy, or a page whose name was made to lead here
        ("192.0.2.7:8501", "192.0.2.7"),  # listening beyond loopback, whatever program serves it
        ("localhost", "192.0.2.7"),
        (None, "127.0.0.1"),
        ("localhost", None),
    ],
)
def test_others_are_refused_with_a_line_that_says_what_to_do(host: str | None, reached: str | None) -> None:
    start, body = asked(host, reached)
    assert start["status"] == 403
    assert b"nobody signs in here, so only its own machine is answered" in body["body"]
    assert asked(host, reached, "websocket") == [
        {"type": "websocket.close", "code": 1008, "reason": "no sign-in"}
    ]


@pytest.mark.parametrize("header", ["forwarded", "via", "x_forwarded_for", "x_forwarded_host", "x_real_ip"])
def test_a_proxy_that_asks_for_us_by_our_own_address_is_no_way_in(header: str) -> None:
    assert asked("127.0.0.1:8501", **{header: "192.0.2.7"})[0]["status"] == 403
    assert asked("localhost", kind="websocket", **{header: "127.0.0.1"})[0]["type"] == "websocket.close"


def test_where_people_sign_in_or_it_is_meant_everybody_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMDASH_WITHOUT_SIGN_IN", "yes")
    assert asked("lab.example.com", "192.0.2.7") == [{"type": "answered"}]
    monkeypatch.setenv("MEMDASH_WITHOUT_SIGN_IN", "no")
    assert asked("lab.example.com")[0]["status"] == 403
    monkeypatch.setattr(people, "access", lambda: Access.read({"auth": AUTH}))
    assert asked("lab.example.com", "192.0.2.7") == [{"type": "answered"}]


@pytest.mark.parametrize(
    ("options", "secrets", "told"),
    [
        (("--server.address", "0.0.0.0"), "", "refusing to listen on 0.0.0.0 without sign-in"),
        ((), "[memdash]\nrunner = []\n", "[memdash] has no runner; it has runners and day_budget"),
        ((), "[auth\n", "secrets.toml: cannot be read as TOML"),
    ],
)
def test_the_server_does_not_start_where_it_would_let_anybody_in(
    tmp_path: Path, options: tuple[str, ...], secrets: str, told: str
) -> None:
    file = tmp_path / "secrets.toml"
    file.write_text(secrets)
    started = subprocess.run(
        [
            sys.executable,
            "-m",
            "streamlit",
            "run",
            "app.py",
            "--server.port",
            "0",
            "--secrets.files",
            str(file),
            *options,
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert started.returncode == 2
    (line,) = [one for one in started.stderr.splitlines() if one.startswith("memdash: ")]
    assert told in line
    assert "Traceback" not in started.stderr

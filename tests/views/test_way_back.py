"""Signing in leads to the link that somebody followed, and nowhere else."""

from __future__ import annotations

from urllib.parse import quote

import pytest
import streamlit as st
from hypothesis import given
from hypothesis import strategies as some
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from memdash.access import Access
from memdash.views import people
from memdash.views.way_back import COOKIE, WayBack
from tests.test_access import AUTH

LINK = "/replay?c=cmp_1&r=window+of+4&turn=7"


async def _page(_request: Request) -> Response:
    return HTMLResponse("<p>a page</p>")


async def _part(_request: Request) -> Response:
    return PlainTextResponse("a part of a page")


async def _callback(request: Request) -> Response:
    """As Streamlit's: to the start page, with a cookie where the identity provider knew somebody."""
    answer = RedirectResponse("/", 302)
    if "code" in request.query_params:
        answer.set_cookie("_streamlit_user", "signed")
    return answer


def browser(root: str = "") -> TestClient:
    roads = {"/part.js": _part, "/oauth2callback": _callback, "/{page:path}": _page}
    app = WayBack(Starlette(routes=[Route(root + path, road) for path, road in roads.items()]))
    return TestClient(app, "https://lab.example.com", follow_redirects=False)


@pytest.fixture(autouse=True)
def _people_sign_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(people, "access", lambda: Access.read({"auth": AUTH}))


def landing(person: TestClient, callback: str = "/oauth2callback?code=1") -> str:
    return person.get(callback).headers["Location"]


def test_signing_in_leads_to_the_page_that_was_asked_for() -> None:
    person = browser()
    noted = person.get(LINK).headers["Set-Cookie"]
    assert noted.endswith("; Path=/; Max-Age=900; HttpOnly; SameSite=Lax")
    assert landing(person) == LINK
    assert COOKIE not in person.cookies  # it leads there once
    assert landing(person) == "/"


def test_below_a_path_it_leads_there_too(monkeypatch: pytest.MonkeyPatch) -> None:
    options = {"server.baseUrlPath": "/lab/"}
    monkeypatch.setattr(st, "get_option", options.__getitem__)
    person = browser("/lab")
    assert "; Path=/lab; " in person.get("/lab/library?q=caf%C3%A9").headers["Set-Cookie"]
    assert landing(person, "/lab/oauth2callback?code=1") == "/lab/library?q=caf%C3%A9"


def test_parts_of_a_page_and_frames_change_nothing() -> None:
    person = browser()
    person.get(LINK)
    person.get("/part.js")
    person.get("/in/a/frame", headers={"Sec-Fetch-Dest": "iframe"})
    assert landing(person) == LINK


def test_whoever_did_not_sign_in_stays_on_the_way_in() -> None:
    person = browser()
    person.get(LINK)
    assert landing(person, "/oauth2callback?error=access_denied") == "/"
    assert landing(person) == LINK  # and may try again


def test_nothing_is_noted_of_who_has_signed_in_nor_where_nobody_does(monkeypatch: pytest.MonkeyPatch) -> None:
    person = browser()
    person.cookies.set("_streamlit_user", "signed")
    assert "Set-Cookie" not in person.get(LINK).headers
    monkeypatch.setattr(people, "access", lambda: Access.read({}))
    assert "Set-Cookie" not in browser().get(LINK).headers


@pytest.mark.parametrize(
    "elsewhere",
    [
        "//evil.example",
        "/\\evil.example",
        "https://evil.example",
        "evil",
        "",
        "/a\r\nX: 1",
        "/a b",
        "/" + "a" * 2000,
    ],
)
def test_a_forged_cookie_leads_nowhere(elsewhere: str) -> None:
    person = browser()
    person.cookies.set(COOKIE, quote(elsewhere, safe=""))
    assert landing(person) == "/"


@given(some.text(max_size=40), some.text(max_size=40))
def test_any_link_is_led_back_to_as_it_was_or_not_at_all(page: str, query: str) -> None:
    person = browser()
    path = "/" + quote(page.encode("utf-8", "replace"), safe="/:@!$&'()*+,;=~")
    link = f"{path}?q={quote(query.encode('utf-8', 'replace'))}"
    asked = person.get(f"https://lab.example.com{link}").request.url.raw_path.decode()
    assert landing(person) in (asked, "/")
    if "//" not in asked:
        assert COOKIE not in person.cookies

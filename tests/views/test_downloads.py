"""The downloads of a comparison: what will be shared is seen beforehand, and no file is made before its button is pressed."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from memdash import report
from memdash.store import Store
from memdash.views.comparison import file_of
from tests.report.told import MARK, a_comparison, readable, stored


def menu() -> None:
    import streamlit as st

    from memdash.views.downloads import downloads

    if st.query_params.get("menu") != "closed":
        downloads(st.query_params["c"])


def opened(comparison: str) -> AppTest:
    at = AppTest.from_function(menu, default_timeout=30)
    at.query_params["c"] = comparison
    at.run()
    assert not at.exception
    return at


def shown(at: AppTest) -> str:
    return "\n".join(one.value for one in (*at.markdown, *at.caption)).replace("\\", "")


def labels(at: AppTest) -> list[str]:
    return [one.label for one in at.get("download_button")]


def test_the_preview_follows_the_switch(store: Store) -> None:
    at = opened(stored(store, a_comparison()))
    assert f"**Answers** (in HTML, Markdown, JSON): {MARK} answer 0" in shown(at)
    at.toggle[0].set_value(True).run()
    assert MARK not in shown(at)
    assert "**Answers** (in HTML, Markdown, JSON): [left out]" in shown(at)
    assert "**Scripts**: Script 1" in shown(at)


def test_text_stays_left_out_when_the_menu_is_opened_again(store: Store) -> None:
    at = opened(stored(store, a_comparison()))
    at.toggle[0].set_value(True).run()
    at.query_params["menu"] = "closed"
    at.run()
    assert not at.toggle
    del at.query_params["menu"]
    at.run()
    assert at.toggle[0].value
    assert MARK not in shown(at)
    at.toggle[0].set_value(False).run()
    assert MARK in shown(at)


def test_nothing_is_made_before_a_button_is_pressed(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    monkeypatch.setattr(report, "made", lambda *given, **_: made.append(given[2]))
    at = opened(stored(store, a_comparison()))
    assert labels(at) == ["Report", "Markdown", "JSON", "CSV", "Parquet", "Bundle"]
    assert made == []


def test_a_bundle_holds_everything_so_it_is_not_offered_without_text(store: Store) -> None:
    at = opened(stored(store, a_comparison()))
    at.toggle[0].set_value(True).run()
    assert labels(at) == ["Report", "Markdown", "JSON", "CSV", "Parquet"]


def test_a_redacted_download_has_no_text(store: Store) -> None:
    one = stored(store, a_comparison())
    assert MARK not in readable(file_of(one, ".html", redact=True), ".html")
    assert MARK in readable(file_of(one, ".html"), ".html")

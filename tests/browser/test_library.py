"""The library and the scripts in a browser: rename, delete, download, upload."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.conftest import Server, finished

Visit = Callable[..., Page]


def library(visit: Visit) -> Page:
    """Open the library once the first comparison is done."""
    page = visit()
    finished(page)
    page.get_by_role("link", name="Library").click()
    expect(page.get_by_role("heading", name="Library")).to_be_visible()
    return page


def open_menu(page: Page) -> None:
    page.get_by_role("button", name=re.compile("more_vert")).first.click()
    expect(page.get_by_role("button", name="Rename")).to_be_visible()


def test_a_comparison_is_renamed_and_another_browser_sees_it(visit: Visit) -> None:
    page = library(visit)
    open_menu(page)
    title = page.get_by_role("textbox", name="Title")
    title.fill("My *first* <b>look</b>")
    title.press("Enter")
    page.get_by_role("button", name="Rename").click()
    expect(page.get_by_text("My *first* <b>look</b>", exact=True).first).to_be_visible()
    other = visit()
    expect(other.get_by_role("heading", name="My *first* <b>look</b>")).to_be_visible()


def test_a_comparison_is_downloaded_as_json(visit: Visit, tmp_path: Path) -> None:
    page = library(visit)
    open_menu(page)
    with page.expect_download() as waiting:
        page.get_by_role("button", name="JSON").click()
    saved = tmp_path / "comparison.json"
    waiting.value.save_as(saved)
    assert re.fullmatch(r"memdash-cmp_[0-9a-f]{12}\.json", waiting.value.suggested_filename)
    content = json.loads(saved.read_text())
    assert [one["status"] for one in content["replays"]] == ["done", "done", "rejected", "done"]


def test_search_narrows_the_list_while_typing(visit: Visit) -> None:
    page = library(visit)
    search = page.get_by_placeholder("Search titles, notes, scripts, strategies, models")
    search.press_sequentially("no such thing")
    expect(page.get_by_text("Nothing matches")).to_be_visible()
    search.fill("")
    search.press_sequentially("trip-planning")
    expect(page.get_by_role("button", name="Open")).to_be_visible()


def test_a_comparison_is_deleted_and_erased_after_asking_and_comes_back_from_its_bundle(
    visit: Visit, server: Server, tmp_path: Path
) -> None:
    page = library(visit)
    open_menu(page)
    bundle = tmp_path / "comparison.zip"
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Bundle", exact=False).click()
    waiting.value.save_as(bundle)
    page.get_by_role("button", name="Delete…").click()
    expect(page.get_by_text("everything measured in them will be gone")).to_be_visible()
    expect(page.get_by_role("textbox", name="Title")).to_have_count(0)  # the menu would lie over the question
    page.get_by_role("button", name="Keep it").click()
    expect(page.get_by_role("button", name="Open")).to_have_count(1)
    open_menu(page)
    page.get_by_role("button", name="Delete…").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_text("Nothing has been run yet")).to_be_visible()
    page.get_by_text("Import, export, erase").click()
    page.get_by_role("button", name="Erase what was deleted…").click()
    page.get_by_role("button", name="Erase", exact=True).click()
    expect(page.get_by_text("Erased 1 comparison for good.")).to_be_visible()
    expect(page.get_by_role("button", name="Erase what was deleted…")).to_be_disabled()
    assert b"My *first*" not in server.database.read_bytes()
    page.locator("input[type=file]").set_input_files(bundle)
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_text("1 comparison in the bundle: 1 imported.")).to_be_visible()
    page.get_by_role("button", name="Open").click()
    expect(page.get_by_role("heading", name="My *first* <b>look</b>")).to_be_visible()
    expect(page.get_by_text("What this says")).to_be_visible()


def test_a_script_with_a_mistake_is_refused_with_its_line(visit: Visit, tmp_path: Path) -> None:
    page = visit()
    page.get_by_role("link", name="Scripts").click()
    page.get_by_test_id("stExpander").get_by_text("Check a script of your own").click()
    wrong = tmp_path / "mine.yaml"
    wrong.write_text("id: mine\ntitle: '<img src=x onerror=alert(1)>'\nturns:\n  - usr: hello\n")
    page.locator("input[type=file]").set_input_files(wrong)
    expect(page.get_by_text("One problem in this file")).to_be_visible()
    expect(page.get_by_text(re.compile(r"line 4 · turns\[0\]"))).to_be_visible()
    right = tmp_path / "corrected.yaml"
    right.write_text("id: mine\ntitle: '<img src=x onerror=alert(1)>'\nturns:\n  - hello\n  - and again\n")
    page.locator("input[type=file]").set_input_files(right)
    expect(page.get_by_text("Valid")).to_be_visible()
    expect(page.get_by_role("heading", name="<img src=x onerror=alert(1)>")).to_be_visible()
    page.get_by_role("button", name="Compare with this script").click()
    expect(page.get_by_test_id("stSidebar").get_by_text("<img src=x onerror=alert(1)>")).to_be_visible()
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_role("heading", name=re.compile("<img src=x"))).to_be_visible()
    expect(page.get_by_text("What this says")).to_be_visible()


def test_the_prices_stand_with_their_source(visit: Visit) -> None:
    page = visit()
    page.get_by_role("link", name="Prices").click()
    expect(page.get_by_role("heading", name="Prices")).to_be_visible()
    expect(page.get_by_text("Compared with the sources on")).to_be_visible()
    expect(page.locator("[data-testid=stDataFrame] canvas").first).to_be_visible()

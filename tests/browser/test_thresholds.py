"""A sweep from the empty page to its answer, and what a person can do with it."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import cancel

SMALL = "/thresholds?f=compaction:1000|4000&f=window:2|4&scripts=trip-planning&scripts=trip-change&turns=12"
LONG = "/thresholds?f=compaction:500..8000*2&f=window:2|3|4|6|8|12|16|24&scripts=long-project&turns=none&repeats=20"
"""A sweep that takes longer than a slow browser needs to press a button of it, so that no test races with its end."""

Visit = Callable[..., Page]


def run(page: Page) -> None:
    page.get_by_role("button", name="Run", exact=True).click()


def answered(page: Page) -> None:
    """Wait until the sweep on the page is over and drawn."""
    expect(page.get_by_role("heading", name=re.compile("^(Ship|Keep|Provisionally) "))).to_be_visible()
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
    expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()


def answer_of_a_small_sweep(visit: Visit, **look: object) -> Page:
    """Open the newest sweep; the first time, run a small one."""
    page = visit("/thresholds", **look)
    ready = page.get_by_text("At which threshold should it run?")
    expect(
        ready.or_(page.get_by_role("heading", name=re.compile("^(Ship|Keep|Provisionally) ")))
    ).to_be_visible()
    if ready.is_visible():
        page = visit(SMALL, **look)
        expect(page.get_by_text("5 settings, 10 replays")).to_be_visible()
        run(page)
    answered(page)
    return page


def test_a_sweep_is_set_up_run_read_and_shared(visit: Visit) -> None:
    page = visit()
    page.get_by_role("link", name="Thresholds").click()
    expect(page.get_by_text("At which threshold should it run?")).to_be_visible()
    expect(page.get_by_text(re.compile(r"^19 settings, 57 replays, about [\d,]+ requests"))).to_be_visible()

    page = answer_of_a_small_sweep(visit)
    expect(
        page.get_by_role("heading", name=re.compile("^Compaction at 1000 to 4000 and window of 2 to 4"))
    ).to_be_visible()
    expect(page.get_by_text(re.compile(r"decisive$")).first).to_be_visible()
    expect(page.get_by_text(re.compile("^Cost against facts kept: "))).to_be_visible()
    expect(page.get_by_text("not yet compared with the live API").first).to_be_visible()

    loss = page.get_by_label("A setting may lose, % of the facts").last
    loss.fill("90")
    loss.press("Enter")
    expect(page).to_have_url(re.compile("loss=0.9"))
    page.get_by_role("radio", name="Settings").or_(page.get_by_role("button", name="Settings")).first.click()
    expect(page.get_by_text("5 settings, each over every script and repeat")).to_be_visible()

    there = visit(page.url.removeprefix(page.url.split("/thresholds")[0]))
    expect(there.get_by_label("A setting may lose, % of the facts").last).to_have_value("90")
    expect(there.get_by_text("5 settings, each over every script and repeat")).to_be_visible()
    assert there.url == page.url


def test_a_range_is_edited_and_a_strategy_added(visit: Visit) -> None:
    page = visit("/thresholds?f=window:2|4")
    page.get_by_role("button", name="Add a strategy").click()
    page.get_by_role("menuitem", name="truncate").or_(
        page.get_by_role("option", name="truncate")
    ).first.click()
    expect(page.get_by_text("budget: 2,000, 4,000, 8,000")).to_be_visible()
    page.get_by_test_id("stSidebar").get_by_test_id("stPopover").get_by_role("button").first.click()
    values = page.get_by_role("textbox", name="Values")
    values.fill("3, 5, 7")
    values.press("Enter")
    expect(page.get_by_text("Runs at 3, 5, 7")).to_be_visible()
    expect(page).to_have_url(re.compile(r"f=window%3A3..7%2F2"))


@pytest.mark.parametrize(
    ("theme", "width", "height", "columns"), [("light", 1280, 800, 1), ("dark", 1920, 1080, 2)]
)
def test_nothing_is_cut_off(visit: Visit, theme: str, width: int, height: int, columns: int) -> None:
    page = answer_of_a_small_sweep(visit, width=width, height=height, theme=theme)
    expect(page.locator(".js-plotly-plot")).to_have_count(6)
    boxes = [box for one in page.locator(".js-plotly-plot").all()[1:] if (box := one.bounding_box())]
    assert len({round(box["x"]) for box in boxes}) == columns
    overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert overflow <= 0


def test_a_long_sweep_shows_its_progress_and_is_cancelled(visit: Visit) -> None:
    page = visit(LONG)
    run(page)
    expect(
        page.get_by_text(re.compile(r"[\d,]+ of 280 replays · turn [\d,]+ of 34,720 · .* tokens · \$"))
    ).to_be_visible()
    expect(page.get_by_role("heading", name="No recommendation yet")).to_be_visible()
    cancel(page)
    expect(page.get_by_text(re.compile(r"replays? cancelled"))).to_be_visible()
    expect(page.get_by_role("button", name="Resume")).to_be_visible()
    page.get_by_role("link", name="Library").click()
    expect(page.get_by_text(re.compile("sweep$")).first).to_be_visible()

"""What one person writes, pins and chooses, another person sees by the link."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.conftest import finished

Visit = Callable[..., Page]


def path(page: Page) -> str:
    """The address of a page without its server."""
    return "/" + page.url.split("/", 3)[3]


def test_a_note_and_the_baseline_are_seen_by_somebody_else(visit: Visit) -> None:
    mine = visit()
    finished(mine)
    mine.get_by_role("button", name="sticky_note_2").click()
    mine.get_by_role("textbox", name="Note").fill("<b>old</b> prompt, see [turn 9](http://x)")
    mine.get_by_role("button", name="Add note").click()
    expect(mine.get_by_text("<b>old</b> prompt, see [turn 9]").first).to_be_visible()
    mine.keyboard.press("Escape")
    mine.get_by_role("button", name="difference", exact=False).first.click()
    mine.get_by_role("button", name="Pin as baseline").click()
    expect(mine.get_by_text("This is the baseline.")).to_be_visible()
    theirs = visit("/library")
    expect(theirs.get_by_text("<b>old</b> prompt, see [turn 9]")).to_be_visible()
    expect(theirs.get_by_text(re.compile("baseline$")).first).to_be_visible()
    theirs.get_by_placeholder("Search titles, notes").press_sequentially("prompt, see")
    expect(theirs.get_by_role("button", name="Open")).to_have_count(1)
    expect(theirs).to_have_url(re.compile(r"q=prompt"))


def test_replays_side_by_side_are_the_same_by_the_link(visit: Visit) -> None:
    mine = visit()
    finished(mine)
    mine.get_by_role("button", name="Side by side").click()
    expect(mine.get_by_role("heading", name="Side by side")).to_be_visible()
    mine.get_by_text("Differences from the baseline").click()
    expect(mine.get_by_text("Against the baseline")).to_be_visible()
    expect(mine).to_have_url(re.compile(r"side_by_side\?r=cmp_\w+\.001\.002\.003\.004&against=baseline"))
    theirs = visit(path(mine), theme="dark", width=1920)
    expect(theirs.get_by_text("Against the baseline")).to_be_visible()
    expect(theirs.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    overflow = theirs.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert overflow <= 0
    stale = visit(path(mine).replace("001.002.003.004", "001.099"))
    expect(stale.get_by_text("1 replay of this link is not here")).to_be_visible()
    expect(stale.get_by_role("button", name="Open the library")).to_be_visible()
    expect(stale.get_by_text("Against the baseline")).to_be_visible()

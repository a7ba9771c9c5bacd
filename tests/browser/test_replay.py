"""Going through a replay: with the keyboard, with a click into the chart, by a link, and from what a comparison broke."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

Visit = Callable[..., Page]


def turn_shown(page: Page, turn: int) -> None:
    expect(page).to_have_url(re.compile(rf"[?&]turn={turn}(&|$)"))
    expect(page.get_by_role("spinbutton", name="Turn")).to_have_value(str(turn))


LOST = "Fact survival: 0 of 4 facts can still be read after turn 30"


def test_what_a_comparison_broke_leads_to_a_replay_that_is_gone_through_by_keyboard_click_and_link(
    visit: Visit,
) -> None:
    page = visit("/?view=broke", theme="dark")
    expect(
        page.get_by_text(re.compile(r"^5 losses: 4 answered wrong, text gone; 1 text gone, no wrong answer"))
    ).to_be_visible()
    page.get_by_role("button", name="Turn 5", exact=True).first.click()
    turn_shown(page, 5)
    expect(page.get_by_text(LOST)).to_be_visible()
    page.keyboard.press("n")
    turn_shown(page, 6)
    page.keyboard.press("p")
    turn_shown(page, 5)
    plot = page.locator(".js-plotly-plot").first.locator(".nsewdrag").first.bounding_box()
    assert plot is not None
    # Turns 1 to 30, half a turn before and behind them: this is the middle of turn 20.
    page.mouse.click(plot["x"] + plot["width"] * 19.5 / 30, plot["y"] + plot["height"] / 2)
    turn_shown(page, 20)
    there = visit(page.url.removeprefix(page.url.split("/replay")[0]))
    turn_shown(there, 20)
    expect(there.get_by_text(LOST)).to_be_visible()
    overflow = there.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert overflow <= 0
    there.get_by_role("link", name="Compare").click()
    expect(there.get_by_text("What this says")).to_be_visible()
    there.get_by_role("link", name="Replay").click()
    turn_shown(there, 20)

"""What a comparison is looked at for beside its overview: misses, compactions, background work, waiting."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

Visit = Callable[..., Page]


def look_at(page: Page, panel: str) -> None:
    expect(page.get_by_text("What this says")).to_be_visible()
    page.get_by_role("radio", name=panel, exact=True).or_(
        page.get_by_role("button", name=panel, exact=True)
    ).first.click()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_each_panel_shows_its_finding_and_keeps_to_the_page(visit: Visit, theme: str) -> None:
    page = visit(theme=theme, width=1500)
    look_at(page, "Misses")
    expect(
        page.get_by_text(re.compile(r"^Misses cost most with window of 4: [\d,]+ tokens, \$0\.\d+ more"))
    ).to_be_visible()
    expect(page).to_have_url(re.compile(r"view=misses"))
    expect(page.get_by_text("What this says")).to_have_count(0)
    for panel, finding in (
        ("Compactions", re.compile(r"^\d+ summaries put into use for \$0\.\d+; (none|\d+ of \d+) paid for")),
        ("Background", re.compile("^Nothing was done in the background")),
        ("Waiting", re.compile("^Wait and time to first text")),
        ("Recall", re.compile("^There is no curve to draw")),
    ):
        page.get_by_role("radio", name=panel, exact=True).or_(
            page.get_by_role("button", name=panel, exact=True)
        ).first.click()
        expect(page.get_by_text(finding)).to_be_visible()
    overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert overflow <= 0


def test_a_link_opens_the_same_panel(visit: Visit) -> None:
    here = visit()
    look_at(here, "Compactions")
    expect(here.get_by_text("Each compaction")).to_be_visible()
    expect(here).to_have_url(re.compile(r"view=compactions"))
    there = visit(here.url.removeprefix(here.url.split("/?")[0]))
    expect(there.get_by_text("Each compaction")).to_be_visible()


def test_the_checks_of_the_replays_are_told_quietly_where_no_rule_was_broken(visit: Visit) -> None:
    page = visit()
    expect(page.get_by_text(re.compile(r"\d+ requests of 4 replays checked, no rule broken"))).to_be_visible()

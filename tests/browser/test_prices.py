"""The what-if of the Prices page in a browser: the answer comes, the address holds it, and a link shows the same."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import finished

Visit = Callable[..., Page]


@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 1920)])
def test_a_comparison_is_priced_without_caching_and_a_link_shows_the_same(
    visit: Visit, theme: str, width: int
) -> None:
    page = visit(theme=theme, width=width)
    finished(page)
    page.get_by_role("link", name="Prices").click()
    expect(page.get_by_text("Choose what would be different")).to_be_visible()
    page.get_by_role("radio", name="Off").or_(page.get_by_role("button", name="Off")).first.click()
    found = re.compile(
        "^With no caching window of 4, which kept 0 of 4 facts, becomes cheaper than full history"
    )
    expect(page.get_by_text(found)).to_be_visible()
    expect(page.get_by_text("With no caching window of 4 becomes the cheapest")).to_be_visible()
    expect(page).to_have_url(re.compile(r"life=off"))
    overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert overflow <= 0
    there = visit("/" + page.url.split("/", 3)[3])
    expect(there.get_by_text(found)).to_be_visible()

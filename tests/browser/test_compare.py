"""First start, choosing, running, watching, sharing: what a person sees on the Compare page."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import LONG_RUN, cancel, finished

DEMO = "Full history, window of 4, window of 4 (naive) and compaction at 2000: Planning a trip to Porto"
SIMULATED = "Simulator rules of 2026-11-30, not yet compared with the live API"

Visit = Callable[..., Page]


def test_the_first_start_shows_a_finished_comparison_with_its_charts(visit: Visit) -> None:
    page = visit()
    expect(page.get_by_role("heading", name=DEMO)).to_be_visible()
    finished(page)
    expect(page.locator(".js-plotly-plot")).to_have_count(6)
    expect(page.get_by_text("window of 4 (naive): the API refused turn 5")).to_be_visible()
    expect(page.get_by_text("is bound to a different conversation")).to_be_visible()
    expect(page.get_by_text("Cost so far: window of 4 overtakes full history at turn")).to_be_visible()
    expect(page.get_by_text(SIMULATED).first).to_be_visible()
    expect(page).to_have_url(re.compile(r"\?c=cmp_[0-9a-f]{12}$"))


def test_other_thresholds_are_run_watched_and_read(visit: Visit) -> None:
    page = visit()
    finished(page)
    window = page.get_by_label("keep, exchanges").first
    window.fill("8")
    window.press("Enter")
    expect(page).to_have_url(re.compile("s=window%3Akeep%3D8"))
    expect(page.get_by_text(re.compile(r"^About \d+ requests, .* tokens, \$0\.\d+"))).to_be_visible()
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_role("heading", name=re.compile("window of 8"))).to_be_visible()
    finished(page)
    expect(page.get_by_text("window of 4 (naive): the API refused turn 5")).to_be_visible()
    assert "s=" not in page.url  # the link of the new comparison says it all


def test_a_link_opens_the_same_comparison_in_another_browser(visit: Visit) -> None:
    here = visit()
    finished(here)
    title = here.get_by_role("heading", level=3).first.inner_text()
    there = visit(here.url.removeprefix(here.url.split("/?")[0]))
    finished(there)
    expect(there.get_by_role("heading", name=title)).to_be_visible()
    assert there.url == here.url


def test_a_link_to_what_is_not_there_says_so_and_offers_the_library(visit: Visit) -> None:
    page = visit("/?c=cmp_000000000000&turns=many")
    expect(page.get_by_text("there is no comparison 'cmp_000000000000'")).to_be_visible()
    expect(page.get_by_text("turns: 'many' is not a whole number")).to_be_visible()
    page.get_by_role("button", name="Open the library").click()
    expect(page.get_by_role("heading", name="Library")).to_be_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("width", "height", "columns"), [(1280, 800, 1), (1920, 1080, 2)])
def test_nothing_is_cut_off_in_either_theme_at_either_width(
    visit: Visit, theme: str, width: int, height: int, columns: int
) -> None:
    page = visit(width=width, height=height, theme=theme)
    finished(page)
    expect(page.locator(".js-plotly-plot")).to_have_count(6)
    boxes = [one.bounding_box() for one in page.locator(".js-plotly-plot").all()]
    lefts = {round(box["x"]) for box in boxes if box}
    assert len(lefts) == columns
    overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert overflow <= 0
    background = page.evaluate(
        "getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor"
    )
    assert background == ("rgb(16, 20, 29)" if theme == "dark" else "rgb(255, 255, 255)")


def test_a_run_shows_its_progress_and_can_be_cancelled_and_resumed(visit: Visit) -> None:
    page = visit(LONG_RUN)
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    expect(
        page.get_by_text(re.compile(r"\d+ of 80 replays · turn [\d,]+ of 9,920 · .* tokens · \$"))
    ).to_be_visible()
    cancel(page)
    expect(page.get_by_text(re.compile(r"replays? cancelled"))).to_be_visible()
    expect(page.get_by_role("button", name="Resume")).to_be_visible()

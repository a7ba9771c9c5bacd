"""The report as somebody else opens it: from disk, with the network off, in light and dark, on screen and on paper."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from memdash import report
from memdash.store import Store
from tests.browser.conftest import PATIENCE_MS, Watch, finished
from tests.report.told import a_comparison, a_script, a_sweep, stored

Open = Callable[[Path, str], Page]

HOSTILE = (
    "</script><script>document.title='gone'</script><img src=x onerror=alert(1)> **b** $x$ \u202egnp.exe"
)


@pytest.fixture
def from_disk(browser: Browser) -> Iterator[Open]:
    """Open a file with the network off; afterwards nothing may have been asked for, and nothing complained of."""
    contexts: list[tuple[BrowserContext, Watch]] = []

    def open_file(path: Path, theme: str) -> Page:
        context = browser.new_context(
            offline=True,
            viewport={"width": 1280, "height": 900},
            color_scheme="dark" if theme == "dark" else "light",
        )
        context.set_default_timeout(PATIENCE_MS)
        contexts.append((context, Watch(context, path.as_uri())))
        page = context.new_page()
        page.goto(path.as_uri())
        return page

    yield open_file
    for context, watch in contexts:
        context.close()
        assert watch.elsewhere == []
        assert watch.complaints == []


def drawn(page: Page) -> None:
    """Wait until the first chart is drawn; charts are drawn as they come near."""
    page.locator(".chart:visible").first.scroll_into_view_if_needed()
    expect(page.locator(".js-plotly-plot:visible .main-svg").first).to_be_visible()


def test_a_report_opens_from_disk_with_every_text_a_text(from_disk: Open, tmp_path: Path) -> None:
    scripts = (a_script("first", mark=HOSTILE), a_script("second", mark="Second"))
    with Store.open(tmp_path / "lab.duckdb") as store:
        one = stored(store, a_comparison(*scripts, title=HOSTILE), HOSTILE)
        report.write(report.made(store, one, ".html"), tmp_path / "report.html")
    page = from_disk(tmp_path / "report.html", "light")
    expect(page.locator("h1")).to_have_text(HOSTILE.replace("\u202e", ""))  # it would turn our own words
    expect(page.locator("img")).to_have_count(0)
    drawn(page)
    assert page.evaluate("document.title").startswith("</script><script>document.title=")

    page.get_by_label("Script").select_option("Second title")
    expect(page.get_by_role("heading", name="Second title").first).to_be_visible()
    expect(page.locator("h2").get_by_text("gnp.exe").first).to_be_hidden()

    costs = page.locator("table").first.locator("tbody tr td:nth-child(6)")
    page.get_by_role("button", name="cost", exact=True).click()
    rising = costs.all_text_contents()
    assert rising == sorted(rising)
    page.get_by_role("button", name="cost", exact=True).click()
    assert costs.all_text_contents() == rising[::-1]

    page.get_by_text("What was forgotten").click()
    expect(page.get_by_text(f"{HOSTILE} answer 0").first).to_be_visible()

    first = page.locator(".js-plotly-plot:visible .main-svg text").first
    light = first.evaluate("one => getComputedStyle(one).fill")
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(
        "(was) => [...document.querySelectorAll('.js-plotly-plot .main-svg text')]"
        ".filter((one) => one.checkVisibility()).every((one) => getComputedStyle(one).fill !== was)",
        arg=light,
    )
    assert page.pdf(format="A4").startswith(b"%PDF")
    expect(page.locator("details[open]")).to_have_count(1)  # paper shows all of them, the screen is as it was


def test_a_point_of_a_sweep_tells_about_itself(from_disk: Open, tmp_path: Path) -> None:
    with Store.open(tmp_path / "lab.duckdb") as store:
        one = stored(store, a_sweep())
        report.write(report.made(store, one, ".html"), tmp_path / "report.html")
    page = from_disk(tmp_path / "report.html", "light")
    drawn(page)
    chart = page.locator(".chart:visible").first
    chart.locator(".scatterlayer .point").last.hover(force=True)
    name = chart.locator(".hoverlayer tspan tspan").first
    expect(name).to_be_visible()
    assert name.evaluate("one => getComputedStyle(one).fontWeight") == "700"


def test_what_will_be_shared_is_seen_and_a_report_is_downloaded_without_text(
    visit: Callable[..., Page], from_disk: Open, tmp_path: Path
) -> None:
    page = visit()
    finished(page)
    page.get_by_role("button", name="ios_share").click()
    preview = page.get_by_text("What will be shared of the conversations")
    expect(preview).to_be_visible()
    expect(page.get_by_text("What is my name?")).to_be_visible()
    page.get_by_text("Leave out conversation text").click()
    expect(page.get_by_text("What is my name?")).to_have_count(0)
    expect(page.get_by_text("Script 1", exact=False).first).to_be_visible()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Report", exact=False).last.click()
    assert waiting.value.suggested_filename.endswith("-redacted.html")
    waiting.value.save_as(tmp_path / "shared.html")

    shared = from_disk(tmp_path / "shared.html", "dark")
    drawn(shared)
    expect(shared.get_by_text("text left out", exact=True)).to_be_visible()
    assert "What is my name?" not in (tmp_path / "shared.html").read_text("utf-8")

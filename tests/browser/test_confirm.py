"""Confirming a comparison live, against a simulator over HTTP: from the button to the error of each number."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from memdash.simulator.engine import SimulatorConfig
from memdash.simulator.server import running
from tests.browser.conftest import Server, finished

Visit = Callable[..., Page]
KEY = "sk-ant-very-secret"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A dashboard that has a key, and an address where another simulator answers."""
    with running(SimulatorConfig(seed=7, token_counter="estimate")) as url:
        folder = tmp_path_factory.mktemp("dashboard")
        one = Server(folder / "lab.duckdb", {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": url})
        one.start()
        yield one
        one.close()
        assert KEY not in one.log_text()


def test_a_comparison_is_confirmed_from_its_page(visit: Visit) -> None:
    page = visit("/?turns=3")
    finished(page)
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_text("30 requests of 4 replays checked")).to_be_visible()
    finished(page)
    simulated = page.url
    page.get_by_role("button", name="Confirm live").click()
    expect(page.get_by_text("answered by a compatible server").first).to_be_visible()
    expect(page.get_by_text(re.compile(r"^About \d+ requests, .* with probes")).last).to_be_visible()
    page.get_by_role("button", name="Play live…").click()
    expect(page.get_by_text("Give a budget first")).to_be_visible()
    page.get_by_label("Budget, US dollars").last.fill("3")
    page.get_by_role("button", name="Play live…").click()  # the number is taken in by the press itself
    expect(page.get_by_text("Spend up to $3.00 on this?")).to_be_visible()
    page.get_by_role("button", name="Spend and play").click()
    expect(page.get_by_role("heading", name=re.compile("confirmed live$"))).to_be_visible()
    finished(page)
    expect(page.get_by_text("Answered by a compatible server").first).to_be_visible()
    expect(page.get_by_role("button", name="Confirm live")).to_have_count(0)
    page.get_by_test_id("stMain").get_by_role("radio", name="Live API").click()
    expect(page.get_by_text(re.compile("^Simulator compared with a compatible server on "))).to_be_visible()
    page.get_by_role("button", name="Open the simulated one").click()
    expect(page).to_have_url(re.compile(re.escape(simulated.rpartition("c=")[2][:16])))
    finished(page)
    told = "not yet compared with the live API; compared with a compatible server on"
    expect(page.get_by_text(told).first).to_be_visible()
    assert KEY not in page.content()

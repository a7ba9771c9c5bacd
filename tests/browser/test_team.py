"""A team's instance: two people sign in at an identity provider, one of them may start live runs and the other may look."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from memdash.simulator.engine import SimulatorConfig
from memdash.simulator.server import running
from tests.browser.conftest import PATIENCE_MS, Server, Watch, finished
from tests.browser.identity import SECRET, IdentityProvider

OWN_KEY = "sk-ant-of-ann-7Hx2"
PEOPLE = {
    "ann": {"email": "ann@example.com", "email_verified": True, "name": "Ann"},
    "ben": {"email": "ben@example.com", "email_verified": True, "name": "Ben"},
}


@pytest.fixture(scope="module")
def provider() -> Iterator[IdentityProvider]:
    with IdentityProvider(PEOPLE) as one:
        yield one


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, provider: IdentityProvider) -> Iterator[Server]:
    """A dashboard where people sign in, without a key of its own, and an address where another simulator answers."""
    folder = tmp_path_factory.mktemp("team")
    settings = folder / "secrets.toml"
    with running(SimulatorConfig(seed=7, token_counter="estimate")) as url:
        one = Server(
            folder / "lab.duckdb", {"ANTHROPIC_BASE_URL": url, "STREAMLIT_SECRETS_FILES": str(settings)}
        )
        provider.redirect_uri = f"{one.url}/oauth2callback"
        rules = '\n[memdash]\nrunners = ["ann@example.com"]\nday_budget = 5.0\n'
        settings.write_text(provider.secrets_toml("a-long-random-text-of-this-test-0123456789") + rules)
        one.start()
        yield one
        one.close()
    for file in folder.iterdir():  # what nobody may find out is written nowhere
        if file.is_file() and file != settings:
            assert not [secret for secret in (OWN_KEY, SECRET) if secret.encode() in file.read_bytes()], file


class Seat:
    """A browser of its own, as one person sits before it."""

    def __init__(self, browser: Browser, server: Server) -> None:
        self._context: BrowserContext = browser.new_context(viewport={"width": 1920, "height": 1000})
        self._context.set_default_timeout(PATIENCE_MS)
        self.watch = Watch(self._context, server.url)
        self.page: Page = self._context.new_page()
        self._server = server

    def open(self, path: str) -> None:
        self.page.goto(self._server.url + path)

    def sign_in(self, name: str) -> None:
        self.page.get_by_role("button", name="Sign in").click()
        self.page.get_by_role("link", name=f"Continue as {name}").click()
        expect(self.account(name)).to_be_visible()

    def account(self, name: str) -> Locator:
        """The link to one's own page; what looks like an address has a character of no width in it."""
        return self.page.get_by_role("link", name=re.compile(rf"{name}.?@example\.com"))

    def close(self) -> None:
        self._context.close()


@pytest.fixture
def seats(browser: Browser, server: Server, provider: IdentityProvider) -> Iterator[tuple[Seat, Seat]]:
    two = Seat(browser, server), Seat(browser, server)
    yield two
    for seat in two:
        seat.close()
        assert [one for one in seat.watch.elsewhere if not one.startswith(provider.url)] == []
        assert seat.watch.complaints == []


def test_a_runner_and_a_viewer_share_an_instance(
    seats: tuple[Seat, Seat], server: Server, provider: IdentityProvider
) -> None:
    ann, ben = seats

    # Before signing in there is the way in, and nothing else.
    ann.open("/?turns=2")
    expect(ann.page.get_by_text("Sign in to memdash")).to_be_visible()
    expect(ann.page.get_by_role("link", name="Library")).to_have_count(0)
    expect(ann.page.get_by_text("What this says")).to_have_count(0)

    # A runner types a key of her own and plays live.
    ann.sign_in("ann")
    ann.open("/?turns=2")
    finished(ann.page)
    ann.page.get_by_role("button", name="Use a key of your own").click()
    sidebar = ann.page.get_by_test_id("stSidebar")
    field = ann.page.get_by_label("API key")
    field.fill(OWN_KEY)
    field.press("Enter")
    expect(ann.page.get_by_role("button", name="Your own key is in use")).to_be_visible()
    sidebar.get_by_role("radio", name="Live API").click()
    expect(ann.page.get_by_text("Left today for all live runs here: $5.00 of $5.00.")).to_be_visible()
    budget = ann.page.get_by_role("spinbutton", name="Budget, US dollars")
    budget.fill("1")
    budget.press("Enter")
    ann.page.get_by_role("button", name="Run", exact=True).click()
    expect(ann.page.get_by_text("Answered by a compatible server").first).to_be_visible()
    finished(ann.page)
    link = ann.page.url.removeprefix(server.url)
    assert OWN_KEY not in ann.page.content()

    # A viewer opens the same link and is led to it by signing in: he sees the same, and may neither play live nor delete.
    ben.open(link)
    ben.sign_in("ben")
    expect(ben.page).to_have_url(server.url + link)
    finished(ben.page)
    expect(ben.page.get_by_text("Answered by a compatible server").first).to_be_visible()
    expect(ben.page.get_by_role("button", name="Use a key of your own")).to_have_count(0)
    expect(ben.page.get_by_test_id("stSidebar").get_by_role("radio", name="Live API")).to_have_count(0)
    ben.page.get_by_role("link", name="Spending").click()
    expect(ben.page.get_by_text(re.compile(r"^Spent live: most on .*, \$0\.\d{4}$"))).to_be_visible()
    expect(ben.page.get_by_text("Left today")).to_be_visible()
    assert OWN_KEY not in ben.page.content()
    ben.page.get_by_role("link", name="Library").click()
    ben.page.get_by_role("button", name=re.compile("more_vert")).first.click()
    expect(ben.page.get_by_role("button", name="Rename")).to_be_visible()
    expect(ben.page.get_by_role("button", name="Delete…")).to_have_count(0)

    # Signing out leads through the provider back to the way in.
    ann.account("ann").click()
    ann.page.get_by_role("button", name="Sign out").click()
    expect(ann.page.get_by_text("Sign in to memdash")).to_be_visible()
    assert provider.signed_in == ["ann", "ben"]

"""What all tests share."""

from __future__ import annotations

import os
from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, settings

# Machines of CI are slow and noisy: no example has a deadline, and what fails there can be repeated from the printed blob.
settings.register_profile(
    "memdash", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
# For another Python, which is asked for its own differences: the search for counterexamples has been made on the first one.
settings.register_profile("few", settings.get_profile("memdash"), max_examples=15)
settings.load_profile("memdash")

OF_THE_USER = (
    "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "MEMDASH_DB", "MEMDASH_SCRIPTS", "MEMDASH_STRATEGIES",
    "MEMDASH_WITHOUT_SIGN_IN",
)  # fmt: skip
# No sign-in that this person has configured for another app may keep a test out.
os.environ["STREAMLIT_SECRETS_FILES"] = "/no/secrets/of/the/user.toml"
MUST_RUN_IN_CI = ("browser", "node")


@pytest.fixture(autouse=True)
def _no_key_and_no_database_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test may spend money or write into the database of the person who runs it."""
    for name in (
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "ANTHROPIC_BASE_URL",
        "MEMDASH_DB",
        "MEMDASH_SCRIPTS",
        "MEMDASH_PRICES",
        "MEMDASH_WITHOUT_SIGN_IN",
    ):
        monkeypatch.delenv(name, raising=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """In CI, a browser or TypeScript test that skips itself has failed: it would hide that nothing was tested."""
    report = yield
    named = [name for name in MUST_RUN_IN_CI if item.get_closest_marker(name)]
    if report.skipped and named and os.environ.get("CI") == "true" and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"in CI a test marked {named[0]} must run, but it was skipped: {report.longrepr}"
    return report

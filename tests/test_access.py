"""Who may do what on a shared instance, and where it may listen."""

from __future__ import annotations

from typing import Any

import pytest

from memdash.access import Access, Act, Person, Role, is_loopback
from memdash.errors import InputError, NotAllowed

AUTH: dict[str, Any] = {
    "redirect_uri": "https://lab.example.com/oauth2callback",
    "cookie_secret": "a long random text",
    "client_id": "memdash",
    "client_secret": "of the client",
    "server_metadata_url": "https://id.example.com/.well-known/openid-configuration",
}
ANN = Person("ann@example.com", "ann@example.com")


def signed_in(**claims: object) -> Person | None:
    return Person.of({"is_logged_in": True, **claims})


# -- persons -------------------------------------------------------------------------------------------------------------


def test_a_person_is_known_by_the_address_the_provider_vouches_for() -> None:
    assert signed_in(email="ann@example.com", email_verified=True, name="Ann") == ANN
    assert (
        signed_in(email="ann@example.com", name="Ann") == ANN
    )  # many providers do not say, and hand out their own addresses
    assert signed_in(preferred_username="ann", name="Ann", sub="17") == Person("ann")
    assert signed_in(sub="17") == Person("17")


@pytest.mark.parametrize("verified", [False, "false"])
def test_an_address_that_is_said_to_be_unverified_names_nobody(verified: object) -> None:
    mallory = signed_in(email="ann@example.com", email_verified=verified, name="Ann")
    assert mallory == Person("Ann (address not verified)")
    assert (
        Access.read({"auth": AUTH, "memdash": {"runners": ["ann@example.com"]}}).role(mallory) is Role.VIEWER
    )


@pytest.mark.parametrize("claims", [{}, {"is_logged_in": False, "email": "ann@example.com"}])
def test_whoever_is_not_signed_in_is_nobody(claims: dict[str, object]) -> None:
    assert Person.of(claims) is None


# -- roles ---------------------------------------------------------------------------------------------------------------


def test_only_those_who_are_named_are_runners() -> None:
    access = Access.read({"auth": AUTH, "memdash": {"runners": [" Ann@Example.com "]}})
    assert access.role(Person("ANN@example.com", "ANN@example.com")) is Role.RUNNER
    for other in (None, Person("ben@example.com", "ben@example.com"), Person("ann@example.com")):
        assert access.role(other) is Role.VIEWER
        for act in Act:
            assert not access.may(other, act)
    with pytest.raises(
        NotAllowed, match=r"^only runners may start live runs here; whoever runs this instance names them"
    ):
        access.check(None, Act.RUN_LIVE)
    access.check(ANN, Act.DELETE)


def test_with_sign_in_and_no_list_everybody_is_a_viewer() -> None:
    assert Access.read({"auth": AUTH}).role(ANN) is Role.VIEWER


def test_without_sign_in_whoever_sits_at_the_machine_may_do_everything() -> None:
    access = Access.read({})
    assert (access.sign_in, access.role(None)) == (False, Role.RUNNER)
    assert all(access.may(None, act) for act in Act)


# -- the configuration ---------------------------------------------------------------------------------------------------


def test_the_identity_providers_are_those_of_streamlit() -> None:
    shared = {key: AUTH[key] for key in ("redirect_uri", "cookie_secret")}
    client = {key: AUTH[key] for key in ("client_id", "client_secret", "server_metadata_url")}
    assert Access.read({"auth": AUTH}).providers == (None,)
    assert Access.read({"auth": {**AUTH, "client_kwargs": {"prompt": "login"}}}).providers == (None,)
    assert Access.read({"auth": {**shared, "google": client, "okta": client}}).providers == ("google", "okta")


@pytest.mark.parametrize(
    ("secrets", "told"),
    [
        ({"auth": {**AUTH, "cookie_secret": ""}}, r"sign-in needs auth\.cookie_secret"),
        ({"auth": {key: AUTH[key] for key in AUTH if key != "client_id"}}, r"sign-in needs auth\.client_id"),
        ({"auth": {**AUTH, "okta": {"client_id": "x"}}}, r"sign-in needs auth\.okta\.client_secret"),
        ({"auth": {**AUTH, "redirect_uri": "https://lab.example.com/"}}, r"followed by /oauth2callback"),
        ({"auth": "google"}, r"auth is no table"),
        (
            {"memdash": {"runner": ["ann@example.com"]}},
            r"\[memdash\] has no runner; it has runners and day_budget",
        ),
        ({"memdash": {"runners": "ann@example.com"}}, r"memdash\.runners is a list of e-mail addresses"),
        ({"memdash": {"runners": ["ann"]}}, r"'ann' is no e-mail address"),
        ({"memdash": {"day_budget": "20"}}, r"memdash\.day_budget: '20' is no amount of US dollars"),
        ({"memdash": {"day_budget": -1}}, r"-1 is no amount"),
        ({"memdash": {"day_budget": float("nan")}}, r"nan is no amount"),
    ],
)
def test_a_slip_in_the_configuration_is_refused_and_says_where(secrets: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError, match=rf"^secrets\.toml: .*{told}"):
        Access.read(secrets)


def test_the_budget_of_a_day_is_in_dollars_and_may_be_nothing() -> None:
    budgets = [Access.read({"memdash": {"day_budget": one}}).day_budget for one in (20, 2.5, 0)]
    assert budgets == [20.0, 2.5, 0.0]
    assert Access.read({}).day_budget is None


# -- where it listens ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.8.8.8", "localhost", "LOCALHOST", "lab.localhost", "::1", "[::1]"]
)
def test_what_only_its_own_machine_reaches_is_loopback(host: str) -> None:
    assert is_loopback(host)
    Access.read({}).check_address(host, told=False)


@pytest.mark.parametrize(
    "host",
    [None, "", "0.0.0.0", "::", "192.0.2.7", "lab.example.com", "127.0.0.1.evil.example", "localhost.evil"],
)
def test_beyond_loopback_somebody_has_to_sign_in_or_it_has_to_be_meant(host: str | None) -> None:
    assert not is_loopback(host)
    with pytest.raises(
        InputError, match=r"^refusing to listen on .* without sign-in.*MEMDASH_WITHOUT_SIGN_IN=yes"
    ):
        Access.read({}).check_address(host, told=False)
    Access.read({}).check_address(host, told=True)
    Access.read({"auth": AUTH}).check_address(host, told=False)

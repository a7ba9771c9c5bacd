"""Who may do what on a shared instance, and where it may listen: read from its configuration, without asking anybody.

The configuration is the ``[memdash]`` table beside Streamlit's ``[auth]`` in ``.streamlit/secrets.toml``. Without ``[auth]``
nobody signs in: whoever reaches the server may do everything, so only its own machine may reach it.
"""

from __future__ import annotations

import ipaddress
import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from memdash.errors import InputError, NotAllowed

WITHOUT_SIGN_IN: Final = "MEMDASH_WITHOUT_SIGN_IN"
"""The environment variable that lets anybody who reaches the server in without sign-in, where it is ``yes``."""

_PROVIDER: Final = ("client_id", "client_secret", "server_metadata_url")
_SETTINGS: Final = ("runners", "day_budget")
_NAMES: Final = ("preferred_username", "name", "sub")
"""The claims of an identity token that can name a person without an e-mail address, the most telling first."""


class Role(StrEnum):
    """What a person is on this instance; whoever is not named as a runner is a viewer."""

    VIEWER = "viewer"
    RUNNER = "runner"


class Act(StrEnum):
    """What only runners may do."""

    RUN_LIVE = "start live runs"
    DELETE = "delete comparisons"


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who is signed in. ``email`` is None where the provider does not vouch for it; ``name`` is what is shown."""

    name: str
    email: str | None = None

    @classmethod
    def of(cls, claims: Mapping[str, object]) -> Person | None:
        """Return who the claims of an identity token (as ``st.user`` holds them) name; None where nobody is signed in."""
        if not claims.get("is_logged_in"):
            return None
        # Anybody may type any address into some providers' accounts: one that is said to be unverified names nobody.
        vouched = claims.get("email_verified") not in (False, "false")
        email = str(claims["email"]) if claims.get("email") and vouched else None
        name = next((str(claims[claim]) for claim in _NAMES if claims.get(claim)), "somebody")
        return cls(email or (name if vouched else f"{name} (address not verified)"), email)


@dataclass(frozen=True, slots=True)
class Access:
    """The rules of one instance: whether people sign in, who is a runner, and what live runs may cost a day in US dollars.

    ``providers`` are the names of the identity providers to choose from; an unnamed one is None.
    """

    providers: tuple[str | None, ...] = ()
    runners: frozenset[str] = frozenset()
    day_budget: float | None = None

    @property
    def sign_in(self) -> bool:
        """Whether people sign in."""
        return bool(self.providers)

    @classmethod
    def read(cls, secrets: Mapping[str, object]) -> Access:
        """Read the tables ``[auth]`` and ``[memdash]`` of ``.streamlit/secrets.toml``.

        Raises :class:`InputError` where something in them is missing or means nothing: a slip must not open an instance.
        """
        settings = _table(secrets, "memdash")
        unknown = sorted(set(settings) - set(_SETTINGS))
        if unknown:
            raise InputError(f"secrets.toml: [memdash] has no {unknown[0]}; it has {' and '.join(_SETTINGS)}")
        return cls(_providers(_table(secrets, "auth")), _runners(settings), _day_budget(settings))

    def role(self, person: Person | None) -> Role:
        """Return what somebody is here. Where nobody signs in, whoever reaches the server is a runner."""
        if not self.sign_in:
            return Role.RUNNER
        known = person is not None and person.email is not None and person.email.casefold() in self.runners
        return Role.RUNNER if known else Role.VIEWER

    def may(self, person: Person | None, act: Act) -> bool:
        """Return whether somebody may do something."""
        return act in _ACTS[self.role(person)]

    def check(self, person: Person | None, act: Act) -> None:
        """Raise :class:`NotAllowed` where somebody may not do something."""
        if not self.may(person, act):
            raise NotAllowed(
                f"only runners may {act} here; whoever runs this instance names them in its configuration"
            )

    def check_address(self, address: str | None, *, told: bool) -> None:
        """Raise :class:`InputError` where the server would listen beyond this machine without anybody having to sign in.

        ``address`` is what it listens on, None for every address there is; ``told`` says that this is meant.
        """
        if not (self.sign_in or told or is_loopback(address)):
            raise InputError(
                f"refusing to listen on {address or 'every address of this machine'} without sign-in: whoever reaches it could "
                "read every conversation, delete it and spend money. Configure [auth] in .streamlit/secrets.toml "
                f"(docs/deploy.md), listen on 127.0.0.1, or set {WITHOUT_SIGN_IN}=yes where that is meant"
            )


_ACTS: Final[Mapping[Role, frozenset[Act]]] = {Role.VIEWER: frozenset(), Role.RUNNER: frozenset(Act)}


def is_loopback(host: str | None) -> bool:
    """Return whether a host (a name or an address, no port) can be reached from its own machine alone."""
    if host is None:
        return False
    name = host.strip("[]").casefold()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _table(secrets: Mapping[str, object], name: str) -> Mapping[str, object]:
    table = secrets.get(name, {})
    if not isinstance(table, Mapping):
        raise InputError(f"secrets.toml: {name} is no table; write [{name}] on a line of its own")
    return table


def _providers(auth: Mapping[str, object]) -> tuple[str | None, ...]:
    if not auth:
        return ()
    named = [name for name, value in auth.items() if isinstance(value, Mapping) and name != "client_kwargs"]
    sections: dict[str | None, Mapping[str, object]] = {
        name: section for name in named if isinstance(section := auth[name], Mapping)
    }
    if not sections or any(key in auth for key in _PROVIDER):
        sections = {None: auth, **sections}
    missing = [f"auth.{key}" for key in ("redirect_uri", "cookie_secret") if not auth.get(key)]
    for name, section in sections.items():
        missing += [
            f"auth.{name}.{key}" if name else f"auth.{key}" for key in _PROVIDER if not section.get(key)
        ]
    if missing:
        raise InputError(f"secrets.toml: sign-in needs {missing[0]} (docs/deploy.md)")
    if not str(auth["redirect_uri"]).endswith("/oauth2callback"):
        raise InputError(
            "secrets.toml: auth.redirect_uri is the address of this instance followed by /oauth2callback"
        )
    return tuple(sections)


def _runners(settings: Mapping[str, object]) -> frozenset[str]:
    given = settings.get("runners", ())
    if isinstance(given, str) or not isinstance(given, (list, tuple)):
        raise InputError(
            'secrets.toml: memdash.runners is a list of e-mail addresses, for instance ["ann@example.com"]'
        )
    for one in given:
        if not isinstance(one, str) or "@" not in one.strip("@ "):
            raise InputError(f"secrets.toml: memdash.runners: {one!r} is no e-mail address")
    return frozenset(one.strip().casefold() for one in given)


def _day_budget(settings: Mapping[str, object]) -> float | None:
    given = settings.get("day_budget")
    if given is None:
        return None
    if (
        isinstance(given, bool)
        or not isinstance(given, (int, float))
        or not math.isfinite(given)
        or given < 0
    ):
        raise InputError(f"secrets.toml: memdash.day_budget: {given!r} is no amount of US dollars")
    return float(given)

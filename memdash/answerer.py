"""Who answers a live replay: the live API itself, or another server that speaks its protocol.

Only the live API's answers say how good the simulator is; a compatible server, such as ``memdash simulate``, must never pass for
it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from enum import StrEnum

from memdash.errors import InputError

VERSION_KEY = "answered_by"
"""Where a live comparison's versions say who answered it."""

_LIVE_HOST = "api.anthropic.com"


class Answerer(StrEnum):
    """The kind of server; never its address, which may hold a secret."""

    LIVE_API = "the live API"
    COMPATIBLE = "a compatible server"
    NOT_RECORDED = "a server that was not recorded"
    """Of comparisons that were launched before this was kept."""


def present_answerer() -> Answerer:
    """Return who would answer a live request now, by the address that the SDK takes from the environment or a profile."""
    import anthropic
    import httpx2

    try:
        with (
            anthropic.Anthropic() as sdk
        ):  # made as a live client is: an explicit key would hide a profile's address
            address = sdk.base_url
    except (
        anthropic.AnthropicError,
        httpx2.InvalidURL,
        ValueError,
        OSError,
    ):  # the replays will say what is wrong
        return Answerer.COMPATIBLE
    live = address.scheme == "https" and address.host == _LIVE_HOST
    return Answerer.LIVE_API if live else Answerer.COMPATIBLE


def recorded_answerer(versions: Mapping[str, str]) -> Answerer:
    """Return who answered a live comparison, as its versions say."""
    kind = versions.get(VERSION_KEY, "")
    return Answerer(kind) if kind in set(Answerer) else Answerer.NOT_RECORDED


def check_answerer(versions: Mapping[str, str]) -> None:
    """Raise :class:`InputError` where another kind of server would answer now than answered what is recorded so far.

    Half of one and half of the other would be no evidence about either.
    """
    recorded, present = recorded_answerer(versions), present_answerer()
    if recorded not in (Answerer.NOT_RECORDED, present):
        raise InputError(
            f"this comparison was begun with {recorded}, and now {present} would answer: set ANTHROPIC_BASE_URL as it was then"
        )


def has_key() -> bool:
    """Return whether there is a key for live requests; the key itself is read by the SDK alone."""
    return bool(os.environ.get("ANTHROPIC_API_KEY"))


def check_key(what: str) -> None:
    """Raise :class:`InputError` where ``what`` (for instance "a live run") needs a key and there is none."""
    if not has_key():
        raise InputError(
            f"{what} needs a key: set ANTHROPIC_API_KEY (a server of your own at ANTHROPIC_BASE_URL may take any text)"
        )

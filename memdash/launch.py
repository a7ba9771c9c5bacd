"""Who starts a run, and whose key its live requests are made with."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from memdash.errors import InputError

_KEY = re.compile(r"[!#-\[\]-~]{8,400}")
"""Printable ASCII without spaces, quotes and backslashes: what an HTTP header can carry, and what reads the same inside JSON."""

_REMOVED = "[key]"


class Key:
    """A person's own API key, which must never be written down: it shows itself to nobody who does not ask for it by name.

    Raises :class:`InputError` where the text cannot be a key; the text is not repeated.
    """

    __slots__ = ("_secret",)

    def __init__(self, text: str) -> None:
        secret = text.strip()
        if not _KEY.fullmatch(secret):
            raise InputError(
                "that is no API key: a key has no spaces and only plain characters; copy it again from where it was given to you"
            )
        self._secret = secret

    def reveal(self) -> str:
        """Return the key itself, for the client that makes requests with it and for nothing else."""
        return self._secret

    def scrub(self, text: str) -> str:
        """Return ``text`` without the key: a server may repeat it in what it answers, and that is stored."""
        return text.replace(self._secret, _REMOVED)

    def __repr__(self) -> str:
        return "Key(…)"

    def __reduce__(self) -> str:
        raise TypeError("a key is never written down")


@dataclass(frozen=True, slots=True)
class Launch:
    """Who starts a run or lets it go on; ``person`` is None where nobody is signed in.

    ``key`` is the person's own, held for as long as the run goes on; None is the key of the environment.
    """

    person: str | None = None
    key: Key | None = field(default=None, repr=False)


NOBODY = Launch()
"""Whoever sits at this machine, with the key of the environment."""

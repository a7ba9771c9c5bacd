"""Problems of a script, each with its place, collected so that one reading of a file tells all of them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass

Place = tuple[str | int, ...]
"""Where something stands in a script, in the words of its YAML form: ``("turns", 3, "calls", 0, "id")``."""

MAX_PROBLEMS = 100
"""Most problems told of one file."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that makes a script unusable: what, and where."""

    place: Place
    text: str


class TooManyProblems(Exception):
    """Raised within the package when no further problem is noted; the file has plenty to be repaired already."""


class Problems(list[Problem]):
    """The problems noted so far, at most ``MAX_PROBLEMS``: a file of a million mistakes is not read to its end."""

    def append(self, problem: Problem) -> None:
        """Note ``problem``, or raise :class:`TooManyProblems`."""
        if len(self) == MAX_PROBLEMS:
            raise TooManyProblems
        super().append(problem)


def spell(place: Place) -> str | None:
    """Write ``place`` as it appears in messages: ``turns[3].calls[0].id``; None for the script as a whole."""
    text = ""
    for part in place:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text or None


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the one of ``known`` that ``word`` is most likely a slip of, None if there is none."""
    return next(iter(difflib.get_close_matches(word[:80], list(known), n=1)), None)


def suggest(word: str, known: Iterable[str]) -> str:
    """Return a sentence part that offers the nearest of ``known``, else all; empty when there are none."""
    names = list(known)
    near = nearest(word, names)
    if near:
        return f"; did you mean {near!r}?"
    return f"; known are {', '.join(sorted(names))}" if names else ""


def brief(value: str, limit: int = 40) -> str:
    """Quote ``value`` for a message, cut to ``limit`` characters."""
    return repr(value if len(value) <= limit else value[: limit - 1] + "…")

"""Check a text against what a script expects of it.

The same check serves twice: on the answer to a probe (*recall*), and on a whole request, to see whether a fact's words are
still in it (*kept*). Everything runs in time linear in the text.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from memdash.scripts.dates import holds_date, parse_date
from memdash.scripts.model import Expectation, Grading, Value
from memdash.scripts.numbers import holds_number, parse_number
from memdash.scripts.patterns import compile_pattern

F1_PASS = 0.5
"""Token F1 from which an answer counts as right."""

# Typographic variants that models use and script authors do not type.
_PLAIN = str.maketrans(
    {
        "\u00a0": " ",
        "\u202f": " ",
        "\u2009": " ",
        "\u2018": "'",
        "\u2019": "'",
        "\u201c": '"',
        "\u201d": '"',
        "\u2011": "-",
    }
)
_ARTICLES = frozenset({"a", "an", "the"})
_PUNCTUATION = str.maketrans("", "", string.punctuation)


@dataclass(frozen=True, slots=True)
class Verdict:
    """How an answer to a probe was judged. ``stale``: it is wrong, and it is what an earlier value of the fact expects."""

    passed: bool
    stale: bool


def grade(value: Value, stale_values: Sequence[Value], answer: str) -> Verdict:
    """Judge ``answer`` against the latest ``value`` of a fact and its earlier ``stale_values``.

    An answer that holds the right value passes, also when it mentions an earlier one ("1,900 now, no longer 2,400").
    """
    passed = matches(value.answer, answer)
    return Verdict(passed, not passed and any(matches(stale.answer, answer) for stale in stale_values))


def matches(expectation: Expectation, text: str) -> bool:
    """Say whether ``text`` meets ``expectation``; case, curly quotes and special spaces make no difference.

    Raises:
        PatternError: a pattern is not valid (validation refuses such a script).
        ValueError: a number or a date is not one (likewise).
    """
    text = text if text.isascii() else text.translate(_PLAIN)
    first = expectation.values[0]
    match expectation.grading:
        case Grading.REGEX:
            return compile_pattern(first).search(text) is not None
        case Grading.NUMBER:
            return holds_number(text, _number(first))
        case Grading.DATE:
            date = parse_date(first)
            if date is None:
                raise ValueError(f"{first!r} is not a date (YYYY-MM-DD)")
            return holds_date(text, date)
        case Grading.ALL_OF:
            folded = text.casefold()
            return all(value.translate(_PLAIN).casefold() in folded for value in expectation.values)
        case Grading.F1:
            return token_f1(text, first) >= F1_PASS


def token_f1(text: str, reference: str) -> float:
    """Return the token F1 of ``text`` against ``reference``: words in lower case, without punctuation and articles.

    The measure of question-answering sets (SQuAD): harmonic mean of precision and recall over the words both have.
    """
    ours, theirs = _words(text), _words(reference)
    shared = sum((Counter(ours) & Counter(theirs)).values())
    return 2 * shared / (len(ours) + len(theirs)) if shared else 0.0


def _words(text: str) -> list[str]:
    plain = re.sub(r"[-\u2013\u2014/]", " ", text.lower()).translate(_PUNCTUATION)
    return [word for word in plain.split() if word not in _ARTICLES]


def _number(text: str) -> Decimal:
    number = parse_number(text)
    if number is None:
        raise ValueError(f"{text!r} is not a number")
    return number

"""Numbers as people read them: the same spelling in the table, the cards, the charts, the report and the terminal.

Three words stand for a number that is not there, and each means something else: see :data:`MEANINGS`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

N = TypeVar("N", int, float)

NOT_REPORTED = "not reported"
NOT_AVAILABLE = "n/a"
NOTHING = "–"

MEANINGS: Mapping[str, str] = {
    NOT_REPORTED: "The server that answered leaves this out of its usage. It is not zero: nobody knows.",
    NOT_AVAILABLE: "It cannot be computed: there is no price for this model, or a token count is missing.",
    NOTHING: "There is nothing to show: it was not asked, did not happen, or has not happened yet.",
}
"""What each word for a missing number means, as a tooltip."""

_MINUS = "−"


def tokens(count: float | None) -> str:
    """Spell a token count in full: ``165,444``; None is "not reported"."""
    return NOT_REPORTED if count is None else f"{round(count):,}".replace("-", _MINUS)


def tokens_short(count: float | None) -> str:
    """Spell a token count for a card or an axis: ``812``, ``28.4k``, ``1.2M``; None is "not reported"."""
    if count is None:
        return NOT_REPORTED
    for size, unit in ((1e9, "B"), (1e6, "M"), (1e3, "k")):
        if abs(count) >= size * 0.9995:  # what would round to a thousand of the smaller unit
            scaled = round(count / size, 1)
            whole = abs(scaled) >= 100 or scaled == int(scaled)
            return (f"{scaled:.0f}{unit}" if whole else f"{scaled}{unit}").replace("-", _MINUS)
    return f"{round(count)}".replace("-", _MINUS)


def usd(amount: float | None) -> str:
    """Spell US dollars: two decimals from $1 up, four below, two significant digits below a tenth of a cent.

    ``$12.40``, ``$0.2619``, ``$0.000012``, ``$0``; None is "n/a".
    """
    if amount is None:
        return NOT_AVAILABLE
    sign, size = (_MINUS if amount < 0 else ""), abs(amount)
    if size == 0:
        return "$0"
    if round(size, 4) >= 1:
        return f"{sign}${size:,.2f}"
    if size >= 0.001:
        return f"{sign}${size:.4f}"
    decimals = 1 - math.floor(math.log10(size))
    return f"{sign}${size:.{decimals}f}"


def usd_whole(amount: float) -> str:
    """Spell a sum that is known roughly: ``$1,236``; like :func:`usd` below $100."""
    if abs(amount) < 99.995:
        return usd(amount)
    return f"{_MINUS if amount < 0 else ''}${abs(amount):,.0f}"


def percent(share: float | None) -> str:
    """Spell a share between 0 and 1: ``94 %``; what is not quite nothing or all says so; None is "not reported"."""
    if share is None:
        return NOT_REPORTED
    if 0 < share < 0.005:
        return "<1 %"
    if 0.995 <= share < 1:
        return ">99 %"
    return f"{share * 100:.0f} %".replace("-", _MINUS)


def change(ratio: float | None) -> str:
    """Spell a relative change: ``+23 %``, ``−35 %``, ``±0 %``; None (nothing to compare with) is "–"."""
    if ratio is None:
        return NOTHING
    rounded = round(ratio * 100)
    if rounded == 0:
        return "±0 %"
    return f"{'+' if rounded > 0 else _MINUS}{abs(rounded):,} %"


def seconds(milliseconds: float | None) -> str:
    """Spell a time given in milliseconds: ``8.9 s``, ``2 min 5 s``; None is "–"."""
    if milliseconds is None:
        return NOTHING
    value = milliseconds / 1000
    if 0 < value < 0.05:
        return "<0.1 s"
    if round(value, 1) < 60:
        return f"{value:.1f} s"
    minutes, rest = divmod(round(value), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def part(some: int | None, whole: int | None) -> str:
    """Spell ``3 of 4``; without a whole, or with nothing counted yet, it is "–"."""
    return NOTHING if some is None or not whole else f"{some:,} of {whole:,}"


def span(low: N, high: N, spell: Callable[[N], str]) -> str:
    """Spell a range: ``$0.1200 to $0.1600``; one figure where both ends read the same."""
    first, last = spell(low), spell(high)
    return first if first == last else f"{first} to {last}"


def count(number: int, noun: str, plural: str | None = None) -> str:
    """Spell a number with its noun: ``1 fact``, ``3 facts``, ``2 summaries``."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def listing(names: Sequence[str], *, limit: int = 4) -> str:
    """Join names: ``a``, ``a and b``, ``a, b and c``; beyond ``limit`` the rest is counted."""
    shown = list(names)
    if len(shown) > limit:
        shown = [*shown[: limit - 1], f"{len(names) - limit + 1} more"]
    return " and ".join(part for part in (", ".join(shown[:-1]), *shown[-1:]) if part)

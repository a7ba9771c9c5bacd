"""Ranges in the place of a parameter's value, as they are written: ``a|b|c``, ``from..to/step`` and ``from..to*factor``.

A number may be a share of the model's context window, ``5%``, where the parameter is a number of tokens; it stays a text until a
model is known. Written numbers are computed with as decimals, so that ``0.1..1/0.1`` ends at 1 as it says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, localcontext
from itertools import pairwise
from typing import Any, NamedTuple

from memdash.errors import InputError
from memdash.strategies.parameters import Parameter

MOST_VALUES = 10_000
"""More values than these are a slip, not a sweep."""

_DIGITS = 6
"""Significant digits of a computed value that is no whole number: as many as a label shows."""

_NUMBER = r"[+-]?\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d{1,3})?%?"
_RANGE = re.compile(rf"({_NUMBER})\s*\.\.\s*({_NUMBER})\s*(?:([/*])\s*({_NUMBER}))?")
_SHARE = re.compile(r"\d[\d_]*(?:\.\d+)?%")


@dataclass(frozen=True, slots=True)
class Axis:
    """One swept parameter with its values, in rising order where they are numbers.

    A value in tokens may be a share of the model's context window, written ``5%``: it is a text until a model is known.
    ``geometric`` says that the values (three or more) are steps of a factor, so that a chart spaces them evenly on a logarithmic
    axis.
    """

    name: str
    values: tuple[Any, ...]
    geometric: bool = False


class Values(NamedTuple):
    """What a range stands for: its values without repetition, and whether they are steps of a factor."""

    values: tuple[Any, ...]
    geometric: bool = False


def is_share(parameter: Parameter, value: Any) -> bool:
    """Return whether a value is a share of a context window: a text such as ``5%`` where a number is wanted."""
    return parameter.type in (int, float) and isinstance(value, str) and value.strip().endswith("%")


def tokens_of(share: str, window: int) -> int:
    """Return how many tokens of a context window a share such as ``5%`` is."""
    return int((_share(share) * window / 100).to_integral_value(ROUND_HALF_UP))


def read_values(parameter: Parameter, alternatives: Sequence[str]) -> Values:
    """Read what is written as a parameter's value, split where it says ``|``; values in their types, shares as texts.

    Raises :class:`InputError` where it cannot be read, steps nowhere, is empty or has more than :data:`MOST_VALUES` values.
    """
    found: dict[Any, None] = {}
    geometric = False
    for alternative in alternatives:
        span = _RANGE.fullmatch(alternative.strip()) if parameter.type in (int, float) else None
        if span is None:
            if ".." in alternative and parameter.type in (int, float):
                raise InputError(
                    f"{parameter.name}: {alternative!r} is no range; write from..to/step or from..to*factor"
                )
            more: Sequence[Any] = [_one(parameter, alternative)]
        else:
            more = list(_range(parameter, alternative, *span.groups()))
            geometric = span[3] == "*" and len(alternatives) == 1
        found |= dict.fromkeys(more)
        if len(found) > MOST_VALUES:
            raise _too_many(parameter, "|".join(alternatives))
    return Values(_in_order(parameter, list(found)), geometric and len(found) > 2)


def spell_values(axis: Axis, parameter: Parameter) -> str | None:
    """Write the values of an axis as a range; None where they are none, so that each of them has to be written."""
    values = axis.values
    if len(values) < 3 or parameter.type not in (int, float):
        return None
    sign = "%" if is_share(parameter, values[0]) else ""
    if any(is_share(parameter, value) != bool(sign) for value in values):
        return None
    numbers = [Decimal(str(value).rstrip("%")) for value in values]
    first, last = f"{_plain(numbers[0])}{sign}", f"{_plain(numbers[-1])}{sign}"
    for step in _steps(axis, numbers):
        spelled = f"{first}..{last}{step}"
        if read_values(parameter, [spelled]) == (values, axis.geometric):
            return spelled
    return None


def _steps(axis: Axis, numbers: Sequence[Decimal]) -> Iterator[str]:
    """Return what may follow ``from..to`` to give these numbers, the shortest first."""
    if not axis.geometric:
        if len({other - one for one, other in pairwise(numbers)}) == 1:
            yield f"/{_plain(numbers[1] - numbers[0])}"
        return
    if numbers[0] <= 0:
        return
    mean = (numbers[-1] / numbers[0]) ** (Decimal(1) / (len(numbers) - 1))
    for factor in (mean, numbers[1] / numbers[0], numbers[-1] / numbers[-2]):
        for digits in range(1, 10):
            with localcontext(prec=digits):
                rounded = +factor
            if rounded > 1:
                yield f"*{_plain(rounded)}"


def _one(parameter: Parameter, text: str) -> Any:
    if not is_share(parameter, text):
        return parameter.parse(text)
    _check_in_tokens(parameter)
    share = _share(text, parameter.name)
    return f"{_plain(share)}%"


def _share(text: str, name: str = "share") -> Decimal:
    written = text.strip()
    share = Decimal(written.rstrip("%").replace("_", "")) if _SHARE.fullmatch(written) else Decimal(0)
    if not 0 < share <= 100:
        raise InputError(f"{name}: {written!r} is no share of a context window, such as 5%")
    return share


def _check_in_tokens(parameter: Parameter) -> None:
    if parameter.unit != "tokens":
        counted = f"in {parameter.unit}" if parameter.unit else "not in tokens"
        raise InputError(
            f"{parameter.name}: it is {counted}; only a number of tokens can be a share of the context window"
        )


def _range(
    parameter: Parameter, text: str, first: str, last: str, kind: str | None, step: str | None
) -> Iterator[Any]:
    """Return the values from ``first`` to ``last``, the latter included where a step reaches it."""

    def wrong(problem: str) -> InputError:
        return InputError(f"{parameter.name}: {text.strip()!r}: {problem}")

    if kind is None or step is None:
        raise wrong("how does it get there? Add /STEP or *FACTOR")
    shares = first.endswith("%")
    if shares != last.endswith("%") or (step.endswith("%") and not (shares and kind == "/")):
        raise wrong("write % at both ends (and at the step) or nowhere")
    if shares:
        _check_in_tokens(parameter)
    start, end, stride = (Decimal(one.rstrip("%").replace("_", "")) for one in (first, last, step))
    if start > end:
        raise wrong("it is empty: it ends before it begins")
    whole = parameter.type is int and not shares
    if kind == "/":
        if stride <= 0:
            raise wrong("its step must be above 0")
        if whole and any(one != one.to_integral_value() for one in (start, end, stride)):
            raise wrong(f"{parameter.name} takes whole numbers")
        count = (end - start) / stride
    else:
        if stride <= 1:
            raise wrong("its factor must be above 1")
        if start <= 0:
            raise wrong("multiplying leads nowhere from 0 or below")
        count = (end / start).ln() / stride.ln()
    if count > MOST_VALUES:
        raise _too_many(parameter, text.strip())
    for index in range(int(count) + 2):
        exact = start + index * stride if kind == "/" else start * stride**index
        value = _held(exact, whole=whole)
        if value > end:
            return
        yield (
            f"{_plain(_share(f'{_plain(value)}%', parameter.name))}%"
            if shares
            else parameter.parse(int(value) if whole else float(value))
        )


def _held(exact: Decimal, *, whole: bool) -> Decimal:
    """Round to what a parameter can hold, so that a last step that misses the end by a hair still reaches it."""
    if whole:
        return exact.to_integral_value(ROUND_HALF_UP)
    with localcontext(prec=_DIGITS):
        return +exact


def _in_order(parameter: Parameter, values: list[Any]) -> tuple[Any, ...]:
    """Numbers in rising order, shares too; what cannot be compared stays as it was written."""
    if parameter.type not in (int, float) or None in values:
        return tuple(values)
    if all(is_share(parameter, value) for value in values):
        return tuple(sorted(values, key=lambda value: Decimal(value.rstrip("%"))))
    if any(is_share(parameter, value) for value in values):
        return tuple(values)
    return tuple(sorted(values))


def _plain(number: Decimal) -> str:
    """A number without an exponent and without zeros at its end."""
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _too_many(parameter: Parameter, text: str) -> InputError:
    return InputError(f"{parameter.name}: {text!r} has more than {MOST_VALUES:,} values; take a larger step")

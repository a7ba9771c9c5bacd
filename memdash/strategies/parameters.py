"""How a strategy declares its parameters, and what follows from it: a form, a spelling, validation, a label."""

from __future__ import annotations

import dataclasses
import hashlib
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

from memdash.errors import InputError


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a strategy, as the form, the command line and validation see it."""

    name: str
    type: type[int] | type[float] | type[bool] | type[str]
    default: Any
    help: str
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    unit: str = ""
    optional: bool = False

    def parse(self, value: Any) -> Any:
        """Turn a typed or written value into one of this parameter's type.

        Raises :class:`InputError` where it is out of range or of another kind.
        """
        if value is None or (self.optional and isinstance(value, str) and value.lower() in ("", "none")):
            if self.optional:
                return None
            raise InputError(f"{self.name}: a value is needed")
        converted = self._convert(value)
        if self.choices and converted not in self.choices:
            raise InputError(f"{self.name}: {value!r} is not one of {', '.join(self.choices)}")
        if self.minimum is not None and converted < self.minimum:
            raise InputError(f"{self.name}: {value} is below the smallest value, {self.minimum:g}")
        if self.maximum is not None and converted > self.maximum:
            raise InputError(f"{self.name}: {value} is above the largest value, {self.maximum:g}")
        return converted

    def _convert(self, value: Any) -> Any:
        if self.type is bool:
            if isinstance(value, bool):
                return value
            if isinstance(value, str) and value.lower() in ("true", "yes", "on", "1"):
                return True
            if isinstance(value, str) and value.lower() in ("false", "no", "off", "0"):
                return False
            raise InputError(f"{self.name}: {value!r} is not true or false")
        if self.type is str:
            return str(value)
        kind = "a whole number" if self.type is int else "a number"
        if isinstance(value, bool):
            raise InputError(f"{self.name}: {value!r} is not {kind}")
        try:
            number = self.type(value.replace("_", "") if isinstance(value, str) else value)
        except (TypeError, ValueError, OverflowError):
            raise InputError(f"{self.name}: {value!r} is not {kind}") from None
        if number != number or number in (float("inf"), float("-inf")):
            raise InputError(f"{self.name}: {value!r} is not {kind}")
        if self.type is int and not isinstance(value, str) and number != value:
            raise InputError(f"{self.name}: {value!r} is not {kind}")
        return number


def param(
    default: Any,
    help: str,
    *,
    minimum: float | None = None,
    maximum: float | None = None,
    unit: str = "",
) -> Any:
    """Declare a parameter of a strategy, as the default of a field of its ``Params``."""
    return field(
        default=default, metadata={"help": help, "minimum": minimum, "maximum": maximum, "unit": unit}
    )


@cache
def parameters(params: type[Any]) -> tuple[Parameter, ...]:
    """Return the parameters that a ``Params`` class declares, the main one first."""
    hints = typing.get_type_hints(params)
    return tuple(_parameter(one, hints[one.name]) for one in dataclasses.fields(params))


def _parameter(one: dataclasses.Field[Any], hint: Any) -> Parameter:
    optional = False
    if isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union:
        members = [member for member in typing.get_args(hint) if member is not type(None)]
        optional = len(members) < len(typing.get_args(hint))
        (hint,) = members
    choices: tuple[str, ...] = ()
    if typing.get_origin(hint) is Literal:
        choices, hint = typing.get_args(hint), str
    return Parameter(
        name=one.name, type=hint, default=one.default, choices=choices, optional=optional, **one.metadata
    )


_WORDING = {
    "cap_results": "results capped at {}",
    "words": "{} words",
    "when": "when {}",
    "summary_model": "summary by {}",
    "instructions": "instructions “{}”",
    "live_prefix": "live prefix",
    "thinking": "thinking {}",
    "tail": "tail of {}",
}
"""How a parameter that is not at its default is worded in a label, where its name alone would not do."""


def with_extras(
    label: str, params: Any, *, told: Sequence[str] = (), words: Mapping[str, str] | None = None
) -> str:
    """Append to ``label`` every parameter that is not at its default and not among ``told``, which it already says.

    ``words`` gives a strategy's own wording by parameter name, with ``{}`` for the value; else the common one, or ``name value``.
    """
    parts = [label]
    for one in parameters(params.__class__):
        value = getattr(params, one.name)
        if one.name in told or value == one.default:
            continue
        shown = (
            _short(value)
            if isinstance(value, str)
            else f"{value:g}"
            if isinstance(value, float)
            else str(value)
        )
        wording = {**_WORDING, **(words or {})}.get(one.name, f"{one.name} {{}}")
        parts.append(wording.replace("{}", shown))
    return ", ".join(parts)


def _short(text: str) -> str:
    """A text that fits into a label: at most 24 characters, the rest told apart by a few digits of its hash."""
    if len(text) <= 24:
        return text
    return f"{text[:20]}… #{hashlib.sha256(text.encode()).hexdigest()[:4]}"

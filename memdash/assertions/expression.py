"""One assertion: how it is written, and whether it holds for one replay or group by itself."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from memdash.assertions.fields import FIELDS, GROUP_FIELDS, Kind, look_up, near
from memdash.errors import InputError
from memdash.records import Status

_COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
}
_EXPRESSION = re.compile(
    r"(?:(?P<label>.*\S)\s*:)?\s*(?P<field>[A-Za-z_][\w.]*)\s*(?P<op>>=|<=|==|!=|>|<)\s*(?P<value>[^<>=!].*|)",
    re.DOTALL,
)
_NUMBER = r"\d[\d_]*(?:\.\d+)?(?:[eE][-+]?\d+)?|\.\d+"
_RELATIVE = re.compile(
    rf"(?:(?P<factor>{_NUMBER})\s*\*\s*)?baseline(?:\s*(?P<sign>[-+])\s*(?P<offset>{_NUMBER})(?P<percent>\s*%)?)?"
)
_FORM = 'write FIELD OP VALUE, for instance recall>=1 or "window of 4: cost_usd<=0.10" (OP: >= <= > < == !=)'
_RELATIVE_FORM = "write baseline, 1.05*baseline, baseline+5% or baseline-0.01"


class Relative(NamedTuple):
    """A value that follows from the baseline's: ``factor`` times it, and ``offset`` more; ``source`` is how it is written."""

    source: str
    factor: float = 1.0
    offset: float = 0.0

    def of(self, baseline: float) -> float:
        """Return the value where the baseline has ``baseline``."""
        return self.factor * baseline + self.offset


@dataclass(frozen=True, slots=True)
class Assertion:
    """One expectation; ``label`` None means every replay.

    A list (``errors``, ``marks``) is compared by its length with a number, and by whether it holds a word with a
    text: ``errors==0``, ``marks!=never_fires``. ``of_groups`` says that it speaks of groups, not of single replays.
    """

    source: str
    label: str | None
    field: str
    op: str
    value: float | str | bool | Relative
    of_groups: bool = False

    @property
    def is_relative(self) -> bool:
        """Whether it compares with a baseline."""
        return isinstance(self.value, Relative)

    def concerns(self, label: str, series: str) -> bool:
        """Whether it speaks of the replay of this label and series."""
        return self.label is None or self.label in (label, series)

    def failure(self, replay: Mapping[str, Any]) -> str | None:
        """Return in one line why it does not hold for ``replay`` (as in the JSON contract), None where it holds."""
        actual = look_up(replay, self.field)
        if actual is None:
            return self.told(replay["label"], "not reported or unknown")
        if isinstance(actual, (list, tuple)):
            if isinstance(self.value, str):
                words = [str(one) for one in actual]
                held = (self.value in words) is (self.op == "==")
                return None if held else self.told(replay["label"], ", ".join(words) or "empty")
            actual = len(actual)
        if isinstance(self.value, str):
            actual = str(actual)
        if _COMPARE[self.op](actual, self.value):
            return None
        return self.told(replay["label"], spelled(actual))

    def group_failure(self, group: Mapping[str, Any]) -> str | None:
        """Return in one line why it does not hold for ``group`` (as in the JSON contract), None where it holds."""
        actual = look_up(group, ".".join(GROUP_FIELDS[self.field]))
        if not group["unfinished"] and actual is not None and _COMPARE[self.op](actual, self.value):
            return None
        return self.told(f"{group['label']} on {group['script']}", self.found_in(group) or spelled(actual))

    def found_in(self, group: Mapping[str, Any]) -> str | None:
        """Return why its field is not known of ``group``, None where it is."""
        name, part = GROUP_FIELDS[self.field]
        if group["unfinished"]:
            played = group["n"] + group["unfinished"]
            return f"not known: {group['unfinished']} of {played} replays did not finish"
        if group[name][part] is not None:
            return None
        if group[name]["mean"] is not None:
            return "not known: one replay has no interval; play more of them with --repeats"
        if name == "loss":
            return "not known: there is no full history beside it, or no fact to lose"
        return "not reported or unknown"

    def told(self, subject: str, found: str) -> str:
        """Say in one line that it failed, of whom, and what was found."""
        return f"assertion failed: {self.source}: {subject}: {self.field} is {found}"


def spelled(actual: Any) -> str:
    """Spell a value of a field as assertions are written."""
    return str(actual).lower() if isinstance(actual, bool) else str(actual)


def parse_assertion(
    text: str, params: Iterable[str] = (), *, numbers: Iterable[str] | None = None
) -> Assertion:
    """Read an assertion; ``params`` are the parameter names that the chosen strategies have.

    ``numbers`` are the fields of something other than a replay, all of them numbers, which has no baseline.

    Raises :class:`InputError` where it cannot be read, names no known field, or compares what cannot be.
    """
    match = _EXPRESSION.fullmatch(text.strip())
    if match is None:
        raise InputError(f"--assert {text!r}: cannot be read; {_FORM}")
    field, op, written = match["field"], match["op"], match["value"].strip()
    if numbers is not None:
        kinds: dict[str, Kind] = dict.fromkeys(numbers, Kind.NUMBER)
    else:
        kinds = {
            **FIELDS,
            **{f"params.{name}": Kind.ANY for name in params},
            **dict.fromkeys(GROUP_FIELDS, Kind.NUMBER),
        }
    if field not in kinds:
        raise InputError(f"--assert {text!r}: there is no field {field!r}{near(field, kinds)}")
    if not written:
        raise InputError(f"--assert {text!r}: a value must follow {op}; {_FORM}")
    of_groups = numbers is None and field in GROUP_FIELDS
    relative = None if numbers is not None else _relative(written, kinds[field], op, text, field)
    if relative is not None:
        return Assertion(text.strip(), match["label"], field, op, relative, of_groups)
    value = _value(written, kinds[field], text, field)
    if op not in ("==", "!=") and not isinstance(value, float):
        raise InputError(
            f"--assert {text!r}: {field} {op} needs a number; compare other values with == or !="
        )
    states = [str(one) for one in Status]
    if field == "status" and value not in states:
        raise InputError(f"--assert {text!r}: there is no status {written!r}{near(written, states)}")
    return Assertion(text.strip(), match["label"], field, op, value, of_groups)


def _relative(written: str, kind: Kind, op: str, text: str, field: str) -> Relative | None:
    """Read a value that follows from the baseline's; None where it is another value."""
    if not re.search(r"\bbaseline\b", written) or written[0] in "'\"":
        return None
    match = _RELATIVE.fullmatch(written)
    if match is None:
        raise InputError(f"--assert {text!r}: {written!r} cannot be read; {_RELATIVE_FORM}")
    plain = written == "baseline"
    if op == "!=":
        raise InputError(f"--assert {text!r}: compare with the baseline by >=, <=, >, < or ==")
    if kind not in (Kind.NUMBER, Kind.LIST) and not (plain and op == "=="):
        raise InputError(f"--assert {text!r}: {field} is no number; compare it by ==baseline")
    factor = float((match["factor"] or "1").replace("_", ""))
    offset = float((match["offset"] or "0").replace("_", ""))
    offset = -offset if match["sign"] == "-" else offset
    if match["percent"]:
        return Relative(written, factor * (1 + offset / 100))
    return Relative(written, factor, offset)


def _value(written: str, kind: Kind, text: str, field: str) -> float | str | bool:
    """Return ``written`` in the type of its field."""
    if kind in (Kind.FLAG, Kind.ANY) and written.lower() in ("true", "false"):
        return written.lower() == "true"
    if kind in (Kind.NUMBER, Kind.LIST, Kind.ANY):
        try:
            number = float(written.replace("_", ""))
        except ValueError:
            number = math.nan
        if math.isfinite(number):
            return number
    if kind in (Kind.NUMBER, Kind.FLAG):
        raise InputError(f"--assert {text!r}: {field} is {kind.value}, {written!r} is not")
    return written.strip("'\"")

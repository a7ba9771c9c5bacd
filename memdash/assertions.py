"""Assertions over the replays of a comparison: ``recall>=1``, ``window of 4: wait_ms.p95<=9000``, ``loss_high<=0.05``.

An assertion names one field of a replay as ``--format json`` prints it, or of a group of repeats (``loss_high`` is its ``loss``'s
``high``), compares it with a value and holds for every replay or group, or for those of one label. A field that is null (no
probes, an unknown price, something the server does not report) fails: what was not measured has not been shown to hold.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from enum import Enum
from typing import Any

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
_FORM = 'write FIELD OP VALUE, for instance recall>=1 or "window of 4: cost_usd<=0.10" (OP: >= <= > < == !=)'

GROUP_FIELDS: Mapping[str, tuple[str, str]] = {
    f"{name}_{part}": (name, part)
    for name in ("cost_usd", "prompt_tokens", "cache_share", "wait_p95_ms", "kept", "recall", "loss")
    for part in ("mean", "low", "high", "worst")
}
"""What can be asserted of a group, the repeats of one setting on one script, and where the JSON contract has it."""


class _Kind(Enum):
    NUMBER = "a number"
    TEXT = "text"
    FLAG = "true or false"
    LIST = "a list"
    ANY = "a value"


_FIELDS: Mapping[str, _Kind] = {
    **dict.fromkeys(
        (
            "id", "script", "strategy", "label", "model", "effort", "provider", "cache", "cache_marks", "status",
        ),
        _Kind.TEXT,
    ),
    **dict.fromkeys(("simulator_only", "recall_simulated"), _Kind.FLAG),
    **dict.fromkeys(
        (
            "repeat", "turns_planned", "turns_completed", "requests",
            "prompt_tokens", "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens",
            "output_tokens", "cache_share", "cost_usd",
            "cost_by_purpose_usd.turn", "cost_by_purpose_usd.tool", "cost_by_purpose_usd.summary",
            "probe_requests", "probe_cost_usd", "recall", "recall_passed", "recall_total", "kept", "facts_total",
            "wait_ms.p50", "wait_ms.p95", "wait_ms.max", "wait_ms.total", "ttft_ms.p50", "ttft_ms.p95",
            "compactions",
        ),
        _Kind.NUMBER,
    ),
    **dict.fromkeys(("marks", "errors", "turns", "probes"), _Kind.LIST),
}  # fmt: skip
"""The fields of a replay in the JSON contract; ``params.NAME`` comes on top, as strategies declare them."""


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
    value: float | str | bool
    of_groups: bool = False

    def concerns(self, label: str, series: str) -> bool:
        """Whether it speaks of the replay of this label and series."""
        return self.label is None or self.label in (label, series)

    def failure(self, replay: Mapping[str, Any]) -> str | None:
        """Return in one line why it does not hold for ``replay`` (as in the JSON contract), None where it holds."""
        actual = _look_up(replay, self.field)
        if actual is None:
            return self._told(replay, "not reported or unknown")
        if isinstance(actual, (list, tuple)):
            if isinstance(self.value, str):
                words = [str(one) for one in actual]
                held = (self.value in words) is (self.op == "==")
                return None if held else self._told(replay, ", ".join(words) or "empty")
            actual = len(actual)
        if isinstance(self.value, str):
            actual = str(actual)
        if _COMPARE[self.op](actual, self.value):
            return None
        return self._told(replay, str(actual).lower() if isinstance(actual, bool) else str(actual))

    def group_failure(self, group: Mapping[str, Any]) -> str | None:
        """Return in one line why it does not hold for ``group`` (as in the JSON contract), None where it holds."""
        name, part = GROUP_FIELDS[self.field]
        actual = group[name][part]
        if group["unfinished"]:
            played = group["n"] + group["unfinished"]
            found = f"not known: {group['unfinished']} of {played} replays did not finish"
        elif actual is not None:
            if _COMPARE[self.op](actual, self.value):
                return None
            found = str(actual)
        elif group[name]["mean"] is not None:
            found = "not known: one replay has no interval; play more of them with --repeats"
        elif name == "loss":
            found = "not known: there is no full history beside it, or no fact to lose"
        else:
            found = "not reported or unknown"
        return (
            f"assertion failed: {self.source}: {group['label']} on {group['script']}: {self.field} is {found}"
        )

    def _told(self, replay: Mapping[str, Any], actual: str) -> str:
        return f"assertion failed: {self.source}: {replay['label']}: {self.field} is {actual}"


def parse_assertion(
    text: str, params: Iterable[str] = (), *, numbers: Iterable[str] | None = None
) -> Assertion:
    """Read an assertion; ``params`` are the parameter names that the chosen strategies have.

    ``numbers`` are the fields of something other than a replay, all of them numbers.

    Raises :class:`InputError` where it cannot be read, names no known field, or compares what cannot be.
    """
    match = _EXPRESSION.fullmatch(text.strip())
    if match is None:
        raise InputError(f"--assert {text!r}: cannot be read; {_FORM}")
    field, op, written = match["field"], match["op"], match["value"].strip()
    if numbers is not None:
        kinds: dict[str, _Kind] = dict.fromkeys(numbers, _Kind.NUMBER)
    else:
        kinds = {
            **_FIELDS,
            **{f"params.{name}": _Kind.ANY for name in params},
            **dict.fromkeys(GROUP_FIELDS, _Kind.NUMBER),
        }
    if field not in kinds:
        raise InputError(f"--assert {text!r}: there is no field {field!r}{_near(field, kinds)}")
    if not written:
        raise InputError(f"--assert {text!r}: a value must follow {op}; {_FORM}")
    value = _value(written, kinds[field], text, field)
    if op not in ("==", "!=") and not isinstance(value, float):
        raise InputError(
            f"--assert {text!r}: {field} {op} needs a number; compare other values with == or !="
        )
    states = [str(one) for one in Status]
    if field == "status" and value not in states:
        raise InputError(f"--assert {text!r}: there is no status {written!r}{_near(written, states)}")
    return Assertion(
        text.strip(), match["label"], field, op, value, of_groups=numbers is None and field in GROUP_FIELDS
    )


def check_labels(assertions: Sequence[Assertion], labels: Sequence[str], series: Sequence[str]) -> None:
    """Raise :class:`InputError` for an assertion about a label that no replay of the comparison has, or no group (a series)."""
    for one in assertions:
        known = list(series) if one.of_groups else [*labels, *series]
        if one.label is not None and one.label not in known:
            what = "group" if one.of_groups else "replay"
            raise InputError(
                f"--assert {one.source!r}: there is no {what} {one.label!r}{_near(one.label, known)}"
            )


def failures(
    assertions: Iterable[Assertion], comparison: Mapping[str, Any], series: Mapping[str, str]
) -> list[str]:
    """Say in one line each what does not hold in a comparison of the JSON contract; ``series`` is that of each replay's id."""
    found: list[str | None] = []
    for one in assertions:
        if one.of_groups:
            groups = comparison["groups"]
            found += [
                one.group_failure(group) for group in groups if one.concerns(group["label"], group["label"])
            ]
        else:
            replays = comparison["replays"]
            found += [one.failure(it) for it in replays if one.concerns(it["label"], series[it["id"]])]
    return [failure for failure in found if failure is not None]


def _value(written: str, kind: _Kind, text: str, field: str) -> float | str | bool:
    """Return ``written`` in the type of its field."""
    if kind in (_Kind.FLAG, _Kind.ANY) and written.lower() in ("true", "false"):
        return written.lower() == "true"
    if kind in (_Kind.NUMBER, _Kind.LIST, _Kind.ANY):
        try:
            number = float(written.replace("_", ""))
        except ValueError:
            number = math.nan
        if math.isfinite(number):
            return number
    if kind in (_Kind.NUMBER, _Kind.FLAG):
        raise InputError(f"--assert {text!r}: {field} is {kind.value}, {written!r} is not")
    return written.strip("'\"")


def _near(wrong: str, known: Iterable[str]) -> str:
    """Say what comes near ``wrong``, else all there is."""
    known = list(dict.fromkeys(known))
    near = get_close_matches(wrong, known, n=3, cutoff=0.5)
    if near:
        return f"; did you mean {' or '.join(repr(one) for one in near)}?"
    return f"; known are: {', '.join(known)}"


def _look_up(replay: Mapping[str, Any], field: str) -> Any:
    found: Any = replay
    for part in field.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found

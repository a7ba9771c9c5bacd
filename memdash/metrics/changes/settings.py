"""What two comparisons were told to do, and by what they were run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from memdash.metrics.changes.model import Difference
from memdash.metrics.changes.pairing import Comparison

_APART = ("strategies", "refined", "confirms", "budget", "token_counter")
"""Told strategy by strategy or as a version, found out by the run itself, or without influence on what is measured."""


def setting_differences(before: Comparison, after: Comparison) -> tuple[Difference, ...]:
    """Return the settings that differ, of those that both sides have: another version may have more of them."""
    then, now = before["settings"], after["settings"]
    found = [
        Difference(name.replace("_", " "), _spelled(then[name]), _spelled(now[name]))
        for name in now
        if name in then and name not in _APART and then[name] != now[name]
    ]
    return (*_strategies(then.get("strategies", ()), now.get("strategies", ())), *found)


def version_differences(before: Comparison, after: Comparison) -> tuple[Difference, ...]:
    """Return the versions that differ, the token counter among them."""
    then, now = ({**one["versions"], "token counter": one["token_counter"]} for one in (before, after))
    return tuple(
        Difference("basis" if name == "rules" else name, then.get(name, "–"), now.get(name, "–"))
        for name in dict.fromkeys((*now, *then))
        if then.get(name) != now.get(name)
    )


def _strategies(before: Iterable[Mapping[str, Any]], after: Iterable[Mapping[str, Any]]) -> list[Difference]:
    """The strategies that one side alone has, and the parameters that differ under the same label."""
    then, now = ({one["label"]: one["params"] for one in side} for side in (before, after))
    gone, new = [one for one in then if one not in now], [one for one in now if one not in then]
    found = [Difference("strategies", ", ".join(gone) or "–", ", ".join(new) or "–")] if gone or new else []
    return found + [
        Difference(f"{label}, {name}", _spelled(then[label][name]), _spelled(value))
        for label, params in now.items()
        if label in then
        for name, value in params.items()
        if name in then[label] and then[label][name] != value
    ]


def _spelled(value: Any) -> str:
    """A setting in words."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(_spelled, value)) or "none"
    if isinstance(value, Mapping):
        return json.dumps(value, ensure_ascii=False, default=str)
    return f"{value:g}" if isinstance(value, float) else str(value)

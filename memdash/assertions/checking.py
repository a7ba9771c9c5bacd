"""Every assertion held against everything it speaks of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from memdash.assertions.baseline import Baseline, Subject
from memdash.assertions.expression import Assertion
from memdash.assertions.fields import near
from memdash.errors import InputError


class Checked(NamedTuple):
    """One assertion held against one replay or group; ``failure`` is None where it holds, else one line that says why not."""

    assertion: Assertion
    label: str
    script: str
    failure: str | None


def check_labels(assertions: Sequence[Assertion], labels: Sequence[str], series: Sequence[str]) -> None:
    """Raise :class:`InputError` for an assertion about a label that no replay of the comparison has, or no group (a series)."""
    for one in assertions:
        known = list(series) if one.of_groups else [*labels, *series]
        if one.label is not None and one.label not in known:
            what = "group" if one.of_groups else "replay"
            raise InputError(
                f"--assert {one.source!r}: there is no {what} {one.label!r}{near(one.label, known)}"
            )


def check(
    assertions: Iterable[Assertion],
    comparison: Mapping[str, Any],
    series: Mapping[str, str],
    baseline: Baseline | None = None,
) -> list[Checked]:
    """Hold assertions against a comparison of the JSON contract; ``series`` is that of each replay's id.

    ``baseline`` is what the relative ones are held against; without it there may be none of them.
    """
    found: list[Checked] = []
    for one in assertions:
        if one.is_relative:
            assert baseline is not None
            subjects: Iterable[Subject] = baseline.subjects(one)
        elif one.of_groups:
            subjects = (
                Subject(group["label"], group["script"], one.group_failure(group))
                for group in comparison["groups"]
                if one.concerns(group["label"], group["label"])
            )
        else:
            subjects = (
                Subject(replay["label"], replay["script"], one.failure(replay))
                for replay in comparison["replays"]
                if one.concerns(replay["label"], series[replay["id"]])
            )
        found += [Checked(one, *subject) for subject in subjects]
    return found


def failures(
    assertions: Iterable[Assertion], comparison: Mapping[str, Any], series: Mapping[str, str]
) -> list[str]:
    """Say in one line each what does not hold in a comparison of the JSON contract, as in :func:`check`."""
    return [one.failure for one in check(assertions, comparison, series) if one.failure is not None]

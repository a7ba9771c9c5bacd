"""A stored comparison as the command that runs it again."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from memdash.errors import InputError
from memdash.spec import CacheLifetime, CacheMarks, ComparisonSpec, Provider
from memdash.strategies import Family, StrategyChoice, choose
from memdash.strategies.registry import parameters_of


def rerun_command(spec: ComparisonSpec, model: str) -> str:
    """Return the command that runs a comparison again on another model, what is as by default left out."""
    words = ["memdash", "run" if spec.sweep is None else "sweep"]
    for script in spec.scripts:
        words += ["--script", script.id]
    families = (
        [str(one) for one in spec.sweep.families]
        if spec.sweep
        else [_written(one) for one in spec.strategies]
    )
    for family in families:
        words += ["--strategy", family]
    words += ["--model", model]
    if spec.provider is not Provider.SIMULATOR:
        words += ["--provider", spec.provider.value]
    for name, number in (("--turns", spec.turns), ("--pace", spec.pace), ("--effort", spec.effort)):
        if number is not None:
            words += [name, f"{number:g}" if isinstance(number, float) else str(number)]
    if spec.repeats != 1:
        words += ["--repeats", str(spec.repeats)]
    if spec.caches != (CacheLifetime.FIVE_MINUTES,):
        words += [word for one in spec.caches for word in ("--cache", one.value)]
    if spec.cache_marks != (CacheMarks.AUTO,):
        words += [word for one in spec.cache_marks for word in ("--cache-marks", one.value)]
    words += [
        flag
        for flag, is_set in (
            ("--check", spec.check),
            ("--fixed-part=warm", spec.warm),
            ("--relax-limits", spec.relax_limits),
        )
        if is_set
    ]
    return shlex.join(words)


def _written(choice: StrategyChoice) -> str:
    """Write a strategy with its main parameter and whatever does not follow from the others and the defaults."""
    given = dict(choice.params)
    for name in [one.name for one in parameters_of(choice.name, choice.file)][1:]:
        fewer = {key: value for key, value in given.items() if key != name}
        if _is(choice, fewer):
            given = fewer
    return str(Family(choice.name, given, file=choice.file))


def _is(choice: StrategyChoice, given: Mapping[str, Any]) -> bool:
    try:
        return choose(choice.name, given).params == choice.params
    except InputError:
        return False

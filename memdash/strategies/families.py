"""A strategy over a range of thresholds: what a sweep sweeps.

A family is written like a strategy, with ranges in place of values: ``compaction:trigger=1000..8000*2,words=150|300``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Axis:
    """One swept parameter with its values, in rising order where they are numbers.

    A value in tokens may be a share of the model's context window, written ``5%``: it is a text until a model is known.
    ``geometric`` says that the values are steps of a factor, so that a chart spaces them evenly on a logarithmic axis.
    """

    name: str
    values: tuple[Any, ...]
    geometric: bool = False


@dataclass(frozen=True, slots=True)
class Family:
    """One strategy whose parameters are fixed by ``given`` (as written, by name) but for its ``axes``.

    With no axis it is a single setting, with two a grid. ``file`` is where a strategy of the user's own is written.
    """

    strategy: str
    given: Mapping[str, Any]
    axes: tuple[Axis, ...] = ()
    file: str | None = None

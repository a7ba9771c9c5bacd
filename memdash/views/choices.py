"""What a person has chosen in the setup form, as plain data that fits into a link.

Pure functions: the form draws these choices, the address bar spells them, and a comparison's specification follows from them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import quote, unquote

from memdash import numbers
from memdash.errors import InputError
from memdash.scripts.model import Script
from memdash.spec import (
    DEFAULT_MODEL,
    CacheLifetime,
    CacheMarks,
    ComparisonSpec,
    Provider,
    ReplaySpec,
    Replies,
    Sweep,
)
from memdash.strategies import (
    Axis,
    Family,
    StrategyChoice,
    choose,
    parameters,
    parse_family,
    strategy,
    swept,
)

MAX_REPEATS: Final = 20
MAX_REPLAYS: Final = 400
"""More than this in one comparison is a slip of the hand."""

MAX_SWEEP_REPLAYS: Final = 5_000
"""The same of a sweep, whose many settings are meant."""

MAX_TURNS: Final = 10_000
MAX_PACE: Final = 86_400
MAX_OUTPUT: Final = 128_000
MAX_TEXT: Final = 200

EFFORTS: Final = ("low", "medium", "high", "xhigh", "max")
COUNTERS: Final = ("auto", "ctok", "estimate")


@dataclass(frozen=True, slots=True)
class Choices:
    """The setup form. ``strategies`` are spelled as in :func:`spell`; None leaves the default of :class:`ComparisonSpec`."""

    scripts: tuple[str, ...] = ("trip-planning",)
    strategies: tuple[str, ...] = (
        "full_history",
        "window:keep=4",
        "window:keep=4,thinking=keep",
        "compaction:trigger=2000",
    )
    models: tuple[str, ...] = (DEFAULT_MODEL,)
    provider: Provider = Provider.SIMULATOR
    turns: int | None = None
    repeats: int = 1
    caches: tuple[CacheLifetime, ...] = (CacheLifetime.FIVE_MINUTES,)
    marks: tuple[CacheMarks, ...] = (CacheMarks.AUTO,)
    pace: float | None = None
    check: bool = True
    warm: bool = False
    effort: str | None = None
    max_tokens: int | None = None
    counter: str = "auto"
    relax: bool = False
    seed: int = 0
    title: str = ""
    budget: float | None = None
    no_limit: bool = False


DEMO: Final = Choices()
"""What the first start runs and an empty form shows.

The history check is on, unlike on the command line: the naive window's refusal is the second thing people come to see.
"""


@dataclass(frozen=True, slots=True)
class SweepChoices(Choices):
    """The form of a sweep. ``families`` are spelled as on the command line and stand in the place of ``strategies``.

    The history check is off: a sweep asks what settings cost and keep, and a script that changes its tools midway is refused
    whatever the threshold.
    """

    scripts: tuple[str, ...] = ("trip-planning", "trip-change", "support-tools")
    strategies: tuple[str, ...] = ()
    families: tuple[str, ...] = (
        "compaction:500..8000*2",
        "window:2|3|4|6|8|12|16|24",
        "window:keep=4,trim_at=8..24/4",
    )
    check: bool = False
    max_loss: float = 0.05
    refine: bool = False
    limit: int = 1_000


SWEEP: Final = SweepChoices()
"""The sweep that is ready on a first visit."""


# -- strategies as text --------------------------------------------------------------------------------------------------


def needed(choice: StrategyChoice) -> dict[str, Any]:
    """Return the parameters that must be given to get this choice; the others follow from the declaration.

    A parameter left open may settle to a value that depends on another (``trim_at`` to ``keep``): it is not given then, so that
    changing the other one still moves both. The main parameter is always given.
    """
    given = dict(choice.params)
    for position, one in enumerate(parameters(strategy(choice.name).Params)):
        if position == 0:
            continue
        fewer = {name: value for name, value in given.items() if name != one.name}
        try:
            if choose(choice.name, fewer) == choice:
                given = fewer
        except InputError:
            continue
    return given


def spell(choice: StrategyChoice) -> str:
    """Spell a strategy so that :func:`read_strategy` gives it back; reserved characters in values are percent-encoded."""
    given = [f"{name}={spell_value(value)}" for name, value in needed(choice).items()]
    return choice.name + (":" + ",".join(given) if given else "")


def spell_value(value: Any) -> str:
    """Spell a value of a parameter or a choice."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:g}"
    return quote(str(value), safe=" +-._~")


def read_strategy(text: str) -> StrategyChoice:
    """Read what :func:`spell` wrote, or the command line's shorter spelling. Raises :class:`InputError`."""
    name, colon, rest = text.partition(":")
    given: dict[str, Any] = {}
    for index, part in enumerate(rest.split(",") if colon else ()):
        key, equals, value = part.partition("=")
        if not equals:
            declared = parameters(strategy(name).Params)
            if index or not declared:
                raise InputError(f"{text!r}: write each further parameter as key=value")
            key, value = declared[0].name, key
        given[key] = unquote(value)
    return choose(name, given)


# -- specifications ------------------------------------------------------------------------------------------------------


def to_spec(choices: Choices, scripts: Mapping[str, Script]) -> ComparisonSpec:
    """Return the comparison these choices describe; ``scripts`` holds every script that can be chosen, by id.

    Everything is checked again here, since a form's limits hold in the browser only. Raises :class:`InputError`.
    """
    strategies = tuple(read_strategy(one) for one in choices.strategies)
    return _checked(_spec(choices, scripts, strategies), MAX_REPLAYS)


def to_sweep(choices: SweepChoices, scripts: Mapping[str, Script]) -> ComparisonSpec:
    """Return the sweep these choices describe, as :func:`to_spec` does a comparison."""
    families = tuple(parse_family(one) for one in choices.families)
    if not families:
        raise InputError("choose at least one strategy to sweep")
    spec = _spec(choices, scripts, swept(families, choices.models).choices)
    sweep = Sweep(families, choices.max_loss, choices.refine, choices.limit)
    return _checked(replace(spec, sweep=sweep), MAX_SWEEP_REPLAYS)


def _spec(
    choices: Choices, scripts: Mapping[str, Script], strategies: tuple[StrategyChoice, ...]
) -> ComparisonSpec:
    """What both kinds of form share."""
    missing = [one for one in choices.scripts if one not in scripts]
    if missing:
        raise InputError(
            f"there is no script {missing[0]!r} here; choose one from the list, or upload it on the Scripts page"
        )
    if choices.provider is Provider.ANTHROPIC and choices.budget is None and not choices.no_limit:
        raise InputError("a live run spends real money: set a budget, or tick “no limit”")
    if choices.budget is not None and choices.budget <= 0:
        raise InputError("the budget must be more than $0")
    if not 1 <= choices.repeats <= MAX_REPEATS:
        raise InputError(f"repeats: {choices.repeats} is not between 1 and {MAX_REPEATS}")
    live = choices.provider is Provider.ANTHROPIC
    return ComparisonSpec(
        scripts=tuple(scripts[one] for one in choices.scripts),
        strategies=strategies,
        title=choices.title.strip(),
        models=choices.models,
        provider=choices.provider,
        turns=choices.turns,
        repeats=choices.repeats,
        check=choices.check,
        caches=choices.caches,
        cache_marks=choices.marks,
        warm=choices.warm,
        pace=choices.pace,
        replies=Replies.FRESH,
        max_tokens=choices.max_tokens,
        effort=choices.effort,
        budget=None if choices.no_limit or not live else choices.budget,
        relax_limits=choices.relax and not live,
        token_counter=choices.counter,
        seed=choices.seed,
    )


def _checked(spec: ComparisonSpec, most: int) -> ComparisonSpec:
    """Refuse more replays than anybody means, and give a title to what has none."""
    replays = replace(spec, repeats=1).replays()  # a form asks at every change, and repeats are all alike
    count = len(replays) * spec.repeats
    if count > most:
        raise InputError(
            f"that makes {count:,} replays; choose fewer scripts, settings or repeats ({most:,} at most)"
        )
    return spec if spec.title else replace(spec, title=_title(spec, replays))


def _title(spec: ComparisonSpec, replays: Sequence[ReplaySpec]) -> str:
    """Say what is compared, as a person would."""
    if spec.sweep is not None:
        what = numbers.listing([in_words(one) for one in spec.sweep.families], limit=3)
    else:
        what = numbers.listing(list(dict.fromkeys(one.series for one in replays)), limit=5)
    scripts = list(dict.fromkeys(one.script.title for one in replays))
    where = numbers.listing(scripts, limit=3)
    if spec.sweep is not None and len(scripts) > 2:
        where = f"{len(scripts)} scripts"
    return f"{what[:1].upper()}{what[1:]}: {where}"


def in_words(family: Family) -> str:
    """Say what a family sweeps: ``compaction at 500 to 8000``; a single setting is its label."""
    if not family.axes:
        return family.at({}).label
    if len(family.axes) == 1 and (told := _between_labels(family, family.axes[0])):
        return told
    spans = [f"{axis.name.replace('_', ' ')} {_span(axis)}" for axis in family.axes]
    return f"{strategy(family.strategy, family.file).title} with {' and '.join(spans)}"


def _between_labels(family: Family, axis: Axis) -> str | None:
    """The labels of the first and the last setting as one, where they differ in their last word alone."""
    try:
        first, last = (
            family.at({axis.name: value}).label.split() for value in (axis.values[0], axis.values[-1])
        )
    except InputError:  # a share of a window has no label before a model is known
        return None
    return " ".join([*first, "to", last[-1]]) if first[:-1] == last[:-1] else None


def _span(axis: Axis) -> str:
    values = [f"{one:,}" if isinstance(one, int) else str(one) for one in axis.values]
    ranged = isinstance(axis.values[0], int | float) or str(axis.values[0]).endswith("%")
    return f"{values[0]} to {values[-1]}" if ranged else " or ".join(values)


def of_spec(spec: ComparisonSpec) -> Choices:
    """Return the choices that a stored comparison was started with, so that the form can show and vary them.

    The title and the money are not taken over: a new run is named and paid for anew.
    """
    return Choices(strategies=tuple(spell(one) for one in spec.strategies), **_shared(spec))


def of_sweep(spec: ComparisonSpec) -> SweepChoices:
    """Return the choices that a stored sweep was started with. Raises ValueError where it is none."""
    if spec.sweep is None:
        raise ValueError(f"{spec.id} is no sweep")
    return SweepChoices(
        families=tuple(str(one) for one in spec.sweep.families),
        max_loss=spec.sweep.max_loss,
        refine=spec.sweep.refine,
        limit=spec.sweep.limit,
        **_shared(spec),
    )


def _shared(spec: ComparisonSpec) -> dict[str, Any]:
    """What both kinds of choices take over of a specification."""
    return {
        "scripts": tuple(one.id for one in spec.scripts),
        "models": spec.models,
        "provider": spec.provider,
        "turns": spec.turns,
        "repeats": spec.repeats,
        "caches": spec.caches,
        "marks": spec.cache_marks,
        "pace": spec.pace,
        "check": spec.check,
        "warm": spec.warm,
        "effort": spec.effort,
        "max_tokens": spec.max_tokens,
        "counter": spec.token_counter,
        "relax": spec.relax_limits,
        "seed": spec.seed,
    }

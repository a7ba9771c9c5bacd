"""What a person has chosen in the setup form, as plain data that fits into a link.

Pure functions: the form draws these choices, the address bar spells them, and a comparison's specification follows from them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum
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
)
from memdash.strategies import StrategyChoice, choose, parameters, strategy

MAX_REPEATS: Final = 20
MAX_REPLAYS: Final = 400
"""More than this in one comparison is a slip of the hand."""

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

QUERY_KEYS: Final[Mapping[str, str]] = {
    one.name: {"strategies": "s"}.get(one.name, one.name) for one in fields(Choices)
}
"""The name of each choice in a link; ``no_limit`` and ``budget`` are left out, so that no link can spend money."""

_NEVER_IN_A_LINK: Final = frozenset({"budget", "no_limit", "provider"})


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
    given = [f"{name}={_value(value)}" for name, value in needed(choice).items()]
    return choice.name + (":" + ",".join(given) if given else "")


def _value(value: Any) -> str:
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


# -- links ---------------------------------------------------------------------------------------------------------------


def to_query(choices: Choices, base: Choices = DEMO) -> dict[str, list[str]]:
    """Return the part of a link that says how ``choices`` differ from ``base``. It never holds a budget or a provider."""
    query: dict[str, list[str]] = {}
    for name, key in QUERY_KEYS.items():
        value = getattr(choices, name)
        if name in _NEVER_IN_A_LINK or value == getattr(base, name):
            continue
        values = value if isinstance(value, tuple) else (value,)
        query[key] = [_value(one) if not isinstance(one, str) else str(one) for one in values]
    return query


def from_query(query: Mapping[str, Sequence[str]], base: Choices = DEMO) -> tuple[Choices, list[str]]:
    """Read the choices of a link; what cannot be read keeps ``base`` and is described in the list."""
    changes: dict[str, Any] = {}
    problems: list[str] = []
    for name, key in QUERY_KEYS.items():
        if key not in query or name in _NEVER_IN_A_LINK:
            continue
        try:
            changes[name] = _READERS[name](list(query[key]))
        except (ValueError, InputError) as error:
            problems.append(f"{key}: {error}")
    return replace(base, **changes), problems


Reader = Callable[[list[str]], Any]


def _whole(minimum: int, maximum: int) -> Reader:
    def read(values: list[str]) -> int:
        try:
            number = int(values[-1])
        except ValueError:
            raise InputError(f"{values[-1]!r} is not a whole number") from None
        if not minimum <= number <= maximum:
            raise InputError(f"{number} is not between {minimum} and {maximum}")
        return number

    return read


def _seconds(values: list[str]) -> float:
    try:
        number = float(values[-1])
    except ValueError:
        raise InputError(f"{values[-1]!r} is not a number of seconds") from None
    if not 0 <= number <= MAX_PACE:
        raise InputError(f"{values[-1]} is not between 0 and {MAX_PACE:,} seconds")
    return number


def _flag(values: list[str]) -> bool:
    if values[-1] not in ("true", "false"):
        raise InputError(f"{values[-1]!r} is not true or false")
    return values[-1] == "true"


def _among(allowed: Sequence[str]) -> Reader:
    def read(values: list[str]) -> str:
        if values[-1] not in allowed:
            raise InputError(f"{values[-1]!r} is not one of {', '.join(allowed)}")
        return values[-1]

    return read


def _members(kind: type[StrEnum]) -> Reader:
    def read(values: list[str]) -> tuple[StrEnum, ...]:
        known = [str(one) for one in kind]
        for value in values:
            if value not in known:
                raise InputError(f"{value!r} is not one of {', '.join(known)}")
        return tuple(kind(value) for value in dict.fromkeys(values))

    return read


def _texts(values: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value[:MAX_TEXT] for value in values))


def _text(values: list[str]) -> str:
    return values[-1][:MAX_TEXT]


def _strategies(values: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(spell(read_strategy(value)) for value in values))


def _or_none(read: Reader) -> Reader:
    return lambda values: None if values[-1] in ("", "none") else read(values)


_READERS: Final[Mapping[str, Reader]] = {
    "scripts": _texts,
    "strategies": _strategies,
    "models": _texts,
    "turns": _or_none(_whole(1, MAX_TURNS)),
    "repeats": _whole(1, MAX_REPEATS),
    "caches": _members(CacheLifetime),
    "marks": _members(CacheMarks),
    "pace": _or_none(_seconds),
    "check": _flag,
    "warm": _flag,
    "effort": _or_none(_among(EFFORTS)),
    "max_tokens": _or_none(_whole(1, MAX_OUTPUT)),
    "counter": _among(COUNTERS),
    "relax": _flag,
    "seed": _whole(0, 2**31 - 1),
    "title": _text,
}


# -- specifications ------------------------------------------------------------------------------------------------------


def to_spec(choices: Choices, scripts: Mapping[str, Script]) -> ComparisonSpec:
    """Return the comparison these choices describe; ``scripts`` holds every script that can be chosen, by id.

    Everything is checked again here, since a form's limits hold in the browser only. Raises :class:`InputError`.
    """
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
    spec = ComparisonSpec(
        scripts=tuple(scripts[one] for one in choices.scripts),
        strategies=tuple(read_strategy(one) for one in choices.strategies),
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
    replays = spec.replays()
    if len(replays) > MAX_REPLAYS:
        raise InputError(
            f"that makes {len(replays)} replays; choose fewer scripts, settings or repeats ({MAX_REPLAYS} at most)"
        )
    return spec if spec.title else replace(spec, title=_title(replays))


def _title(replays: Sequence[ReplaySpec]) -> str:
    """Say what is compared, as a person would."""
    what = numbers.listing(list(dict.fromkeys(one.series for one in replays)), limit=5)
    scripts = list(dict.fromkeys(one.script.title for one in replays))
    return f"{what[:1].upper()}{what[1:]}: {numbers.listing(scripts, limit=3)}"


def of_spec(spec: ComparisonSpec) -> Choices:
    """Return the choices that a stored comparison was started with, so that the form can show and vary them.

    The title and the money are not taken over: a new run is named and paid for anew.
    """
    return Choices(
        scripts=tuple(one.id for one in spec.scripts),
        strategies=tuple(spell(one) for one in spec.strategies),
        models=spec.models,
        provider=spec.provider,
        turns=spec.turns,
        repeats=spec.repeats,
        caches=spec.caches,
        marks=spec.cache_marks,
        pace=spec.pace,
        check=spec.check,
        warm=spec.warm,
        effort=spec.effort,
        max_tokens=spec.max_tokens,
        counter=spec.token_counter,
        relax=spec.relax_limits,
        seed=spec.seed,
    )

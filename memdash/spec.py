"""What is to be compared: the settings of a comparison, and the replays that follow from them."""

from __future__ import annotations

import hashlib
import itertools
import math
import secrets
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, TypeVar

from memdash.errors import InputError
from memdash.scripts.model import Script
from memdash.strategies import Family, StrategyChoice

E = TypeVar("E", bound=StrEnum)

DEFAULT_MODEL = "claude-opus-5-5"
DEFAULT_PACE_SECONDS = 30.0
DEFAULT_MAX_LOSS = 0.05
DEFAULT_LIMIT = 1_000
MOST_REPLAYS = 20_000
"""A comparison of more replays than these is a slip."""


class Provider(StrEnum):
    """What answers the requests."""

    SIMULATOR = "simulator"
    ANTHROPIC = "anthropic"
    """The live API, or any compatible server at ``ANTHROPIC_BASE_URL``."""


class CacheLifetime(StrEnum):
    """How long a cache entry lives, or whether caching is asked for at all."""

    FIVE_MINUTES = "5m"
    ONE_HOUR = "1h"
    OFF = "off"

    @property
    def milliseconds(self) -> float | None:
        """The lifetime, counted from the start of the request that wrote or last read an entry; None without caching."""
        return {"5m": 300_000.0, "1h": 3_600_000.0, "off": None}[self.value]


class CacheMarks(StrEnum):
    """Where the cache marks of a request stand."""

    AUTO = "auto"
    """One automatic mark at the last block."""
    FIXED_AND_AUTO = "fixed+auto"
    """One more at the end of the fixed part."""


class Replies(StrEnum):
    """Where the assistant's replies of a live replay come from."""

    FRESH = "fresh"
    RECORDED = "recorded"


@dataclass(frozen=True, slots=True)
class ReplaySpec:
    """One replay: one script, one strategy with its parameters, one model, one repeat.

    ``series`` names the strategy and the settings that tell it apart; ``label`` also the script and the repeat where there are
    several, so that it is unique in its comparison. ``turns`` is how many are to be played. ``pace`` is in
    seconds. ``salt`` is what
    keeps live replays from warming each other's cache (empty in the simulator, where each replay has its own).
    ``controls`` says that this replay also asks the two controls of every probe. ``strategy_file`` is where
    a strategy of the user's
    own is written, None for any other.
    """

    id: str
    comparison_id: str
    script: Script
    strategy: str
    params: Mapping[str, Any]
    label: str
    series: str
    model: str
    effort: str | None
    max_tokens: int
    provider: Provider
    cache: CacheLifetime
    cache_marks: CacheMarks
    warm: bool
    check: bool
    pace: float
    replies: Replies
    turns: int
    repeat: int
    seed: int
    salt: str
    token_counter: str
    relax_limits: bool
    controls: bool
    strategy_file: str | None = None


@dataclass(frozen=True, slots=True)
class Sweep:
    """What makes a comparison a sweep: the ranges it goes over, and what its recommendation may lose.

    ``max_loss`` is the largest share of the facts kept by full history that a recommended setting may lose, from 0 to 1.
    ``refine`` lets further settings be played after the coarse grid, until there are ``limit`` replays in all.
    """

    families: tuple[Family, ...]
    max_loss: float = DEFAULT_MAX_LOSS
    refine: bool = False
    limit: int = DEFAULT_LIMIT

    def __post_init__(self) -> None:
        """Raise :class:`InputError` where a number means nothing."""
        if not 0 <= self.max_loss <= 1:
            raise InputError(f"max_loss: {self.max_loss} is not a share from 0 to 1")
        if self.limit < 1:
            raise InputError(f"limit: {self.limit} is not a number of replays from 1 on")


@dataclass(frozen=True, slots=True)
class ComparisonSpec:
    """The replays launched together, with the settings they share.

    Every setting that holds a tuple may have several values; the replays are all their combinations. ``refined`` are strategies
    that a sweep's refinement added later: their replays come after all others. ``confirms`` is the simulated comparison that a
    live one was started to check. ``turns`` None plays every
    script whole. ``pace`` is think time between turns in seconds; None is 30 s in the simulator and none at all live, where
    only a script's own pauses are waited for. ``budget`` is in US dollars, None for "no limit".
    """

    scripts: tuple[Script, ...]
    strategies: tuple[StrategyChoice, ...]
    id: str = field(default_factory=lambda: new_id("cmp"))
    title: str = ""
    models: tuple[str, ...] = (DEFAULT_MODEL,)
    provider: Provider = Provider.SIMULATOR
    turns: int | None = None
    repeats: int = 1
    check: bool = False
    caches: tuple[CacheLifetime, ...] = (CacheLifetime.FIVE_MINUTES,)
    cache_marks: tuple[CacheMarks, ...] = (CacheMarks.AUTO,)
    warm: bool = False
    pace: float | None = None
    replies: Replies = Replies.FRESH
    max_tokens: int | None = None
    effort: str | None = None
    budget: float | None = None
    relax_limits: bool = False
    token_counter: str = "auto"
    seed: int = 0
    sweep: Sweep | None = None
    refined: tuple[StrategyChoice, ...] = ()
    confirms: str | None = None

    def __post_init__(self) -> None:
        """Take settings by value as well as by name, and refuse numbers that mean nothing.

        Raises :class:`InputError` where a setting is out of range.
        """
        object.__setattr__(self, "provider", _member(Provider, self.provider))
        object.__setattr__(self, "replies", _member(Replies, self.replies))
        object.__setattr__(self, "caches", tuple(_member(CacheLifetime, one) for one in self.caches))
        object.__setattr__(self, "cache_marks", tuple(_member(CacheMarks, one) for one in self.cache_marks))
        for name, value, smallest in (
            ("turns", self.turns, 1),
            ("repeats", self.repeats, 1),
            ("max_tokens", self.max_tokens, 1),
            ("pace", self.pace, 0),
            ("budget", self.budget, 0),
        ):
            if value is not None and not (math.isfinite(value) and value >= smallest):
                raise InputError(f"{name}: {value} is not a number from {smallest} on")

    def replays(self) -> tuple[ReplaySpec, ...]:
        """Return the replays of this comparison, in the order they are shown.

        Everything in them follows from the comparison, so calling it twice gives the same replays. One replay of each
        script, model and repeat asks the controls: the one with the full history if there is one. Raises
        :class:`InputError` where nothing is chosen or two choices are the same.
        """
        for name, chosen in (("script", self.scripts), ("strategy", self.strategies), ("model", self.models)):
            if not chosen:
                raise InputError(f"choose at least one {name}")
        for chosen_script in self.scripts:
            if sum(other.id == chosen_script.id for other in self.scripts) > 1:
                raise InputError(f"script {chosen_script.id!r} is chosen twice; keep one of them")
        if self.provider is Provider.ANTHROPIC and self.replies is Replies.RECORDED:
            self._check_recorded()
        written = {id(choice): choice.label for choice in (*self.strategies, *self.refined)}
        cells = [
            cell
            for choices in (self.strategies, *((one,) for one in self.refined))  # one by one: more may follow
            for cell in itertools.product(
                self.scripts,
                range(1, self.repeats + 1),
                self.models,
                self.caches,
                self.cache_marks,
                choices,
            )
            if cell[-1].model in (None, cell[2])
        ]
        if len(cells) > MOST_REPLAYS:
            raise InputError(
                f"{len(cells):,} replays are more than {MOST_REPLAYS:,}; choose fewer settings, scripts or repeats"
            )
        replays: list[ReplaySpec] = []
        controlled = {model: self._control_holder(model) for model in self.models}
        for index, (script, repeat, model, cache, marks, choice) in enumerate(cells):
            series = self._series(written[id(choice)], model, cache, marks)
            where = [script.id] if len(self.scripts) > 1 else []
            if self.repeats > 1:
                where.append(f"repeat {repeat}")
            replay_id = f"{self.id}_{index + 1:03d}"
            replays.append(
                ReplaySpec(
                    id=replay_id,
                    comparison_id=self.id,
                    script=script,
                    strategy=choice.name,
                    params=choice.params,
                    label=" · ".join([series, *where]),
                    series=series,
                    model=model,
                    effort=self.effort or script.effort,
                    max_tokens=self.max_tokens or script.max_tokens,
                    provider=self.provider,
                    cache=cache,
                    cache_marks=marks,
                    warm=self.warm,
                    check=self.check,
                    pace=self._pace(),
                    replies=self.replies,
                    turns=min(self.turns or len(script.turns), len(script.turns)),
                    repeat=repeat,
                    seed=_seed(self.seed, script.id, repeat),
                    salt=_salt(replay_id) if self.provider is Provider.ANTHROPIC else "",
                    token_counter=self.token_counter,
                    relax_limits=self.relax_limits,
                    controls=(cache, marks, choice) == controlled[model],
                    strategy_file=choice.file,
                )
            )
        for label, count in Counter(replay.label for replay in replays).items():
            if count > 1:
                raise InputError(
                    f"{label!r} is chosen twice; give each strategy, model and cache setting once"
                )
        return tuple(replays)

    def with_refined(self, choices: Iterable[StrategyChoice]) -> ComparisonSpec:
        """Return this comparison with more strategies; the replays that it has already stay what they are, and come first."""
        return replace(self, refined=(*self.refined, *choices))

    def _check_recorded(self) -> None:
        """Refuse what recorded replies cannot do live: turns come from the simulator there, everything else from the API."""
        for choice in (*self.strategies, *self.refined):
            if choice.signed_by_api:
                raise InputError(
                    f"{choice.label} cannot run live with recorded replies: what it keeps is signed by whoever "
                    "answers the turns; use fresh replies"
                )
        for script in self.scripts:
            lacking = [turn.number for turn in script.turns[: self.turns] if turn.reply is None]
            if lacking:
                raise InputError(
                    f"script {script.id!r} has no recorded reply for turn {lacking[0]}; use fresh replies or record one"
                )

    def _pace(self) -> float:
        """Think time in seconds: simulated time costs nothing, live think time has to be asked for."""
        if self.pace is not None:
            return self.pace
        return DEFAULT_PACE_SECONDS if self.provider is Provider.SIMULATOR else 0.0

    def _control_holder(self, model: str) -> tuple[CacheLifetime, CacheMarks, StrategyChoice] | None:
        """Which combination asks the controls, once for each script and repeat; None where nothing is meant for the model."""
        meant = [choice for choice in self.strategies if choice.model in (None, model)]
        whole = [choice for choice in meant if choice.name == "full_history"]
        holders = whole or meant
        return (self.caches[0], self.cache_marks[0], holders[0]) if holders else None

    def _series(self, label: str, model: str, cache: CacheLifetime, marks: CacheMarks) -> str:
        """A strategy's label, with each setting that has several values in this comparison."""
        parts = [label]
        if len(self.models) > 1:
            parts.append(model)
        if len(self.caches) > 1:
            parts.append("no caching" if cache is CacheLifetime.OFF else f"{cache} cache")
        if len(self.cache_marks) > 1:
            parts.append(f"{marks} marks")
        return " · ".join(parts)


def _member(kind: type[E], value: str) -> E:
    try:
        return kind(value)
    except ValueError:
        known = ", ".join(one.value for one in kind)
        raise InputError(f"{value!r} is not one of {known}") from None


def _seed(seed: int, script_id: str, repeat: int) -> int:
    """The seed of a replay: the same for every strategy, so that all get the same replies and differences are theirs."""
    digest = hashlib.blake2b(f"{seed}/{script_id}/{repeat}".encode(), digest_size=6).digest()
    return int.from_bytes(digest, "big")


def comparison_of(replay_id: str) -> str:
    """Return the id of the comparison that a replay belongs to: a replay's id is that and its place in it."""
    return replay_id.rpartition("_")[0]


def _salt(replay_id: str) -> str:
    """A short text that no other replay starts with."""
    return hashlib.blake2b(replay_id.encode(), digest_size=6).hexdigest()


def new_id(prefix: str) -> str:
    """Return a short random id such as ``cmp_5f0c2a9d1b7e``."""
    return f"{prefix}_{secrets.token_hex(6)}"

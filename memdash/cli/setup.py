"""The options that say what is compared, and the specification that follows from them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from importlib.util import find_spec
from typing import Any, NamedTuple, TypeVar

import click

from memdash import numbers
from memdash.answerer import check_key
from memdash.cli.values import Budget, Finite, Title
from memdash.errors import InputError
from memdash.spec import (
    DEFAULT_MODEL,
    DEFAULT_PACE_SECONDS,
    CacheLifetime,
    CacheMarks,
    ComparisonSpec,
    Provider,
    Replies,
    Sweep,
)
from memdash.strategies import Family, StrategyChoice, parse_family, strategy, swept

DEFAULT_SCRIPT = "trip-planning"
DEFAULT_FAMILIES = ("compaction:500..8000*2", "window:2|3|4|6|8|12|16|24", "window:keep=4,trim_at=8..24/4")
"""What ``sweep`` goes over where nothing is chosen: from a threshold that fires on every turn to one that never does."""
DEFAULT_STRATEGIES = ("full_history", "window:4", "window:keep=4,thinking=keep", "compaction:2000")

F = TypeVar("F", bound=Callable[..., Any])


class AskedSweep(NamedTuple):
    """A sweep as it was asked for, and the combinations that no strategy takes, with why."""

    spec: ComparisonSpec
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Setup:
    """What was typed, one field an option of the same name."""

    script: tuple[str, ...]
    strategy: tuple[str, ...]
    model: tuple[str, ...]
    provider: str
    turns: int | None
    repeats: int
    check: bool
    cache: tuple[str, ...]
    cache_marks: tuple[str, ...]
    fixed_part: str
    pace: float | None
    replies: str
    max_tokens: int | None
    effort: str | None
    budget: float | str | None
    relax_limits: bool
    token_counter: str
    title: str | None

    @property
    def models(self) -> tuple[str, ...]:
        """The models that were asked for."""
        return self.model or (DEFAULT_MODEL,)

    def spec(self) -> ComparisonSpec:
        """Return the comparison that was asked for.

        Raises :class:`InputError` for an unknown script, strategy or model, a range, and a live run without a limit.
        """
        self._check_models()
        chosen = [check_strategy(text, self.models) for text in self.strategy or DEFAULT_STRATEGIES]
        strategies = tuple(itertools.chain(*chosen))
        return self._comparison(strategies, _strategies(len(strategies)))

    def sweep(self, *, max_loss: float, refine: bool, limit: int) -> AskedSweep:
        """Return the sweep that was asked for: every setting of every strategy, and full history to compare with.

        Raises :class:`InputError` as :meth:`spec` does, and where a strategy has no setting that can be run.
        """
        self._check_models()
        families = tuple(map(parse_family, self.strategy or DEFAULT_FAMILIES))
        choices, left_out = swept(families, self.models)
        titles = list(dict.fromkeys(strategy(one.strategy).title for one in families if one.axes))
        about = f"sweep of {numbers.listing(titles)}" if titles else _strategies(len(choices))
        spec = self._comparison(choices, about, Sweep(families, max_loss, refine, limit))
        return AskedSweep(spec, left_out)

    def _check_models(self) -> None:
        """Refuse a model that the simulator does not know."""
        if Provider(self.provider) is Provider.SIMULATOR:
            for model in self.models:
                check_model(model)

    def _comparison(
        self, strategies: tuple[StrategyChoice, ...], about: str, sweep: Sweep | None = None
    ) -> ComparisonSpec:
        """Return the comparison of these strategies; ``about`` says in its title what is compared."""
        from memdash.scripts import find_scripts

        provider = Provider(self.provider)
        if provider is Provider.ANTHROPIC:
            self._check_live()
        scripts = [one for name in self.script or (DEFAULT_SCRIPT,) for one in find_scripts(name)]
        if provider is Provider.SIMULATOR:
            for model in _summary_models(strategies):
                check_model(model)
        if self.token_counter == "ctok":
            _check_ctok()
        spec = ComparisonSpec(
            scripts=tuple(scripts),
            strategies=strategies,
            title=self.title or f"{_about([one.title for one in scripts])}: {about}",
            models=self.models,
            provider=provider,
            turns=self.turns,
            repeats=self.repeats,
            check=self.check,
            caches=tuple(CacheLifetime(one) for one in self.cache) or (CacheLifetime.FIVE_MINUTES,),
            cache_marks=tuple(CacheMarks(one) for one in self.cache_marks) or (CacheMarks.AUTO,),
            warm=self.fixed_part == "warm",
            pace=self.pace,
            replies=Replies(self.replies),
            max_tokens=self.max_tokens,
            effort=self.effort,
            budget=self.budget if isinstance(self.budget, float) else None,
            relax_limits=self.relax_limits,
            token_counter=self.token_counter,
            sweep=sweep,
        )
        spec.replays()  # finds what is chosen twice, before anything starts
        return spec

    def _check_live(self) -> None:
        """Refuse a live run that has no key or that nothing would stop."""
        if self.budget is None:
            raise InputError(
                "a live run costs money: say how much it may cost with --budget USD, or --budget none for no limit"
            )
        check_key("a live run")


def setup_options(command: F) -> F:
    """Add the options of :class:`Setup` to a command whose strategies have one value a parameter."""
    return _with_options(command, _STRATEGY)


def sweep_setup_options(command: F) -> F:
    """Add the options of :class:`Setup` to a command whose strategies may have ranges."""
    return _with_options(command, _FAMILY)


def _with_options(command: F, strategy_option: Callable[[F], F]) -> F:
    for option in reversed((_SCRIPT, strategy_option, *_OPTIONS)):
        command = option(command)
    return command


def check_model(name: str) -> None:
    """Raise :class:`InputError` for a model that the simulator does not know, with what comes near."""
    from memdash.models import MODELS, facts

    if facts(name) is not None:
        return
    near = get_close_matches(name, MODELS, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else "."
    raise InputError(f"the simulator knows no model {name!r}{hint} Known are: {', '.join(MODELS)}")


def check_strategy(text: str, models: Sequence[str]) -> tuple[StrategyChoice, ...]:
    """Return a strategy that has one value a parameter, as it is on each model; raises :class:`InputError` for any other."""
    return _single(text).choices(models)


def token_counter(spec: ComparisonSpec) -> str:
    """Return how the simulator will count the tokens of a run: ``ctok`` or ``estimate``."""
    return "estimate" if spec.token_counter == "estimate" or find_spec("ctok") is None else "ctok"


def _check_ctok() -> None:
    """Raise :class:`InputError` where ctok is not installed; its tables are not loaded here, as replays run elsewhere."""
    from memdash.tokens import counter

    if find_spec("ctok") is None:
        counter("ctok")


def _summary_models(strategies: Sequence[StrategyChoice]) -> list[str]:
    """The models that write summaries, where a strategy names another one."""
    named = (choice.params.get("summary_model") for choice in strategies)
    return [model for model in named if model]


def _single(text: str) -> Family:
    """Read a strategy that has one value a parameter."""
    family = parse_family(text)
    if family.axes:
        raise InputError(
            f"{text!r}: {family.axes[0].name} is a range; ranges are for memdash sweep, memdash run plays one value"
        )
    return family


def _about(titles: Sequence[str]) -> str:
    """What was played, in words a person would say."""
    return titles[0] if len(titles) == 1 else f"{len(titles)} scripts"


def _strategies(count: int) -> str:
    return "one strategy" if count == 1 else f"{count} strategies"


def _choice(kind: type[StrEnum]) -> click.Choice[str]:
    return click.Choice([str(one) for one in kind])


_SCRIPT = click.option(
    "--script",
    multiple=True,
    metavar="ID_OR_FILE",
    help=f"A script's id, a YAML file or a conversation to import. Repeatable.  [default: {DEFAULT_SCRIPT}]",
)
_STRATEGY = click.option(
    "--strategy",
    multiple=True,
    metavar="SPEC",
    help="NAME, NAME:VALUE or NAME:KEY=VALUE,KEY=VALUE (see `memdash strategies`); FILE.py in place of NAME is one of "
    "your own; a number of tokens may be a share of the context window, 5%. Repeatable.  "
    "[default: full history, window of 4, naive window of 4, compaction at 2000]",
)
_FAMILY = click.option(
    "--strategy",
    multiple=True,
    metavar="SPEC",
    help="As for `memdash run`, where up to two values may be ranges: A|B|C, FROM..TO/STEP or FROM..TO*FACTOR. Repeatable.  "
    f"[default: {', '.join(DEFAULT_FAMILIES)}]",
)
_OPTIONS = (
    click.option("--model", multiple=True, help=f"Model. Repeatable.  [default: {DEFAULT_MODEL}]"),
    click.option(
        "--provider",
        type=_choice(Provider),
        default=Provider.SIMULATOR.value,
        show_default=True,
        help="What answers: the local simulator, or the live API (needs ANTHROPIC_API_KEY and --budget).",
    ),
    click.option(
        "--turns", type=click.IntRange(1), help="Play only the first N turns.  [default: the whole script]"
    ),
    click.option(
        "--repeats",
        type=click.IntRange(1, 1000),
        default=1,
        show_default=True,
        help="Play every combination N times.",
    ),
    click.option(
        "--check/--no-check",
        help="Have the API refuse thinking blocks whose history was edited (prefix_mismatch_behavior: error).  "
        "[default: no-check; such blocks are reported as events]",
    ),
    click.option(
        "--cache",
        multiple=True,
        type=_choice(CacheLifetime),
        help="Lifetime of cache entries. Repeatable.  [default: 5m]",
    ),
    click.option(
        "--cache-marks",
        multiple=True,
        type=_choice(CacheMarks),
        help="Where the cache marks stand. Repeatable.  [default: auto]",
    ),
    click.option(
        "--fixed-part",
        type=click.Choice(["cold", "warm"]),
        default="cold",
        show_default=True,
        help="Simulator: whether the first use of a marked fixed part (system and tools) is written, or read because "
        "other conversations keep it warm.",
    ),
    click.option(
        "--pace",
        type=Finite(0, 86_400),
        metavar="SECONDS",
        help="Think time between turns; a script's own pause beats it.  "
        f"[default: {DEFAULT_PACE_SECONDS:g} in the simulator, none live]",
    ),
    click.option(
        "--replies",
        type=_choice(Replies),
        default=Replies.FRESH.value,
        show_default=True,
        help="Live: take the assistant's replies from the model, or as recorded in the script.",
    ),
    click.option(
        "--max-tokens",
        type=click.IntRange(1, 128_000),
        help="max_tokens of every reply.  [default: the script's, 1024]",
    ),
    click.option(
        "--effort",
        type=click.Choice(["low", "medium", "high", "xhigh", "max"]),
        help="Effort of every reply.  [default: the script's, else the model's]",
    ),
    click.option(
        "--budget",
        type=Budget(),
        metavar="USD",
        help="Stop before the request that could pass this; `none` for no limit. A live run needs one of the two.",
    ),
    click.option(
        "--relax-limits",
        is_flag=True,
        help="Let the simulator accept thresholds below the API's floors; the results are marked simulator_only.",
    ),
    click.option(
        "--token-counter",
        type=click.Choice(["auto", "ctok", "estimate"]),
        default="auto",
        show_default=True,
        help="How the simulator counts tokens; auto takes ctok where it is installed (Python 3.12+).",
    ),
    click.option("--title", type=Title(), help="Title of the comparison.  [default: says what is compared]"),
)

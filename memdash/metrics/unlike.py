"""What is not alike about replays that are held against each other, so that a difference is not taken for the strategy's."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from memdash import numbers
from memdash.answerer import VERSION_KEY
from memdash.metrics.side_by_side import Chosen, letters
from memdash.prices import FIELDS, ModelPrice
from memdash.spec import CacheLifetime, Provider


class Unlike(NamedTuple):
    """One thing that is not the same everywhere: what, with which value where, and what follows from it."""

    what: str
    values: tuple[tuple[str, str], ...]
    consequence: str

    @property
    def sentence(self) -> str:
        """All of it in one line: ``Model: opus (A), sonnet (B). …``."""
        told = "; ".join(f"{value} ({where})" for value, where in self.values)
        return f"{self.what}: {told}. {self.consequence}"


class _Aspect(NamedTuple):
    """``of`` tells two values apart, ``spell`` says one of them; replays for which ``of`` is None are left out."""

    what: str
    of: Callable[[Chosen], Hashable | None]
    spell: Callable[[Chosen], str]
    consequence: str


_MOST_NAMED: Final = 4
"""Replays named for one value; the rest is counted."""


def unlike(chosen: Sequence[Chosen], names: Mapping[str, str]) -> tuple[Unlike, ...]:
    """Return everything that is not alike about the chosen replays, what matters most first.

    ``names`` are those of the replays by id, for what differs within one comparison; elsewhere its letter stands for all of it.
    """
    found = [
        *(_unlike(aspect, chosen, names) for aspect in _ASPECTS),
        *_texts(chosen, names),
        *_seeds(chosen, names),
        *_prices(chosen, names),
    ]
    return tuple(one for one in found if one is not None)


def _unlike(aspect: _Aspect, chosen: Sequence[Chosen], names: Mapping[str, str]) -> Unlike | None:
    groups: dict[Hashable, list[Chosen]] = {}
    for one in chosen:
        value = aspect.of(one)
        if value is not None:
            groups.setdefault(value, []).append(one)
    if len(groups) < 2:
        return None
    told = tuple((aspect.spell(group[0]), _where(group, chosen, names)) for group in groups.values())
    return Unlike(aspect.what, told, aspect.consequence)


def _where(group: Sequence[Chosen], chosen: Sequence[Chosen], names: Mapping[str, str]) -> str:
    """Which replays a value is of: the letters of comparisons that are in the group whole, the names of single replays."""
    letter = letters(chosen)
    inside = {one.spec.id for one in group}
    whole = {
        comparison
        for comparison in letter
        if len(letter) > 1
        and all(one.spec.id in inside for one in chosen if one.origin.comparison == comparison)
    }
    parts = [letter[one.origin.comparison] for one in group if one.origin.comparison in whole]
    parts += [names[one.spec.id] for one in group if one.origin.comparison not in whole]
    return numbers.listing(list(dict.fromkeys(parts)), limit=_MOST_NAMED)


def _texts(chosen: Sequence[Chosen], names: Mapping[str, str]) -> Iterator[Unlike | None]:
    """A script that says something else under the same name."""
    for script in dict.fromkeys(one.spec.script.id for one in chosen):
        some = [one for one in chosen if one.spec.script.id == script]
        texts = list(dict.fromkeys(repr(one.spec.script) for one in some))
        places = {one.spec.id: texts.index(repr(one.spec.script)) + 1 for one in some}
        yield _unlike(_text_aspect(script, places), some, names)


def _text_aspect(script: str, places: Mapping[str, int]) -> _Aspect:
    return _Aspect(
        f"Text of the script {script}",
        lambda one: places[one.spec.id],
        lambda one: f"text {places[one.spec.id]}",
        "It was changed between them, so they did not play the same conversation.",
    )


def _seeds(chosen: Sequence[Chosen], names: Mapping[str, str]) -> Iterator[Unlike | None]:
    """Simulated replays of the same script and repeat that were given other replies; told once for a script."""
    simulated = [one for one in chosen if one.spec.provider is Provider.SIMULATOR]
    cells = dict.fromkeys((one.spec.script.id, one.spec.repeat) for one in simulated)
    told: set[str] = set()
    for script, repeat in sorted(cells):
        some = [one for one in simulated if (one.spec.script.id, one.spec.repeat) == (script, repeat)]
        found = _unlike(_SEED, some, names)
        if found is not None and script not in told:
            told.add(script)
            yield found


def _prices(chosen: Sequence[Chosen], names: Mapping[str, str]) -> Iterator[Unlike | None]:
    """A model that has other prices in one comparison than in another; the models of summaries count too."""
    for model in dict.fromkeys(model for one in chosen for model in _models(one)):
        some = [one for one in chosen if model in _models(one)]
        yield _unlike(_price_aspect(model), some, names)


def _price_aspect(model: str) -> _Aspect:
    return _Aspect(
        f"Prices of {model}",
        lambda one: _price(one, model),
        lambda one: _price(one, model),
        "Part of a difference in cost is the prices', not the strategy's.",
    )


def _models(one: Chosen) -> tuple[str, ...]:
    summaries = one.spec.params.get("summary_model")
    return (one.spec.model, summaries) if summaries else (one.spec.model,)


def _price(one: Chosen, model: str) -> str:
    price = one.origin.prices.price(model)
    return "not known" if price is None else _spelled(price)


def _spelled(price: ModelPrice) -> str:
    """Its prices in dollars per million tokens, by length of the prompt where that matters."""
    heads = ("input", "5 min write", "1 h write", "read", "output")
    tiers = []
    for tier in price.tiers:
        rates = ", ".join(
            f"{name} ${getattr(tier, field):.10g}" for name, field in zip(heads, FIELDS, strict=True)
        )
        tiers.append(f"over {numbers.tokens(tier.above)} tokens {rates}" if tier.above else rates)
    return "; ".join(tiers)


def _spelling(of: Callable[[Chosen], object]) -> Callable[[Chosen], str]:
    return lambda one: str(of(one))


def _or_default(value: str | None) -> str:
    return "the model's own" if value is None else value


def _counter(one: Chosen) -> str | None:
    return one.origin.token_counter if one.spec.provider is Provider.SIMULATOR else None


def _provider(one: Chosen) -> str:
    return "simulated" if one.spec.provider is Provider.SIMULATOR else "live"


def _cache(one: Chosen) -> str:
    return "no caching" if one.spec.cache is CacheLifetime.OFF else str(one.spec.cache)


def _start(one: Chosen) -> str:
    return "read, as if warm" if one.spec.warm else "written"


_SEED: Final = _Aspect(
    "Seed of the replies",
    lambda one: one.spec.seed,
    lambda one: str(one.spec.seed),
    "The pretend model gave other replies, so the same strategy comes to other numbers.",
)
_ASPECTS: Final = (
    _Aspect(
        "Live against simulated",
        _provider,
        _provider,
        "What is simulated is modelled, and its recall is the pretend model's: the simulator's error is in every difference.",
    ),
    _Aspect(
        "Answered by",
        lambda one: one.origin.versions.get(VERSION_KEY) if one.spec.provider is Provider.ANTHROPIC else None,
        lambda one: one.origin.versions[VERSION_KEY],
        "Only the live API's answers say what the API does.",
    ),
    _Aspect(
        "Script",
        lambda one: one.spec.script.id,
        lambda one: one.spec.script.id,
        "Their turns and facts have nothing in common, so the charts show one script at a time.",
    ),
    _Aspect(
        "Turns",
        lambda one: one.spec.turns,
        _spelling(lambda one: one.spec.turns),
        "Totals over conversations of another length are not comparable; the charts are, turn by turn.",
    ),
    _Aspect(
        "Model",
        lambda one: one.spec.model,
        lambda one: one.spec.model,
        "It has its own tokenizer, prices and answers.",
    ),
    _Aspect(
        "Effort",
        lambda one: _or_default(one.spec.effort),
        lambda one: _or_default(one.spec.effort),
        "Answers and thinking are of another length.",
    ),
    _Aspect(
        "Longest answer",
        lambda one: one.spec.max_tokens,
        _spelling(lambda one: f"{one.spec.max_tokens:,} tokens"),
        "Answers may be cut off at another length.",
    ),
    _Aspect(
        "Token counter",
        _counter,
        _spelling(_counter),
        "The same text has another number of tokens, so thresholds are reached in other turns.",
    ),
    _Aspect(
        "Cache lifetime", _cache, _cache, "Other requests find the cache warm, and writes have another price."
    ),
    _Aspect(
        "Cache marks",
        lambda one: one.spec.cache_marks,
        _spelling(lambda one: one.spec.cache_marks),
        "Another part of the prompt can be read from the cache.",
    ),
    _Aspect("First use of the fixed part", _start, _start, "The first turn costs otherwise."),
    _Aspect(
        "Think time",
        lambda one: one.spec.pace,
        _spelling(lambda one: f"{one.spec.pace:g} s"),
        "Cache entries are older when the next request comes.",
    ),
    _Aspect(
        "History check",
        lambda one: one.spec.check,
        _spelling(lambda one: "on" if one.spec.check else "off"),
        "With it the API refuses what it only reports without it.",
    ),
    _Aspect(
        "memdash",
        lambda one: one.origin.versions.get("memdash"),
        lambda one: one.origin.versions["memdash"],
        "Strategies and the simulator may have changed from one version to the next.",
    ),
)

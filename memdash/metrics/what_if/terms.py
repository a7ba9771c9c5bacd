"""From a question to the terms a comparison is priced on: a price table, and what of the cache is another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from memdash.errors import InputError
from memdash.metrics.what_if.question import WhatIf
from memdash.models import ModelFacts, facts
from memdash.prices import FIELDS, ModelPrice, PriceTable, Tier
from memdash.spec import CacheLifetime, ReplaySpec

BATCH = 0.5
"""What a token costs in a batch, against its price, cache writes and reads included (Messages API, pricing)."""


class OtherTokenizer(InputError):
    """Raised where a model counts tokens by another tokenizer than those that ran: it has to run, and ``model`` says which."""

    def __init__(self, model: str, ran: Iterable[str]) -> None:
        self.model = model
        super().__init__(
            f"{model} counts tokens by another tokenizer than {', '.join(ran)}, so what was recorded cannot be priced for it: "
            "it has to run"
        )


@dataclass(frozen=True, slots=True)
class Terms:
    """What a comparison is priced on.

    ``prices`` are by the name of the model that ran. ``stand_ins`` are the facts of the model that takes another's place, by the
    name of that one. ``foreign`` are models that ran but whose tokens the asked model counts differently. ``notes`` say what is
    not taken into account.
    """

    question: WhatIf
    prices: PriceTable
    stand_ins: Mapping[str, ModelFacts] = field(default_factory=dict)
    foreign: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()

    def lifetime(self, spec: ReplaySpec) -> CacheLifetime:
        """Return how long cache entries of a replay live on these terms."""
        return spec.cache if self.question.cache is None else self.question.cache

    @property
    def smallest_prefix(self) -> dict[str, int]:
        """How many tokens are cached at least, by the name of the model that ran; only where it is another number."""
        return {
            ran: one.min_cacheable
            for ran, one in self.stand_ins.items()
            if (known := facts(ran)) is not None and known.min_cacheable != one.min_cacheable
        }

    def changes_cache(self, spec: ReplaySpec) -> bool:
        """Whether a replay's requests would have read or written other tokens."""
        lifetime = self.lifetime(spec)
        if lifetime is CacheLifetime.OFF or lifetime is not spec.cache:
            return lifetime is not spec.cache
        return spec.model in self.smallest_prefix


def terms_for(
    question: WhatIf, charged: PriceTable, replays: Sequence[ReplaySpec], ours: PriceTable
) -> Terms:
    """Work out the terms for a comparison.

    ``charged`` are the prices it ran with, ``ours`` the whole table with its past. Raises :class:`InputError` for what cannot be
    asked of it, :class:`OtherTokenizer` where it has to be run instead.
    """
    main = list(dict.fromkeys(one.model for one in replays))
    summarising = [one.params.get("summary_model") for one in replays]
    ran = list(dict.fromkeys([*main, *(one for one in summarising if isinstance(one, str))]))
    day = ours if question.as_of is None else ours.as_of(question.as_of)
    base = charged if question.as_of is None else day
    prices: dict[str, ModelPrice] = {
        model: price for model in ran if (price := base.price(model)) is not None
    }
    notes: list[str] = []
    stand_ins: dict[str, ModelFacts] = {}
    foreign: list[str] = []
    if question.model is not None:
        other = _stand_in(question.model, ours)
        for model in main:
            known = facts(model)
            if known is None or known.token_family is not other.token_family:
                foreign.append(model)
            else:
                stand_ins[model] = other
        if not stand_ins:
            raise OtherTokenizer(question.model, foreign)
        price = day.price(other.id)
        for model in stand_ins:
            prices.pop(model, None)
            if price is not None:
                prices[model] = price
        notes += _stand_in_notes(other, stand_ins, replays)
    for model, given in question.prices.items():
        priced = _priced(model, question.model, stand_ins, ran)
        for one in priced:
            prices[one] = _changed(model, prices.get(one), given)
    if question.batch:
        _check_batch(ran, stand_ins)
        prices = {model: price.times(BATCH) for model, price in prices.items()}
        notes.append("A batch is answered within a day: half the price is for work that nobody waits for.")
    return Terms(question, PriceTable(prices), stand_ins, frozenset(foreign), tuple(notes))


def _stand_in(model: str, ours: PriceTable) -> ModelFacts:
    known = facts(model)
    if known is None:
        near = get_close_matches(model, ours.models, n=1)
        hint = f"did you mean {near[0]}?" if near else "give prices for a model that ran instead"
        raise InputError(f"how {model} counts tokens is not known, so nothing can be priced for it; {hint}")
    return known


def _stand_in_notes(
    other: ModelFacts, stand_ins: Mapping[str, ModelFacts], replays: Sequence[ReplaySpec]
) -> list[str]:
    notes = [f"The replies are those recorded: {other.id} would write others, of other lengths."]
    for ran in stand_ins:
        known = facts(ran)
        assert known is not None
        if known.id == other.id:
            continue
        if known.min_cacheable != other.min_cacheable:
            notes.append(
                f"{other.id} caches prefixes from {other.min_cacheable:,} tokens on ({ran}: {known.min_cacheable:,}); "
                "what is read and written is worked out anew."
            )
        more = other.frame_tokens - known.frame_tokens
        if any(one.model == ran and one.script.tools for one in replays):
            more += other.tool_prompt.auto - known.tool_prompt.auto
        if more:
            notes.append(
                f"A request to {other.id} has {abs(more):,} tokens {'more' if more > 0 else 'less'} around it than one to {ran}; "
                "they are not counted."
            )
    return notes


def _priced(
    model: str, asked: str | None, stand_ins: Mapping[str, ModelFacts], ran: Sequence[str]
) -> list[str]:
    """The models that ran which a price is meant for: the model itself, or those it stands in for."""
    known = facts(model)
    if asked is not None and (model == asked or (known is not None and known == facts(asked))):
        return list(stand_ins)
    if model in ran and model not in stand_ins:
        return [model]
    there = list(dict.fromkeys([*([asked] if asked else []), *(one for one in ran if one not in stand_ins)]))
    raise InputError(f"no request is priced for {model!r}; there is {', '.join(there)}")


def _changed(model: str, price: ModelPrice | None, given: Mapping[str, float]) -> ModelPrice:
    if price is None:
        lacking = [name for name in FIELDS if name not in given]
        if lacking:
            raise InputError(f"{model} has no price to change: give all five ({', '.join(lacking)} missing)")
        return ModelPrice(model, (Tier(0, *(given[name] for name in FIELDS)),), "as asked")
    return price.changed(given)


def _check_batch(ran: Sequence[str], stand_ins: Mapping[str, ModelFacts]) -> None:
    unknown = [model for model in ran if model not in stand_ins and facts(model) is None]
    if unknown:
        raise InputError(
            f"whether {', '.join(unknown)} can be asked in batches, and at what price, is not known"
        )

"""What each model costs, now and in the past, and what a request costs at that."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from memdash.prices import reading
from memdash.prices.models import FIELDS, ModelPrice
from memdash.records import Purpose, Usage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memdash.replay_columns import RequestColumns, UsageColumns
    from memdash.replay_log import AnyRequest

_UNITS_PER_DOLLAR = 10**12
_UNITS_PER_TOKEN = 10**6
"""One dollar per million tokens is this many units of 10⁻¹² dollars per token."""
_EXACT_IN_FLOATS = 2**53
"""Whole numbers below this are floats without rounding; larger amounts are added up as Python's own integers."""


class Bills(NamedTuple):
    """What requests cost in dollars, one element a request; NaN where that is not known.

    ``summary`` is compaction that the API did inside a request of another purpose, ``own`` the rest.
    """

    own: NDArray[np.float64]
    summary: NDArray[np.float64]


class BillLine(NamedTuple):
    """One token bucket of an answer: ``field`` is the price's name, ``rate`` in dollars per million tokens."""

    field: str
    tokens: int
    rate: float
    cost_usd: float


@dataclass(frozen=True, slots=True)
class PriceTable:
    """Prices by model, and the day they were last compared with their sources.

    ``models`` are the prices in force; ``history`` holds, for every model whose price has changed or is about to, all its prices
    with their dates, the oldest first. ``own`` is the file with the user's own prices, None without one.
    """

    models: Mapping[str, ModelPrice]
    checked: date | None = None
    history: Mapping[str, tuple[ModelPrice, ...]] = field(default_factory=dict)
    own: str | None = None

    @classmethod
    def load(cls, path: Path | None = None) -> PriceTable:
        """Read the prices in force today: ours, and over them the user's own from the file that ``MEMDASH_PRICES`` names.

        With ``path``, that table alone is read. Raises :class:`InputError` with file and field where one cannot be used.
        """
        ours = reading.bundled() if path is None else reading.read_table(path)
        # A clock that is behind the day a table was checked is wrong: what the table says was so on that day.
        today = max(date.today(), ours.checked or date.min)
        own = os.environ.get("MEMDASH_PRICES") if path is None else None
        if not own:
            return _in_force(ours.versions, today, ours.checked)
        versions = reading.read_own(Path(own), ours.versions, today)
        return _in_force(versions, today, ours.checked, own)

    def as_of(self, day: date) -> PriceTable:
        """Return the prices as they stood on a day; a model that had none by then is left out."""
        versions = {**{model: (price,) for model, price in self.models.items()}, **self.history}
        return _in_force(versions, day, self.checked, self.own)

    def with_prices(self, changes: Mapping[str, ModelPrice]) -> PriceTable:
        """Return the table with the prices of these models in place of its own, and no past."""
        return PriceTable({**self.models, **changes}, self.checked, own=self.own)

    def price(self, model: str) -> ModelPrice | None:
        """Return the price of ``model``; None where it is not in the table."""
        return self.models.get(model)

    def cost(self, usage: Usage, model: str) -> float | None:
        """Return what one answer costs in dollars; None for an unknown model or where no usage is reported."""
        units = self._units(usage, model)
        return None if units is None else units / _UNITS_PER_DOLLAR

    def bill(self, usage: Usage, model: str) -> tuple[BillLine, ...] | None:
        """Return what one answer costs by token bucket, the empty ones left out; None where :meth:`cost` is None."""
        price = self.price(model)
        if price is None or not _is_reported(usage):
            return None
        tokens = _buckets(usage)
        tier = price.tier(sum(tokens[:-1]))
        rates = [getattr(tier, name) for name in FIELDS]
        return tuple(
            BillLine(name, count, rate, count * _units_per_token(rate) / _UNITS_PER_DOLLAR)
            for name, count, rate in zip(FIELDS, tokens, rates, strict=True)
            if count
        )

    def request_cost(self, request: AnyRequest) -> float | None:
        """Return what a request costs in dollars, all its iterations included; None where that is not known.

        The top-level usage leaves out what the API spent on compaction, so where iterations are reported they are summed instead
        (Messages API, usage). A refused request costs nothing.
        """
        costs = self.cost_by_purpose(request)
        return None if costs is None else sum(costs.values())

    def cost_by_purpose(self, request: AnyRequest) -> Mapping[Purpose, float] | None:
        """Return the cost of a request by purpose; None where a price or a token count is not known.

        Compaction that the API did inside the request stands under ``summary``, the rest under the request's own purpose. A
        probe is all probe.
        """
        if _is_refusal(request):
            return {request.purpose: 0.0}
        if not request.iterations:  # nearly every request; a page prices thousands of them
            whole = self._units(request.usage, request.model)
            return None if whole is None else {request.purpose: whole / _UNITS_PER_DOLLAR}
        units: dict[Purpose, int] = {}
        for iteration in request.iterations:
            cost = self._units(iteration.usage, iteration.model or request.model)
            if cost is None:
                return None
            purpose = request.purpose
            if iteration.type == "compaction" and purpose is not Purpose.PROBE:
                purpose = Purpose.SUMMARY
            units[purpose] = units.get(purpose, 0) + cost
        return {purpose: cost / _UNITS_PER_DOLLAR for purpose, cost in units.items()}

    def bills(self, requests: RequestColumns) -> Bills:
        """Return the cost of many requests at once, each the same as :meth:`cost_by_purpose` gives for it alone."""
        import numpy as np

        from memdash.replay_columns import PURPOSES

        usages = requests.usages
        units, known = self._units_of(usages, requests.models)
        refused = requests.failed & ~requests.split
        refused[usages.request[_are_reported(usages)]] = False
        unknown = np.zeros(len(requests.replay), bool)
        unknown[usages.request[~known]] = True
        unknown &= ~refused
        all_its_own = np.isin(
            requests.purpose, [PURPOSES.index(Purpose.SUMMARY), PURPOSES.index(Purpose.PROBE)]
        )
        inside = usages.compaction & ~all_its_own[usages.request]

        def dollars(chosen: NDArray[np.bool_]) -> NDArray[np.float64]:
            sums = np.zeros(len(unknown), units.dtype)
            np.add.at(sums, usages.request[chosen], units[chosen])
            return np.where(unknown, np.nan, (sums / _UNITS_PER_DOLLAR).astype(float))

        return Bills(dollars(~inside), dollars(inside))

    def worst_case(self, model: str, prompt_tokens: int, max_tokens: int) -> float | None:
        """Return the most a request of this size can cost in dollars; None for an unknown model.

        Every prompt token is taken at the dearest price an input token can have and the answer at its full length. The size of
        the prompt is an estimate, so a dearer tier that begins within a quarter above it counts.
        """
        price = self.price(model)
        if price is None:
            return None
        reached = [
            tier for tier in price.tiers if tier.above < prompt_tokens * 1.25 or tier is price.tiers[0]
        ]
        return (
            max(
                prompt_tokens * _units_per_token(max(tier.input, tier.write_5m, tier.write_1h))
                + max_tokens * _units_per_token(tier.output)
                for tier in reached
            )
            / _UNITS_PER_DOLLAR
        )

    def _units(self, usage: Usage, model: str) -> int | None:
        price = self.price(model)
        if price is None or not _is_reported(usage):
            return None
        input_tokens, write_5m, write_1h, read, output = _buckets(usage)
        tier = price.tier(input_tokens + write_5m + write_1h + read)
        return (
            input_tokens * _units_per_token(tier.input)
            + write_5m * _units_per_token(tier.write_5m)
            + write_1h * _units_per_token(tier.write_1h)
            + read * _units_per_token(tier.read)
            + output * _units_per_token(tier.output)
        )

    def _units_of(
        self, usages: UsageColumns, models: Sequence[str]
    ) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """What each usage costs in units (0 where that is not known), and whether that is known."""
        import numpy as np

        long = usages.ephemeral_1h_input_tokens.value
        short = np.where(
            usages.cache_creation_input_tokens.reported,
            np.maximum(usages.cache_creation_input_tokens.value - long, 0),
            usages.ephemeral_5m_input_tokens.value,
        )
        buckets = (
            usages.input_tokens.value,
            short,
            long,
            usages.cache_read_input_tokens.value,
            usages.output_tokens.value,
        )
        known = _are_reported(usages)
        prices = [self.price(model) for model in models]
        rates = [
            _units_per_token(getattr(tier, name))
            for price in prices
            if price
            for tier in price.tiers
            for name in FIELDS
        ]
        most_tokens = max((int(np.abs(bucket).max(initial=0)) for bucket in buckets), default=0)
        most_parts = int(np.bincount(usages.request).max(initial=0))
        exact = most_tokens * max(rates, default=0) * len(buckets) * most_parts < _EXACT_IN_FLOATS
        kind = np.dtype(np.int64 if exact else object)
        units = np.zeros(len(known), kind)
        for place, price in enumerate(prices):
            rows = np.flatnonzero(usages.model == place)
            if price is None:
                known[rows] = False
                continue
            prompts = sum(bucket[rows] for bucket in buckets[:4])
            tiers = np.searchsorted([tier.above for tier in price.tiers[1:]], prompts, side="left")
            for name, bucket in zip(FIELDS, buckets, strict=True):
                rate = np.array([_units_per_token(getattr(tier, name)) for tier in price.tiers], kind)
                units[rows] += bucket[rows].astype(kind) * rate[tiers]
        units[~known] = 0
        return units, known


def _are_reported(usages: UsageColumns) -> NDArray[np.bool_]:
    """:func:`_is_reported` of many usages."""
    return (
        usages.input_tokens.reported
        | usages.output_tokens.reported
        | usages.cache_creation_input_tokens.reported
        | usages.cache_read_input_tokens.reported
    )


def _is_refusal(request: AnyRequest) -> bool:
    """Whether the API refused: nothing was billed, so "not reported" does not make the cost unknown."""
    refused = request.error_status is not None or request.error_type is not None
    return refused and not request.iterations and not _is_reported(request.usage)


def _is_reported(usage: Usage) -> bool:
    return not (
        usage.input_tokens is None
        and usage.output_tokens is None
        and usage.cache_creation_input_tokens is None
        and usage.cache_read_input_tokens is None
    )


def _buckets(usage: Usage) -> tuple[int, int, int, int, int]:
    """Uncached input, 5-minute writes, 1-hour writes, reads, output. Writes that are not split are 5-minute ones."""
    long = usage.ephemeral_1h_input_tokens or 0
    if usage.cache_creation_input_tokens is None:
        short = usage.ephemeral_5m_input_tokens or 0
    else:
        short = max(usage.cache_creation_input_tokens - long, 0)
    return usage.input_tokens or 0, short, long, usage.cache_read_input_tokens or 0, usage.output_tokens or 0


@cache
def _units_per_token(dollars_per_million: float) -> int:
    return round(Decimal(str(dollars_per_million)) * _UNITS_PER_TOKEN)


def _in_force(
    versions: Mapping[str, tuple[ModelPrice, ...]], day: date, checked: date | None, own: str | None = None
) -> PriceTable:
    """Sort all prices of each model, the oldest first, into what holds on a day and what has a past or a future."""
    models = {}
    for model, prices in versions.items():
        begun = [price for price in prices if price.since is None or price.since <= day]
        if begun:
            models[model] = begun[-1]
    dated = {model: prices for model, prices in versions.items() if len(prices) > 1 or model not in models}
    return PriceTable(models, checked, dated, own)

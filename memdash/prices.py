"""The price table and the cost of a request: the only place where money is computed.

Prices are US dollars per million tokens. Costs are summed in whole units of 10⁻¹² dollars, so that a sum does not depend on
its order, and returned as dollars. ``None`` means "n/a": the model has no price here, or the server reported no tokens; it is
never the same as 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

from memdash.errors import InputError
from memdash.records import Purpose, RequestRecord, Usage

_PACKAGE = Path(__file__).resolve().parent
_PLACES = (_PACKAGE / "data" / "prices.yaml", _PACKAGE.parent / "data" / "prices.yaml")
"""Inside the package where it is installed from a wheel, beside it in a clone."""

_MAX_BYTES = 1_000_000
_PRICES = ("input", "write_5m", "write_1h", "read", "output")
_UNITS_PER_DOLLAR = 10**12
_UNITS_PER_TOKEN = 10**6
"""One dollar per million tokens is this many units of 10⁻¹² dollars per token."""


@dataclass(frozen=True, slots=True)
class Tier:
    """Five prices in dollars per million tokens, for requests whose prompt is longer than ``above`` tokens."""

    above: int
    input: float
    write_5m: float
    write_1h: float
    read: float
    output: float


@dataclass(frozen=True, slots=True)
class ModelPrice:
    """What one model costs: its tiers from the shortest prompts on, since when, and where that was read."""

    model: str
    tiers: tuple[Tier, ...]
    source: str
    since: date | None = None

    def tier(self, prompt_tokens: int) -> Tier:
        """Return the tier that prices every token of a request with a prompt of this size."""
        return next(
            tier for tier in reversed(self.tiers) if prompt_tokens > tier.above or tier is self.tiers[0]
        )


@dataclass(frozen=True, slots=True)
class PriceTable:
    """Prices by model, and the day they were last compared with their sources."""

    models: Mapping[str, ModelPrice]
    checked: date | None = None

    @classmethod
    def load(cls, path: Path | None = None) -> PriceTable:
        """Read the price table that comes with memdash, or one of the same form.

        Raises :class:`InputError` with file and field where it cannot be used.
        """
        if path is None:
            return _bundled()
        return _read(path)

    def price(self, model: str) -> ModelPrice | None:
        """Return the price of ``model``; None where it is not in the table."""
        return self.models.get(model)

    def cost(self, usage: Usage, model: str) -> float | None:
        """Return what one answer costs in dollars; None for an unknown model or where no usage is reported."""
        units = self._units(usage, model)
        return None if units is None else units / _UNITS_PER_DOLLAR

    def request_cost(self, request: RequestRecord) -> float | None:
        """Return what a request costs in dollars, all its iterations included; None where that is not known.

        The top-level usage leaves out what the API spent on compaction, so where iterations are reported they are summed instead
        (Messages API, usage). A refused request costs nothing.
        """
        costs = self.cost_by_purpose(request)
        return None if costs is None else sum(costs.values())

    def cost_by_purpose(self, request: RequestRecord) -> Mapping[Purpose, float] | None:
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


def _is_refusal(request: RequestRecord) -> bool:
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


# -- reading the file ----------------------------------------------------------------------------------------------------


@cache
def _bundled() -> PriceTable:
    return _read(next((place for place in _PLACES if place.exists()), _PLACES[-1]))


def _read(path: Path) -> PriceTable:
    import yaml

    try:
        if path.stat().st_size > _MAX_BYTES:
            raise InputError(f"{path}: larger than {_MAX_BYTES:,} bytes; that is no price table")
        text = path.read_text(encoding="utf-8")
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, Loader=yaml.SafeLoader)):
            raise InputError(f"{path}: aliases (*name) are not allowed here; write the values out")
        document = yaml.safe_load(text)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8 text (byte {error.start})") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        detail = " ".join(str(error).split())
        raise InputError(f"{path}: is not valid YAML: {detail}") from error
    fields = _Fields(path, "", document, {"checked", "models"})
    models = fields.mapping("models")
    return PriceTable(dict(_prices(path, models)), fields.day("checked"))


def _prices(path: Path, models: Mapping[str, Any]) -> Iterator[tuple[str, ModelPrice]]:
    for model, given in models.items():
        fields = _Fields(path, f"models.{model}", given, {*_PRICES, "since", "source", "tiers"})
        tiers = [fields.tier(0)]
        for index, entry in enumerate(fields.entries("tiers")):
            inner = _Fields(path, f"models.{model}.tiers[{index}]", entry, {*_PRICES, "above"})
            above = inner.data.get("above")
            if not isinstance(above, int) or isinstance(above, bool) or above <= tiers[-1].above:
                raise inner.problem("above", f"{above!r} is not a whole number above {tiers[-1].above}")
            tiers.append(inner.tier(above))
        source = fields.data.get("source")
        if not isinstance(source, str) or not source.strip():
            raise fields.problem("source", "say where the prices were read")
        yield model, ModelPrice(model, tuple(tiers), source, fields.day("since"))


class _Fields:
    """One mapping of the file, read field by field with messages that say where."""

    def __init__(self, path: Path, where: str, data: object, known: Iterable[str]) -> None:
        self.path = path
        self.where = where
        if not isinstance(data, Mapping) or not all(isinstance(key, str) for key in data):
            raise InputError(f"{path}: {where or 'the file'}: is not a mapping of names to values")
        self.data: Mapping[str, Any] = data
        unknown = data.keys() - set(known)
        if unknown:
            name = min(unknown)
            raise self.problem(name, f"unknown; known are {', '.join(sorted(known))}")

    def problem(self, name: str, text: str) -> InputError:
        return InputError(f"{self.path}: {self.where + '.' if self.where else ''}{name}: {text}")

    def mapping(self, name: str) -> Mapping[str, Any]:
        value = self.data.get(name)
        if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
            raise self.problem(name, "is not a mapping of names to values")
        return value

    def entries(self, name: str) -> list[Any]:
        value = self.data.get(name, [])
        if not isinstance(value, list):
            raise self.problem(name, "is not a list")
        return value

    def day(self, name: str) -> date | None:
        value = self.data.get(name)
        if value is not None and type(value) is not date:
            raise self.problem(name, f"{value!r} is not a date such as 2026-11-30")
        return value

    def tier(self, above: int) -> Tier:
        return Tier(above, *(self._dollars(name) for name in _PRICES))

    def _dollars(self, name: str) -> float:
        value = self.data.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1_000_000:
            raise self.problem(name, f"{value!r} is not a price in dollars per million tokens")
        return float(value)

"""Price tables from YAML files: ours, which is whole, and the user's own, which says only what differs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import date
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from memdash.errors import InputError
from memdash.prices.fields import Fields
from memdash.prices.models import FIELDS, ModelPrice, Tier

_PACKAGE = Path(__file__).resolve().parents[1]
_PLACES = (_PACKAGE / "data" / "prices.yaml", _PACKAGE.parent / "data" / "prices.yaml")
"""Inside the package where it is installed from a wheel, beside it in a clone."""

_MAX_BYTES = 1_000_000
_ENTRY = (*FIELDS, "since", "source", "tiers")

Versions = Mapping[str, tuple[ModelPrice, ...]]
"""All prices of each model, the oldest first."""


class Found(NamedTuple):
    """What a file holds: all prices of each model, and the day they were compared with their sources."""

    versions: Versions
    checked: date | None


@cache
def bundled() -> Found:
    """Read the table that comes with memdash."""
    return read_table(next((place for place in _PLACES if place.exists()), _PLACES[-1]))


def read_table(path: Path) -> Found:
    """Read a table that gives every price of its models.

    Raises :class:`InputError` with file and field where it cannot be used.
    """
    document = Fields(path, "", _document(path), {"checked", "models"})
    versions = {
        model: _dated([_whole(model, one) for one in _entries(path, model, given)])
        for model, given in document.mapping("models").items()
    }
    return Found(
        {model: tuple(price for price, _ in prices) for model, prices in versions.items()},
        document.day("checked"),
    )


def read_own(path: Path, ours: Versions, today: date) -> Versions:
    """Read the user's own prices over ``ours``: what an entry leaves out is ours, and a model that we do not have needs all five.

    A price without ``since`` holds at any time; one with it holds from that day on, and before it ours does. Raises
    :class:`InputError` with file and field where it cannot be used.
    """
    text = _text(path)
    document = Fields(path, "", _parsed(path, text), {"checked", "models"})
    document.day("checked")
    versions = dict(ours)
    for model, given in document.mapping("models").items():
        entries = _entries(path, model, given)
        base = _at(ours.get(model, ()), today)
        own = _dated([_partial(model, one, base, path.name) for one in entries])
        first = own[0][0].since
        earlier = (
            []
            if first is None
            else [one for one in ours.get(model, ()) if one.since is None or one.since < first]
        )
        versions[model] = (*earlier, *(price for price, _ in own))
    return versions


_Dated = tuple[ModelPrice, Fields]


def _entries(path: Path, model: str, given: object) -> list[Fields]:
    """The entry of a model after those of its earlier prices."""
    where = f"models.{model}"
    latest = Fields(path, where, given, {*_ENTRY, "earlier"})
    earlier = [
        Fields(path, f"{where}.earlier[{index}]", one, set(_ENTRY))
        for index, one in enumerate(latest.entries("earlier"))
    ]
    return [*earlier, latest]


def _dated(prices: list[_Dated]) -> list[_Dated]:
    """Check that each price of a model begins after the one before it."""
    before: date | None = None
    for index, (price, fields) in enumerate(prices):
        if index and (price.since is None or (before is not None and price.since <= before)):
            raise fields.problem("since", f"{price.since} is not a day after {before or 'the earlier price'}")
        before = price.since
    return prices


def _whole(model: str, fields: Fields) -> _Dated:
    source = fields.data.get("source")
    if not isinstance(source, str) or not source.strip():
        raise fields.problem("source", "say where the prices were read")
    return ModelPrice(model, _tiers(fields), source, fields.day("since")), fields


def _partial(model: str, fields: Fields, base: ModelPrice | None, file: str) -> _Dated:
    """Return one of the user's own prices: what is given, over ``base``."""
    source = fields.data.get("source")
    if source is not None and not isinstance(source, str):
        raise fields.problem("source", "is not a text")
    words = f"own prices ({file})" + (f": {source.strip()}" if source and source.strip() else "")
    prices = fields.given()
    if len(prices) == len(FIELDS) and (base is None or "tiers" in fields.data or len(base.tiers) == 1):
        return ModelPrice(model, _tiers(fields), words, fields.day("since"), own=True), fields
    if base is None:
        lacking = next(name for name in FIELDS if name not in prices)
        raise fields.problem(
            lacking, f"missing; {model} is not in our table, so its entry needs all five prices"
        )
    price = replace(base.changed(prices), since=fields.day("since"), own=True)
    if "tiers" in fields.data:
        price = replace(price, tiers=(price.tiers[0], *_dearer(fields, 0)))
    rest = "" if len(prices) == len(FIELDS) else f"; the rest: {base.source}"
    return replace(price, source=words + rest), fields


def _tiers(fields: Fields) -> tuple[Tier, ...]:
    return (fields.tier(0), *_dearer(fields, 0))


def _dearer(fields: Fields, above: int) -> Iterable[Tier]:
    """The prices of longer prompts, each tier above the one before it."""
    for index, entry in enumerate(fields.entries("tiers")):
        inner = Fields(fields.path, f"{fields.where}.tiers[{index}]", entry, {*FIELDS, "above"})
        given = inner.data.get("above")
        if not isinstance(given, int) or isinstance(given, bool) or given <= above:
            raise inner.problem("above", f"{given!r} is not a whole number above {above}")
        above = given
        yield inner.tier(above)


def _at(prices: tuple[ModelPrice, ...], day: date) -> ModelPrice | None:
    begun = [price for price in prices if price.since is None or price.since <= day]
    return begun[-1] if begun else None


def _document(path: Path) -> Any:
    return _parsed(path, _text(path))


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise InputError(f"{path}: larger than {_MAX_BYTES:,} bytes; that is no price table")
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8 text (byte {error.start})") from error


@lru_cache(maxsize=4)
def _parsed(path: Path, text: str) -> Any:
    """Parse a file's text, once for as long as it stays the same: a running app sees changes and parses nothing twice."""
    import yaml

    try:
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, Loader=yaml.SafeLoader)):
            raise InputError(f"{path}: aliases (*name) are not allowed here; write the values out")
        return yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        detail = " ".join(str(error).split())
        raise InputError(f"{path}: is not valid YAML: {detail}") from error

"""``memdash prices``: what a million tokens cost, and what a stored comparison would have cost on other terms."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import date
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from memdash.cli.database import database_option, find_comparison, opened
from memdash.cli.output import say
from memdash.errors import InputError
from memdash.spec import CacheLifetime
from memdash.tables.grid import Grid

if TYPE_CHECKING:
    from memdash.metrics.what_if import Answer, WhatIf
    from memdash.prices import ModelPrice, PriceTable
    from memdash.store import StoredComparison
    from memdash.store.protocol import AnyStore

_FORMATS = ("table", "json", "csv")


class _Day(click.ParamType[date]):
    """A date such as 2026-10-07, or ``today``."""

    name = "date"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> date:
        if isinstance(value, date):
            return value
        if value == "today":
            return date.today()
        try:
            return date.fromisoformat(value)
        except ValueError:
            self.fail(f"{value!r} is not a date such as 2026-10-07, nor today", param, ctx)


class _Price(click.ParamType[tuple[str, dict[str, float]]]):
    """``MODEL:input=4,read=0.4``: some of the five prices of a model, in dollars per million tokens."""

    name = "price"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, dict[str, float]]:
        from memdash.prices import FIELDS, MAX_PRICE

        if isinstance(value, tuple):
            return value
        model, colon, rest = str(value).rpartition(":")
        if not colon or not model.strip():
            self.fail(f"{value!r}: write MODEL:input=4,read=0.4", param, ctx)
        given: dict[str, float] = {}
        for part in rest.split(","):
            name, equals, amount = (piece.strip() for piece in part.partition("="))
            if name not in FIELDS or not equals:
                near = get_close_matches(name, FIELDS, n=1)
                hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(FIELDS)}"
                self.fail(f"{value!r}: {name!r} is no price; {hint}", param, ctx)
            if name in given:
                self.fail(f"{value!r}: {name} is given twice", param, ctx)
            given[name] = self._amount(value, amount, MAX_PRICE, param, ctx)
        return model.strip(), given

    def _amount(
        self, value: Any, text: str, most: float, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        try:
            amount = float(text)
        except ValueError:
            amount = math.nan
        if not 0 <= amount <= most:
            self.fail(f"{value!r}: {text!r} is not a price in dollars per million tokens", param, ctx)
        return amount


@click.command()
@click.argument("model", required=False)
@click.option(
    "--what-if",
    "comparison",
    metavar="COMPARISON",
    help="What a stored comparison would have cost: its id, the beginning of just one id, or `last`. Nothing is run.",
)
@click.option(
    "--model",
    "other",
    metavar="M",
    help="With --what-if: on another model of the same tokenizer family, at its prices and with its smallest cached prefix.",
)
@click.option(
    "--price",
    "changes",
    type=_Price(),
    multiple=True,
    metavar="MODEL:input=4,…",
    help="With --what-if: other prices, in dollars per million tokens: input, write_5m, write_1h, read, output. Repeatable.",
)
@click.option(
    "--cache",
    type=click.Choice([one.value for one in CacheLifetime]),
    help="With --what-if: with another lifetime of cache entries, worked out from the recorded contexts and times.",
)
@click.option(
    "--batch", is_flag=True, help="With --what-if: at the prices of the Batch API, half of all others."
)
@click.option(
    "--as-of",
    type=_Day(),
    metavar="DATE",
    help="The prices of a day, for instance 2026-10-01 or today, instead of those in force or as charged.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(_FORMATS),
    default="table",
    show_default=True,
    help="With --what-if: what is printed.",
)
@database_option
def prices(
    model: str | None,
    comparison: str | None,
    other: str | None,
    changes: tuple[tuple[str, dict[str, float]], ...],
    cache: str | None,
    batch: bool,
    as_of: date | None,
    form: str,
    db: Path | None,
) -> None:
    """Show the price table, or what one MODEL costs, in US dollars per million tokens.

    With --what-if, price a stored COMPARISON on other terms beside what it was charged.
    """
    from memdash.metrics.what_if import WhatIf
    from memdash.prices import PriceTable

    if comparison is None:
        if other or changes or cache or batch or form != "table":
            raise InputError(
                "name the comparison to price: --what-if COMPARISON, for instance --what-if last"
            )
        table = PriceTable.load()
        say(_listing(table if as_of is None else table.as_of(as_of), model))
        return
    if model is not None:
        raise InputError(f"{model!r}: a model to price the comparison on is given as --model {model}")
    question = WhatIf(
        model=other,
        prices=_merged(changes),
        cache=CacheLifetime(cache) if cache else None,
        batch=batch,
        as_of=as_of,
    )
    if not question.changes_something:
        raise InputError(
            "say what would be different: --model, --price, --cache, --batch or --as-of (today, for the prices of today)"
        )
    with opened(db) as store:
        stored = store.comparison(find_comparison(store, comparison))
        answer = _answer(store, stored, question, PriceTable.load())
        from memdash.cli.what_if_table import rendered
        from memdash.evidence import evidence_for
        from memdash.report import basis

        shown = rendered(stored, answer, basis(stored, evidence_for(store, stored)), form)
    say(shown)


def _answer(store: AnyStore, stored: StoredComparison, question: WhatIf, ours: PriceTable) -> Answer:
    from memdash.cli.rerun import rerun_command
    from memdash.metrics.what_if import OtherTokenizer
    from memdash.what_if import ask

    try:
        return ask(store, stored, question, ours)
    except OtherTokenizer as error:
        raise InputError(f"{error}: {rerun_command(stored.spec, error.model)}") from error


def _merged(changes: tuple[tuple[str, dict[str, float]], ...]) -> Mapping[str, Mapping[str, float]]:
    merged: dict[str, dict[str, float]] = {}
    for model, given in changes:
        merged.setdefault(model, {}).update(given)
    return merged


# -- the price table -------------------------------------------------------------------------------------------------------


def _listing(table: PriceTable, model: str | None) -> str:
    columns = ("model", "input", "write 5m", "write 1h", "read", "output", "since", "source")
    rows = [
        (
            one.model if not tier.above else f"  prompts over {tier.above:,}",
            *map(_dollars, (tier.input, tier.write_5m, tier.write_1h, tier.read, tier.output)),
            "" if tier.above or one.since is None else one.since.isoformat(),
            "" if tier.above else one.source,
        )
        for one in _chosen(table, model)
        for tier in one.tiers
    ]
    lines = [Grid(columns, rows, numeric=frozenset(columns[1:6])).plain(), ""]
    if table.checked:
        lines.append(
            f"US dollars per million tokens, compared with their sources on {table.checked.isoformat()}."
        )
    if table.own:
        own = sum(one.own for one in table.models.values())
        lines.append(f"Own prices of {own} of {len(table.models)} models come from {table.own}.")
    return "\n".join(lines).rstrip()


def _chosen(table: PriceTable, model: str | None) -> list[ModelPrice]:
    if model is None:
        return list(table.models.values())
    from memdash.models import facts

    known = facts(model)
    price = table.price(model) or (table.price(known.id) if known else None)
    if price is None:
        near = get_close_matches(model, table.models, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise InputError(f"there is no price for {model!r}: what it costs is shown as n/a{hint}")
    return [price]


def _dollars(amount: float) -> str:
    return f"{amount:.2f}" if round(amount, 2) == amount else f"{amount:g}"

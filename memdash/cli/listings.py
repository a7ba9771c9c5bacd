"""``memdash strategies`` and ``memdash prices``: what can be chosen and what it costs."""

from __future__ import annotations

import shutil
import textwrap
from difflib import get_close_matches

import click

from memdash.cli.grid import Grid, one_line
from memdash.cli.output import complain, say
from memdash.errors import InputError
from memdash.strategies import Parameter, parameters
from memdash.strategies import strategies as known_strategies
from memdash.strategies.own import discover


@click.command()
def strategies() -> None:
    """List the strategies with their parameters, defaults and ranges.

    A strategy is written NAME, NAME:VALUE (its first parameter) or NAME:KEY=VALUE,KEY=VALUE; in place of the name,
    FILE.py names one of your own.
    """
    width = min(shutil.get_terminal_size((100, 24)).columns, 110)
    say(
        "\n\n".join(
            "\n".join(_lines(cls.name, cls.description, parameters(cls.Params), width))
            for cls in known_strategies()
        )
    )
    for problem in discover()[1]:
        complain(f"cannot be used: {one_line(f'{problem.where}: {problem.message}')}")


def _lines(name: str, description: str, declared: tuple[Parameter, ...], width: int) -> list[str]:
    """One strategy for a terminal: a line each for the name, the description and, with its help under it, each parameter."""
    lines = [name, *textwrap.wrap(description, width, initial_indent="  ", subsequent_indent="  ")]
    for one in declared:
        lines.append(f"    {f'{one.name}={shown_default(one)}':<22}  {shown_range(one)}")
        lines += textwrap.wrap(one.help, width, initial_indent=" " * 8, subsequent_indent=" " * 8)
    return lines


@click.command()
@click.argument("model", required=False)
def prices(model: str | None) -> None:
    """Show the price table, or what one MODEL costs, in US dollars per million tokens."""
    from memdash.models import facts
    from memdash.prices import PriceTable

    table = PriceTable.load()
    chosen = table.models
    if model is not None:
        known = facts(model)
        price = table.price(model) or (table.price(known.id) if known else None)
        if price is None:
            near = get_close_matches(model, table.models, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise InputError(f"there is no price for {model!r}: what it costs is shown as n/a{hint}")
        chosen = {price.model: price}
    columns = ("model", "input", "write 5m", "write 1h", "read", "output", "since", "source")
    rows = [
        (
            one.model if not tier.above else f"  prompts over {tier.above:,}",
            *map(_dollars, (tier.input, tier.write_5m, tier.write_1h, tier.read, tier.output)),
            "" if tier.above or one.since is None else one.since.isoformat(),
            "" if tier.above else one.source,
        )
        for one in chosen.values()
        for tier in one.tiers
    ]
    say(Grid(columns, rows, numeric=frozenset(columns[1:6])).plain())
    if table.checked:
        say(f"\nUS dollars per million tokens, compared with their sources on {table.checked.isoformat()}.")


def _dollars(amount: float) -> str:
    return f"{amount:.2f}" if round(amount, 2) == amount else f"{amount:g}"


def shown_default(parameter: Parameter) -> str:
    """Return a parameter's default as it is written on the command line."""
    value = parameter.default
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value) or "(empty)"


def shown_range(parameter: Parameter) -> str:
    """Return the values a parameter takes, for people."""
    if parameter.choices:
        text = " | ".join(parameter.choices)
    elif parameter.type is bool:
        text = "true | false"
    elif parameter.type is str:
        text = "text"
    else:
        low = "" if parameter.minimum is None else f"{parameter.minimum:,.10g}"
        high = "" if parameter.maximum is None else f"{parameter.maximum:,.10g}"
        kind = "whole number" if parameter.type is int else "number"
        text = (
            f"{low}–{high}" if low and high else f"from {low}" if low else f"up to {high}" if high else kind
        )
        text += f" {parameter.unit}" if parameter.unit else ""
    return f"{text} | none" if parameter.optional else text

"""``memdash strategies``: what can be chosen."""

from __future__ import annotations

import shutil
import textwrap

import click

from memdash.cli.output import complain, say
from memdash.strategies import Parameter, parameters
from memdash.strategies import strategies as known_strategies
from memdash.strategies.own import discover
from memdash.tables.lines import one_line


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

"""``memdash calibrate``: how far the token counter is off on one's own scripts, told by a handful of free calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from memdash import numbers
from memdash.answerer import check_key, present_answerer
from memdash.cli.output import complain, say, say_json
from memdash.cli.setup import DEFAULT_SCRIPT, check_model
from memdash.spec import DEFAULT_MODEL
from memdash.tables.grid import Grid
from memdash.tokens import COUNTERS

if TYPE_CHECKING:
    from memdash.calibration import Calibration, CounterError, Plan

_COLUMNS = (
    "block",
    "writing",
    "texts",
    "characters",
    "API\ntokens",
    "counter\ntokens",
    "error",
    "characters\na token",
)


@click.command()
@click.option(
    "--script",
    multiple=True,
    metavar="ID_OR_FILE",
    help=f"A script's id, a YAML file or a conversation to import. Repeatable.  [default: {DEFAULT_SCRIPT}]",
)
@click.option(
    "--model",
    default=DEFAULT_MODEL,
    show_default=True,
    help="The model whose tokenizer is asked: count with the one you call.",
)
@click.option(
    "--token-counter",
    type=click.Choice(COUNTERS),
    default="auto",
    show_default=True,
    help="The counter that is held against the API; auto takes ctok where it is installed (Python 3.12+).",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="What is printed.",
)
def calibrate(script: tuple[str, ...], model: str, token_counter: str, form: str) -> None:
    """Show how far the token counter is off on your own scripts, by kind of block and by writing.

    A few representative blocks are counted by the API, with and without each. Counting costs nothing; it needs ANTHROPIC_API_KEY,
    or a compatible server at ANTHROPIC_BASE_URL.
    """
    from memdash.calibration import calibrate as held_against
    from memdash.calibration import plan
    from memdash.scripts import find_scripts

    check_model(model)
    scripts = [one for name in script or (DEFAULT_SCRIPT,) for one in find_scripts(name)]
    check_key("memdash calibrate")
    from memdash.claude.counting import live_counter, simulated_counter

    estimate, counter = simulated_counter(token_counter)
    chosen = plan(scripts, model)
    answerer = present_answerer()
    complain(f"{numbers.count(chosen.calls, 'call')} of count_tokens to {answerer}, which cost nothing")
    with live_counter() as count:
        found = held_against(chosen, count, estimate)
    about = {
        "model": model,
        "scripts": [one.id for one in scripts],
        "token_counter": counter,
        "answered_by": answerer.value,
        "calls": chosen.calls,
    }
    if form == "json":
        say_json(about | _json(chosen, found))
    else:
        say(_table(found) + "\n\n" + "\n".join(_footer(about, chosen, found)))


def _table(found: Calibration) -> str:
    several = len(found.by_kind) > 1
    sums = [*(found.by_writing if several and len(found.by_writing) > 1 else ()), found.total]
    rows = [_row(one) for one in (*found.rows, *sums)]
    return Grid(_COLUMNS, rows, numeric=frozenset(_COLUMNS[2:])).plain()


def _row(one: CounterError) -> tuple[str, ...]:
    a_token = one.characters / one.counted if one.characters and one.counted else None
    return (
        one.kind or "all",
        one.writing or "all",
        str(one.texts),
        numbers.NOTHING if one.characters is None else f"{one.characters:,}",
        numbers.tokens(one.counted),
        numbers.tokens(one.estimated),
        numbers.NOT_AVAILABLE if one.relative is None else numbers.change(one.relative),
        numbers.NOTHING if a_token is None else f"{a_token:.1f}",
    )


def _footer(about: dict[str, Any], chosen: Plan, found: Calibration) -> Sequence[str]:
    lines = [
        f"Tokens of {about['model']} as {about['answered_by']} counts them, against {about['token_counter']}.",
        f"On these scripts the counter says {_in_words(found.total.relative)}.",
    ]
    if chosen.left_out:
        left = numbers.listing([f"{kind} in {writing}" for kind, writing in chosen.left_out])
        lines.append(f"Not counted, to keep the calls few: {left}.")
    return lines


def _in_words(relative: float | None) -> str:
    if relative is None:
        return "something, and the server counts nothing"
    if round(relative * 100) == 0:
        return "what the server says"
    return f"{numbers.percent(abs(relative))} {'more' if relative > 0 else 'less'} than the server"


def _json(chosen: Plan, found: Calibration) -> dict[str, Any]:
    return {
        "rows": [_entry(one) for one in found.rows],
        "by_kind": [_entry(one) for one in found.by_kind],
        "by_writing": [_entry(one) for one in found.by_writing],
        "total": _entry(found.total),
        "left_out": [{"kind": kind.value, "writing": writing} for kind, writing in chosen.left_out],
    }


def _entry(one: CounterError) -> dict[str, Any]:
    return {
        "kind": None if one.kind is None else one.kind.value,
        "writing": one.writing,
        "texts": one.texts,
        "characters": one.characters,
        "api_tokens": one.counted,
        "counter_tokens": one.estimated,
        "error": one.estimated - one.counted,
        "relative": None if one.relative is None else round(one.relative, 12),
    }

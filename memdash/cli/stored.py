"""``memdash show``, ``export`` and ``purge``: what is done with comparisons that are stored."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from memdash import report
from memdash.cli import bundles
from memdash.cli.against import shown_changes
from memdash.cli.conversations import conversation_options
from memdash.cli.database import database_option, find_comparison, opened
from memdash.cli.output import complain, say
from memdash.cli.showing import shown
from memdash.cli.table import FORMATS
from memdash.errors import InputError

if TYPE_CHECKING:
    from memdash.metrics.conversations import Traffic


@click.command()
@click.argument("comparison")
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="table",
    show_default=True,
    help="What is printed.",
)
@click.option(
    "--against",
    metavar="OTHER",
    help="Show what changed since another comparison instead: its id, the beginning of one, `last`, `baseline` (the one pinned "
    "in the library), or a file that --format json or `memdash export` wrote.",
)
@conversation_options
@database_option
def show(comparison: str, form: str, against: str | None, traffic: Traffic | None, db: Path | None) -> None:
    """Show a stored COMPARISON: its id, the beginning of just one id, or `last`."""
    if against is not None and traffic is not None:
        raise InputError(
            "--against tells what changed, not what your conversations cost; give one of the two"
        )
    with opened(db) as store:
        found = find_comparison(store, comparison)
        if against is not None:
            say(shown_changes(store, found, against, form))
            return
        text = shown(store, found, form, traffic)
    say(text)


@click.command()
@click.argument("comparison")
@click.option(
    "--to",
    "path",
    required=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Where to write: FILE.html (a report that opens anywhere), FILE.md (for a pull request), FILE.json (everything), "
    "FILE.csv or FILE.parquet (one row a turn), FILE.zip (a bundle that `memdash import` reads). An older file is replaced.",
)
@click.option(
    "--redact",
    is_flag=True,
    help="Leave out all conversation text: questions, answers, messages, summaries, titles, names of scripts and facts.",
)
@database_option
def export(comparison: str, path: Path, redact: bool, db: Path | None) -> None:
    """Write a stored COMPARISON to a file: its id, the beginning of just one id, `last`, or `all` for a bundle of every one."""
    if path.suffix.lower() == bundles.ENDING:
        if redact:
            raise InputError("a bundle holds everything; to leave out conversation text, write another file")
        bundles.export_bundle(comparison, path, db)
        complain(f"wrote {path}")
        return
    if comparison == bundles.ALL:
        raise InputError(f"all comparisons go into a bundle: write to a file that ends in {bundles.ENDING}")
    ending = report.ending_of(path)
    with opened(db) as store:
        content = report.made(store, find_comparison(store, comparison), ending, redact=redact)
    report.write(content, path)
    complain(f"wrote {path}")


@click.command()
@click.option("--yes", is_flag=True, help="Do not ask.")
@database_option
def purge(yes: bool, db: Path | None) -> None:
    """Erase for good what was deleted, and its texts: the file is written anew without them."""
    with opened(db) as store:
        if not yes and not _agreed():
            say("nothing was erased")
            return
        store.purge()
    say("erased what was deleted")


def _agreed() -> bool:
    """Ask whoever sits at the terminal."""
    if sys.stdin is None or not sys.stdin.isatty():
        raise InputError("purge asks before it erases, and nobody is there to answer; add --yes")
    return click.confirm("Erase deleted comparisons and their texts for good?", err=True)

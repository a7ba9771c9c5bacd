"""``memdash import``, and bundles written by ``memdash export``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from memdash import numbers, report
from memdash.cli.database import database_option, find_comparison, opened, opened_to_add
from memdash.cli.output import complain, say
from memdash.errors import InputError
from memdash.tables.lines import one_line

if TYPE_CHECKING:
    from memdash.store import Arrived

ENDING: Final = ".zip"
ALL: Final = "all"
"""In place of a comparison: every one in the database."""

_SAID: Final = {"new": "imported", "more": "added to", "known": "here already"}


@click.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@database_option
def import_bundle(file: Path, db: Path | None) -> None:
    """Take in the comparisons of a bundle, FILE.zip, that `memdash export` wrote here or elsewhere.

    What is here already is not stored again, so importing twice changes nothing. A damaged bundle is refused before anything is
    stored.
    """
    try:
        content = file.open("rb")
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror or error}") from None
    with content, opened_to_add(db) as store:
        arrived = store.import_bundle(content, file.name)
    for one in arrived:
        say(f"{_SAID[one.arrival]}: {one.id}  {one_line(one.title)}".rstrip())
    complain(_summary(arrived))


def _summary(arrived: tuple[Arrived, ...]) -> str:
    counts = {said: sum(_SAID[one.arrival] == said for one in arrived) for said in _SAID.values()}
    told = ", ".join(f"{count} {said}" for said, count in counts.items() if count)
    return f"{numbers.count(len(arrived), 'comparison')} in the bundle: {told}"


def export_bundle(comparison: str, path: Path, db: Path | None) -> None:
    """Write one comparison, or all of them, to ``path`` as a bundle."""
    with opened(db) as store:
        ids = None if comparison == ALL else [find_comparison(store, comparison)]
        with report.replacing(path) as file:
            store.export_bundle(file, ids)

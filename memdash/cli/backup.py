"""``memdash backup``: the whole database in another file, also while the dashboard is running."""

from __future__ import annotations

from pathlib import Path

import click

from memdash.cli.database import database_option, opened
from memdash.cli.output import complain
from memdash.errors import InputError


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@database_option
def backup(file: Path, db: Path | None) -> None:
    """Copy the whole database to FILE as it is at this moment, also while the dashboard runs. An older FILE is replaced."""
    from memdash.store import database_path

    target = file.resolve()
    if target == (db or database_path()).resolve():
        raise InputError(f"{file}: is the database itself; name another file")
    with opened(db) as store:
        store.back_up(target)
    complain(f"wrote {file}")

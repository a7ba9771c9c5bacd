"""The database a command works with: ``--db``, else ``MEMDASH_DB``, else the default."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from memdash.cli.output import complain
from memdash.errors import InputError, StoreError

if TYPE_CHECKING:
    from memdash.store.protocol import AnyStore

F = TypeVar("F", bound=Callable[..., Any])

LAST = "last"
"""The name of the newest comparison, whatever its id."""


def database_option(command: F) -> F:
    """Add ``--db`` to a command."""
    return click.option(
        "--db",
        type=click.Path(path_type=Path),
        help="The database file.  [default: MEMDASH_DB, else data/memdash.duckdb]",
    )(command)


@contextmanager
def opened(db: Path | None) -> Iterator[AnyStore]:
    """Open the database for a command that reads what is there; raises :class:`StoreError` where it cannot be used."""
    from memdash.store import InboxStore, database_path

    path = db or database_path()
    if not path.exists():
        raise StoreError(f"{path}: there is no such database; `memdash run` makes one, --db names another")
    with closing(_open(path)) as store:
        if isinstance(store, InboxStore):
            raise StoreError(f"{path}: another command keeps this database open; try again when it has ended")
        yield store


@contextmanager
def opened_to_add(db: Path | None) -> Iterator[AnyStore]:
    """Open the database, or make it, for a command that adds to it, whoever else has it open."""
    from memdash.store import InboxStore, database_path

    path = db or database_path()
    with closing(_open(path)) as store:
        yield store
    if isinstance(store, InboxStore):
        complain(
            f"{path} is kept open by another command: the result lies in {path}.inbox/ until the next one takes it in"
        )


def _open(path: Path) -> AnyStore:
    from memdash.store import open_for_command

    return open_for_command(path)


def find_comparison(store: AnyStore, name: str) -> str:
    """Return the id that ``name`` stands for: an id, the beginning of just one, or ``last``.

    Raises :class:`InputError` where it stands for none or for several.
    """
    known = [one.id for one in store.comparisons()]
    if not known:
        raise InputError("there is no comparison in the database yet; `memdash run` makes one")
    if name == LAST:
        return known[0]
    if name in known:
        return name
    found = [one for one in known if name and one.startswith(name)]
    if len(found) == 1:
        return found[0]
    if found:
        raise InputError(
            f"{name!r} begins several ids: {', '.join(found[:5])}{', …' if len(found) > 5 else ''}"
        )
    newest = ", ".join(known[:3])
    raise InputError(
        f"there is no comparison {name!r}; the newest are {newest}, and `{LAST}` is the first of them"
    )

"""``memdash scripts``: list, read, validate and import scripts."""

from __future__ import annotations

from pathlib import Path

import click

from memdash import numbers
from memdash.cli.exits import OK, WRONG_USAGE
from memdash.cli.group import Group
from memdash.cli.output import complain, say
from memdash.errors import InputError
from memdash.scripts.model import Script
from memdash.tables.grid import Grid
from memdash.tables.lines import one_line

_MOST_WARNED = 5


@click.group(cls=Group)
def scripts() -> None:
    """List, read, validate and import scripted conversations."""


@scripts.command("list")
def list_() -> None:
    """List the bundled scripts and those in the folders of MEMDASH_SCRIPTS."""
    from memdash.scripts import list_scripts

    entries = list_scripts()
    rows = [
        (entry.id, str(len(one.turns)), str(len(one.facts)), "yes" if one.tools else "", one.title)
        for entry in entries
        if (one := entry.script) is not None
    ]
    columns = ("id", "turns", "facts", "tools", "title")
    say(Grid(columns, rows, numeric=frozenset({"turns", "facts"})).plain())
    for entry in entries:
        if entry.error is not None:
            complain(f"cannot be used: {one_line(str(entry.error))}")


@scripts.command()
@click.argument("script", metavar="ID_OR_FILE")
def show(script: str) -> None:
    """Print a script as YAML: with its facts and questions, and in a form to edit a copy of."""
    from memdash.scripts import find_scripts, to_yaml

    found = find_scripts(script)
    if len(found) > 1:
        raise InputError(
            f"{script}: holds {len(found)} conversations; `memdash scripts import` makes a script of each"
        )
    say(to_yaml(found[0]))
    _warn(found[0], script)


@scripts.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE...")
def validate(files: tuple[Path, ...]) -> int:
    """Check script files; every problem is one line with file, line and field.

    A recorded conversation, as `memdash run --script` takes it, is checked by making scripts of it.
    """
    from memdash.scripts import check_file

    wrong = False
    for path in files:
        found, errors = check_file(path)
        for error in errors:
            complain(one_line(str(error)))
        wrong = wrong or bool(errors)
        for script in found:
            told = f"{numbers.count(len(script.turns), 'turn')}, {numbers.count(len(script.facts), 'fact')}"
            say(f"{path}: valid: {script.id}, {told}")
            _warn(script, str(path))
    return WRONG_USAGE if wrong else OK


@scripts.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--from", "form", metavar="FORMAT", help="Format of the file.  [default: told by looking at it]"
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the script here; several go to NAME-1, NAME-2, …  [default: standard output]",
)
def import_(file: Path, form: str | None, out: Path | None) -> None:
    """Make scripts of a recorded conversation: Messages API JSON, OpenAI chat JSON or JSONL."""
    from memdash.scripts import import_file, to_yaml

    found = import_file(file, form)
    if out is None:
        if len(found) > 1:
            raise InputError(
                f"{file}: holds {len(found)} conversations; say where to write them with --out FILE.yaml"
            )
        say(to_yaml(found[0]))
        _warn(found[0], str(file))
        return
    places = (
        [out]
        if len(found) == 1
        else [out.with_stem(f"{out.stem}-{index}") for index in range(1, len(found) + 1)]
    )
    for place in places:
        if place.exists():
            raise InputError(f"{place}: exists already; choose another --out or remove it first")
    for script, place in zip(found, places, strict=True):
        try:
            place.write_text(to_yaml(script), encoding="utf-8")
        except OSError as error:
            raise InputError(f"{place}: cannot be written: {error.strerror}") from None
        _warn(script, str(place))
    say(
        f"wrote {places[0]}"
        if len(places) == 1
        else f"wrote {len(places)} scripts, {places[0]} to {places[-1]}"
    )


def _warn_of_several(scripts: list[Script], places: list[Path]) -> None:
    """Say what was odd about the first few that had something; the rest is counted."""
    odd = [(script, place) for script, place in zip(scripts, places, strict=True) if script.warnings]
    for script, place in odd[:_MOST_WARNED]:
        _warn(script, str(place))
    if len(odd) > _MOST_WARNED:
        complain(f"… and {numbers.count(len(odd) - _MOST_WARNED, 'script')} more with warnings")


def _warn(script: Script, where: str) -> None:
    for warning in script.warnings:
        complain(f"{where}: warning: {one_line(warning)}")

"""Where scripts come from: the bundled folder, folders of the user's own, and any file."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from memdash.errors import InputError, ScriptError
from memdash.scripts.importers import import_file
from memdash.scripts.loading import check_script, load_script
from memdash.scripts.model import Script

FOLDERS_VARIABLE = "MEMDASH_SCRIPTS"
"""Environment variable with further script folders, parted as in ``PATH``."""
_ENDINGS = (".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class Entry:
    """A script file of a folder: its script, or the ``error`` that says why it cannot be used."""

    id: str
    path: Path
    bundled: bool
    script: Script | None = None
    error: ScriptError | None = None


def bundled_folder() -> Path:
    """Return the folder of the bundled scripts: inside the package in an installed wheel, beside it in a clone."""
    package = Path(__file__).resolve().parents[1]
    inside = package / "data" / "scripts"
    return inside if inside.is_dir() else package.parent / "data" / "scripts"


def script_folders() -> list[Path]:
    """Return the bundled folder and then those named by ``MEMDASH_SCRIPTS``, each once."""
    extra = [Path(name) for name in os.environ.get(FOLDERS_VARIABLE, "").split(os.pathsep) if name.strip()]
    return list(dict.fromkeys([bundled_folder(), *extra]))


def stamp_of_scripts() -> tuple[tuple[str, int, int], ...]:
    """Return what tells whether :func:`list_scripts` would find anything else: each file with its time and its size."""
    stamps = []
    for path in _script_files():
        try:
            found = path.stat()
        except OSError:
            continue  # it is gone, or it leads nowhere
        stamps.append((str(path), found.st_mtime_ns, found.st_size))
    return tuple(stamps)


def list_scripts() -> list[Entry]:
    """Return every script of every folder, in order of folder and name; one that is not valid is listed with its error."""
    entries: list[Entry] = []
    taken: dict[str, Path] = {}
    for path in _script_files():
        entry = _entry(path)
        if entry.id in taken and entry.script:
            error = ScriptError(f"the id {entry.id!r} is taken by {taken[entry.id]}", path=path, field="id")
            entry = Entry(entry.id, path, entry.bundled, error=error)
        elif entry.script:
            taken[entry.id] = path
        entries.append(entry)
    return entries


def find_scripts(id_or_path: str | Path) -> list[Script]:
    """Return what ``id_or_path`` names: the script of that id, else the scripts of that file.

    A YAML file is one script. Any other file is imported: one script with the file's stem as id, or for a list of conversations
    ``stem-1``, ``stem-2`` and so on.

    Raises:
        ScriptError: the script or the file is not valid.
        InputError: there is no such script and no such file.
    """
    name = str(id_or_path)
    found = _by_id(name)
    if found:
        return [found]
    path = Path(name)
    if path.suffix.lower() in _ENDINGS:
        return [load_script(path)]
    if name and "\0" not in name and path.exists():
        return import_file(path)
    if path.suffix or len(path.parts) > 1:
        raise ScriptError("there is no such file", path=path)
    near = difflib.get_close_matches(name, [entry.id for entry in list_scripts()], n=3)
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    raise InputError(
        f"there is no script {name!r}; {hint}'memdash scripts list' shows all, and a file can be given by its path"
    )


def check_file(path: Path) -> tuple[list[Script], list[ScriptError]]:
    """Return the scripts that ``path`` holds, or none and every problem found; a file may be what :func:`find_scripts` takes."""
    if path.suffix.lower() in _ENDINGS or not path.is_file():
        script, errors = check_script(path)
        return [script] if script is not None and not errors else [], errors
    try:
        return import_file(path), []
    except ScriptError as error:
        return [], [error]


def _by_id(name: str) -> Script | None:
    """Return the script with the id ``name``. A file named like it is read first, so that one script need not load all."""
    entries = (_entry(path) for path in sorted(_script_files(), key=lambda path: path.stem != name))
    entry = next((entry for entry in entries if entry.id == name), None)
    if entry is None:
        return None
    if entry.error:
        raise entry.error
    return entry.script


def _script_files() -> Iterator[Path]:
    for folder in script_folders():
        try:
            paths = sorted(folder.iterdir())
        except OSError:
            continue  # a folder that is not there has no scripts
        yield from (
            path for path in paths if path.suffix.lower() in _ENDINGS and not path.name.startswith(".")
        )


def _entry(path: Path) -> Entry:
    bundled = path.parent == bundled_folder()
    try:
        script = load_script(path)
    except ScriptError as error:
        return Entry(path.stem, path, bundled, error=error)
    return Entry(script.id, path, bundled, script=script)

"""Conversations in foreign formats -> scripts. One module reads one format; :data:`FORMATS` names them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from memdash.errors import InputError, ScriptError
from memdash.scripts.importers import anthropic_messages, openai_chat
from memdash.scripts.importers.building import build_script
from memdash.scripts.importers.conversation import Conversation, Document
from memdash.scripts.importers.detect import detect
from memdash.scripts.importers.json_files import parse_documents, read_documents
from memdash.scripts.model import Script
from memdash.scripts.problems import suggest

FORMATS: dict[str, Callable[[Sequence[Document]], list[Conversation]]] = {
    "anthropic": anthropic_messages.read,
    "openai": openai_chat.read,
}
"""The formats that can be imported, by the names that ``--from`` takes."""

_TITLES = {"anthropic": "Anthropic Messages", "openai": "OpenAI chat"}


def import_file(path: Path | str, format: str | None = None) -> list[Script]:
    """Return the conversations in ``path`` as valid scripts.

    ``format`` is a name of :data:`FORMATS`; without one the content is looked at. The id is the file's stem, ``stem-N`` for the
    N-th of several conversations. What was odd is in each script's warnings.

    Raises:
        ScriptError: the file cannot be read or is not in the format; the message names file, line and field.
        InputError: there is no such format.
    """
    _check_format(format)
    path = Path(path)
    if path.suffix.lower() in (".yaml", ".yml"):
        raise ScriptError("a YAML file is a script already; it needs no import", path=path)
    return _scripts(read_documents(path), path, format)


def import_text(text: str, name: str = "conversation.json", format: str | None = None) -> list[Script]:
    """As :func:`import_file`, for text that is not in a file, such as an upload called ``name``."""
    _check_format(format)
    return _scripts(parse_documents(text, name), Path(name), format)


def _check_format(format: str | None) -> None:
    if format is not None and format not in FORMATS:
        raise InputError(f"there is no conversation format {format!r}{suggest(format, FORMATS)}")


def _scripts(documents: list[Document], path: Path, format: str | None) -> list[Script]:
    chosen = format or detect(documents)
    if chosen is None:
        known = ", ".join(f"{title} ({name})" for name, title in _TITLES.items())
        raise ScriptError(f"no conversation in a known format was found in it; known are {known}", path=path)
    conversations = FORMATS[chosen](documents)
    if not conversations:
        raise ScriptError("there is no conversation in it", path=path)
    stem = re.sub(r"[^A-Za-z0-9_.-]+", "-", path.stem).strip("-._")[:70] or "conversation"
    several = len(conversations) > 1
    return [
        build_script(
            conversation,
            f"{stem}-{number}" if several else stem,
            f"Imported from {path.name} ({_TITLES[chosen]}{f', number {number}' if several else ''}).",
        )
        for number, conversation in enumerate(conversations, start=1)
    ]

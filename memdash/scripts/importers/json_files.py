"""Read JSON and JSON Lines from files that may hold anything."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from memdash.errors import ScriptError
from memdash.scripts.files import MAX_CONVERSATION_BYTES, MAX_DEPTH, read_text
from memdash.scripts.importers.conversation import Document, Origin

_TOO_DEEP = f"lists and objects are nested more than {MAX_DEPTH} deep"
_HALF_PAIR = re.compile(r"\\u[dD][89a-fA-F]")


def read_documents(path: Path | str) -> list[Document]:
    """Return the JSON documents in ``path``: one for a JSON file, one for each line that is not blank for JSON Lines.

    Raises:
        ScriptError: the file cannot be read, or is neither JSON nor JSON Lines.
    """
    path = Path(path)
    return parse_documents(read_text(path, MAX_CONVERSATION_BYTES), path)


def parse_documents(text: str, path: Path | str) -> list[Document]:
    """As :func:`read_documents`, for text that is not in a file."""
    if not text.strip():
        raise ScriptError("the file is empty", path=path)
    try:
        return [Document(loads(text), Origin(path))]
    except BadJson as error:
        lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
        # A first line that is JSON by itself makes the file JSON Lines; an error is then that of its own line.
        if len(lines) < 2 or not _is_json(lines[0][1]):
            raise ScriptError(f"not JSON: {error}", path=path, line=error.line) from None
    documents = []
    for number, line in lines:
        try:
            documents.append(Document(loads(line), Origin(path, number)))
        except BadJson as error:
            raise ScriptError(f"this line is not JSON: {error}", path=path, line=number) from None
    return documents


class BadJson(ValueError):
    """Raised when a text is not JSON that can be used; ``line`` is known for mistakes of syntax."""

    def __init__(self, problem: str, line: int | None = None) -> None:
        super().__init__(problem)
        self.line = line


def loads(text: str) -> Any:
    """Return the value of the JSON ``text``: numbers finite, nesting bounded, texts without halves of surrogate pairs.

    Raises:
        BadJson: it is not such JSON.
    """
    try:
        value = json.loads(text, parse_constant=_refuse_constant, parse_float=_finite)
    except json.JSONDecodeError as error:
        raise BadJson(f"{error.msg} (column {error.colno})", error.lineno) from None
    except RecursionError:
        raise BadJson(_TOO_DEEP) from None
    except ValueError as error:  # a number of thousands of digits, or one that is not finite
        raise BadJson(str(error).split(";")[0]) from None
    if _is_deep(value):
        raise BadJson(_TOO_DEEP)
    return _map_texts(value, _whole_characters) if _HALF_PAIR.search(text) else value


def _is_json(text: str) -> bool:
    try:
        loads(text)
    except BadJson:
        return False
    return True


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"the number {text[:40]} is too large")
    return value


def _is_deep(value: Any) -> bool:
    """Say whether ``value`` is nested more than ``MAX_DEPTH`` deep, level by level and so without recursion."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(MAX_DEPTH):
        if not level:
            return False
        parts = (outer.values() if isinstance(outer, dict) else outer for outer in level)
        level = [inner for part in parts for inner in part if isinstance(inner, dict | list)]
    return bool(level)


def _map_texts(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_map_texts(item, change) for item in value]
    if isinstance(value, dict):
        return {change(key): _map_texts(item, change) for key, item in value.items()}
    return value


def _whole_characters(text: str) -> str:
    """Replace each half of a surrogate pair, which no UTF-8 text can hold, by the replacement character."""
    return re.sub(r"[\ud800-\udfff]", "\ufffd", text)

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
    whole = _attempt(text)
    if not isinstance(whole, _Failure):
        return [_document(whole, Origin(path))]
    lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    # A first line that is JSON by itself makes the file JSON Lines; an error is then that of its own line.
    if len(lines) < 2 or isinstance(_attempt(lines[0][1]), _Failure):
        raise ScriptError(f"not JSON: {whole.problem}", path=path, line=whole.line)
    documents = []
    for number, line in lines:
        value = _attempt(line)
        if isinstance(value, _Failure):
            raise ScriptError(f"this line is not JSON: {value.problem}", path=path, line=number)
        documents.append(_document(value, Origin(path, number)))
    return documents


class _Failure:
    """Why a text is not JSON, and in which line."""

    def __init__(self, problem: str, line: int | None) -> None:
        self.problem = problem
        self.line = line


def _attempt(text: str) -> Any:
    """Return the value of the JSON ``text``, or a :class:`_Failure`."""
    try:
        value = json.loads(text, parse_constant=_refuse_constant, parse_float=_finite)
    except json.JSONDecodeError as error:
        return _Failure(f"{error.msg} (column {error.colno})", error.lineno)
    except RecursionError:
        return _Failure(f"it is nested more than {MAX_DEPTH} deep", None)
    except ValueError as error:  # a number of thousands of digits, or one that is not finite
        return _Failure(str(error).split(";")[0], None)
    if _HALF_PAIR.search(text):
        value = _map_texts(value, _whole_characters)
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"the number {text[:40]} is too large")
    return value


def _document(value: Any, origin: Origin) -> Document:
    if _is_deep(value):
        raise origin.error(f"it is nested more than {MAX_DEPTH} deep")
    return Document(value, origin)


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

"""What a request shows: every sentence the model can read, in order, with who said it."""

from __future__ import annotations

import json
import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from threading import Lock
from typing import Any, Final, Generic, NamedTuple, TypeVar

from memdash.simulator.pretend.units import units

Request = Mapping[str, Any]
K = TypeVar("K")
V = TypeVar("V")


class Speaker(Enum):
    """Who a text is from."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class Passage(NamedTuple):
    """One text in the request. ``message`` is its message's index, -1 for the system prompt; ``about`` what it is an answer to."""

    speaker: Speaker
    message: int
    text: str
    about: str = ""


class Sentence(NamedTuple):
    """One sentence or line, what it means, and what the lines it belongs to mean (a heading, the fields beside it)."""

    text: str
    units: frozenset[str]
    heading: frozenset[str]


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence in its place. Later places are newer. ``call`` is the tool call it is a result of, ``about`` that call's units.

    ``reach`` are the units of the sentence and of what lends it meaning: its heading and, but in a tool result, its neighbours.
    """

    speaker: Speaker
    message: int
    index: int
    sentence: Sentence
    about: frozenset[str]
    call: str
    before: Sentence | None
    after: Sentence | None
    reach: frozenset[str]

    @property
    def place(self) -> tuple[int, int]:
        """Where it stands; compares by age, the newest last."""
        return (self.message, self.index)

    @property
    def text(self) -> str:
        """Its words."""
        return self.sentence.text


# -- sentences -----------------------------------------------------------------------------------------------------------

_BOUNDARY: Final = re.compile(r"(?<=[.!?…])[\"”’')\]]*\s+(?=[\"“‘'(\[]?[A-ZÀ-Þ0-9¿¡-])")
_ABBREVIATION: Final = re.compile(
    r"(?:\b(?:e\.g|i\.e|mr|mrs|ms|dr|prof|st|no|nr|vs|approx|etc|a\.m|p\.m|incl|fig|tel|jan|feb|aug|sept|oct|nov|dec)\.|\b[A-Z]\.)$",
    re.I,
)
_BULLET: Final = re.compile(r"^\s*(?:[-*•–]|\(?\d{1,3}[.)]|#{1,6})\s+")
_SECTION: Final = re.compile(r"^\s*\[[^\]]{1,60}\]\s*$")
"""A section's head in a settings file."""
_LONGEST: Final = 2_000


def split(text: str) -> list[str]:
    """Split ``text`` into sentences: at line ends, and within a line after a full stop."""
    found: list[str] = []
    for line in text.splitlines():
        rest = _BULLET.sub("", line).strip()
        if not rest:
            continue
        start = 0
        for boundary in _BOUNDARY.finditer(rest):
            if not _ABBREVIATION.search(rest[start : boundary.start()]):
                found.append(rest[start : boundary.start()] + boundary.group().rstrip())
                start = boundary.end()
        found.append(rest[start:])
    return [piece[at : at + _LONGEST] for piece in found for at in range(0, max(len(piece), 1), _LONGEST)]


class _Shelf(Generic[K, V]):
    """What ``read`` made of things before, up to ``limit`` characters of them as ``size`` counts; the least recently used goes first."""

    def __init__(self, read: Callable[[K], V], size: Callable[[K], int], limit: int) -> None:
        self._read = read
        self._measure = size
        self._limit = limit
        self._size = 0
        self._known: OrderedDict[K, V] = OrderedDict()
        self._lock = Lock()

    def get(self, key: K) -> V:
        with self._lock:
            known = self._known.get(key)
            if known is not None:
                self._known.move_to_end(key)
                return known
        read = self._read(key)
        with self._lock:
            if key not in self._known:
                self._known[key] = read
                self._size += self._measure(key)
                while self._size > self._limit and len(self._known) > 1:
                    self._size -= self._measure(self._known.popitem(last=False)[0])
        return read


def sentences(text: str) -> tuple[Sentence, ...]:
    """Return the sentences of ``text``; each distinct text is read once."""
    return _sentences.get(text)


def _read(text: str) -> Iterator[Sentence]:
    if text.lstrip()[:1] in ("{", "["):
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            pass
        else:
            yield from _fields(data, (), frozenset())
            return
    heading: frozenset[str] = frozenset()
    for line in text.splitlines():
        if line.rstrip().endswith(":") or line.startswith("#") or _SECTION.match(line):
            heading = units(line)
        elif not line.strip():
            heading = frozenset()
        for one in split(line):
            yield Sentence(one, units(one), heading)


_sentences = _Shelf[str, tuple[Sentence, ...]](lambda text: tuple(_read(text)), len, limit=6_000_000)


def _fields(data: Any, path: tuple[str, ...], beside: frozenset[str], depth: int = 0) -> Iterator[Sentence]:
    """Yield one line for each value in a JSON document, named by its path."""
    if depth > 40:
        return
    if isinstance(data, Mapping):
        here = beside | units(
            " ".join(f"{key} {value}" for key, value in data.items() if not isinstance(value, Mapping | list))
        )
        for key, value in data.items():
            yield from _fields(value, (*path, str(key)), here, depth + 1)
    elif isinstance(data, list):
        if data and all(isinstance(item, str | int | float) for item in data):
            yield from _fields(", ".join(str(item) for item in data), path, beside, depth + 1)
            return
        for item in data:
            yield from _fields(item, path, beside, depth + 1)
    else:
        value = json.dumps(data) if data is None or isinstance(data, bool) else str(data)
        name = ".".join(path)
        for one in split(value) if isinstance(data, str) else [value]:
            line = f"{name}: {one}" if name else one
            yield Sentence(line, units(line), beside)


# -- requests ------------------------------------------------------------------------------------------------------------


def system_text(request: Request) -> str:
    """Return the system prompt as one text."""
    return "\n".join(_texts(request.get("system")))


def messages(request: Request) -> Sequence[Mapping[str, Any]]:
    """Return the messages the model sees: what stands before the last compaction block is closed."""
    given: Sequence[Mapping[str, Any]] = request.get("messages") or ()
    for index in range(len(given) - 1, -1, -1):
        content = given[index]["content"]
        if isinstance(content, str):
            continue
        for at in range(len(content) - 1, -1, -1):
            if content[at].get("type") == "compaction" and content[at].get("content"):
                return [{**given[index], "content": content[at:]}, *given[index + 1 :]]
    return given


def has_tool_result(message: Mapping[str, Any]) -> bool:
    """Whether a message brings the result of a tool call."""
    return any(block.get("type") == "tool_result" for block in _blocks(message.get("content")))


def message_texts(message: Mapping[str, Any]) -> list[str]:
    """Return the texts a message says itself, without tool results."""
    return list(_texts(message.get("content")))


def last_user_text(given: Sequence[Mapping[str, Any]]) -> tuple[int, str]:
    """Return the index and text of what the user said last; tool results that came since do not count. (-1, "") if nothing."""
    for index in range(len(given) - 1, -1, -1):
        if given[index].get("role") == "user":
            texts = [text for text in message_texts(given[index]) if text.strip()]
            if texts:
                return index, texts[-1]
    return -1, ""


def passages(request: Request) -> list[Passage]:
    """Return every text the request shows, oldest first; the system prompt is the oldest."""
    found = [Passage(Speaker.SYSTEM, -1, text) for text in _texts(request.get("system"))]
    calls: dict[str, str] = {}
    for index, message in enumerate(messages(request)):
        role = message.get("role")
        speaker = {"assistant": Speaker.ASSISTANT, "system": Speaker.SYSTEM}.get(str(role), Speaker.USER)
        for block in _blocks(message.get("content")):
            kind = block.get("type")
            if kind == "tool_use":
                about = f"{block.get('name', '')} {json.dumps(block.get('input') or {}, ensure_ascii=False, default=str)}"
                calls[str(block.get("id"))] = about
            elif kind == "tool_result":
                about = calls.get(str(block.get("tool_use_id")), "")
                found.extend(
                    Passage(Speaker.TOOL, index, text, about) for text in _texts(block.get("content"))
                )
            else:
                # A summary is told by nobody in particular; like one that a client puts into the conversation it
                # counts as the user's.
                told_by = Speaker.USER if kind == "compaction" else speaker
                found.extend(Passage(told_by, index, text) for text in _texts([block]))
    return found


def statements(shown: Iterable[Passage]) -> list[Statement]:
    """Return the sentences of ``shown`` in order, each with its neighbours."""
    found: list[Statement] = []
    message, index = None, 0
    for passage in shown:
        index = index if passage.message == message else 0
        message = passage.message
        placed = _placed.get((passage, index))
        found += placed
        index += len(placed)
    return found


def _place(passage: Passage, first: int) -> Iterator[Statement]:
    """Yield the sentences of one passage; ``first`` is the place of its first one in its message."""
    said = sentences(passage.text)
    about = units(passage.about) if passage.about else frozenset()
    for at, sentence in enumerate(said):
        before = said[at - 1] if at else None
        after = said[at + 1] if at + 1 < len(said) else None
        reach = sentence.units | sentence.heading
        if passage.speaker is not Speaker.TOOL:
            reach = reach.union(*(other.units for other in (before, after) if other is not None))
        yield Statement(
            passage.speaker, passage.message, first + at, sentence, about, passage.about, before, after, reach
        )


_placed = _Shelf[tuple[Passage, int], tuple[Statement, ...]](
    lambda key: tuple(_place(*key)), lambda key: len(key[0].text), limit=300_000
)
"""Statements by passage and place: the probes of a conversation show the same ones over and over."""


def _blocks(content: Any) -> Sequence[Mapping[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content or ()


def _texts(content: Any) -> Iterator[str]:
    for block in _blocks(content):
        kind = block.get("type")
        if kind == "text" and isinstance(block.get("text"), str):
            yield block["text"]
        elif kind == "compaction" and isinstance(block.get("content"), str):
            yield block["content"]
        elif kind == "document" and isinstance(source := block.get("source"), Mapping):
            if isinstance(source.get("data"), str) and source.get("type") == "text":
                yield source["data"]
            else:
                yield from _texts(source.get("content"))
        elif kind == "search_result":
            yield from _texts(block.get("content"))

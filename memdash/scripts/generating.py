"""Long tool results from a seed: plausible, varied, and the same on every machine.

The text is that of an archive that moves its holdings to new storage: what its movers log, what its database, its disks
and its job list say. It depends on the recipe alone. Only ``random()`` is drawn from Python's generator, whose sequence is
promised to stay the same from release to release; the convenience methods are not.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from random import Random
from typing import TypeVar

from memdash.scripts.limits import (
    MAX_ALL_GENERATED_LINES,
    MAX_GENERATED_LINES,
    MAX_INCLUDED,
    MAX_INCLUDED_LINE,
    MAX_SEED,
)
from memdash.scripts.model import Material, Recipe, ToolCall, Turn
from memdash.scripts.problems import Place, Problem, brief

T = TypeVar("T")

_HOSTS = ("mover-1", "mover-2", "mover-3", "mover-4", "gate-a", "gate-b", "tape-1", "tape-2")
_COLLECTIONS = (
    *("herbarium", "sea-charts", "glass-plates", "field-diaries", "town-plans", "oral-history", "posters"),
    *("bird-calls", "ship-registers", "stage-designs", "letters", "coin-casts", "newsreels", "weather-logs"),
)
_WORDS = (
    *(
        "amber",
        "birch",
        "cinder",
        "dune",
        "elder",
        "fathom",
        "gorse",
        "harbour",
        "inlet",
        "juniper",
        "kiln",
        "lantern",
    ),
    *(
        "meadow",
        "nettle",
        "orchard",
        "pebble",
        "quarry",
        "reed",
        "sorrel",
        "thistle",
        "umber",
        "vale",
        "willow",
        "yarrow",
    ),
)
_ENDINGS = ("tif", "tif", "tif", "xml", "jp2", "wav", "pdf", "md5", "csv")
_CHECKERS = ("night run", "night run", "day run", "spot check", "by hand")
_STATES = ("moved", "moved", "moved", "moved", "verified", "verified", "waiting", "copying")
_JOBS = ("copy", "copy", "verify", "verify", "thumbnail", "index", "fixity")
_NOTES = (
    *("nothing to report", "second attempt", "slow source disk", "done ahead of plan", "order of files kept"),
    *(
        "two sidecars without a picture",
        "names in Latin-1 converted",
        "empty folders left out",
        "rights not yet cleared",
    ),
)


class _Dice:
    """Draws that are the same in every Python release."""

    def __init__(self, seed: str) -> None:
        self._random = Random(seed).random

    def pick(self, values: Sequence[T]) -> T:
        return values[int(self._random() * len(values))]

    def number(self, low: int, high: int) -> int:
        """A whole number from ``low`` to ``high``."""
        return low + int(self._random() * (high - low + 1))

    def hex(self, digits: int) -> str:
        return f"{int(self._random() * 16**digits):0{digits}x}"

    def places(self, count: int, among: int) -> set[int]:
        """Different whole numbers from 0 to ``among`` - 1."""
        found: set[int] = set()
        while len(found) < count:
            found.add(self.number(0, among - 1))
        return found


def generate(recipe: Recipe) -> str:
    """Return the text that ``recipe`` stands for; the same recipe always gives the same text.

    In a log, an included line gets the time of its place before it; elsewhere it stands as it is.
    """
    dice = _Dice(f"{recipe.kind} {recipe.seed}")
    match recipe.kind:
        case Material.LOG:
            return "\n".join(_timed(_mixed(recipe, dice, _event(dice)), dice))
        case Material.TABLE:
            head = "batch    | collection     |  files | size in GB | state     | checked     | shelf"
            return "\n".join([head, "-" * len(head), *_mixed(recipe, dice, _rows(dice))])
        case Material.LISTING:
            return "\n".join(_mixed(recipe, dice, _files(dice)))
        case Material.JSON:
            return "[\n" + ",\n".join(_mixed(recipe, dice, _objects(dice))) + "\n]"


def _mixed(recipe: Recipe, dice: _Dice, filler: Iterator[str]) -> Iterator[str]:
    """Yield the body's lines: the included ones at their places, and filler elsewhere."""
    places = dice.places(len(recipe.include), recipe.lines)
    included = iter(recipe.include)
    for place in range(recipe.lines):
        yield next(included) if place in places else next(filler)


def _timed(lines: Iterable[str], dice: _Dice) -> Iterator[str]:
    now = dice.number(0, 20 * 3600) * 1000
    for line in lines:
        now = (now + dice.number(90, 7400)) % 86_400_000
        seconds, milliseconds = divmod(now, 1000)
        minutes, seconds = divmod(seconds, 60)
        yield f"{minutes // 60:02}:{minutes % 60:02}:{seconds:02}.{milliseconds:03} {line}"


def _event(dice: _Dice) -> Iterator[str]:
    while True:
        level, part, text = dice.pick(_EVENTS)
        yield f"{level:<5} {dice.pick(_HOSTS):<7} {part:<6} {text(dice)}"


def _volume(dice: _Dice) -> str:
    return f"vol-{dice.number(11, 96)}"


def _path(dice: _Dice) -> str:
    name = f"{dice.pick(_WORDS)}-{dice.number(1, 9999):04}.{dice.pick(_ENDINGS)}"
    return f"/{_volume(dice)}/{dice.pick(_COLLECTIONS)}/{dice.pick(_WORDS)}/{name}"


_Event = tuple[str, str, Callable[[_Dice], str]]
_COPIED: _Event = ("INFO", "copy", lambda dice: f"{_path(dice)} copied in {dice.number(40, 5200)} ms")
_AGREED: _Event = ("INFO", "verify", lambda dice: f"{_path(dice)} sum {dice.hex(8)} agrees")
_EVENTS: tuple[_Event, ...] = (
    _COPIED,
    _COPIED,
    _AGREED,
    _AGREED,
    (
        "INFO",
        "batch",
        lambda dice: (
            f"batch b{dice.hex(5)} of {dice.pick(_COLLECTIONS)} closed with {dice.number(12, 960)} files"
        ),
    ),
    ("DEBUG", "queue", lambda dice: f"{dice.number(2, 480)} waiting, oldest for {dice.number(3, 190)} s"),
    ("DEBUG", "net", lambda dice: f"window of {dice.pick(_HOSTS)} set to {dice.number(64, 2048)} kB"),
    ("DEBUG", "index", lambda dice: f"{dice.number(30, 900)} entries of {dice.pick(_COLLECTIONS)} written"),
    ("WARN", "copy", lambda dice: f"{_path(dice)} read at {dice.number(2, 19)} MB/s, slower than usual"),
    ("WARN", "queue", lambda dice: f"{_volume(dice)} busy, next try in {dice.number(5, 90)} s"),
    ("INFO", "thumb", lambda dice: f"{dice.number(8, 240)} previews of {dice.pick(_COLLECTIONS)} made"),
    ("INFO", "audit", lambda dice: f"report {dice.hex(6)} signed and put away"),
)
"""What the movers log: level, part of the program and text."""


def _rows(dice: _Dice) -> Iterator[str]:
    while True:
        size = f"{dice.number(0, 899)}.{dice.number(0, 9)}"
        yield (
            f"b{dice.hex(5)}   | {dice.pick(_COLLECTIONS):<14} | {dice.number(3, 99_999):>6} | {size:>10} | "
            f"{dice.pick(_STATES):<9} | {dice.pick(_CHECKERS):<11} | {dice.pick('ABCDEFGH')}{dice.number(10, 99)}"
        )


def _files(dice: _Dice) -> Iterator[str]:
    while True:
        day = f"2019-{dice.number(1, 12):02}-{dice.number(1, 28):02}"
        time = f"{dice.number(0, 23):02}:{dice.number(0, 59):02}"
        yield f"{dice.number(900, 98_999_999):>11}  {day} {time}  {_path(dice)}"


def _objects(dice: _Dice) -> Iterator[str]:
    while True:
        yield json.dumps(
            {
                "job": f"j-{dice.hex(6)}",
                "kind": dice.pick(_JOBS),
                "collection": dice.pick(_COLLECTIONS),
                "volume": _volume(dice),
                "state": dice.pick(_STATES),
                "files": dice.number(1, 4800),
                "seconds": dice.number(1, 3900),
                "note": dice.pick(_NOTES),
            }
        )


# -- in a script ----------------------------------------------------------------------------------------------------------


def expanded(turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """Return ``turns`` with the result of every call that has a recipe."""
    return tuple(_expanded_turn(turn) for turn in turns)


def _expanded_turn(turn: Turn) -> Turn:
    if not any(call.generated for call in _calls(turn)):
        return turn
    steps = (
        dataclasses.replace(step, calls=tuple(_expanded_call(call) for call in step.calls))
        for step in turn.steps
    )
    return dataclasses.replace(turn, steps=tuple(steps))


def _expanded_call(call: ToolCall) -> ToolCall:
    return dataclasses.replace(call, result=generate(call.generated)) if call.generated else call


def filler_of(call: ToolCall) -> str:
    """Return what the generator made up in the result of ``call``: all of it but the included lines."""
    if call.generated is None:
        return ""
    include = call.generated.include
    return "\n".join(line for line in call.result.split("\n") if not any(known in line for known in include))


def recipe_problems(recipe: Recipe, place: Place) -> Iterator[Problem]:
    """Yield what is wrong with ``recipe``, which stands at ``place``."""
    if not 1 <= recipe.lines <= MAX_GENERATED_LINES:
        yield Problem((*place, "lines"), f"must be from 1 to {MAX_GENERATED_LINES:,}, not {recipe.lines:,}")
    if not 0 <= recipe.seed <= MAX_SEED:
        yield Problem((*place, "seed"), f"must be from 0 to {MAX_SEED:,}, not {recipe.seed:,}")
    if len(recipe.include) > MAX_INCLUDED:
        yield Problem(
            (*place, "include"),
            f"there are {len(recipe.include):,} lines; at most {MAX_INCLUDED} are accepted",
        )
    elif len(recipe.include) > recipe.lines:
        yield Problem(
            (*place, "include"), f"{len(recipe.include)} lines do not fit into a result of {recipe.lines}"
        )
    for index, line in enumerate(recipe.include[:MAX_INCLUDED]):
        problem = _line_problem(line, recipe.kind)
        if problem:
            yield Problem((*place, "include", index), problem)


def _line_problem(line: str, kind: Material) -> str | None:
    if not line.strip():
        return "is empty"
    if len(line.splitlines()) > 1 or line != line.strip("\r\n"):
        return "is more than one line; give each line by itself"
    if len(line) > MAX_INCLUDED_LINE:
        return f"has {len(line):,} characters; at most {MAX_INCLUDED_LINE} are accepted"
    if kind is Material.JSON and not _is_object(line):
        return f"is no JSON object, and the result is to be JSON: {brief(line)}"
    return None


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def size_problems(turns: Sequence[Turn]) -> Iterator[Problem]:
    """Yield a problem if the generated results of a script are too long together."""
    total = sum(call.generated.lines for turn in turns for call in _calls(turn) if call.generated)
    if total > MAX_ALL_GENERATED_LINES:
        most = f"at most {MAX_ALL_GENERATED_LINES:,} are accepted"
        yield Problem(("turns",), f"the generated results have {total:,} lines together; {most}")


def _calls(turn: Turn) -> Iterator[ToolCall]:
    for step in turn.steps:
        yield from step.calls

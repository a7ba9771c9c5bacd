"""Fact survival: one row a fact, from the turn that states it to the end, with the questions asked about it on its line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memdash import numbers
from memdash.charts.canvas import Sheet
from memdash.charts.text import escape, shorten, tell
from memdash.inspection.events import NAMES
from memdash.inspection.survival import Change, FactLine, Whereabouts
from memdash.metrics import ProbeResult
from memdash.palette import AMBER, BLUE, GREEN, TEAL, VERMILION, Hue, Theme

if TYPE_CHECKING:
    import plotly.graph_objects as go

MAX_CHANGES: Final = 2_000
"""Stretches drawn in one chart; of more, the first facts are drawn and the chart says so."""
_ROW: Final = 26
"""Pixels for each fact."""


class _Look(NamedTuple):
    words: str
    hue: Hue
    pattern: str


LOOKS: Final[Mapping[Whereabouts, _Look]] = {
    Whereabouts.VERBATIM: _Look("word for word", BLUE, ""),
    Whereabouts.SUMMARY: _Look("only in a summary", TEAL, "/"),
    Whereabouts.REPEATED: _Look("only said again elsewhere", GREEN, "."),
    Whereabouts.STALE: _Look("only an outdated value", AMBER, "x"),
    Whereabouts.GONE: _Look("gone", VERMILION, ""),
}
"""How each is called and drawn; gone is an outline without a filling."""

_ANSWERS: Final[Mapping[str, tuple[str, Hue]]] = {
    "right": ("circle", GREEN),
    "outdated answer": ("diamond", AMBER),
    "wrong": ("x", VERMILION),
    "not a test": ("circle-open", BLUE),
}


class _Stretch(NamedTuple):
    """A fact at one place from a turn on, up to and not including ``until``."""

    row: int
    line: FactLine
    change: Change
    until: int


def title(lines: Sequence[FactLine]) -> str:
    """Say how many facts are still there, and how many of them only in a summary."""
    if not lines:
        return "Fact survival: no fact is stated in the turns that were played"
    there = [line for line in lines if line.now.there]
    told = [
        f"Fact survival: {numbers.part(len(there), len(lines))} facts can still be read after turn {_last(lines)}"
    ]
    summary = sum(line.now is Whereabouts.SUMMARY for line in lines)
    if summary:
        told.append(f"{summary} of them only in a summary")
    stale = sum(line.now is Whereabouts.STALE for line in lines)
    if stale:
        told.append(f"{stale} only with an outdated value")
    return ", ".join(told)


def fact_survival(lines: Sequence[FactLine], theme: Theme, turn: int | None = None) -> go.Figure:
    """Draw the facts; ``turn`` is the one that is open. What can be clicked carries its turn as ``customdata``."""
    rows = _shown(lines)
    stretches = list(_stretches(rows))
    used = [one for one in Whereabouts if any(part.change.now is one for part in stretches)]
    answers = [
        one for one in _ANSWERS if any(_answer(probe) == one for line in rows for probe in line.probes)
    ]
    notes = [f"the first {len(rows):,} of {len(lines):,} facts"] if len(rows) < len(lines) else []
    sheet = Sheet(
        title(lines),
        theme,
        notes=notes,
        legend=[*(LOOKS[one].words for one in used), *answers],
        height=130 + _ROW * max(len(rows), 3),
    )
    if not rows:
        sheet.say_empty("The script plants no facts in the turns that were played")
        return sheet.figure()
    for one in used:
        sheet.traces.append(_bars(one, [part for part in stretches if part.change.now is one], sheet))
    for answer in answers:
        sheet.traces.append(_probes(answer, rows, sheet))
    sheet.row_axis([line.fact.id for line in rows])
    last = _last(rows)
    sheet.label(sheet.x, "turn")
    sheet.x.update(tickformat="d", zeroline=False, ticks="outside", ticklen=4)
    sheet.x["range"] = [0.5, max(last, 8) + 1.6] if last <= 40 else [1 - last * 0.01, last * 1.02]
    sheet.layout.update(hovermode="closest", barmode="overlay", clickmode="event+select", dragmode=False)
    if turn is not None:
        sheet.mark_turn(turn)
    return sheet.figure()


def alt(lines: Sequence[FactLine]) -> str:
    """Tell the chart in words."""
    return tell("Timeline", title(lines), [f"{line.fact.id}: {path_in_words(line)}" for line in lines[:40]])


def path_in_words(line: FactLine) -> str:
    """Tell what became of a fact, one change after the other, each with what caused it."""
    return "; ".join(change_in_words(change, line.through) for change in line.changes)


def change_in_words(change: Change, through: int) -> str:
    """Tell one change: where the fact is from then on, from which turn, and what caused it."""
    when = f"from turn {change.turn}" if change.turn <= through else f"after turn {through}"
    return f"{LOOKS[change.now].words} {when} ({cause_in_words(change)})"


def cause_in_words(change: Change) -> str:
    """Say what caused a change: an event with its turn, or the conversation itself."""
    if change.event is not None:
        return f"{NAMES[change.event.event]}, turn {change.event.turn}"
    if change.now is Whereabouts.VERBATIM:
        return "stated" if change.before is None else "stated anew"
    if change.now is Whereabouts.REPEATED:
        return "said again"
    return "no event explains it"


def _last(lines: Sequence[FactLine]) -> int:
    return max(line.through for line in lines)


def _shown(lines: Sequence[FactLine]) -> Sequence[FactLine]:
    drawn = 0
    for place, line in enumerate(lines):
        drawn += len(line.changes) + len(line.probes)
        if drawn > MAX_CHANGES:
            return lines[:place]
    return lines


def _stretches(rows: Sequence[FactLine]) -> Iterator[_Stretch]:
    for row, line in enumerate(rows):
        ends = [change.turn for change in line.changes[1:]]
        for change, until in zip(
            line.changes, [*ends, max(line.through, line.changes[-1].turn) + 1], strict=True
        ):
            yield _Stretch(row, line, change, until)


def _bars(one: Whereabouts, parts: Sequence[_Stretch], sheet: Sheet) -> dict[str, Any]:
    look = LOOKS[one]
    colour = _colour(look.hue, sheet)
    hollow = one is Whereabouts.GONE
    marker: dict[str, Any] = {
        "color": "rgba(0,0,0,0)" if hollow else colour,
        "line": {"color": colour, "width": 1.4},
    }
    if look.pattern:
        # Hatched with the colour of the page: told from one another without colour.
        marker["pattern"] = {
            "shape": look.pattern,
            "fgcolor": sheet.ink.paper,
            "bgcolor": colour,
            "size": 6,
            "solidity": 0.35,
        }
    same = {"marker": {"opacity": 1}}
    return {
        "type": "bar",
        "orientation": "h",
        "name": look.words,
        "y": [part.row for part in parts],
        "base": [part.change.turn - 0.5 for part in parts],
        "x": [part.until - part.change.turn for part in parts],
        "width": 0.28 if hollow else 0.62,
        "customdata": [min(part.change.turn, part.line.through) for part in parts],
        "text": [_hover(part) for part in parts],
        "textposition": "none",
        "hovertemplate": "%{text}<extra></extra>",
        "marker": marker,
        "selected": same,
        "unselected": same,
    }


def _hover(part: _Stretch) -> str:
    told = change_in_words(part.change, part.line.through)
    return f"<b>{escape(shorten(part.line.fact.id, 40))}</b><br>{escape(told)}"


def _probes(answer: str, rows: Sequence[FactLine], sheet: Sheet) -> dict[str, Any]:
    symbol, hue = _ANSWERS[answer]
    asked = [
        (row, probe) for row, line in enumerate(rows) for probe in line.probes if _answer(probe) == answer
    ]
    colour = _colour(hue, sheet)
    return {
        "type": "scatter",
        "mode": "markers",
        "name": answer,
        # Asked when the turn was over: between its bar's end and the next turn's.
        "x": [probe.asked_after + 0.5 for _, probe in asked],
        "y": [row for row, _ in asked],
        "customdata": [probe.asked_after for _, probe in asked],
        "text": [_asked(probe) for _, probe in asked],
        "hovertemplate": "%{text}<extra></extra>",
        "marker": {
            "symbol": symbol,
            "size": 11,
            "color": colour,
            "line": {"width": 1.5, "color": colour if symbol.endswith("-open") else sheet.ink.paper},
        },
        "selected": {"marker": {"opacity": 1}},
        "unselected": {"marker": {"opacity": 1}},
    }


def _asked(probe: ProbeResult) -> str:
    return (
        f"<b>asked after turn {probe.asked_after}: {_answer(probe)}</b><br>{escape(shorten(probe.question, 80))}"
        f"<br>{escape(shorten(probe.answer, 80))}"
    )


def _answer(probe: ProbeResult) -> str:
    if not probe.is_test:
        return "not a test"
    if probe.passed:
        return "right"
    return "outdated answer" if probe.stale else "wrong"


def _colour(hue: Hue, sheet: Sheet) -> str:
    return hue.light if sheet.theme == "light" else hue.dark

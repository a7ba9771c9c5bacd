"""Cost by length, and what is forgotten: titles that say what is seen, marks that need no colour, and the same in words."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest

from memdash.charts import breakdown, length_cost, sight
from memdash.charts.breakdown import Outcome
from memdash.metrics.breakdown import Breakdown, Line, Sight
from memdash.metrics.conversations import Curve, cost_curves, from_counts
from memdash.palette import Theme, assign, contrast, readable
from tests.metrics.outcomes import outcome

THEMES: tuple[Theme, ...] = get_args(Theme)
STYLES = assign([("full history", "full_history"), ("window of 4", "window"), ("brief", "running_brief")])


def drawn(**costs: list[float]) -> tuple[Curve, ...]:
    return cost_curves(outcome(name.replace("_", " "), turns) for name, turns in costs.items()).curves


CROSSING = drawn(full_history=[1, 1, 1, 9], window_of_4=[2, 1, 1, 1])


# -- cost by length ------------------------------------------------------------------------------------------------------


def test_the_title_says_from_which_length_on_which_setting_is_the_cheapest() -> None:
    assert length_cost.title(CROSSING) == "Cost by length: from 4 turns on window of 4 is the cheapest"
    throughout = drawn(full_history=[1, 1], window_of_4=[2, 2])
    assert length_cost.title(throughout) == "Cost by length: full history is the cheapest at every length"
    assert length_cost.title(CROSSING[:1]) == "Cost by length: full history comes to $12.00 at 4 turns"
    assert length_cost.title(()) == "Cost by length of the conversation"


def test_every_break_even_with_full_history_is_marked_at_its_length() -> None:
    figure = length_cost.cost_by_length(CROSSING, STYLES, "light")
    [mark] = [trace for trace in figure.data if trace.name == "break-even"]
    assert (list(mark.x), list(mark.y)) == ([4], [12])
    assert mark.text == ("full history is cheaper than window of 4 up to 3 turns and dearer from 4 on",)
    assert "4" in [note.text for note in figure.layout.annotations]
    alone = length_cost.cost_by_length(CROSSING[:1], STYLES, "light")
    assert [trace.name for trace in alone.data] == ["full history"]


def test_lines_are_told_apart_without_colour_and_the_floor_lies_below() -> None:
    floor = np.array([0.5, 1.0, 1.5, 2.0])
    figure = length_cost.cost_by_length(CROSSING, STYLES, "light", floor=floor)
    lines = [trace for trace in figure.data if trace.name != "break-even"]
    assert [trace.name for trace in lines] == ["full history", "window of 4", "the floor"]
    assert len({(trace.line.dash, trace.marker.symbol) for trace in lines}) == 3
    assert list(lines[0].y) == [1, 2, 3, 12]
    assert list(lines[0].x) == [1, 2, 3, 4]
    assert figure.layout.yaxis.rangemode == "tozero"
    assert figure.layout.yaxis.title.text == "US dollars a conversation"


def test_the_usual_and_the_long_conversation_are_marked_where_they_were_replayed() -> None:
    lengths = from_counts({2: 60, 90: 40}, "made up")
    figure = length_cost.cost_by_length(CROSSING, STYLES, "light", lengths=lengths)
    assert [shape.x0 for shape in figure.layout.shapes] == [2]
    assert "p50: 2" in [note.text for note in figure.layout.annotations]


def test_turns_that_fewer_scripts_have_are_noted() -> None:
    curves = cost_curves([outcome(costs=[1, 1, 1], script="a"), outcome(costs=[1], script="b")]).curves
    figure = length_cost.cost_by_length(curves, STYLES, "light")
    assert figure.layout.title.subtitle.text == "beyond 1 turn fewer scripts speak"


def test_the_chart_in_words_tells_ends_and_break_evens() -> None:
    assert length_cost.alt(CROSSING, floor=np.array([0.5, 2.0])) == (
        "Line chart. Cost by length: from 4 turns on window of 4 is the cheapest. full history $12.00 at 4 turns; "
        "window of 4 $5.00 at 4 turns; the floor $2.00; full history is cheaper than window of 4 up to 3 turns and dearer from "
        "4 on."
    )


def test_without_a_curve_the_chart_says_so() -> None:
    figure = length_cost.cost_by_length((), STYLES, "light")
    assert figure.layout.annotations[0].text == "No setting is finished and priced yet"


# -- what is forgotten ---------------------------------------------------------------------------------------------------


def line(name: str, kept: int, facts: int, right: int = 0, stale: int = 0, asked: int = 0) -> Line:
    return Line(name, facts=facts, kept=kept, outdated=0, asked=asked, right=right, stale=stale)


def found(series: str, *lines: Line, sight_of: Sight | None = None, simulated: bool = True) -> Breakdown:
    total = line(
        "all",
        sum(one.kept for one in lines),
        sum(one.facts for one in lines),
        sum(one.right for one in lines),
        sum(one.stale for one in lines),
        sum(one.asked for one in lines),
    )
    cuts = {"type": lines, "age": lines, "compactions": lines}
    return Breakdown(series, simulated, total, sight_of or Sight(0, 0, 0, 0), cuts)  # type: ignore[arg-type]


WHOLE = found(
    "full history", line("amount", 3, 3, 3, 0, 3), line("name", 1, 1, 1, 0, 1), sight_of=Sight(4, 0, 0, 0)
)
WINDOW = found("window of 4", line("amount", 1, 3, 1, 1, 3), line("name", 0, 0), sight_of=Sight(1, 1, 0, 1))


def test_the_title_names_what_is_forgotten_most() -> None:
    both = (WHOLE, WINDOW)
    assert breakdown.title(both, "type", Outcome.KEPT) == (
        "Kept by kind of fact: window of 4 keeps 1 of 3 of kind amount"
    )
    assert breakdown.title(both, "type", Outcome.RECALL) == (
        "Simulated recall by kind of fact: window of 4 answers 1 of 3 of kind amount"
    )
    assert breakdown.title((WHOLE,), "type", Outcome.KEPT) == "Kept by kind of fact: full history keeps all"
    live = found("window of 4", line("1", 0, 2, 0, 0, 2), simulated=False)
    assert breakdown.title((live,), "compactions", Outcome.RECALL) == (
        "Recall by compactions since it was said: window of 4 answers 0 of 2 after 1 compaction"
    )
    assert breakdown.title((), "type", Outcome.KEPT) == "Kept by kind of fact: nothing to count"


@pytest.mark.parametrize("theme", THEMES)
def test_every_cell_says_its_share_and_its_counts_in_ink_that_can_be_read(theme: Theme) -> None:
    figure = breakdown.shares_by_bin((WHOLE, WINDOW), "type", Outcome.KEPT, theme)
    cells = {(note.x, note.y): note.text for note in figure.layout.annotations}
    assert cells == {
        (0, 0): "100 %<br>3 of 3",
        (1, 0): "100 %<br>1 of 1",
        (0, 1): "33 %<br>1 of 3",
        (1, 1): "–",
    }
    assert [list(row) for row in figure.data[0].z] == [[1, 1], [pytest.approx(1 / 3), None]]
    text = figure.layout.font.color
    assert all(contrast(text, colour) >= 4.5 for _, colour in figure.data[0].colorscale)


def test_the_shares_in_words_are_counts() -> None:
    assert breakdown.alt((WHOLE, WINDOW), "type", Outcome.KEPT) == (
        "Table of shares. Kept by kind of fact: window of 4 keeps 1 of 3 of kind amount. "
        "full history: amount 3 of 3, name 1 of 1; window of 4: amount 1 of 3."
    )


def test_seen_and_not_used_is_told_apart_from_not_seen() -> None:
    both = (WHOLE, WINDOW)
    assert sight.sight_title(both) == (
        "Visible against answered right (simulated): 1 of 6 answers wrong in sight of the fact, 0 of 1 right without it"
    )
    figure = sight.seen_and_right(both, "light")
    assert [(trace.name, list(trace.x), trace.marker.pattern.shape) for trace in figure.data] == [
        ("visible, right", [4, 1], ""),
        ("visible, wrong", [0, 1], "x"),
        ("not visible, wrong", [0, 1], "\\"),
    ]
    assert sight.sight_alt(both).endswith(
        "full history: visible, right 4; window of 4: visible, right 1, visible, wrong 1, not visible, wrong 1."
    )


def test_stale_answers_stand_apart_from_wrong_ones() -> None:
    both = (WHOLE, WINDOW)
    assert sight.answers_title(both) == (
        "Right, stale and wrong answers (simulated): window of 4 gives 1 of 3 with an earlier value"
    )
    figure = sight.answers(both, "dark")
    assert {trace.name: list(trace.x) for trace in figure.data} == {
        "right": [4, 1],
        "stale: an earlier value": [0, 1],
        "wrong or not known": [0, 1],
    }
    assert len({trace.marker.pattern.shape for trace in figure.data}) == 3
    assert sight.answers_title((WHOLE,)).endswith("no answer holds an earlier value")


@pytest.mark.parametrize("theme", THEMES)
def test_bars_can_be_seen_on_either_theme(theme: Theme) -> None:
    for figure in (sight.seen_and_right((WHOLE, WINDOW), theme), sight.answers((WHOLE, WINDOW), theme)):
        assert all(readable(trace.marker.color, theme) >= 3 for trace in figure.data)


def test_names_are_escaped() -> None:
    hostile = found("<b>$x$</b>", line("amount", 0, 1, 0, 0, 1), sight_of=Sight(0, 0, 0, 1))
    figure = breakdown.shares_by_bin((hostile,), "type", Outcome.KEPT, "light")
    assert "<b>$x$" not in figure.layout.title.text
    assert "&lt;b&gt;" in figure.layout.yaxis.ticktext[0]
    assert "<b>$x$" not in figure.data[0].customdata[0][0]


def test_where_nothing_was_asked_the_charts_say_so() -> None:
    blank = found("full history", line("amount", 1, 1))
    assert sight.answers((blank,), "light").layout.annotations[0].text == "No question counts yet"
    assert sight.sight_title((blank,)).endswith("nothing was asked")
    assert breakdown.shares_by_bin((), "type", Outcome.KEPT, "light").layout.annotations[0].text == (
        "No finished replay has a fact or a question"
    )

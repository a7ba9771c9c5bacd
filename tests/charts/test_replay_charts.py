"""The charts of one replay: its timeline, and where its facts went."""

from __future__ import annotations

import dataclasses

import pytest

from memdash.charts import survival, timeline
from memdash.inspection.survival import Blocks, Whereabouts, fact_lines
from memdash.inspection.timeline import Mark, MarkKind, Timeline, TimelineTurn
from memdash.palette import assign
from tests.inspection.plays import play, saying
from tests.replay.scripts import budget, chat

STYLE = assign([("window of 2", "window")])["window of 2"]


def a_timeline(turns=4, marks=(), sizes=None):
    sizes = sizes or [1_000 * number for number in range(1, turns + 1)]
    rows = tuple(TimelineTurn(number, size, 0.01 * number) for number, size in enumerate(sizes, 1))
    return Timeline("window of 2", rows, tuple(marks))


TRIM = Mark(MarkKind.TRIM, 3, 4, "")
MISS = Mark(MarkKind.MISS, 3, 3, "history edited")
COMPACTION = Mark(MarkKind.COMPACTION, 2, 2, "2,000 → 300 tokens")


def draw(of, turn=None, theme="light"):
    return timeline.replay_timeline(of, STYLE, theme, turn)


def test_the_title_says_the_largest_prompt_and_what_was_done_how_often():
    assert (
        timeline.title(a_timeline(marks=(COMPACTION, TRIM, MISS)))
        == "Prompt per turn: at most 4k tokens, 1 compaction, old turns dropped in 2 turns, the cache missed in 1 turn"
    )
    assert timeline.title(a_timeline(turns=0, sizes=[])) == "Prompt per turn: no turn has been answered yet"
    unknown = Timeline("x", (TimelineTurn(1, None, None),), ())
    assert timeline.title(unknown) == "Prompt per turn: not reported by the server"


def test_each_kind_of_mark_has_a_lane_with_its_name_and_nothing_else_has_one():
    figure = draw(a_timeline(marks=(COMPACTION, TRIM, MISS)))
    assert figure.layout.yaxis2.ticktext == ("compaction", "old turns dropped", "cache missed")
    assert "yaxis2" not in draw(a_timeline()).layout.to_plotly_json()


def test_a_click_above_a_turn_or_on_a_mark_carries_the_turn():
    figure = draw(a_timeline(marks=(COMPACTION, TRIM)))
    line, places, compactions, trims = figure.data
    assert line.customdata is None
    assert list(places.customdata) == [1, 2, 3, 4]
    assert (list(places.x), places.width, places.marker.opacity) == ([1, 2, 3, 4], 1, 0)
    assert (list(compactions.customdata), list(trims.customdata)) == ([2], [3])
    assert (trims.base[0], trims.x[0]) == (2.6, 1.8)  # turns 3 and 4
    assert "turn 2<br>" not in trims.text[0]
    assert trims.text[0] == "<b>old turns dropped</b>, turns 3 to 4"


def test_a_mark_of_one_turn_among_a_thousand_is_wide_enough_to_be_clicked_and_lies_over_its_turn():
    lane = draw(a_timeline(turns=1_000, marks=(Mark(MarkKind.COMPACTION, 92, 92, ""),))).data[-1]
    assert (lane.base[0], lane.x[0], lane.customdata[0]) == (89.5, 5, 92)


def test_the_open_turn_is_marked_through_all_lanes():
    (line,) = draw(a_timeline(marks=(TRIM,)), turn=3).layout.shapes
    assert (line.x0, line.x1, line.y0, line.y1, line.yref) == (3, 3, 0, 1, "paper")
    assert not draw(a_timeline()).layout.shapes


def test_many_turns_and_many_marks_are_thinned_and_the_chart_says_so():
    marks = [Mark(MarkKind.COMPACTION, number, number, "") for number in range(1, 4_001)]
    figure = draw(a_timeline(turns=4_000, marks=marks))
    assert sum(len(trace.x) for trace in figure.data) <= 2 * timeline.MAX_POINTS + timeline.MAX_MARKS
    note = figure.layout.title.subtitle.text
    assert "the first 1,500 of 4,000 marks of “compaction”" in note
    assert "4,000 turns, thinned" in note.replace("<br>", " ")


def test_the_timeline_is_told_in_words_and_hostile_words_stay_text():
    told = timeline.alt(a_timeline(marks=(COMPACTION, TRIM)))
    assert told.startswith("Timeline. Prompt per turn: at most 4k tokens")
    assert "compaction: turn 2; old turns dropped: turns 3 to 4" in told
    hostile = Mark(MarkKind.REFUSED, 2, 2, "<script>alert(1)</script> $x$")
    text = draw(a_timeline(marks=(hostile,))).data[-1].text[0]
    assert "<script>" not in text
    assert "&#36;x&#36;" in text


def lines_of(script, strategy):
    played = play(script, strategy)
    return fact_lines(played.log, played.result.probes, Blocks(played.texts))


def test_a_row_goes_from_the_statement_to_the_end_and_changes_its_look_where_the_fact_goes():
    lines = lines_of(saying(chat(6, budget()), t2="So, 2,400 euros."), "window:2")
    figure = survival.fact_survival(lines, "light")
    bars = {trace.name: trace for trace in figure.data if trace.type == "bar"}
    assert {name: (one.base[0], one.x[0], one.customdata[0]) for name, one in bars.items()} == {
        "word for word": (0.5, 2, 1),
        "only said again elsewhere": (2.5, 1, 3),
        "gone": (3.5, 3, 4),
    }
    assert bars["gone"].marker.color == "rgba(0,0,0,0)"  # an outline: seen without colour
    assert bars["only said again elsewhere"].marker.pattern.shape == "."
    (asked,) = (trace for trace in figure.data if trace.type == "scatter")
    assert (asked.name, list(asked.x), list(asked.y), list(asked.customdata)) == ("wrong", [6.5], [0], [6])
    assert figure.layout.yaxis.ticktext == ("budget",)


def test_the_title_counts_what_can_still_be_read():
    assert survival.title(lines_of(chat(6, budget()), "window:2")) == (
        "Fact survival: 0 of 1 facts can still be read after turn 6"
    )
    assert survival.title(()) == "Fact survival: no fact is stated in the turns that were played"
    summary = lines_of(chat(12, budget()), "compaction:600,words=60")
    assert survival.title(summary) == (
        "Fact survival: 1 of 1 facts can still be read after turn 12, 1 of them only in a summary"
    )


def test_each_change_is_told_with_what_caused_it():
    (line,) = lines_of(chat(9, budget(1, t5="3100")), "window:3")
    assert survival.path_in_words(line) == (
        "word for word from turn 1 (stated); gone from turn 4 (old turns dropped, turn 4)"
    )
    updated = saying(chat(9, budget(1, t5="3100")), t5="It is 3,100 euros now.")
    (line,) = lines_of(updated, "full_history")
    assert survival.path_in_words(line) == "word for word from turn 1 (stated)"


def test_answers_are_marked_by_what_they_were():
    (line,) = lines_of(chat(4, budget()), "full_history")
    (probe,) = line.probes
    kinds = [
        dataclasses.replace(probe, passed=False, stale=True, asked_after=1),
        dataclasses.replace(probe, passed=False, asked_after=2),
        dataclasses.replace(probe, is_test=False, asked_after=3),
        probe,
    ]
    figure = survival.fact_survival([dataclasses.replace(line, probes=tuple(kinds))], "dark")
    marks = {trace.name: list(trace.customdata) for trace in figure.data if trace.type == "scatter"}
    assert marks == {"right": [4], "outdated answer": [1], "wrong": [2], "not a test": [3]}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_charts_without_anything_say_why(theme):
    assert "no facts" in survival.fact_survival((), theme).layout.annotations[0].text
    empty = draw(a_timeline(turns=0, sizes=[]), theme=theme)
    assert "as soon as they are answered" in empty.layout.annotations[0].text


def test_every_place_has_a_look_and_no_two_look_alike():
    looks = [survival.LOOKS[one] for one in Whereabouts]
    assert len({(one.hue, one.pattern) for one in looks}) == len(looks)
    assert len({one.words for one in looks}) == len(looks)

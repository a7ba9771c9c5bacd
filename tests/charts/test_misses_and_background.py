"""Misses on the cache-share chart, the timeline of background work and the recall curve: read without colour, and in words."""

from __future__ import annotations

import dataclasses
from typing import get_args

import numpy as np
import pytest

from memdash.charts import (
    Chart,
    alt_text,
    background,
    background_work,
    draw,
    recall_along_the_way,
    recall_curve,
    turn_series,
)
from memdash.charts.background import MAX_JOBS
from memdash.charts.cache import _LOOKS
from memdash.metrics import BackgroundJob, Outcome, RecallCurve, RecallPoint, measure_all
from memdash.palette import Theme, assign, readable
from memdash.prices import PriceTable
from memdash.records import MissReason
from tests.builders import replay_log, spec, turn, window_spec

THEMES: tuple[Theme, ...] = get_args(Theme)
EDITED, LATE = MissReason.HISTORY_EDITED, MissReason.LIFETIME_PASSED


def window():
    """Reads everything in turn 2 and 7, misses after edits in 3 to 5 and after a pause in 6."""
    reasons = {1: MissReason.FIRST_REQUEST, 3: EDITED, 4: EDITED, 5: EDITED, 6: LATE}
    turns = []
    for n in range(1, 8):
        write, read = (97, 900) if n in (2, 7) else (900, 97)
        turns.append(turn(n, input=3, write=write, read=read, miss=reasons.get(n)))
    log = replay_log(window_spec(turns=7), *turns)
    return turn_series(measure_all([log], PriceTable.load()))


def job(**changes) -> BackgroundJob:
    plain = BackgroundJob(
        series="instant compaction",
        replay="r1",
        repeat=1,
        job=1,
        request=5,
        started_ms=60_000,
        started_turn=3.25,
        ready_ms=68_000,
        ready_turn=3.5,
        ended_ms=120_000,
        ended_turn=5.0,
        outcome=Outcome.USED,
        problem=None,
        held_up_ms=0.0,
        held_up_from_turn=None,
        stale_turns=1,
        avoided_ms=8_000,
    )
    return dataclasses.replace(plain, **changes)


STYLES = assign(
    [
        ("instant compaction", "instant_compaction"),
        ("window of 4", "window"),
        ("running brief", "running_brief"),
    ]
)


def test_a_run_of_misses_is_marked_once_for_each_reason_with_a_symbol_of_its_own() -> None:
    figure = draw(Chart.CACHE, window(), STYLES, "light")
    marks = {one.name: one for one in figure.data if one.name.startswith("missed")}
    assert list(marks) == ["missed: history edited", "missed: cache lifetime passed"]
    edited, late = marks.values()
    assert (list(edited.x), list(late.x)) == ([3], [6])
    assert edited.text[0] == "window of 4: missed in turns 3 to 5 (history edited)"
    assert edited.marker.symbol != late.marker.symbol
    assert edited.y[0] == pytest.approx(97 / 1000 * 100)
    assert "a run of misses is marked at its first turn" in figure.layout.title.subtitle.text


def test_misses_are_told_in_words() -> None:
    told = alt_text(Chart.CACHE, window())
    assert "window of 4 misses in turns 3 to 5 (history edited) and turn 6 (cache lifetime passed)" in told


def test_without_misses_nothing_is_marked() -> None:
    log = replay_log(
        spec("full history"), turn(1, write=100, miss=MissReason.FIRST_REQUEST), turn(2, read=100)
    )
    series = turn_series(measure_all([log], PriceTable.load()))
    figure = draw(Chart.CACHE, series, assign([("full history", "full_history")]), "dark")
    assert [one.name for one in figure.data] == ["full history"]


def test_every_reason_has_a_symbol_of_its_own_and_can_be_seen() -> None:
    assert len({symbol for symbol, _ in _LOOKS.values()}) == len(_LOOKS)
    for _, hue in _LOOKS.values():
        for theme in THEMES:
            assert readable(getattr(hue, theme), theme) >= 3


def test_a_job_is_a_line_from_start_to_ready_and_a_dotted_one_to_its_use() -> None:
    figure = background_work([job()], STYLES, "light")
    work, waiting, ends = figure.data
    assert [one for one in work.x if one is not None] == [3.25, 3.5]
    assert [one for one in waiting.x if one is not None] == [3.5, 5.0]
    assert waiting.line.dash == "dot"
    assert list(ends.x) == [5.0]
    assert "put into use in turn 5, 1 turn old" in ends.text[0]
    assert "8.0 s of waiting avoided" in ends.text[0]


def test_each_outcome_and_a_held_up_turn_can_be_told_without_colour() -> None:
    jobs = [
        job(replay=f"r{place}", outcome=outcome, ended_turn=None if place else 5.0)
        for place, outcome in enumerate(Outcome)
    ]
    jobs.append(job(replay="r9", held_up_ms=3_000, held_up_from_turn=3.4))
    figure = background_work(jobs, STYLES, "dark")
    names = [one.name for one in figure.data if one.showlegend is not False]
    assert names == [
        "job at work",
        "memory waiting for its use",
        "a turn waits for the job",
        "put into use",
        "replaced by a newer memory",
        "discarded",
        "not needed by the end",
    ]
    symbols = {one.name: one.marker.symbol for one in figure.data[-4:]}
    assert len(set(symbols.values())) == 4


def test_the_title_says_what_came_of_the_jobs_and_whether_anybody_waited() -> None:
    late = job(job=2, outcome=Outcome.DISCARDED, problem="empty", held_up_ms=3_000, held_up_from_turn=3.4)
    assert background.title([job(), late]) == (
        "Background work: 1 of 2 memories put into use, at most 1 turn old, 1 turn held up, 3.0 s in all"
    )
    assert background.title([job(stale_turns=0)]) == (
        "Background work: 1 of 1 memories put into use, none out of date, no turn held up"
    )
    assert background.title([]) == "Background work: there was none"


def test_the_timeline_is_told_in_words_a_row_a_replay() -> None:
    two = [job(), job(replay="r2", repeat=2)]
    told = background.alt(two)
    assert "instant compaction #1: 1 job, 1 put into use, 8.0 s of waiting avoided" in told
    assert "instant compaction #2" in told


def test_more_jobs_than_can_be_drawn_are_cut_and_the_chart_says_so() -> None:
    many = [job(job=n) for n in range(MAX_JOBS + 10)]
    figure = background_work(many, STYLES, "light")
    assert sum(len(one.x) for one in figure.data) <= 5_000
    assert "the first 500 of 510 jobs" in figure.layout.title.subtitle.text


def test_without_jobs_the_timeline_says_so() -> None:
    figure = background_work([], STYLES, "light")
    assert "No strategy here works in the background" in figure.layout.annotations[0].text


def curve(name: str, *recalls: int) -> RecallCurve:
    points = tuple(
        RecallPoint(20 * n, 20 * n, passed, 4, passed, low=passed / 4, high=passed / 4)
        for n, passed in enumerate(recalls, 1)
    )
    return RecallCurve(name, points, simulated=True)


def test_the_recall_curve_says_how_many_questions_each_point_is_of() -> None:
    curves = [curve("running brief", 4, 3), curve("window of 4", 1, 0)]
    figure = recall_along_the_way(curves, STYLES, "light")
    assert list(figure.layout.xaxis.ticktext) == ["20<br>n = 4", "40<br>n = 4"]
    assert [list(one.y) for one in figure.data] == [[100, 75], [25, 0]]
    assert figure.data[0].text[1] == "75 % (after turn 40: 3 of 4; text of 3 in sight)"
    assert len({(one.line.dash, one.marker.symbol) for one in figure.data}) == 2
    assert recall_curve.title(curves) == (
        "Simulated recall along the way: after turn 40 running brief answers 75 %, window of 4 answers 0 %"
    )
    assert "window of 4: 1 of 4 after turn 20, 0 of 4 after turn 40" in recall_curve.alt(curves)


def test_bands_of_turns_are_named_as_such() -> None:
    points = (RecallPoint(3, 15, 5, 5, 5, low=1, high=1), RecallPoint(18, 30, 0, 5, 0, low=0, high=0))
    band = RecallCurve("window of 4", points, simulated=False)
    assert recall_curve.title([band]) == "Recall along the way: window of 4 answers 0 % after turns 18 to 30"
    figure = recall_along_the_way([band], STYLES, "dark")
    assert figure.layout.xaxis.title.text == "asked up to turn (n = questions)"


def test_the_recall_curve_has_a_band_from_the_worst_to_the_best_repeat() -> None:
    points = (
        RecallPoint(20, 20, 6, 8, 6, low=0.5, high=1),
        RecallPoint(40, 40, 2, 8, 2, low=0.25, high=0.25),
    )
    (band, line) = recall_along_the_way([RecallCurve("window of 4", points, False)], STYLES, "light").data
    assert list(band.x) == [20, 40, 40, 20, None]
    assert list(band.y) == [100, 25, 25, 50, None]
    assert line.text[0].endswith("in sight; 50 % to 100 % in the repeats)")
    assert line.text[1].endswith("text of 2 in sight)")


@pytest.mark.parametrize("theme", THEMES)
def test_no_points_make_a_chart_that_says_why(theme: Theme) -> None:
    figure = recall_along_the_way([], STYLES, theme)
    assert "one point only" in figure.layout.annotations[0].text


def test_hostile_names_are_shown_as_text() -> None:
    name = "<b>x</b> & $5"
    styles = assign([(name, "instant_compaction")])
    figure = background_work([job(series=name)], styles, "light")
    assert "<b>x" not in figure.data[-1].text[0].replace("<b>&lt;b&gt;x", "")
    assert np.array(figure.layout.yaxis.ticktext)[0] == "&lt;b&gt;x&lt;/b&gt; &amp; &#36;5"

"""Titles say what is seen, computed from the numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memdash.charts import Chart, TurnSeries, title_of, turn_series
from memdash.charts.canvas import thin
from memdash.charts.text import LINE, escape, shorten, wrap
from memdash.metrics import measure_all
from memdash.prices import PriceTable
from memdash.records import Control, Record, Status
from memdash.replay_log import ReplayLog
from memdash.spec import Provider
from tests.builders import fact, probe, replay_log, script, spec, turn, window_spec

TRIP = script("trip", turns=3, facts=[fact("name"), fact("budget")])


def make_series(logs: Sequence[ReplayLog]) -> tuple[TurnSeries, ...]:
    return turn_series(measure_all(logs, PriceTable.load()))


def costing(*thousands: int) -> list[Record]:
    """Turns of so many thousand uncached tokens, at $0.004 a thousand."""
    return [one for n, count in enumerate(thousands, 1) for one in turn(n, input=count * 1000)]


def full(*parts: Record | list[Record], **changes: Any) -> ReplayLog:
    return replay_log(spec(**{"script": TRIP, **changes}), *parts)


def window(*parts: Record | list[Record], end: Status | None = Status.DONE, **changes: Any) -> ReplayLog:
    return replay_log(window_spec(**{"script": TRIP, **changes}), *parts, end=end)


@pytest.mark.parametrize(
    ("ours", "theirs", "title"),
    [
        ((1, 1, 9), (1, 2, 3), "window of 4 overtakes full history at turn 3"),
        ((1, 1, 1), (1, 2, 3), "full history overtakes window of 4 at turn 2"),
        ((3, 3, 3), (1, 2, 3), "full history comes to $0.0240, window of 4 to $0.0360"),
        ((1, 2, 3), (1, 2, 3), "every strategy comes to $0.0240"),
    ],
)
def test_cost_names_the_break_even_turn(ours: Any, theirs: Any, title: str) -> None:
    series = make_series([full(costing(*theirs)), window(costing(*ours))])
    assert title_of(Chart.COST, series) == f"Cost so far: {title}"


def test_cost_of_a_replay_that_was_cut_short_is_not_compared() -> None:
    series = make_series([full(costing(1, 2, 3)), window(costing(1, 9), end=Status.REJECTED)])
    assert title_of(Chart.COST, series) == "Cost so far: full history comes to $0.0240"


def test_tokens_name_the_largest_and_the_smallest_peak() -> None:
    series = make_series([full(costing(1, 2, 30)), window(costing(1, 2, 2))])
    assert (
        title_of(Chart.TOKENS, series)
        == "Prompt per turn: full history peaks at 30k tokens, window of 4 at 2k"
    )


def test_cache_and_prompt_tell_who_reads_most() -> None:
    series = make_series([full(turn(1, input=10, read=90)), window(turn(1, input=90, read=10))])
    assert (
        title_of(Chart.CACHE, series)
        == "Cache share: full history reads 90 % from the cache, window of 4 reads 10 %"
    )
    assert (
        title_of(Chart.PROMPT, series)
        == "What was sent: full history read 90 % from the cache, window of 4 paid anew for 90 %"
    )


def test_recall_is_called_simulated_where_it_is() -> None:
    right = [*probe("name"), *probe("budget")]
    wrong = [*probe("name", passed=False), *probe("budget", passed=False)]
    simulated = make_series([full(right), window(wrong)])
    assert title_of(Chart.RECALL, simulated) == (
        "Simulated recall: full history answers 2 of 2, window of 4 answers 0 of 2"
    )
    live = make_series([full(right, provider=Provider.ANTHROPIC)])
    assert title_of(Chart.RECALL, live) == "Recall: full history answers 2 of 2"


def test_a_refused_replay_does_not_speak_for_every_strategy() -> None:
    wrong = [*probe("name", passed=False), *probe("budget", passed=False)]
    series = make_series([full(wrong), window(turn(1), end=Status.REJECTED)])
    assert title_of(Chart.RECALL, series) == "Simulated recall: full history answers 0 of 2"


def test_questions_that_test_nothing_are_not_waited_for() -> None:
    failed = [one for name in ("name", "budget") for one in probe(name, control=Control.WHOLE, passed=False)]
    asked = [*probe("name"), *probe("budget")]
    over = make_series([full(asked, failed), window(asked)])
    assert title_of(Chart.RECALL, over) == "Simulated recall: no question tests anything"
    running = make_series([window(turn(1), end=None)])
    assert title_of(Chart.RECALL, running) == "Simulated recall: no probe counts yet"


def test_wait_names_the_turn_that_took_longest() -> None:
    series = make_series(
        [
            full(turn(1, wait_ms=900), turn(2, wait_ms=1000)),
            window(turn(1, wait_ms=900), turn(2, wait_ms=12_000)),
        ]
    )
    assert title_of(Chart.WAIT, series) == (
        "Wait per turn: window of 4 takes up to 12.0 s (turn 2), full history never over 1.0 s"
    )


def test_two_lines_come_out_about_equally_long() -> None:
    lines = wrap("Prompt per turn: full history peaks at 8.1k tokens, window of 4 at 1.4k")
    assert len(lines) == 2
    assert abs(len(lines[0]) - len(lines[1])) <= 12


@given(st.text(max_size=300))
def test_a_title_never_has_more_than_two_lines_of_a_card(text: str) -> None:
    lines = wrap(text)
    assert len(lines) <= 2
    assert all(len(line) <= LINE for line in lines)


@given(st.text(max_size=100))
def test_escaped_text_has_no_markup_left(text: str) -> None:
    assert not set(escape(text)) & set("<>$\n\t\x00")


def test_a_long_name_is_cut_with_an_ellipsis() -> None:
    assert shorten("window of 4") == "window of 4"
    assert shorten("x" * 40) == "x" * 27 + "…"


@settings(max_examples=60)
@given(st.lists(st.floats(0, 1e6) | st.just(float("nan")), min_size=1, max_size=400), st.integers(4, 50))
def test_thinning_keeps_both_ends_and_the_extremes(values: list[float], points: int) -> None:
    array = np.array(values)
    shown = thin(array, points)
    assert shown.size <= max(points, 1) or shown.size == array.size <= points
    assert shown[0] == 0
    assert shown[-1] == array.size - 1
    if not np.isnan(array).all():
        assert np.nanmax(array[shown]) == np.nanmax(array)
        assert np.nanmin(array[shown]) == np.nanmin(array)

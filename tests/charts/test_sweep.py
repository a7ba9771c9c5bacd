"""The charts of a sweep: what stands on a line, what is marked, what is said of it."""

from __future__ import annotations

import json
from dataclasses import replace
from html import unescape
from typing import Any, get_args

import numpy as np
import pytest

from memdash.charts.canvas import MAX_POINTS
from memdash.charts.sweep import (
    Measure,
    curve_styles,
    curves,
    frontier,
    frontier_chart,
    grid,
    grid_chart,
    grids,
    style_of,
    threshold_chart,
    thresholds,
)
from memdash.charts.text import LINE
from memdash.metrics.result import Mark
from memdash.metrics.sweep import Setting
from memdash.palette import Theme
from memdash.strategies import choose, parse_family
from tests.charts.sweeps import compaction, front, full_history, setting, stepped, window

THEMES: tuple[Theme, ...] = get_args(Theme)
FAMILIES = [
    parse_family(one) for one in ("compaction:500..2000*2", "window:2|4", "window:keep=4,trim_at=8|12")
]
GRID = parse_family("compaction:trigger=500..2000*2,words=50|100")


def swept(**changes: Any) -> list[Setting]:
    """Three families beside full history."""
    return [
        full_history(0.25, **changes),
        compaction(2000, 0.20, **changes),
        compaction(500, 0.40, 0.9, marks={Mark.FIRES_EVERY_TURN: ("trip", "outage")}, **changes),
        compaction(1000, 0.30, **changes),
        window(2, 0.15, 0.0, **changes),
        window(4, 0.18, 0.1, **changes),
        stepped(8, 0.16, 0.2, **changes),
        stepped(12, 0.17, 0.4, marks={Mark.NEVER_FIRES: ("trip", "outage")}, **changes),
    ]


def drawn(settings: list[Setting], measure: Measure = Measure.COST, **given: Any) -> Any:
    found = curves(FAMILIES, settings)
    return threshold_chart(measure, found, curve_styles(found), given.pop("theme", "light"), **given)


# -- curves --------------------------------------------------------------------------------------------------------------


def test_each_family_is_a_curve_in_rising_order_and_full_history_stands_first() -> None:
    found = curves(FAMILIES, swept())
    assert [one.name for one in found] == [
        "full history",
        "compaction, by trigger",
        "window, by keep",
        "window, keep 4, by trim at",
    ]
    assert [[point.value for point in one.points] for one in found[1:]] == [
        [500, 1000, 2000],
        [2, 4],
        [4, 8, 12],
    ]
    assert [(one.unit, one.geometric) for one in found[1:]] == [
        ("tokens", True),
        ("exchanges", False),
        ("exchanges", False),
    ]


def test_a_setting_that_refinement_added_between_two_values_stands_on_the_curve() -> None:
    found = curves(FAMILIES, [*swept(), compaction(1400, 0.22)])
    assert [point.value for point in found[1].points] == [500, 1000, 1400, 2000]


def test_a_setting_of_no_family_is_a_curve_of_its_own() -> None:
    found = curves(FAMILIES, [*swept(), compaction(2000, 0.2, words=400)])
    assert [(one.name, one.axis) for one in found][:2] == [
        ("full history", None),
        ("compaction at 2000, 400 words", None),
    ]


def test_several_models_have_a_curve_each() -> None:
    both = swept() + [
        replace(one, model="claude-haiku-5-5", series=f"{one.series} · claude-haiku-5-5") for one in swept()
    ]
    names = [one.name for one in curves(FAMILIES[:1], both) if one.axis]
    assert names == ["compaction · claude-opus-5-5, by trigger", "compaction · claude-haiku-5-5, by trigger"]


def test_a_family_with_two_ranges_is_a_curve_for_each_value_of_the_second_and_a_grid() -> None:
    cells = [compaction(trigger, 0.3, words=words) for trigger in (500, 1000, 2000) for words in (50, 100)]
    found = [one.name for one in curves([GRID], [full_history(), *cells]) if one.axis]
    assert found == ["compaction, words 50, by trigger", "compaction, words 100, by trigger"]
    (whole,) = grids([GRID], cells)
    assert (whole.across.name, whole.across.values, whole.up.values) == (
        "trigger",
        (500, 1000, 2000),
        (50, 100),
    )
    assert len(whole.cells) == 6


def test_every_curve_has_a_filled_marker_of_its_own_and_the_colour_of_its_strategy() -> None:
    found = curves(FAMILIES, swept())
    styles = curve_styles(found)
    markers = [style.marker for style in styles.values()]
    assert len(set(markers)) == len(found)
    assert not any(marker.endswith("-open") for marker in markers), (
        "hollow says that a threshold was never reached"
    )
    assert style_of("window of 4", found, styles) == styles["window, by keep"]
    with pytest.raises(KeyError):
        style_of("nothing", found, styles)


# -- measures over the threshold -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", Measure)
@pytest.mark.parametrize("theme", THEMES)
def test_every_measure_is_drawn_with_units_a_finding_and_a_text_alternative(
    measure: Measure, theme: Theme
) -> None:
    found = curves(FAMILIES, swept(spread=0.1))
    figure = threshold_chart(
        measure, found, curve_styles(found), theme, floor=0.1, recommended="compaction at 2000"
    )
    payload = json.loads(figure.to_json())
    assert payload["layout"]["plot_bgcolor"] == "rgba(0,0,0,0)"
    assert figure.layout.yaxis.title.text
    assert figure.layout.xaxis.title.text == "trigger, tokens"
    assert figure.layout.xaxis2.title.text == "keep and trim at, exchanges"
    assert all(len(unescape(line)) <= LINE for line in figure.layout.title.text.split("<br>"))
    told = thresholds.alt(measure, found)
    assert thresholds.title(measure, found) in told
    assert "compaction, by trigger: 500: " in told


def test_tokens_and_exchanges_have_panels_of_their_own_with_one_vertical_axis() -> None:
    figure = drawn(swept())
    panels = {one.name: one.xaxis for one in figure.data if one.mode == "lines+markers"}
    assert panels == {
        "compaction, by trigger": "x",
        "window, by keep": "x2",
        "window, keep 4, by trim at": "x2",
    }
    assert {one.yaxis for one in figure.data} == {None}
    assert figure.layout.xaxis.type == "log"
    assert figure.layout.xaxis2.type is None
    assert figure.layout.xaxis.domain[1] < figure.layout.xaxis2.domain[0]
    assert list(figure.layout.xaxis.ticktext) == ["500", "1k", "2k"]


def test_full_history_and_the_floor_stand_across_and_within_the_range() -> None:
    figure = drawn(swept(), floor=0.6)
    assert [unescape(one.text) for one in figure.layout.annotations] == [
        "full history $0.2500",
        "floor $0.6000",
    ]
    assert [(one.y0, one.y1) for one in figure.layout.shapes if one.type == "line"] == [
        (0.25, 0.25),
        (0.6, 0.6),
    ]
    assert figure.layout.yaxis.range[0] == 0
    assert figure.layout.yaxis.range[1] > 0.6


def test_what_never_fires_is_hollow_and_what_fires_every_turn_is_crossed() -> None:
    figure = drawn(swept())
    traces = {one.name: one for one in figure.data}
    assert list(traces["window, keep 4, by trim at"].marker.symbol)[-1].endswith("-open")
    assert not any(symbol.endswith("-open") for symbol in traces["window, by keep"].marker.symbol)
    assert list(traces["reached by every turn"].x) == [500]
    assert list(traces["reached by every turn"].y) == [0.40]
    assert traces["threshold never reached"].showlegend
    assert (
        "its threshold was never reached (trip and outage)" in traces["window, keep 4, by trim at"].text[-1]
    )


def test_a_threshold_that_is_reached_on_one_script_is_filled() -> None:
    figure = drawn(
        [full_history(), compaction(500, 0.2, marks={Mark.NEVER_FIRES: ("trip",)}), compaction(1000, 0.2)]
    )
    assert not any(symbol.endswith("-open") for symbol in figure.data[0].marker.symbol)
    assert "threshold never reached" not in {one.name for one in figure.data}


def test_the_recommended_setting_is_ringed() -> None:
    figure = drawn(swept(), recommended="window of 4")
    ring = next(one for one in figure.data if one.name == "recommended")
    assert (list(ring.x), list(ring.y), ring.xaxis) == ([4, 4], [0.18, 0.18], "x2")


def test_intervals_are_bands_and_one_replay_has_none() -> None:
    bands = [one for one in drawn(swept(spread=0.1)).data if one.fill == "toself"]
    assert len(bands) == 3
    assert list(bands[0].y[:3]) == pytest.approx([0.44, 0.33, 0.22])
    assert not [one for one in drawn(swept()).data if one.fill == "toself"]
    assert "bands: 95 % interval of the mean" in drawn(swept(spread=0.1)).layout.title.subtitle.text


def test_what_is_not_known_is_a_gap_and_nothing_at_all_says_so() -> None:
    figure = drawn(
        [full_history(), compaction(500, 0.4), setting(parse_family("compaction:1000").at({}), None)]
    )
    assert np.isnan(figure.data[0].y[-1])
    empty = drawn([])
    assert "once the first setting has been played" in empty.layout.annotations[0].text
    assert thresholds.title(Measure.COST, ()) == "Cost: not known yet"


def test_where_no_question_counts_recall_says_so_and_waits_for_nothing() -> None:
    untested = swept(recall=None)
    title = thresholds.title(Measure.RECALL, curves(FAMILIES, untested))
    assert title == "Simulated recall: no question tests anything"
    empty = drawn(untested, Measure.RECALL)
    assert "No question is answered right" in empty.layout.annotations[0].text


def test_values_that_are_no_numbers_stand_side_by_side() -> None:
    modes = parse_family("truncate:mode=safe|naive")
    settings = [full_history(), *(setting(modes.at({"mode": mode}), 0.2) for mode in ("safe", "naive"))]
    found = curves([modes], settings)
    figure = threshold_chart(Measure.COST, found, curve_styles(found), "light")
    assert figure.layout.xaxis.type == "category"
    assert list(figure.data[0].x) == ["safe", "naive"]


def test_thousands_of_settings_are_thinned() -> None:
    family = parse_family("window:1..4000/1")
    found = curves(
        [family], [full_history(), *(window(keep, 0.1 + keep / 1e5, spread=0.1) for keep in range(1, 4001))]
    )
    figure = threshold_chart(Measure.COST, found, curve_styles(found), "light")
    assert sum(len(one.x) for one in figure.data) <= MAX_POINTS


@pytest.mark.parametrize(
    ("measure", "settings", "title"),
    [
        (Measure.COST, swept(), "Cost: the cheapest that kept every fact is compaction at 2000, $0.2000"),
        (
            Measure.COST,
            [full_history(0.1), compaction(500, 0.2)],
            "Cost: nothing that kept every fact is cheaper than full history, $0.1000",
        ),
        (
            Measure.COST,
            [window(2, 0.1, 0.25), compaction(500, 0.2, 0.5)],
            "Cost: window of 2 is cheapest, $0.1000, and keeps 25 %",
        ),
        (Measure.KEPT, swept(), "Kept: 3 of 8 settings keep every fact, window of 2 keeps 0 %"),
        (Measure.KEPT, [full_history(), compaction(500, 0.2)], "Kept: every setting keeps every fact"),
        (Measure.CACHE, swept(), "Cache share: full history reads 90 %, compaction at 500 40 %"),
        (Measure.WAIT, swept(), "Wait p95: compaction at 500 takes 12.0 s, full history 5.0 s"),
        (Measure.RECALL, swept(), "Simulated recall: full history answers 90 %, window of 2 0 %"),
    ],
)
def test_titles_say_what_is_seen(measure: Measure, settings: list[Setting], title: str) -> None:
    assert thresholds.title(measure, curves(FAMILIES, settings)) == title


def test_titles_speak_of_settings_that_may_be_ranked() -> None:
    settings = [full_history(0.25), compaction(500, 0.01, ranked=False), compaction(1000, 0.2)]
    assert thresholds.title(Measure.COST, curves(FAMILIES, settings)).endswith("compaction at 1000, $0.2000")


# -- the front -----------------------------------------------------------------------------------------------------------


def test_the_front_is_a_stair_with_what_it_leaves_behind_in_grey() -> None:
    settings = swept()
    points = front(*settings, dominated=("compaction at 500", "compaction at 1000", "full history"))
    found = curves(FAMILIES, settings)
    figure = frontier_chart(points, [], found, curve_styles(found), "light", recommended="compaction at 2000")
    traces = {one.name: one for one in figure.data}
    assert list(traces["Pareto front"].x) == [0.15, 0.16, 0.17, 0.18, 0.2]
    assert traces["Pareto front"].line.shape == "hv"
    behind = traces["dominated: another is as cheap and keeps as much"]
    assert sorted(behind.x) == [0.25, 0.3, 0.4]
    assert (list(traces["recommended"].x), list(traces["recommended"].y)) == ([0.2], [100])
    assert frontier.title(points, "kept", "compaction at 2000") == (
        "Cost against facts kept: compaction at 2000 keeps 100 % for $0.2000; 5 of 8 settings stand on the front"
    )
    assert "3 settings dominated" in frontier.alt(points, "kept")
    assert figure.layout.xaxis.range[0] == 0
    assert figure.layout.xaxis.tickformat == ",.4~f", "half a cent does not read like a whole one"
    assert (figure.layout.xaxis.title.text, figure.layout.yaxis.title.text) == (
        "US dollars a conversation",
        "facts kept",
    )


def test_what_runs_in_the_simulator_alone_stands_apart() -> None:
    only = compaction(150, 0.05, simulator_only=True, ranked=False)
    found = curves(FAMILIES, [*swept(), only])
    figure = frontier_chart(front(*swept()), [only], found, curve_styles(found), "dark")
    apart = next(one for one in figure.data if one.name == "simulator only, not ranked")
    assert list(apart.x) == [0.05]
    assert 0.05 not in next(one for one in figure.data if one.name == "Pareto front").x


def test_whiskers_are_the_intervals_of_both_measures() -> None:
    settings = swept(spread=0.1)
    found = curves(FAMILIES, settings)
    figure = frontier_chart(front(*settings), [], found, curve_styles(found), "light")
    points = next(one for one in figure.data if one.name == "full history")
    assert list(points.error_x.array) == pytest.approx([0.025])
    assert list(points.error_x.arrayminus) == pytest.approx([0.025])
    assert "whiskers: 95 % interval of the mean" in figure.layout.title.subtitle.text


def test_every_model_has_a_stair_of_its_own() -> None:
    settings = [
        setting(choose("full_history"), cost, series=f"full history · {model}", model=model)
        for model, cost in (("claude-haiku-5-5", 0.01), ("claude-opus-5-5", 0.3))
    ]
    found = curves(FAMILIES, settings)
    figure = frontier_chart(front(*settings), [], found, curve_styles(found), "light")
    stairs = [one for one in figure.data if one.name == "Pareto front"]
    assert [list(one.x) for one in stairs] == [[0.01], [0.3]]
    assert [one.showlegend for one in stairs] == [True, False]


def test_settings_on_one_spot_share_a_name() -> None:
    settings = [full_history(0.2), window(16, 0.2, 1.0), window(24, 0.2, 1.0), window(2, 0.1, 0.0)]
    found = curves(FAMILIES, settings)
    figure = frontier_chart(front(*settings), [], found, curve_styles(found), "light")
    names = [one.text for one in figure.layout.annotations if one.showarrow]
    assert sorted(names) == ["full history and 2 more", "window of 2"]


def test_without_anything_ranked_the_front_says_so() -> None:
    figure = frontier_chart((), [], (), {}, "light")
    assert "once full history and a setting have been played" in figure.layout.annotations[0].text
    assert frontier.title((), "kept") == "Cost against facts kept: no setting can be ranked yet"


# -- grids ---------------------------------------------------------------------------------------------------------------


def test_a_grid_has_a_figure_in_every_cell_and_a_frame_around_the_recommended_one() -> None:
    cells = [
        compaction(trigger, cost, words=words)
        for (trigger, words), cost in {
            (500, 50): 0.4,
            (1000, 50): 0.3,
            (2000, 50): 0.2,
            (500, 100): 0.5,
        }.items()
    ]
    (whole,) = grids([GRID], cells)
    figure = grid_chart(Measure.COST, whole, "light", recommended="compaction at 2000, 50 words")
    heat = figure.data[0]
    assert np.array(heat.z)[0].tolist() == [0.4, 0.3, 0.2]
    assert np.isnan(np.array(heat.z)[1].tolist()[1:]).all(), "what was not played is empty"
    assert [unescape(text) for text in heat.text[0]] == ["$0.4000", "$0.3000", "$0.2000"]
    assert [(one.x0, one.x1, one.y0, one.y1) for one in figure.layout.shapes] == [(1.52, 2.48, -0.48, 0.48)]
    assert list(figure.layout.xaxis.ticktext) == ["500", "1,000", "2,000"]
    assert figure.layout.xaxis.title.text == "trigger, tokens"
    assert (
        grid.title(Measure.COST, whole) == "Cost of compaction: cheapest at trigger 2,000, words 50, $0.2000"
    )
    assert grid.title(Measure.KEPT, whole) == "Kept of compaction: 100 % at 4 of 4 combinations"
    assert "trigger 500, words 100: $0.5000" in grid.alt(Measure.COST, whole)


def test_a_grid_that_has_not_begun_says_so() -> None:
    (whole,) = grids([GRID], [setting(GRID.at({"trigger": 500, "words": 50}), None, None)])
    assert (
        "fill in as settings are played" in grid_chart(Measure.COST, whole, "dark").layout.annotations[0].text
    )


@pytest.mark.parametrize("theme", THEMES)
def test_names_are_shown_as_they_are_and_never_as_markup(theme: Theme) -> None:
    hostile = '<b>x</b><img src=x onerror="alert(1)"> & $5 or $6'
    bad = replace(compaction(500, 0.2, words=77), series=hostile)
    found = curves(FAMILIES, [full_history(), bad])
    styles = curve_styles(found)
    figures = [
        threshold_chart(Measure.COST, found, styles, theme),
        frontier_chart(front(full_history(), bad), [], found, styles, theme, recommended=hostile),
    ]
    for figure in figures:
        shown = [figure.layout.title.text, *(one.text for one in figure.layout.annotations)]
        shown += [one.name for one in figure.data if one.name]
        for text in shown:
            assert "<b>x" not in text
            assert "<img" not in text
            assert "$" not in text

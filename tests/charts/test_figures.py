"""Every chart with everything a comparison can be: one turn, a thousand, twelve series, refused, unreported, not begun."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Sequence
from html import unescape
from typing import Any, get_args

import numpy as np
import pytest

from memdash.charts import Chart, TurnSeries, alt_text, draw, title_of, turn_series
from memdash.charts.canvas import MAX_POINTS
from memdash.charts.text import LINE
from memdash.metrics import measure_all
from memdash.palette import Style, Theme, assign
from memdash.prices import PriceTable
from memdash.records import EventKind, Purpose, Record, Status, Survival
from memdash.replay_log import ReplayLog
from tests.builders import (
    compaction_spec,
    event,
    fact,
    kept,
    probe,
    replay_log,
    request,
    script,
    spec,
    status,
    turn,
    usage,
    window_spec,
)

THEMES: tuple[Theme, ...] = get_args(Theme)
HOSTILE = '<b>x</b><img src=x onerror="alert(1)"> & $5 or $6 %{x} &lt;'


def make_drawable(logs: Sequence[ReplayLog]) -> tuple[tuple[TurnSeries, ...], dict[str, Style]]:
    """Series and styles of logs."""
    results = measure_all(logs, PriceTable.load())
    return turn_series(results), assign((one.series, one.strategy) for one in results)


def turns(count: int, **given: Any) -> list[Record]:
    return [
        one
        for n in range(1, count + 1)
        for one in turn(n, **{"input": 3, "write": 90, "read": n * 100, **given})
    ]


def trip(count: int, *, facts: int = 4) -> Any:
    return script("trip", turns=count, facts=[fact(f"fact {n}") for n in range(facts)])


def asked(count: int, facts: int, passed: int) -> list[Record]:
    return [
        one
        for n in range(facts)
        for one in [
            *probe(f"fact {n}", count, passed=n < passed, stale=n == passed),
            kept(f"fact {n}", Survival.VERBATIM if n < passed else Survival.GONE),
        ]
    ]


def several() -> list[ReplayLog]:
    whole = trip(6)
    return [
        replay_log(spec(script=whole), turns(6), asked(6, 4, 4)),
        replay_log(
            window_spec(2, script=whole),
            turns(6, read=0, write=500),
            [event(EventKind.TRIM, n) for n in (3, 4, 5, 6)],
            asked(6, 4, 1),
        ),
        replay_log(
            compaction_spec(300, script=whole),
            turns(5),
            request(5, Purpose.SUMMARY, of=usage(input=900, output=90)),
            event(EventKind.COMPACTION, 5, used=True),
            turns(6)[-2:],
            asked(6, 4, 3),
        ),
        replay_log(
            window_spec(2, script=whole, series="window of 2 (naive)"),
            turns(2),
            event(EventKind.TRIM, 3),
            request(3, error="prompt is too long"),
            event(EventKind.REJECTED, 3),
            status(Status.REJECTED, 2, "prompt is too long"),
            end=None,
        ),
    ]


CASES: dict[str, Callable[[], list[ReplayLog]]] = {
    "four strategies, one refused": several,
    "one replay": lambda: several()[:1],
    "one turn": lambda: [replay_log(spec(script=trip(1)), turns(1), asked(1, 4, 4))],
    "twelve": lambda: [
        replay_log(
            window_spec(n, script=trip(9), series=f"window of {n} with a very long name indeed"),
            turns(9),
            asked(9, 4, n % 5),
        )
        for n in range(1, 13)
    ],
    "a thousand turns, six series": lambda: [
        replay_log(window_spec(n, script=trip(1000)), turns(1000), asked(1000, 4, 2)) for n in range(1, 7)
    ],
    "refused at once": lambda: [
        replay_log(
            spec(script=trip(3)),
            request(1, error="no"),
            event(EventKind.REJECTED, 1),
            status(Status.REJECTED, 0, "no"),
            end=None,
        )
    ],
    "not begun": lambda: [replay_log(spec(script=trip(3)), end=None)],
    "nothing": list,
    "cache not reported": lambda: [
        replay_log(spec(script=trip(3)), turns(3, write=None, read=None), asked(3, 4, 4))
    ],
    "nothing reported": lambda: [
        replay_log(spec(script=trip(3)), turns(3, input=None, write=None, read=None, output=None))
    ],
    "no price": lambda: [replay_log(spec(script=trip(3)), turns(3, model="house-model"))],
    "no facts": lambda: [replay_log(spec(turns=3), turns(3))],
    "many facts": lambda: [replay_log(spec(script=trip(30, facts=25)), turns(30), asked(30, 25, 20))],
    "repeats, one behind": lambda: [
        replay_log(spec(script=trip(6), repeat=1), turns(6), asked(6, 4, 4)),
        replay_log(spec(script=trip(6), repeat=2), turns(4), end=Status.RUNNING),
    ],
    "a thousand turns, six series of three repeats": lambda: [
        replay_log(window_spec(n, script=trip(1000), repeat=repeat), turns(1000, read=repeat * 100))
        for n in range(1, 7)
        for repeat in (1, 2, 3)
    ],
    "hostile names": lambda: [
        replay_log(
            spec(HOSTILE, script=script("s", turns=2, facts=[fact(HOSTILE)])), turns(2), probe(HOSTILE, 2)
        )
    ],
}


@functools.cache
def measured(case: str) -> Any:
    """A case's series and styles, measured once."""
    return make_drawable(CASES[case]())


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("chart", Chart)
def test_every_chart_draws_every_comparison(chart: Chart, case: str) -> None:
    series, styles = measured(case)
    for theme in THEMES:
        figure = draw(chart, series, styles, theme)
        payload = json.loads(figure.to_json())
        assert payload["layout"]["paper_bgcolor"] == payload["layout"]["plot_bgcolor"] == "rgba(0,0,0,0)"
        assert "family" not in payload["layout"]["font"]
        assert sum(len(trace.x) for trace in figure.data if trace.type == "scatter") <= MAX_POINTS
        lines = figure.layout.title.text.split("<br>")
        assert 1 <= len(lines) <= 2
        assert all(len(unescape(line)) <= LINE for line in lines)
        drawn = figure.data or figure.layout.annotations
        assert drawn, "an empty chart says why it is empty"


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("chart", Chart)
def test_the_text_alternative_says_the_finding(chart: Chart, case: str) -> None:
    series, _ = measured(case)
    told = alt_text(chart, series)
    assert title_of(chart, series) in told
    assert told.endswith(".")
    assert "nan" not in told.lower().split()
    assert "  " not in told
    assert ".." not in told


@pytest.mark.parametrize("chart", Chart)
def test_names_are_shown_as_they_are_and_never_as_markup(chart: Chart) -> None:
    series, styles = measured("hostile names")
    figure = draw(chart, series, styles, "light")
    shown = [figure.layout.title.text, figure.layout.title.subtitle.text]
    shown += [trace.name for trace in figure.data]
    shown += [text for trace in figure.data for text in (trace.text if trace.text is not None else ())]
    shown += [text for axis in (figure.layout.xaxis, figure.layout.yaxis) for text in (axis.ticktext or ())]
    shown += [one.text for one in figure.layout.annotations]
    names = [text for text in shown if text and "x" in text]
    assert names
    for text in names:
        plain = (
            text.replace("<br>", "").replace("<b>", "", 1).replace("</b>", "", 1)
            if "asked after" in text
            else text
        )
        assert "<b>" not in plain
        assert "<img" not in plain
        assert "&amp;" in plain or "&" not in unescape(plain)
        assert "$" not in plain, "two dollar signs would be read as a formula"


def test_amounts_start_at_zero_and_axes_have_units() -> None:
    series, styles = make_drawable(several())
    for chart, unit in (
        (Chart.TOKENS, "prompt tokens"),
        (Chart.COST, "US dollars so far"),
        (Chart.CACHE, "share of prompt tokens"),
        (Chart.WAIT, "seconds"),
    ):
        figure = draw(chart, series, styles, "light")
        assert figure.layout.yaxis.title.text == unit
        assert figure.layout.xaxis.title.text == "turn"
        assert figure.layout.yaxis.rangemode == "tozero" or figure.layout.yaxis.range[0] <= 0
        assert figure.layout.hovermode == "x unified"
    bars = draw(Chart.PROMPT, series, styles, "light")
    assert bars.layout.xaxis.range[0] == 0
    assert bars.layout.xaxis.title.text == "tokens of one replay"


@pytest.mark.parametrize("theme", THEMES)
def test_a_series_has_its_own_colour_dash_and_marker_in_every_line_chart(theme: Theme) -> None:
    series, styles = make_drawable(several())
    for chart in (Chart.TOKENS, Chart.COST, Chart.CACHE, Chart.WAIT):
        traces = {
            one.name: one for one in draw(chart, series, styles, theme).data if one.mode == "lines+markers"
        }
        assert traces.keys() == styles.keys()
        for name, style in styles.items():
            assert traces[name].line.color == style.colour(theme)
            assert (traces[name].line.dash, traces[name].marker.symbol) == (style.dash, style.marker)


def test_summaries_cuts_and_refusals_are_marked_on_the_lines() -> None:
    series, styles = make_drawable(several())
    marks = {
        one.name: one for one in draw(Chart.TOKENS, series, styles, "light").data if one.mode == "markers"
    }
    assert list(marks["summary put into use"].x) == [5]
    assert list(marks["history cut"].x) == [
        3,
        3,
    ]  # a window that slides every turn is marked where it begins to
    assert list(marks["history cut"].text) == ["every turn from 3 to 6", "turn 3"]
    assert list(marks["refused by the API"].x) == [3]
    assert list(marks["refused by the API"].y) == [3 + 90 + 200]  # at the height of the turn before


def test_a_summary_that_was_not_used_is_not_marked() -> None:
    series, _ = make_drawable(
        [replay_log(compaction_spec(turns=2), turns(2), event(EventKind.COMPACTION, 2, used=False))]
    )
    assert series[0].marks == ()


def test_what_a_server_does_not_report_is_a_gap_and_a_note() -> None:
    silent = replay_log(spec("silent", turns=3), turns(3, write=None, read=None))
    series, styles = make_drawable([replay_log(window_spec(turns=3), turns(3)), silent])
    figure = draw(Chart.CACHE, series, styles, "light")
    assert np.isnan(figure.data[1].y).all()
    assert figure.data[1].connectgaps is False
    assert "not reported: silent" in figure.layout.title.subtitle.text
    assert series[1].cache_share.size == 3
    assert title_of(Chart.CACHE, series[1:]) == "Cache share: not reported by the server"


def test_a_server_is_not_called_silent_before_a_turn_was_played() -> None:
    series, styles = make_drawable([replay_log(spec(turns=3), end=None)])
    figure = draw(Chart.CACHE, series, styles, "light")
    assert [one.text for one in figure.layout.annotations] == ["Nothing to draw yet"]
    silent, styles = make_drawable([replay_log(spec(turns=3), turns(3, write=None, read=None))])
    figure = draw(Chart.CACHE, silent, styles, "light")
    assert [one.text for one in figure.layout.annotations] == ["The server does not report cache use"]


def test_rows_are_told_apart_by_the_end_of_their_names() -> None:
    asked = spec("window of 4, trimmed at 12", script=script("s", turns=3, facts=[fact("name")]))
    series, styles = make_drawable([replay_log(asked, turns(3), probe("name", 3))])
    figure = draw(Chart.RECALL, series, styles, "light")
    assert figure.layout.yaxis.ticktext == ("window of 4, trimmed at 12",)


def test_long_replays_are_thinned_and_say_so() -> None:
    series, styles = measured("a thousand turns, six series")
    figure = draw(Chart.TOKENS, series, styles, "light")
    assert "1,000 turns, thinned to lows and highs" in figure.layout.title.subtitle.text
    assert figure.data[0].x[0] == 1
    assert figure.data[0].x[-1] == 1000


def test_several_scripts_cannot_share_a_chart() -> None:
    with pytest.raises(ValueError, match="one script at a time, not one, two"):
        make_drawable([replay_log(spec(script=script("one"))), replay_log(spec(script=script("two")))])


def test_repeats_are_drawn_as_their_mean_where_all_have_turns() -> None:
    (one,), styles = make_drawable(
        [
            replay_log(spec(turns=3, repeat=1), turns(3, read=100), end=Status.DONE),
            replay_log(spec(turns=3, repeat=2), turns(2, read=300), end=Status.RUNNING),
        ]
    )
    assert one.turns.tolist() == [1, 2]
    assert one.prompt_tokens.tolist() == [293, 293]  # 3 + 90 + the mean of 100 and 300
    assert "mean of 2 repeats" in draw(Chart.TOKENS, (one,), styles, "light").layout.title.subtitle.text


def test_repeats_that_were_cut_short_or_never_began_are_in_no_mean_of_what_was_sent() -> None:
    series, styles = make_drawable(
        [
            replay_log(spec(turns=2, repeat=1), turns(2, read=100), end=Status.DONE),
            replay_log(spec(turns=2, repeat=2), turns(2, read=300), end=Status.DONE),
            replay_log(spec(turns=2, repeat=3), turns(1, read=7), end=Status.INTERRUPTED),
            replay_log(spec(turns=2, repeat=4), end=None),
        ]
    )
    figure = draw(Chart.PROMPT, series, styles, "light")
    assert figure.layout.title.subtitle.text.startswith("mean of 2 repeats")
    read = next(trace for trace in figure.data if trace.name == "cache read")
    assert read.x[0] == 400
    assert "mean of 3 repeats" in draw(Chart.TOKENS, series, styles, "light").layout.title.subtitle.text


def repeated() -> list[ReplayLog]:
    return [
        replay_log(spec(script=trip(3, facts=2), repeat=1), turns(3, read=100), asked(3, 2, 2)),
        replay_log(spec(script=trip(3, facts=2), repeat=2), turns(3, read=300), asked(3, 2, 1)),
    ]


@pytest.mark.parametrize(
    ("chart", "lows", "highs"),
    [
        (Chart.TOKENS, [193] * 3, [393] * 3),
        (Chart.COST, [0.000482, 0.000964, 0.001446], [0.000522, 0.001044, 0.001566]),
        (Chart.CACHE, [100 * 100 / 193] * 3, [100 * 300 / 393] * 3),
        (Chart.WAIT, [1, 1, 1], [1, 1, 1]),
    ],
)
def test_repeats_have_a_band_from_the_lowest_to_the_highest(
    chart: Chart, lows: list[float], highs: list[float]
) -> None:
    series, styles = make_drawable(repeated())
    figure = draw(chart, series, styles, "light")
    band, line = figure.data[:2]
    assert list(band.x) == [1, 2, 3, 3, 2, 1, None]
    assert list(band.y[:-1]) == pytest.approx([*highs, *reversed(lows)])
    assert band.fill == "toself"
    assert not band.showlegend
    assert np.array(line.customdata).tolist() == [
        pytest.approx(pair) for pair in zip(lows, highs, strict=True)
    ]
    assert "%{customdata[0]" in line.hovertemplate
    assert "the band goes from the lowest to the highest" in unescape(figure.layout.title.subtitle.text)


def test_one_replay_has_no_band() -> None:
    series, styles = make_drawable(repeated()[:1])
    assert series[0].bands == {}
    assert [one.name for one in draw(Chart.TOKENS, series, styles, "light").data] == ["full history"]


def test_a_band_stops_where_nothing_is_reported() -> None:
    silent = turns(2, read=100) + turns(5, read=None, write=None)[4:6] + turns(4, read=100)[-2:]
    logs = [replay_log(spec(turns=4, repeat=n), silent) for n in (1, 2)]
    series, styles = make_drawable(logs)
    band = draw(Chart.CACHE, series, styles, "light").data[0]
    assert list(band.x) == [1, 2, 2, 1, None, 4, 4, None]


def test_the_bar_of_what_was_sent_has_a_whisker_over_the_repeats() -> None:
    series, styles = make_drawable(repeated())
    whisker = draw(Chart.PROMPT, series, styles, "dark").data[-1]
    assert list(whisker.x) == [3 * 293]
    assert (list(whisker.error_x.arrayminus), list(whisker.error_x.array)) == ([300], [300])


def test_a_fact_that_only_some_repeats_recall_says_how_many() -> None:
    series, styles = make_drawable(repeated())
    figure = draw(Chart.RECALL, series, styles, "light")
    assert [(one.x, one.y, one.text) for one in figure.layout.annotations] == [(1, 0, "1/2")]
    assert "the worst shows" in figure.layout.title.subtitle.text


def test_every_verdict_has_a_symbol_of_its_own() -> None:
    series, styles = make_drawable(several())
    traces = {one.name: one for one in draw(Chart.RECALL, series, styles, "dark").data}
    assert {name: len(trace.x) for name, trace in traces.items()} == {
        "answered right": 4 + 1 + 3,
        "gave an old value": 2,
        "failed": 2,
        "not asked": 4,
    }
    assert len({trace.marker.symbol for trace in traces.values()}) == 4

"""One look for every series: readable in both themes, by colour-blind readers, and without any colour."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memdash.charts import prompt, recall
from memdash.charts.canvas import INKS
from memdash.palette import (
    BACKGROUNDS,
    FAMILIES,
    HUES,
    INK,
    Style,
    Theme,
    assign,
    assign_apart,
    contrast,
    readable,
)
from memdash.strategies import strategies

THEMES: tuple[Theme, ...] = get_args(Theme)

# Full colour-blindness, as matrices on linear RGB (Machado, Oliveira and Fernandes, 2009).
VISIONS = {
    "common": np.eye(3),
    "protanopia": np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]),
    "deuteranopia": np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]),
    "tritanopia": np.array([[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]),
}  # fmt: skip
TO_LMS = np.array([
    [0.4122214708, 0.5363325363, 0.0514459929],
    [0.2119034982, 0.6806995451, 0.1073969566],
    [0.0883024619, 0.2817188376, 0.6299787005],
])  # fmt: skip
TO_LAB = np.array([
    [0.2104542553, 0.7936177850, -0.0040720468],
    [1.9779984951, -2.4285922050, 0.4505937099],
    [0.0259040371, 0.7827717662, -0.8086757660],
])  # fmt: skip


def seen(colour: str, vision: str) -> np.ndarray:
    """A colour in OKLab as it is seen."""
    srgb = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    return TO_LAB @ np.cbrt(TO_LMS @ np.clip(VISIONS[vision] @ linear, 0, 1))


def closest(colours: list[str], vision: str) -> tuple[float, str, str]:
    return min(
        (float(np.linalg.norm(seen(a, vision) - seen(b, vision))), a, b)
        for a, b in itertools.combinations(colours, 2)
    )


def test_the_measure_of_contrast_is_that_of_wcag() -> None:
    assert contrast("#000000", "#ffffff") == 21
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("theme", THEMES)
def test_lines_have_3_to_1_against_page_and_card(theme: Theme) -> None:
    for hue in HUES:
        assert readable(getattr(hue, theme), theme) >= 3


@pytest.mark.parametrize("theme", THEMES)
def test_text_in_charts_has_4_5_to_1(theme: Theme) -> None:
    assert readable(INKS[theme].text, theme) >= 4.5
    assert readable(INKS[theme].quiet, theme) >= 4.5


@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize("theme", THEMES)
def test_all_hues_differ_for_every_reader(theme: Theme, vision: str) -> None:
    # A difference of 0.02 in OKLab is just noticeable side by side; lines in a chart need several times that.
    assert len(HUES) >= 10
    assert closest([getattr(hue, theme) for hue in HUES], vision) >= (0.06,)


@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize("theme", THEMES)
def test_kinds_of_tokens_and_verdicts_differ_for_every_reader(theme: Theme, vision: str) -> None:
    assert closest([getattr(piece, theme) for piece in prompt._PIECES], vision) >= (0.06,)
    told = [one.value for one in recall.Verdict if one is not recall.Verdict.NOT_ASKED]
    assert closest([getattr(look, theme) for look in told], vision) >= (0.05,)


@pytest.mark.parametrize("theme", THEMES)
def test_pieces_and_verdicts_have_3_to_1_and_read_without_colour(theme: Theme) -> None:
    looks = [*prompt._PIECES, *(one.value for one in recall.Verdict)]
    assert all(readable(getattr(look, theme), theme) >= 3 for look in looks)
    assert len({piece.pattern for piece in prompt._PIECES}) == len(prompt._PIECES)
    assert len({one.value.symbol for one in recall.Verdict}) == len(recall.Verdict)


def test_every_built_in_strategy_has_a_hue_of_its_own() -> None:
    assert {one.name for one in strategies() if one.__module__.startswith("memdash.")} <= FAMILIES.keys()
    assert len(set(FAMILIES.values())) == len(FAMILIES)
    assert FAMILIES["full_history"] is INK


def test_a_strategy_has_the_same_hue_in_every_comparison() -> None:
    alone = assign([("window of 8", "window")])
    among = assign(
        [("full history", "full_history"), ("window of 8", "window"), ("compaction at 9", "compaction")]
    )
    assert alone["window of 8"] == among["window of 8"]


def test_settings_of_one_strategy_can_be_told_apart() -> None:
    styles = assign([(f"window of {n}", "window") for n in range(1, 7)])
    for theme in THEMES:
        colours = [style.colour(theme) for style in styles.values()]
        assert len(set(colours)) == 6
        assert all(readable(colour, theme) >= 3 for colour in colours)
        assert closest(colours, "common") >= (0.02,)
    assert len({(style.dash, style.marker) for style in styles.values()}) == 6


def test_a_strategy_of_someone_else_takes_a_hue_that_is_free_here() -> None:
    built_in = [(name, name) for name in FAMILIES]
    styles = assign([*built_in, ("mine", "mine")])
    assert styles["mine"].light not in {styles[name].light for name in FAMILIES}


def test_a_strategy_of_someone_else_keeps_its_hue_whatever_the_order() -> None:
    assert assign([("b", "b"), ("a", "a")])["a"] == assign([("a", "a"), ("b", "b")])["a"]
    assert assign([("mine", "mine")])["mine"].light != INK.light


def test_a_series_given_twice_counts_once() -> None:
    once = assign([("window of 4", "window"), ("window of 8", "window")])
    again = assign([("window of 4", "window"), ("window of 4", "window"), ("window of 8", "window")])
    assert once == again


names = st.sampled_from([*FAMILIES, "mine", "yours", "theirs"])


@settings(max_examples=80)
@given(st.lists(st.tuples(names, st.integers(1, 6)), unique=True, max_size=12))
def test_no_two_series_look_the_same_without_colour(chosen: list[tuple[str, int]]) -> None:
    strategies_here = {strategy for strategy, _ in chosen}
    styles: dict[str, Style] = assign((f"{strategy} at {n}", strategy) for strategy, n in chosen)
    assert len(styles) == len(chosen)
    if len(strategies_here) <= len(HUES):
        looks = [(style.dash, style.marker) for style in styles.values()]
        assert len(set(looks)) == len(looks)
    for theme in THEMES:
        assert all(readable(style.colour(theme), theme) >= 3 for style in styles.values())


# -- lines of several comparisons ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("comparisons", [1, 2, 3])
def test_up_to_three_lines_of_a_strategy_are_shades_of_its_hue(comparisons: int) -> None:
    lines = [(f"{place} {name}", name) for place in range(comparisons) for name in ("full_history", "window")]
    assert assign_apart(lines) == assign(lines)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize(
    "lines",
    [
        [("window", 12)],
        [("full_history", 12)],
        [("compaction", 6), ("window", 6)],
        [(name, 3) for name in list(FAMILIES)[:4]],
        [(name, 3) for name in list(FAMILIES)[4:8]],
        [("full_history", 5), ("window", 4), ("compaction", 3)],
    ],
)
def test_a_dozen_lines_stay_apart_whatever_they_are_of(lines: list[tuple[str, int]], theme: Theme) -> None:
    styles = assign_apart((f"{place} {name}", name) for name, count in lines for place in range(count))
    assert len(styles) == 12
    assert closest([style.colour(theme) for style in styles.values()], "common") >= (0.03,)
    assert len({(style.dash, style.marker) for style in styles.values()}) == 12
    assert all(readable(style.colour(theme), theme) >= 3 for style in styles.values())


def test_the_backgrounds_are_those_of_the_theme() -> None:
    config = (Path(__file__).parents[1] / ".streamlit" / "config.toml").read_text(encoding="utf-8")
    for colours in BACKGROUNDS.values():
        assert all(colour in config for colour in colours)

"""Strategies with ranges: how they are read, what they stand for, and how they are written back."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from memdash.errors import InputError
from memdash.strategies import (
    Axis,
    Family,
    choose,
    merged,
    parse,
    parse_family,
    registry,
    strategies,
    swept,
)

OPUS = "claude-opus-5-5"  # a window of 1,000,000 tokens
HAIKU = "claude-haiku-4-5"  # a window of 200,000 tokens


def axis(written: str) -> Axis:
    (only,) = parse_family(written).axes
    return only


def labels(written: str, *models: str) -> list[str]:
    return [choice.label for choice in parse_family(written).choices(models or (OPUS,))]


@pytest.mark.parametrize(
    ("written", "values", "geometric"),
    [
        ("window:2|4|8", (2, 4, 8), False),
        ("window:8|2|4|2", (2, 4, 8), False),
        ("window:2..10/2", (2, 4, 6, 8, 10), False),
        ("window:2..9/2", (2, 4, 6, 8), False),
        ("window:2 .. 6 / 2", (2, 4, 6), False),
        ("window:2..4/1|8", (2, 3, 4, 8), False),
        ("compaction:1000..8000*2", (1000, 2000, 4000, 8000), True),
        ("compaction:1_000..7_999*2", (1000, 2000, 4000), True),
        ("compaction:100..1000*3", (100, 300, 900), True),
        ("truncate:down_to=0.1..1/0.1", (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0), False),
        ("truncate:down_to=0.1..0.7/0.2", (0.1, 0.3, 0.5, 0.7), False),
        ("truncate:mode=safe|naive", ("safe", "naive"), False),
        ("compaction:live_prefix=false|true", (False, True), False),
        ("window:trim_at=none|8", (None, 8), False),
        ("compaction:1%..20%*2", ("1%", "2%", "4%", "8%", "16%"), True),
        ("compaction:1%..2%/0.5%", ("1%", "1.5%", "2%"), False),
        ("compaction:1%..2%/0.5", ("1%", "1.5%", "2%"), False),
        ("compaction:5%|1%", ("1%", "5%"), False),
        ("compaction:5%|1000", ("5%", 1000), False),
    ],
)
def test_a_value_may_be_a_list_steps_of_a_number_or_steps_of_a_factor(written, values, geometric):
    found = axis(written)
    assert (found.values, found.geometric) == (values, geometric)
    assert [type(one) for one in found.values] == [type(one) for one in values]


def test_the_end_is_reached_although_a_factor_was_written_with_few_digits():
    # the fourth root of ten: ten times its eighth power is 1000.0034
    assert axis("compaction:ceiling=100..10000*1.7782795,when=cold").values[-1] == 10_000


def test_steps_of_a_small_factor_are_whole_numbers_each_once():
    values = axis("window:2..8*1.2").values
    assert values == (2, 3, 4, 5, 6, 7)  # 2, 2.4, 2.88, 3.456, 4.1472, 4.97664, 5.971968, 7.1663616
    assert all(isinstance(value, int) for value in values)


def test_a_range_of_one_value_is_that_value():
    assert parse_family("window:4..4/2") == parse_family("window:4|4") == parse_family("window:4")
    assert parse_family("window:4").axes == ()


def test_two_ranges_are_a_grid():
    assert labels("compaction:trigger=1000|2000,words=100|300") == [
        "compaction at 1000, 100 words",
        "compaction at 1000, 300 words",
        "compaction at 2000, 100 words",
        "compaction at 2000, 300 words",
    ]


def test_combinations_that_the_strategy_refuses_are_left_out_and_told():
    choices, left_out = parse_family("window:keep=2|6,trim_at=4|8").expand([OPUS])
    assert [choice.label for choice in choices] == [
        "window of 2, trimmed at 4",
        "window of 2, trimmed at 8",
        "window of 6, trimmed at 8",
    ]
    assert left_out == (
        "window:keep=6, trim_at=4: trim_at: 4 is below keep (6); the window must hold what it keeps",
    )


def test_where_no_combination_is_left_the_first_refusal_is_the_error():
    with pytest.raises(InputError, match=r"no combination can be run.*trim_at: 4 is below keep \(8\)"):
        parse_family("window:keep=8|9,trim_at=4|5").choices([OPUS])


def test_one_setting_that_is_refused_says_so_as_ever():
    with pytest.raises(InputError, match=r"^window: trim_at: 4 is below keep"):
        parse_family("window:keep=8,trim_at=4").choices([OPUS])


def test_a_share_is_one_of_each_models_own_window():
    found = parse_family("compaction:5%|10%").choices([OPUS, HAIKU])
    assert [(choice.params["trigger"], choice.model) for choice in found] == [
        (50_000, OPUS),
        (10_000, HAIKU),
        (100_000, OPUS),
        (20_000, HAIKU),
    ]


def test_a_share_that_is_the_same_for_every_model_is_meant_for_any():
    (choice,) = parse_family("compaction:5%").choices([HAIKU])
    assert choice == choose("compaction", {"trigger": 10_000})
    # 5 % of the large window are 25 % of the small one
    found = parse_family("compaction:5%|25%").choices([OPUS, HAIKU])
    assert [(choice.params["trigger"], choice.model) for choice in found] == [
        (50_000, None),
        (10_000, HAIKU),
        (250_000, OPUS),
    ]


def test_a_share_of_a_fraction_of_a_token_is_rounded():
    assert parse_family("compaction:0.33333%").choices([HAIKU])[0].params["trigger"] == 667  # 666.66


@pytest.mark.parametrize("model", ["my-own-model", None])
def test_a_share_of_an_unknown_window_is_refused(model):
    with pytest.raises(InputError, match=r"trigger: 5% is a share of the context window of .*give a number"):
        parse_family("compaction:5%").at({}, model)


def test_a_sweep_of_a_model_with_an_unknown_window_is_refused_as_a_whole():
    with pytest.raises(InputError, match=r"my-own-model.*not known"):
        parse_family("compaction:5%|10%").choices([OPUS, "my-own-model"])


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("window:2..24", r"keep: '2\.\.24': how does it get there\? Add /STEP or \*FACTOR"),
        ("window:24..2/2", "it is empty: it ends before it begins"),
        ("window:2..24/0", "its step must be above 0"),
        ("window:2..24/-1", "its step must be above 0"),
        ("window:2..24/0.5", "keep takes whole numbers"),
        ("window:2..24*1", "its factor must be above 1"),
        ("window:0..24*2", "multiplying leads nowhere from 0"),
        ("window:0..24/2", "keep: 0 is below the smallest value, 1"),
        ("window:1..20000/1", "more than 10,000 values"),
        ("compaction:1000..2000*1.000001", "more than 10,000 values"),
        ("window:keep=1..200/1,trim_at=1..200/1", "40,000 combinations are more than 10,000"),
        (
            "window:keep=1|2,trim_at=3|4,thinking=strip|keep",
            "keep, trim_at, thinking are ranges; at most two",
        ),
        ("window:1%..5%*2", "keep: it is in exchanges; only a number of tokens"),
        ("truncate:down_to=5%", "down_to: it is not in tokens"),
        ("compaction:1%..20*2", "write % at both ends"),
        ("compaction:1000..2000/5%", "write % at both ends"),
        ("compaction:1%..20%*2%", "write % at both ends"),
        ("compaction:0%", "'0%' is no share of a context window, such as 5%"),
        ("compaction:150%", "'150%' is no share"),
        ("compaction:50%..150%/50%", "'150%' is no share"),
        ("compaction:1000...8000", "is no range; write from..to/step or from..to"),
        ("compaction:1000|many", "trigger: 'many' is not a whole number"),
        ("compaction:1000|", "trigger: '' is not a whole number"),
        ("compaction:treshold=1|2", "there is no parameter 'treshold'"),
        ("compactoin:1000|2000", "did you mean 'compaction'"),
    ],
)
def test_what_is_no_range_is_refused_with_what_to_write(written, problem):
    with pytest.raises(InputError, match=problem):
        parse_family(written)


def test_only_equal_parameters_are_one_setting():
    families = [parse_family("window:4"), parse_family("window:keep=4|6,trim_at=4|6")]
    assert [choice.label for choice in swept(families, [OPUS]).choices] == [
        "full history",
        "window of 4",
        "window of 4, trimmed at 6",
        "window of 6",
    ]


def test_full_history_comes_first_and_once():
    families = [parse_family("window:2|4"), parse_family("full_history")]
    assert [choice.label for choice in swept(families, [OPUS]).choices] == [
        "full history",
        "window of 2",
        "window of 4",
    ]


def test_a_setting_meant_for_any_model_swallows_one_meant_for_a_single_model():
    plain = choose("compaction", {"trigger": 10_000})
    assert merged([replace(plain, model=HAIKU), plain], [OPUS, HAIKU]) == (plain,)


def test_a_setting_between_two_values_of_a_family():
    family = parse_family("compaction:trigger=1000|2000,words=300")
    assert family.at({"trigger": 1500}).label == "compaction at 1500, 300 words"
    assert parse_family("compaction:1%|2%").at({"trigger": "1.5%"}, HAIKU).params["trigger"] == 3_000


@pytest.mark.parametrize(
    ("written", "spelled"),
    [
        ("window", "window"),
        ("window:keep=4", "window:4"),
        ("window:4,trim_at=8..24/4", "window:keep=4,trim_at=8..24/4"),
        ("compaction:trigger=500..8000*2", "compaction:500..8000*2"),
        ("compaction:500..10000*2", "compaction:500..8000*2"),
        ("compaction:1000|2000|3000", "compaction:1000..3000/1000"),
        ("compaction:1000|2000", "compaction:1000|2000"),
        ("compaction:1%..20%*2,words=150|300", "compaction:trigger=1%..16%*2,words=150|300"),
        ("compaction:500..2000/500|8000", "compaction:500|1000|1500|2000|8000"),
        ("truncate:down_to=0.10..1.0/0.10", "truncate:down_to=0.1..1/0.1"),
        ("window:trim_at=none|8", "window:trim_at=none|8"),
        ("compaction:live_prefix=yes", "compaction:live_prefix=true"),
        (r"compaction:instructions=a\,b\|c\\", r"compaction:instructions=a\,b\|c\\"),
    ],
)
def test_a_family_is_written_as_short_as_it_can_be(written, spelled):
    family = parse_family(written)
    assert str(family) == spelled
    assert parse_family(spelled) == family


def test_the_characters_that_separate_can_stand_in_a_text():
    written = r"compaction:2000,instructions=names\, dates \| places"
    assert parse_family(written).given["instructions"] == "names, dates | places"
    assert parse(written) == parse_family(written).at({})


def test_a_strategy_of_ones_own_can_be_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(registry, "_registry", dict(registry._registry))
    file = tmp_path / "mine.py"
    file.write_text(
        "from dataclasses import dataclass\n"
        "from memdash.strategies import FullHistory\n"
        "from memdash.strategies.parameters import param\n"
        "@dataclass(frozen=True)\n"
        "class MyParams:\n"
        "    size: int = param(5, 'How much', minimum=1, unit='tokens')\n"
        "class MySwept(FullHistory):\n"
        "    name = 'my_swept'\n"
        "    title = 'mine'\n"
        "    description = 'Mine.'\n"
        "    Params = MyParams\n"
    )
    family = parse_family(f"{file}:MySwept:1..5/2")
    assert [choice.params["size"] for choice in family.choices([OPUS])] == [1, 3, 5]
    assert {choice.file for choice in family.choices([OPUS])} == {str(file)}
    assert str(family) == f"{file}:MySwept:1..5/2"
    assert parse_family(str(family)) == family


numbers = st.integers(100, 100_000)


@given(numbers, numbers, st.integers(1, 20_000) | st.decimals("1.05", 10, places=2).map(float))
def test_a_range_stays_within_its_ends_rises_and_is_written_back(first, last, step):
    first, last = sorted((first, last))
    kind = "/" if isinstance(step, int) else "*"
    if kind == "/":
        assume((last - first) / step < 10_000)
    family = parse_family(f"compaction:{first}..{last}{kind}{step}")
    values = family.axes[0].values if family.axes else (family.given["trigger"],)
    assert values[0] == first
    assert values[-1] <= last
    assert list(values) == sorted(set(values))
    assert all(isinstance(value, int) for value in values)
    if kind == "/":
        assert values == tuple(range(first, last + 1, step))
    else:
        assert values[-1] * step > last - step  # one more would be past the end, rounding apart
    assert parse_family(str(family)) == family


texts = st.text(min_size=1, max_size=30).map(str.strip).filter(lambda text: text and text.lower() != "none")


@given(texts)
def test_any_text_is_written_back(text):
    family = Family("compaction", {"instructions": text})
    assert parse_family(str(family)) == family
    assert parse(str(family)) == family.at({})


@given(st.data())
def test_every_strategy_with_any_values_is_written_back(data):
    cls = data.draw(st.sampled_from([one for one in strategies() if one.Params.__dataclass_fields__]))
    family = parse_family(cls.name)
    assert parse_family(str(family)) == family
    (choice,) = family.choices([OPUS])
    again = Family(cls.name, json.loads(json.dumps(dict(choice.params))))
    assert again.at({}) == choice
    assert parse_family(str(again)).at({}) == choice

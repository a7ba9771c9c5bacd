from __future__ import annotations

import pytest

from memdash.errors import InputError
from memdash.strategies import StrategyChoice, choose, parameters, parse, strategies, strategy


@pytest.mark.parametrize(
    ("written", "label", "params"),
    [
        ("full_history", "full history", {}),
        ("window", "window of 4", {"keep": 4, "trim_at": 4, "thinking": "strip", "cap_results": None}),
        ("window:6", "window of 6", {"keep": 6, "trim_at": 6, "thinking": "strip", "cap_results": None}),
        (
            "window:keep=4,thinking=keep",
            "window of 4 (naive)",
            {"keep": 4, "trim_at": 4, "thinking": "keep", "cap_results": None},
        ),
        (
            "window:4,trim_at=8",
            "window of 4, trimmed at 8",
            {"keep": 4, "trim_at": 8, "thinking": "strip", "cap_results": None},
        ),
        (
            "compaction:trigger=3_000,words=12",
            "compaction at 3000, 12 words",
            {
                "trigger": 3000,
                "words": 12,
                "instructions": None,
                "summary_model": None,
                "when": "over",
                "ceiling": None,
                "live_prefix": False,
                "max_tokens": None,
                "cap_results": None,
            },
        ),
        (
            "truncate:budget=500,mode=naive",
            "truncate to 500 (naive)",
            {
                "budget": 500,
                "down_to": 1.0,
                "mode": "naive",
                "system": "prompt",
                "thinking": "strip",
                "cap_results": None,
            },
        ),
    ],
)
def test_a_strategy_is_written_by_name_main_value_or_keys(written, label, params):
    choice = parse(written)
    assert choice.label == label
    assert dict(choice.params) == params


def test_when_cold_settles_its_ceiling_at_four_times_the_trigger():
    assert parse("compaction:2000,when=cold").params["ceiling"] == 8000


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("windw:4", "there is no strategy 'windw'; did you mean 'window'?"),
        ("qqq", "there is no strategy 'qqq'. Known are: "),
        ("window:", "'window:': a value must follow the colon, for instance window:4"),
        ("window:four", "window: keep: 'four' is not a whole number"),
        ("window:0", "window: keep: 0 is below the smallest value, 1"),
        ("window:4.5", "window: keep: '4.5' is not a whole number"),
        ("window:keep=4,keep=5", "'window:keep=4,keep=5': keep is given twice"),
        ("window:4,8", "'window:4,8': write each further parameter as key=value"),
        (
            "window:size=4",
            "window: there is no parameter 'size'; its parameters: keep, trim_at, thinking, cap_results",
        ),
        ("window:4,trim_at=3", "window: trim_at: 3 is below keep (4); the window must hold what it keeps"),
        ("window:4,thinking=maybe", "window: thinking: 'maybe' is not one of strip, keep, drop_block"),
        ("full_history:3", "'full_history:3': write each further parameter as key=value"),
        ("compaction:nan", "compaction: trigger: 'nan' is not a whole number"),
        ("truncate:4000,down_to=nan", "truncate: down_to: 'nan' is not a number"),
        ("truncate:4000,down_to=inf", "truncate: down_to: 'inf' is not a number"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_line(written, message):
    with pytest.raises(InputError) as error:
        parse(written)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_values_of_a_form_are_checked_like_written_ones():
    assert choose("window", {"keep": 3.0}).params["keep"] == 3
    with pytest.raises(InputError, match="is not a whole number"):
        choose("window", {"keep": True})
    with pytest.raises(InputError, match="is not a whole number"):
        choose("window", {"keep": 3.5})


@pytest.mark.parametrize("cls", strategies(), ids=lambda cls: cls.name)
def test_every_strategy_says_what_it_is_and_what_each_parameter_does(cls):
    assert strategy(cls.name) is cls
    assert cls.description.endswith(".")
    for one in parameters(cls.Params):
        assert one.help, one.name
        assert one.choices or one.type in (str, bool) or one.minimum is not None, one.name
    assert choose(cls.name).label


def test_a_strategy_that_is_not_known_here_is_told_by_its_name_and_parameters() -> None:
    assert StrategyChoice("bookends", {"last": 2, "first": 1}).label == "bookends (last=2, first=1)"
    assert StrategyChoice("bookends", {}).label == "bookends"
    assert StrategyChoice("window", {"nonsense": 2}).label == "window (nonsense=2)"

"""Your conversations from the terminal: typed, priced and printed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from memdash.tables.conversations import conversation_parts, floor_parts
from tests.cli.conftest import HERE, Ended

Memdash = Callable[..., Ended]
TRAFFIC = ("--lengths", "p50=2,p100=6", "--conversations-per-day", "100")


@pytest.fixture
def ran(memdash: Memdash) -> None:
    chosen = ("--strategy", "full_history", "--strategy", "window:1", "--turns", "4", "--quiet")
    assert memdash("run", *HERE, *chosen).code == 0


def test_the_lengths_that_were_typed_are_priced_for_every_setting(ran: None, memdash: Memdash) -> None:
    shown = memdash("show", "last", *TRAFFIC)
    assert shown.code == 0
    head = "Your conversations: p50=2,p100=6 (mean 2.8 turns, p95 6), 100 a day. What one costs, by setting:"
    assert head in shown.out
    told = shown.out[shown.out.index(head) :]
    assert "A month is 30 days." in told
    assert "of your conversations are longer than the longest script, 4 turns: counted as 4" in told
    assert "The floor, a perfect memory that sends only the facts needed: $" in told
    assert "peak tokens" not in told  # nothing was said of the peak


def test_without_lengths_a_run_is_shown_as_ever(ran: None, memdash: Memdash) -> None:
    shown = memdash("show", "last").out
    assert "Your conversations" not in shown
    assert "The floor" not in shown


def test_the_limit_is_held_against_the_peak_hour(ran: None, memdash: Memdash) -> None:
    limit = ("--peak-hour-share", "0.2", "--tokens-per-minute", "10")
    told = json.loads(memdash("show", "last", *TRAFFIC, *limit, "--format", "json").out)["conversations"]
    assert (told["tokens_per_minute_limit"], told["peak_hour_share"]) == (10, 0.2)
    assert all(one["of_limit"] > 1 for one in told["settings"])
    shown = memdash("show", "last", *TRAFFIC, *limit, "--format", "markdown").out
    assert (
        "| strategy | mean | p50 | p95 | p99 | per 1,000 | a month | peak tokens a minute | of limit |"
        in shown
    )
    assert "full history and window of 1 would be over the limit of 10 input tokens a minute" in shown


def test_a_file_of_lengths_is_read(ran: None, memdash: Memdash, tmp_path: Path) -> None:
    (tmp_path / "lengths.csv").write_text("turns,count\n2,3\n4,1\n")
    shown = memdash("show", "last", "--lengths", "lengths.csv")
    assert "Your conversations: lengths.csv (mean 2.5 turns, p95 4). What one costs" in shown.out


@pytest.mark.parametrize(
    ("typed", "complaint"),
    [
        (("--lengths", "p50=2"), "say how long the longest conversation is"),
        (("--lengths", "nothing.csv"), "'nothing.csv' is neither quantiles such as"),
        (("--conversations-per-day", "5"), "--conversations-per-day needs --lengths: say how long your conversations are"),
        (("--lengths", "p100=2", "--peak-hour-share", "0.2"), "say how many conversations a day there are as well"),
        (("--lengths", "p100=2", "--conversations-per-day", "nan"), "'nan' is not a number"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_one_clear_line(
    memdash: Memdash, typed: tuple[str, ...], complaint: str
) -> None:
    ended = memdash("show", "last", *typed)
    assert ended.code == 2
    assert complaint in ended.err
    assert "Traceback" not in ended.err


def setting(label: str, mean: float, strategy: str = "window") -> dict[str, object]:
    costs = dict.fromkeys(("mean_usd", "p50_usd", "p95_usd", "p99_usd"), mean)
    blank = dict.fromkeys(("per_month_usd", "peak_tokens_per_minute", "of_limit"))
    more = {"label": label, "strategy": strategy, "simulator_only": False, "per_1000_usd": 1000 * mean}
    return {**costs, **blank, **more}


def test_the_cheapest_come_first_and_full_history_is_always_there() -> None:
    settings = [setting(f"w{n}", 0.01 * n) for n in range(30, 0, -1)] + [setting("all", 1, "full_history")]
    lengths = {"source": "made up", "mean_turns": 2.0, "p95_turns": 3}
    told = {
        "conversations": {
            "lengths": lengths, "conversations_per_day": None, "settings": settings, "findings": [], "notes": [],
        },
        "break_even": [
            {"cheaper_when_short": "all", "other": "w2", "turns": 9, "changes": [3, 5, 9], "cheaper_when_long": "w2"},
            {"cheaper_when_short": "w1", "other": "w2", "turns": 7, "changes": [7], "cheaper_when_long": "w2"},
        ],
        "floor": {"token_counter": "estimate", "scripts": [], "settings": [{"label": "w1", "multiple": 0.5}]},
        "token_counter": "estimate",
    }  # fmt: skip
    _, table, rest, _ = conversation_parts(told, markdown=False)
    rows = table.splitlines()[3:]
    assert [row.split()[0] for row in rows] == [f"w{n}" for n in range(1, 21)] + ["all"]
    assert rows[0].split()[-2:] == ["0.50", "–"]
    assert rows[1].endswith("3, 5, 9")
    assert rest == "10 dearer settings not shown; --format json has all."


def test_a_setting_below_the_floor_is_said_to_forget() -> None:
    script = {"script": "a", "model": "m", "cache": "5m", "cache_marks": "auto", "cost_usd": 0.5}
    settings = [{"label": "window", "multiple": 0.9}, {"label": "full history", "multiple": 1.4}]
    floor = {"token_counter": "estimate", "scripts": [script], "settings": settings}
    [told] = floor_parts({"floor": floor, "token_counter": "estimate"}, markdown=False)
    assert told == (
        "The floor, a perfect memory that sends only the facts needed: $0.5000 on a.\n"
        "window costs 0.90 times that (it forgets, or shortens what a turn needs), full history 1.40 times."
    )
    [elsewhere] = floor_parts({"floor": floor, "token_counter": "ctok 1.3.0"}, markdown=False)
    assert elsewhere == (
        f"{told}\nIt was counted by estimate, the replays by ctok 1.3.0: it is off by what the two differ."
    )
    assert floor_parts({"floor": None}, markdown=False) == []

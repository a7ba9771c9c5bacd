from __future__ import annotations

from collections.abc import Callable

import pytest

from memdash.strategies import parameters, strategies
from tests.cli.conftest import Ended

Memdash = Callable[..., Ended]


def test_strategies_shows_every_parameter_with_its_default_and_help(memdash: Memdash) -> None:
    ended = memdash("strategies")
    assert ended.code == 0
    shown = " ".join(ended.out.split())
    for cls in strategies():
        assert cls.name in shown
        assert cls.description in shown
        for parameter in parameters(cls.Params):
            assert f"{parameter.name}=" in shown
            assert parameter.help in shown


def test_prices_shows_all_five_prices_and_the_day_they_were_checked(memdash: Memdash) -> None:
    ended = memdash("prices", "claude-opus-5-5")
    row = next(line for line in ended.out.splitlines() if line.startswith("claude-opus-5-5"))
    # input 4, 5-minute write 1.25 × 4, 1-hour write 2 × 4, read 0.05 × 4, output 20 (model pages of 2026-09-22)
    assert row.split()[1:6] == ["4.00", "5.00", "8.00", "0.20", "20.00"]
    assert "2026-11-30" in ended.out


def test_prices_shows_the_dearer_tier_of_haiku_under_it(memdash: Memdash) -> None:
    lines = memdash("prices", "claude-haiku-5-5").out.splitlines()
    at = next(index for index, line in enumerate(lines) if line.startswith("claude-haiku-5-5"))
    assert lines[at].split()[1:6] == ["0.10", "0.125", "0.20", "0.01", "0.50"]
    assert lines[at + 1].split()[:8] == [
        "prompts",
        "over",
        "100,000",
        "0.50",
        "0.625",
        "1.00",
        "0.05",
        "2.50",
    ]


def test_a_dated_alias_has_the_price_of_its_model(memdash: Memdash) -> None:
    assert "claude-haiku-4-5" in memdash("prices", "claude-haiku-4-5-20251001").out


@pytest.mark.parametrize("model", ["claude-opus-55", "gpt-4o", ""])
def test_an_unknown_model_has_no_price(memdash: Memdash, model: str) -> None:
    ended = memdash("prices", model)
    assert (ended.code, ended.out) == (2, "")
    assert "there is no price" in ended.complaint


def test_a_wrong_command_or_option_is_one_line_with_what_comes_near(memdash: Memdash) -> None:
    ended = memdash("scrips")
    assert ended.code == 2
    assert "scripts" in ended.complaint
    ended = memdash("run", "--strateg", "window")
    assert ended.code == 2
    assert "--strategy" in ended.complaint


def test_help_names_every_command(memdash: Memdash) -> None:
    ended = memdash("--help")
    assert ended.code == 0
    for command in ("run", "show", "export", "purge", "scripts", "strategies", "prices", "simulate"):
        assert f"  {command} " in ended.out

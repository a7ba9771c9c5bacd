"""That the benchmarks of speed run, at a tiny size: what they measure is read, not asserted."""

from __future__ import annotations

import pytest

from tests.benchmarks import live_replays, long_conversation, replay_speed, two_cores

pytestmark = pytest.mark.long


def test_long_conversations_are_measured_beyond_what_the_sdk_takes() -> None:
    early, late = long_conversation.measure(2, 6, rounds=1)
    assert 0 < early.prompt_tokens < late.prompt_tokens
    assert early.sdk > 0
    assert early.ours > 0


def test_live_replays_are_measured_over_http(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, "")  # what the benchmark sets is taken back
    together, alone, calls = live_replays.measure(turns=2, delay=0.0, rounds=1)
    assert calls >= 3  # two turns and a probe
    assert min(together, alone) > 0


def test_a_sweep_is_measured_in_one_process_and_in_two() -> None:
    one, two = two_cores.measure(("full_history", "window:1"), turns=2, rounds=1)
    assert min(one, two) > 0


def test_a_replay_is_measured_against_its_sdk_calls(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["replay_speed", "--rounds", "1"])
    replay_speed.main()
    assert "42 calls a replay" in capsys.readouterr().out

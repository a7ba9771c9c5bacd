"""``--confirm-live`` against real HTTP servers: simulators with other settings, and such as answer what a test says."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from memdash.metrics import schema
from memdash.models import TokenFamily
from memdash.simulator import server as simulator_server
from memdash.simulator.engine import Engine, SimulatorConfig
from memdash.simulator.server import running
from memdash.tokens import counter
from tests.claude.test_live import TEXT, Server, error, stream
from tests.cli.conftest import HERE, Ended

Memdash = Callable[..., Ended]
KEY = "sk-ant-very-secret"

SCRIPT = """
title: A short trip
system: Answer in one sentence.
turns:
  - user: Hi! We go to Porto, and our budget is 2,400 euros.
    reply: Porto it is.
  - user: When should we go?
    reply: In May.
  - user: And for how long?
    reply: For a week.
facts:
  - {id: budget, turn: 1, question: "What is our budget?", answer: {number: 2400}}
"""
SIMULATED = (*HERE, "--quiet", "--token-counter", "estimate", "--strategy", "full_history")


@pytest.fixture
def trip(tmp_path: Path) -> str:
    path = tmp_path / "short-trip.yaml"
    path.write_text(SCRIPT, "utf-8")
    return str(path)


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, key: None) -> Iterator[Server]:
    """Answers what the test says, whatever it is asked."""
    answering = Server()
    monkeypatch.setenv("ANTHROPIC_BASE_URL", answering.url)
    yield answering
    answering.close()


def confirmed(memdash: Memdash, *arguments: str, budget: str = "5") -> tuple[Ended, dict[str, Any]]:
    """Run and confirm; returns how it ended, and the simulated comparison as JSON."""
    ended = memdash("run", *SIMULATED, *arguments, "--format", "json", "--confirm-live", budget)
    comparison = json.loads(ended.out)
    jsonschema.Draft202012Validator(schema()).validate(comparison)
    return ended, comparison


def number(confirmation: dict[str, Any], name: str) -> tuple[Any, Any, Any, Any]:
    (one,) = [one for one in confirmation["numbers"] if one["name"] == name]
    return one["simulated"], one["live"], one["difference"], one["relative"]


def shown(memdash: Memdash, comparison: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(memdash("show", comparison, "--format", "json").out)
    return found


def test_every_error_is_that_of_what_the_server_reported(memdash: Memdash, server: Server, trip: str) -> None:
    usage = {
        "input_tokens": 3,
        "cache_read_input_tokens": 50,
        "cache_creation_input_tokens": 100,
        "cache_creation": {"ephemeral_5m_input_tokens": 100, "ephemeral_1h_input_tokens": 0},
    }
    server.says(stream(TEXT, usage=usage, delta_usage={"output_tokens": 20}))
    ended, comparison = confirmed(memdash, "--script", trip)
    assert ended.code == 0
    (simulated,) = comparison["replays"]
    found = comparison["confirmation"]
    live = {
        "input_tokens": 9,
        "ephemeral_5m_input_tokens": 300,
        "ephemeral_1h_input_tokens": 0,
        "cache_read_input_tokens": 150,
        "prompt_tokens": 459,
        "output_tokens": 60,
        # three turns of 3 × $4, 100 × $5, 50 × $0.20 and 20 × $20 a million
        "cost_usd": 3 * (3 * 4 + 100 * 5 + 50 * 0.2 + 20 * 20) / 1e6,
        "kept": 1.0,
        "recall": None,  # with the whole history it says "Hello" as well, so the question is no test there
    }
    for name, value in live.items():
        assert number(found, name)[1] == pytest.approx(value), name
    for name in ("input_tokens", "cache_read_input_tokens", "prompt_tokens", "output_tokens", "cost_usd"):
        ours = simulated[name]
        assert number(found, name) == pytest.approx(
            (ours, live[name], ours - live[name], ours / live[name] - 1)
        )
    # three turns, one question with its two controls
    assert (found["requests"], found["replays"], found["replays_planned"]) == (6, 1, 1)
    assert (found["answered_by"], found["left_out"]) == ("a compatible server", [])


def test_a_server_with_the_same_rules_and_another_seed_is_off_by_the_replies_alone(
    memdash: Memdash, key: None, trip: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running(SimulatorConfig(seed=99, token_counter="estimate")) as url:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
        ended, comparison = confirmed(memdash, "--script", trip, "--strategy", "window:2")
    assert ended.code == 0
    found = comparison["confirmation"]
    live = shown(memdash, found["live"])
    assert live["confirmation"] == found
    for name in ("prompt_tokens", "cost_usd", "output_tokens", "cache_read_input_tokens"):
        sums = [sum(replay[name] for replay in one["replays"]) for one in (comparison, live)]
        assert number(found, name)[:2] == pytest.approx(tuple(sums)), name
    assert {one["label"] for one in found["settings"]} == {"full history", "window of 2"}
    assert number(found, "kept") == (0.5, 0.5, 0.0, 0.0)  # the window loses it in both
    worst = [abs(one["relative"]) for one in found["numbers"] if one["relative"] is not None]
    assert worst == sorted(worst, reverse=True)
    assert any("replies" in note for note in found["notes"])


class _Doubled:
    """A token counter that finds twice as many tokens in every text."""

    name = "doubled"

    def count(self, text: str, family: TokenFamily) -> int:
        return 2 * counter("estimate").count(text, family)


def test_another_token_counter_shows_in_the_prompt_tokens(
    memdash: Memdash, key: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(simulator_server, "Engine", lambda config: Engine(config, counter=_Doubled()))
    with running(SimulatorConfig(seed=1)) as url:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
        _ended, comparison = confirmed(memdash, "--script", "trip-planning", "--turns", "2")
    relative = number(comparison["confirmation"], "prompt_tokens")[3]
    assert -0.6 < relative < -0.35  # the texts count double there, what frames them does not


def test_a_slower_server_shows_in_the_waits(
    memdash: Memdash, key: None, trip: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running(SimulatorConfig(seed=1, token_counter="estimate"), 0.02) as url:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
        _ended, comparison = confirmed(memdash, "--script", trip)
    simulated, live, *_ = number(comparison["confirmation"], "wait_p50_ms")
    assert simulated == comparison["replays"][0]["wait_ms"]["p50"]
    assert 0 < live < simulated / 2
    assert comparison["confirmation"]["numbers"][0]["name"].endswith("_ms")


def test_what_the_server_leaves_out_is_not_reported(memdash: Memdash, server: Server, trip: str) -> None:
    server.says(stream(TEXT, usage={"input_tokens": 12, "output_tokens": 1}))
    ended = memdash("run", *SIMULATED, "--script", trip, "--confirm-live", "5")
    assert ended.code == 0
    line = next(line for line in ended.out.splitlines() if line.startswith("cache reads"))
    assert line.split()[2:] == [*line.split()[2:3], "not", "reported", "–", "–"]


def test_a_budget_that_is_too_small_stops_the_confirmation_and_says_so(
    memdash: Memdash, server: Server, trip: str
) -> None:
    server.says(stream(TEXT, usage={"input_tokens": 1000}, delta_usage={"output_tokens": 500}))
    # each answer costs $0.014 and may cost some $0.02, so that the second one does not fit any more
    ended, comparison = confirmed(memdash, "--script", trip, budget="0.03")
    assert ended.code == 3
    found = comparison["confirmation"]
    assert (found["replays"], found["sentence"], found["numbers"]) == (0, None, [])
    (left_out,) = found["left_out"]
    assert (left_out["simulated"], left_out["live"]) == ("done", "stopped_by_budget")
    assert "pass the budget of $0.0300" in left_out["message"]
    assert comparison["versions"]["rules"].endswith("not yet compared with the live API")
    live = shown(memdash, found["live"])
    spent = sum(one["cost_usd"] + one["probe_cost_usd"] for one in live["replays"])
    assert 0 < spent <= 0.03
    assert [one["turns_completed"] for one in live["replays"]] == [1]


def test_a_budget_that_ends_in_the_middle_leaves_what_finished(
    memdash: Memdash, server: Server, trip: str
) -> None:
    server.says(stream(TEXT, usage={"input_tokens": 100}, delta_usage={"output_tokens": 20}))
    models = ("--model", "claude-opus-5-5", "--model", "claude-haiku-5-5")
    # one answer of Opus may cost more than $0.02, so none is asked for; six of Haiku cost next to nothing
    ended, comparison = confirmed(
        memdash, "--script", trip, "--strategy", "window:2", *models, budget="0.012"
    )
    assert ended.code == 3
    found = comparison["confirmation"]
    assert (found["replays"], found["replays_planned"]) == (1, 3)
    assert [one["label"] for one in found["settings"]] == ["window of 2 · claude-haiku-5-5"]
    assert {one["live"] for one in found["left_out"]} == {"stopped_by_budget"}
    assert found["left_out"][0]["label"].endswith("claude-opus-5-5")
    assert "(6 requests, 1 of 3 replays): cost within" in comparison["versions"]["rules"]
    assert [one["model"] for one in server.bodies] == ["claude-haiku-5-5"] * len(server.bodies)


def test_a_refused_replay_is_a_result_that_does_not_count(
    memdash: Memdash, server: Server, trip: str
) -> None:
    server.says(error("invalid_request_error", "max_tokens: too odd"), status=400, kind="application/json")
    ended = memdash("run", *SIMULATED, "--script", trip, "--confirm-live", "5")
    assert ended.code == 0
    assert "Nothing to compare with the live run: no replay finished on both sides." in ended.out
    assert "Not counted: full history, simulated done, live rejected: max_tokens: too odd" in ended.out


def test_the_caption_tells_it_of_this_comparison_then_of_the_latest_other_one(
    memdash: Memdash, server: Server, trip: str
) -> None:
    server.says(stream(TEXT, usage={"input_tokens": 100}, delta_usage={"output_tokens": 20}))
    plain = memdash("run", *SIMULATED, "--script", trip, "--format", "json")
    first = json.loads(plain.out)["comparison"]
    rules = "Simulator rules of 2026-11-30, not yet compared with the live API"
    assert shown(memdash, first)["versions"]["rules"] == rules
    _ended, checked = confirmed(memdash, "--script", trip)
    told = checked["versions"]["rules"]
    assert told.startswith(f"{rules}; compared with a compatible server on ")
    assert "(6 requests): cost within" in told
    of_another = shown(memdash, first)
    assert "(6 requests of another comparison): cost within" in of_another["versions"]["rules"]
    assert of_another["confirmation"] is None
    csv = memdash("show", first, "--format", "csv").out
    assert "of another comparison" in csv.splitlines()[1]
    assert "Answered by a compatible server." in memdash("show", checked["confirmation"]["live"]).out


def test_another_token_counter_or_version_makes_it_no_evidence(
    memdash: Memdash, server: Server, trip: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.says(stream(TEXT, usage={"input_tokens": 100}, delta_usage={"output_tokens": 20}))
    confirmed(memdash, "--script", trip)
    monkeypatch.setattr("memdash.__version__", "99.0")
    later = json.loads(memdash("run", *SIMULATED, "--script", trip, "--format", "json").out)
    assert later["versions"]["rules"].endswith("not yet compared with the live API")


def test_an_answer_of_the_live_api_lifts_the_reservation(
    memdash: Memdash, server: Server, trip: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memdash.answerer import Answerer

    server.says(stream(TEXT, usage={"input_tokens": 100}, delta_usage={"output_tokens": 20}))
    monkeypatch.setattr("memdash.answerer.present_answerer", lambda: Answerer.LIVE_API)
    _ended, comparison = confirmed(memdash, "--script", trip)
    told = comparison["versions"]["rules"]
    assert told.startswith("Simulator rules of 2026-11-30, compared with the live API on ")
    assert "not yet" not in told


def test_a_deleted_confirmation_is_no_evidence(
    memdash: Memdash, server: Server, trip: str, tmp_path: Path
) -> None:
    from memdash.store import open_for_command

    server.says(stream(TEXT, usage={"input_tokens": 100}, delta_usage={"output_tokens": 20}))
    _ended, comparison = confirmed(memdash, "--script", trip)
    store = open_for_command(tmp_path / "test.duckdb")
    store.delete(comparison["confirmation"]["live"])
    store.close()
    again = shown(memdash, comparison["comparison"])
    assert (again["confirmation"], again["versions"]["rules"]) == (
        None,
        "Simulator rules of 2026-11-30, not yet compared with the live API",
    )


def test_a_live_comparison_outlives_what_it_checked(
    memdash: Memdash, server: Server, trip: str, tmp_path: Path
) -> None:
    from memdash.store import open_for_command

    server.says(stream(TEXT, usage={"input_tokens": 100}, delta_usage={"output_tokens": 20}))
    _ended, comparison = confirmed(memdash, "--script", trip)
    store = open_for_command(tmp_path / "test.duckdb")
    store.delete(comparison["comparison"])
    store.close()
    assert shown(memdash, comparison["confirmation"]["live"])["confirmation"] is None


def test_markdown_holds_the_errors_as_a_table(memdash: Memdash, server: Server, trip: str) -> None:
    server.says(stream(TEXT, usage={"input_tokens": 100}, delta_usage={"output_tokens": 20}))
    ended = memdash("run", *SIMULATED, "--script", trip, "--confirm-live", "5", "--format", "markdown")
    assert "| number | simulated | live | difference | error |" in ended.out
    assert "| cost | $" in ended.out


def test_the_key_is_neither_shown_nor_stored(
    memdash: Memdash, server: Server, trip: str, tmp_path: Path
) -> None:
    server.says(stream(TEXT, usage={"input_tokens": 100}, delta_usage={"output_tokens": 20}))
    ended = memdash("run", *HERE, "--script", trip, "--turns", "1", "--confirm-live", "5")
    assert ended.code == 0
    assert "playing full history" in ended.err
    assert "budget $5.00" in ended.err
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    for text in (ended.out, ended.err):
        assert KEY not in text
        assert server.url not in text
    for file in tmp_path.glob("test.duckdb*"):
        content = file.read_bytes()
        assert KEY.encode() not in content
        assert server.url.encode() not in content


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--confirm-live", "1"), "--confirm-live needs a key: set ANTHROPIC_API_KEY"),
        (("--confirm-live", "0"), "0 is not a budget: give US dollars above 0"),
        (("--confirm-live", "none"), "'none' is not a number"),
        (("--confirm-live", "inf"), "'inf' is not a number"),
        (("--confirm-live", "1", "--relax-limits"), "relaxed the API's limits"),
    ],
)
def test_what_cannot_be_confirmed_is_refused_before_anything_runs(
    memdash: Memdash, trip: str, tmp_path: Path, arguments: tuple[str, ...], told: str
) -> None:
    ended = memdash("run", *SIMULATED, "--script", trip, *arguments)
    assert ended.code == 2
    assert told in ended.complaint
    assert not (tmp_path / "test.duckdb").exists()


def test_a_live_run_is_not_confirmed(memdash: Memdash, key: None, trip: str) -> None:
    ended = memdash(
        "run", "--script", trip, "--provider", "anthropic", "--budget", "1", "--confirm-live", "1"
    )
    assert ended.code == 2
    assert "live already" in ended.complaint

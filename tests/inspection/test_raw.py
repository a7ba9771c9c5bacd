"""A recorded request, sent once more with curl, is answered as it was."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from memdash.inspection import raw
from memdash.inspection.raw import RawRequest, Target, raw_request
from memdash.records import Purpose, RequestRecord
from memdash.scripts.model import Script
from memdash.spec import CacheMarks, Provider
from tests.inspection.replays import Played, play
from tests.replay.scripts import budget, chat, spec, with_tools

HOSTILE = "$(touch hacked) `touch hacked` ' \" \\ \n\nJSON\n</script> \u202e \u2028 \x9b31m EOF"


@pytest.fixture(scope="module")
def simulator() -> Iterator[str]:
    """The address of a real ``memdash simulate``."""
    command = [sys.executable, "-m", "memdash", "simulate", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        found = re.search(r"http://\S+", process.stdout.readline())
        assert found is not None
        yield found.group()
        process.terminate()


def as_simulated(script: Script, strategy: str = "full_history", **changes: object) -> Played:
    """Play with the counter that ``memdash simulate`` takes."""
    return play(replace(spec(script, strategy, **changes), token_counter="auto"))


def shell(command: str, folder: Path, url: str) -> dict:
    """What a command answers whose address is that of ``memdash simulate``."""
    assert shutil.which("curl"), "curl is what this tests"
    command = command.replace(raw.SIMULATOR_URL, url)
    done = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, check=True, timeout=60)
    answer: dict = json.loads(done.stdout)
    return answer


def of(played: Played, record: RequestRecord, target: Target = Target.SIMULATE) -> RawRequest:
    return raw_request(played.log, record, played.texts, target)


def reply(played: Played, record: RequestRecord) -> list:
    return [json.loads(played.texts[one]) for one in record.reply_blocks]


@pytest.mark.parametrize(
    ("script", "strategy", "changes", "purposes"),
    [
        (
            with_tools(),
            "full_history",
            {"cache_marks": CacheMarks.FIXED_AND_AUTO},
            {Purpose.TURN, Purpose.TOOL},
        ),
        (chat(4, budget()), "compaction:200,words=30", {}, {Purpose.TURN, Purpose.SUMMARY, Purpose.PROBE}),
        (chat(4), "window:keep=2,thinking=drop_block", {"model": "claude-sonnet-5-5"}, {Purpose.TURN}),
    ],
    ids=["tools", "compaction", "bound to an account"],
)
def test_the_same_request_gets_the_same_answer_from_curl(
    script: Script,
    strategy: str,
    changes: dict[str, object],
    purposes: set[Purpose],
    simulator: str,
    tmp_path: Path,
) -> None:
    played = as_simulated(script, strategy, **changes)
    last = {record.purpose: record for record in played.log.requests}
    assert set(last) == purposes
    for record in last.values():
        again = of(played, record)
        assert again.notes == ()
        answer = shell(again.curl(), tmp_path, simulator)
        assert answer["content"] == reply(played, record)
        assert answer["stop_reason"] == record.stop_reason
        usage = answer["usage"]
        prompt = sum(usage[f"{name}input_tokens"] for name in ("", "cache_creation_", "cache_read_"))
        assert prompt == record.usage.prompt_tokens
        assert answer.get("input_transformations", []) == list(record.transformations)


def test_the_body_may_lie_in_a_file(simulator: str, tmp_path: Path) -> None:
    played = as_simulated(chat(2))
    again = of(played, played.opening(2))
    (tmp_path / "my body.json").write_text(again.json)
    command = again.curl("my body.json")
    assert len(command) < 1_000
    assert shell(command, tmp_path, simulator)["content"] == reply(played, played.opening(2))


def test_no_text_of_a_script_or_a_model_is_run_by_the_shell_or_seen_by_the_terminal(
    simulator: str, tmp_path: Path
) -> None:
    script = chat(1)
    (first,) = script.turns
    script = replace(
        script, system=HOSTILE, turns=(replace(first, content=({"type": "text", "text": HOSTILE},)),)
    )
    played = as_simulated(script)
    record = replace(played.opening(1), betas=(*played.opening(1).betas, "x-$(touch hacked)'"))
    again = of(played, record)
    assert again.body["messages"][-1]["content"] == [{"type": "text", "text": HOSTILE}]
    assert json.loads(again.json) == again.body
    assert not {"\u202e", "\u2028", "\x9b"} & set(again.curl())
    assert shell(again.curl(), tmp_path, simulator)["content"] == reply(played, record)
    assert list(tmp_path.iterdir()) == []


def test_half_a_character_is_written_as_json_can_hold_it() -> None:
    again = RawRequest("", {}, {"text": "a\ud83db"}, ())
    assert '"a\\ud83db"' in again.json


def test_at_the_api_the_key_is_a_variable_and_the_simulators_thinking_is_left_out() -> None:
    played = play(spec(chat(3)))
    again = of(played, played.opening(3), Target.API)
    assert again.headers["x-api-key"] == "$ANTHROPIC_API_KEY"
    assert '-H "x-api-key: $ANTHROPIC_API_KEY"' in again.curl()
    assert "memdash-hint" not in again.headers
    assert again.url == "${ANTHROPIC_BASE_URL:-https://api.anthropic.com}"
    kinds = {block["type"] for message in again.body["messages"] for block in message["content"]}
    assert kinds == {"text"}
    (note,) = again.notes
    assert note.startswith("Its thinking blocks (2) are left out: the simulator signed them")


def test_what_a_live_replay_sent_goes_to_the_api_as_it_was() -> None:
    played = play(spec(chat(3)))
    live = Played(
        replace(played.log, spec=replace(played.log.spec, provider=Provider.ANTHROPIC)), played.texts
    )
    record = replace(live.opening(3), modelled=False)
    again = of(live, record, Target.API)
    assert again.notes == ()
    assert again.body["messages"][1]["content"][0]["type"] == "thinking"
    (note,) = of(live, record, Target.SIMULATE).notes
    assert "the API signed them" in note


def test_the_question_about_the_cache_names_the_answer_before() -> None:
    played = play(spec(chat(2)))
    first, second = played.opening(1), played.opening(2)
    assert of(played, first).body["diagnostics"] == {"previous_message_id": None}
    assert of(played, second).body["diagnostics"] == {"previous_message_id": first.message_id}


def test_limits_that_were_relaxed_are_said() -> None:
    played = play(spec(chat(1), relax_limits=True))
    assert [note for note in of(played, played.opening(1)).notes if "floors" in note]

"""The bundled scripts, as the pretend model meets them: its honest behaviour must do, it knows nothing of scripts."""

from __future__ import annotations

from typing import Any

import pytest

from memdash.scripts import Script, Turn, find_scripts, grade, list_scripts
from memdash.simulator.pretend import HonestModel
from memdash.simulator.pretend.orders import summary_order
from memdash.simulator.pretend.questions import asked

MODEL = HonestModel()
SCRIPTS = [find_scripts(entry.id)[0] for entry in list_scripts()]
TURNS = [pytest.param(turn, id=f"{script.id}-{turn.number}") for script in SCRIPTS for turn in script.turns]


def exchange(turn: Turn) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": [dict(block) for block in turn.content]}]
    for number, step in enumerate(turn.steps):
        calls = [(f"toolu_{turn.number}_{number}_{at}", call) for at, call in enumerate(step.calls)]
        uses = [
            {"type": "tool_use", "id": one, "name": call.name, "input": dict(call.input)}
            for one, call in calls
        ]
        results = [{"type": "tool_result", "tool_use_id": one, "content": call.result} for one, call in calls]
        messages += [{"role": "assistant", "content": uses}, {"role": "user", "content": results}]
    return [*messages, {"role": "assistant", "content": turn.reply or "Gladly."}]


def answer(script: Script, turns: tuple[Turn, ...], question: str) -> str:
    messages = [message for turn in turns for message in exchange(turn)]
    request = {
        "system": script.system,
        "max_tokens": 1024,
        "messages": [*messages, {"role": "user", "content": question}],
    }
    return MODEL.draft(request, None, 1).text


@pytest.mark.parametrize("turn", TURNS)
def test_an_ordinary_turn_is_answered_with_chat(turn: Turn) -> None:
    assert asked(turn.text) is None
    messages = [{"role": "user", "content": turn.text}]
    assert summary_order({"messages": messages}, messages) is None


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.id)
def test_every_probe_passes_with_the_whole_history_and_fails_with_an_empty_one(script: Script) -> None:
    for fact in script.facts:
        whole = answer(script, script.turns, fact.question)
        verdict = grade(fact.values[-1], fact.values[:-1], whole)
        assert verdict.passed, f"{fact.id}: {whole}"
        assert "I don't know" in answer(script, (), fact.question)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.id)
def test_without_the_turns_that_state_it_a_fact_is_not_answered_by_luck(script: Script) -> None:
    for fact in script.facts:
        stating = {value.turn for value in fact.values}
        rest = tuple(turn for turn in script.turns if turn.number not in stating)
        said = answer(script, rest, fact.question)
        # Another turn may well restate the fact; anything else would be a lucky match.
        assert "I don't know" in said or grade(fact.values[-1], (), said).passed, f"{fact.id}: {said}"

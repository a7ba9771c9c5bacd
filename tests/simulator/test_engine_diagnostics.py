"""Cache diagnostics: what differs from the request before, told by fingerprint."""

from __future__ import annotations

from typing import Any

import pytest

from memdash.simulator.engine import Caller, Engine
from memdash.simulator.rules import CACHE_DIAGNOSTICS, CONTEXT_EDITING
from tests.simulator.engine_kit import AUTO, assistant, body, caller, new_engine, text, tool, user, words

ASKING = caller(CACHE_DIAGNOSTICS)
HISTORY = [user(words(700)), assistant("Noted."), user("And now?")]
MORE = [*HISTORY, assistant("Well."), user("Go on.")]
CACHED = 3 + 700 + 3 + 1 + 3 + 2
"""What the first request writes up to its last block."""


def ask(engine: Engine, messages: Any, previous: str | None, asker: Caller = ASKING, **more: Any) -> Any:
    request = body(messages, diagnostics={"previous_message_id": previous}, cache_control=AUTO, **more)
    return engine.create_message(request, asker, 0.0).message


def second(first: dict[str, Any] | None = None, **more: Any) -> Any:
    """The diagnosis of a request that continues another with a change."""
    engine = new_engine()
    before = ask(engine, HISTORY, None, **(first or {}))
    return ask(engine, more.pop("messages", MORE), before["id"], **more)["diagnostics"]


def reason(type: str, tokens: int | None = None) -> dict[str, Any]:
    found: dict[str, Any] = {"type": type}
    if tokens is not None:
        found["cache_missed_input_tokens"] = tokens
    return {"cache_miss_reason": found}


def test_the_first_turn_and_appending_are_null() -> None:
    engine = new_engine()
    first = ask(engine, HISTORY, None)
    assert first["diagnostics"] is None
    assert ask(engine, MORE, first["id"])["diagnostics"] is None
    assert ask(engine, HISTORY, first["id"])["diagnostics"] is None, "the same request again appends nothing"


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"model": "claude-opus-5"}, reason("model_changed", CACHED)),
        ({"speed": "fast"}, reason("model_changed", CACHED)),
        ({"tools": [tool()]}, reason("tools_changed", CACHED)),
        ({"system": "Be brief."}, reason("system_changed", CACHED)),
        ({"tools": [tool()], "system": "Be brief."}, reason("tools_changed", CACHED)),
        ({"output_config": {"effort": "low"}}, reason("unavailable")),
        ({"messages": [user("other"), *MORE[1:]]}, reason("messages_changed", CACHED)),
        ({"messages": MORE[2:]}, reason("messages_changed", CACHED)),
        ({"messages": [user("other"), *MORE[1:]], "output_config": {"effort": "low"}}, reason("unavailable")),
        ({"messages": MORE[2:], "model": "claude-opus-5"}, reason("model_changed", CACHED)),
        ({"max_tokens": 7}, None),
        ({"output_config": {"effort": "medium"}}, None),
        ({"thinking": {"type": "adaptive"}}, None),
    ],
)
def test_the_earliest_difference_is_named(more: dict[str, Any], expected: Any) -> None:
    assert second(**more) == expected


def test_other_betas_and_other_edits_make_it_unavailable() -> None:
    engine = new_engine()
    before = ask(engine, HISTORY, None)
    both = caller(CACHE_DIAGNOSTICS, CONTEXT_EDITING)
    assert ask(engine, MORE, before["id"], both)["diagnostics"] == reason("unavailable")
    before = ask(engine, HISTORY, None, both)
    edits = {"edits": [{"type": "clear_tool_uses_20250919"}]}
    assert ask(engine, MORE, before["id"], both, context_management=edits)["diagnostics"] == reason(
        "unavailable"
    )


def test_moving_a_mark_is_no_difference() -> None:
    marked = [user([text(words(700), cache_control=AUTO)]), *MORE[1:]]
    plain = [user([text(words(700))]), *HISTORY[1:]]
    engine = new_engine()
    before = ask(engine, plain, None)
    assert ask(engine, marked, before["id"])["diagnostics"] is None


def test_what_could_be_read_all_the_same_is_not_missed() -> None:
    system = [text(words(600), cache_control=AUTO)]
    edited = [user("other"), *MORE[1:]]
    # 603 tokens of the fixed part are still read.
    assert second({"system": system}, system=system, messages=edited) == reason("messages_changed", CACHED)


def test_an_unknown_message_or_one_of_another_key_is_not_found() -> None:
    engine = new_engine()
    assert ask(engine, HISTORY, "msg_unknown")["diagnostics"] == reason("previous_message_not_found")
    other = ask(engine, HISTORY, None, caller(CACHE_DIAGNOSTICS, key="other"))
    assert ask(engine, MORE, other["id"])["diagnostics"] == reason("previous_message_not_found")


def test_a_request_that_did_not_ask_is_not_remembered() -> None:
    engine = new_engine()
    before = engine.create_message(body(HISTORY), ASKING, 0.0).message
    assert "diagnostics" not in before
    assert ask(engine, MORE, before["id"])["diagnostics"] == reason("previous_message_not_found")


def test_without_the_header_the_field_is_taken_and_nothing_is_said() -> None:
    assert "diagnostics" not in ask(new_engine(), HISTORY, None, caller())


def test_nothing_diverged_although_nothing_was_read() -> None:
    engine = new_engine()
    before = ask(engine, HISTORY, None)
    request = body(MORE, diagnostics={"previous_message_id": before["id"]}, cache_control=AUTO)
    late = engine.create_message(request, ASKING, 900_000.0).message
    assert late["usage"]["cache_read_input_tokens"] == 0
    assert late["diagnostics"] is None


def test_a_trial_compares_and_is_not_remembered() -> None:
    engine = new_engine()
    before = ask(engine, HISTORY, None)
    request = body(MORE, diagnostics={"previous_message_id": before["id"]})
    trial = engine.create_message(request, ASKING, 0.0, commit=False).message
    assert trial["diagnostics"] is None
    assert ask(engine, MORE, trial["id"])["diagnostics"] == reason("previous_message_not_found")


def test_an_absorbed_request_is_remembered_under_its_recorded_id() -> None:
    engine = new_engine()
    request = body(HISTORY, diagnostics={"previous_message_id": None}, cache_control=AUTO)
    engine.absorb(request, ASKING, 0.0, 0.0, {"id": "msg_recorded", "content": [], "stop_reason": "end_turn"})
    assert ask(engine, MORE, "msg_recorded")["diagnostics"] is None
    edited = [user("other"), *MORE[1:]]
    assert ask(engine, edited, "msg_recorded")["diagnostics"] == reason("messages_changed", CACHED)


def test_only_the_latest_requests_of_a_key_are_remembered() -> None:
    engine = new_engine()
    first = ask(engine, HISTORY, None)["id"]
    for number in range(1_000):
        ask(engine, [user(f"{number}")], None)
    assert ask(engine, MORE, first)["diagnostics"] == reason("previous_message_not_found")

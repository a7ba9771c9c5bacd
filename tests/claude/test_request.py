from __future__ import annotations

import dataclasses

import pytest

from memdash.claude import RequestBuilder
from memdash.fixed_part import FixedPart
from memdash.scripts.model import Script, Turn
from memdash.spec import CacheLifetime, CacheMarks, ComparisonSpec, Provider
from memdash.strategies import parse
from memdash.strategies.base import DROP_BLOCK, Ask, RequestOptions

SCRIPT = Script("s", "A script", (Turn(1, ({"type": "text", "text": "Hello"},)),), system="Be brief.")
FIXED = FixedPart("Be brief.")
HELLO = ({"role": "user", "content": [{"type": "text", "text": "Hello"}]},)
BINDING = "thinking-binding-controls-2026-08-01"
PLAIN = RequestOptions()


def build(options=PLAIN, fixed=FIXED, **changes):
    (spec,) = ComparisonSpec((SCRIPT,), (parse("full_history"),)).replays()
    return RequestBuilder(dataclasses.replace(spec, **changes)).conversation(fixed, HELLO, options, None)


def test_a_default_request_has_one_automatic_mark_and_reports_mismatches():
    request = build()
    assert request.body == {
        "model": "claude-opus-5-5",
        "max_tokens": 1024,
        "system": [{"type": "text", "text": "Be brief."}],
        "messages": list(HELLO),
        "cache_control": {"type": "ephemeral"},
    }
    assert request.betas == (BINDING,)


def test_the_history_check_sets_the_behaviour_and_a_strategys_own_choice_beats_it():
    assert build(check=True).body["thinking"] == {
        "type": "adaptive",
        "block_binding": {"prefix_mismatch_behavior": "error"},
    }
    assert build(DROP_BLOCK, check=True).body["thinking"] == {
        "type": "adaptive",
        "block_binding": {"prefix_mismatch_behavior": "drop_block"},
    }


@pytest.mark.parametrize("model", ["claude-haiku-4-5", "llama-3"])
def test_a_model_without_adaptive_thinking_gets_neither_the_header_nor_a_behaviour(model):
    request = build(check=True, model=model)
    assert request.betas == ()
    assert "thinking" not in request.body


def test_one_hour_is_asked_for_and_off_leaves_the_mark_out():
    assert build(cache=CacheLifetime.ONE_HOUR).body["cache_control"] == {"type": "ephemeral", "ttl": "1h"}
    assert "cache_control" not in build(cache=CacheLifetime.OFF).body


def test_fixed_and_auto_puts_one_more_mark_at_the_end_of_the_fixed_part():
    request = build(cache_marks=CacheMarks.FIXED_AND_AUTO, cache=CacheLifetime.ONE_HOUR)
    mark = {"type": "ephemeral", "ttl": "1h"}
    assert request.body["system"] == [{"type": "text", "text": "Be brief.", "cache_control": mark}]
    off = build(cache_marks=CacheMarks.FIXED_AND_AUTO, cache=CacheLifetime.OFF)
    assert off.body["system"] == [{"type": "text", "text": "Be brief."}]


def test_an_empty_system_prompt_is_left_out_and_so_is_one_that_a_strategy_carries_itself():
    assert "system" not in build(fixed=FixedPart("")).body
    assert "system" not in build(RequestOptions(omit_system=True)).body


def test_a_live_replay_starts_with_its_salt_even_without_a_system_prompt():
    assert build(salt="5f0c").body["system"][0]["text"] == "[5f0c]\nBe brief."
    assert build(RequestOptions(omit_system=True), salt="5f0c").body["system"][0]["text"] == "[5f0c]\n"


def test_live_replays_have_different_salts_and_simulated_ones_none():
    live = ComparisonSpec((SCRIPT,), (parse("full_history"), parse("window:4")), provider=Provider.ANTHROPIC)
    salts = [replay.salt for replay in live.replays()]
    assert len(set(salts)) == 2
    assert all(salts)
    simulated = ComparisonSpec((SCRIPT,), (parse("full_history"),))
    assert simulated.replays()[0].salt == ""


def test_effort_is_sent_where_it_is_set():
    assert build(effort="low").body["output_config"] == {"effort": "low"}


def summary(ask, **changes):
    (spec,) = ComparisonSpec((SCRIPT,), (parse("full_history"),)).replays()
    return RequestBuilder(dataclasses.replace(spec, **changes)).summary(FIXED, ask, PLAIN, None)


def test_a_summary_call_carries_no_cache_mark_and_its_own_system_prompt():
    request = summary(Ask(HELLO, system="Summarise.", max_tokens=300))
    assert request.body == {
        "model": "claude-opus-5-5",
        "max_tokens": 300,
        "system": [{"type": "text", "text": "Summarise."}],
        "messages": list(HELLO),
    }


def test_a_summary_on_the_live_prefix_is_the_conversations_own_request():
    request = summary(Ask(HELLO, live_prefix=True, max_tokens=300))
    assert request.body["system"] == [{"type": "text", "text": "Be brief."}]
    assert request.body["cache_control"] == {"type": "ephemeral"}
    assert request.body["max_tokens"] == 300


def test_a_summary_may_be_another_models():
    assert summary(Ask(HELLO, model="claude-haiku-5-5")).body["model"] == "claude-haiku-5-5"


def test_a_calls_own_options_join_those_of_the_conversation_on_the_live_prefix():
    own = RequestOptions(body={"compaction": {"type": "summarize"}}, betas=("compact-2026-09-04",))
    (spec,) = ComparisonSpec((SCRIPT,), (parse("full_history"),)).replays()
    request = RequestBuilder(spec).summary(FIXED, Ask(HELLO, live_prefix=True, options=own), DROP_BLOCK, None)
    assert request.body["compaction"] == {"type": "summarize"}
    assert request.body["thinking"]["block_binding"] == {"prefix_mismatch_behavior": "drop_block"}
    assert request.betas == (BINDING, "compact-2026-09-04")

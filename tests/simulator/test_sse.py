"""Streaming order and pacing (Messages API, streaming)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdash.simulator.engine import Timing
from memdash.simulator.sse import StreamEvent, stream_events

TEXT = "Lisbon is mild in spring, and the trams run late."  # 49 characters: pieces of 24, 24 and 1


def message(*blocks: dict[str, Any], **more: Any) -> dict[str, Any]:
    usage = {
        "input_tokens": 3,
        "cache_creation_input_tokens": 20,
        "cache_read_input_tokens": 500,
        "cache_creation": {"ephemeral_5m_input_tokens": 20, "ephemeral_1h_input_tokens": 0},
        "output_tokens": 60,
        "output_tokens_details": {"thinking_tokens": 40},
        "service_tier": "standard",
    }
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-5-5",
        "content": list(blocks),
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": usage,
        **more,
    }


def events(data: dict[str, Any], timing: Timing = Timing(100.0, 300.0, 1000.0)) -> list[StreamEvent]:
    return list(stream_events(data, timing))


def shape(data: dict[str, Any]) -> list[str]:
    return [event.data.get("delta", {}).get("type") or event.data["type"] for event in events(data)]


def text(value: str = TEXT) -> dict[str, Any]:
    return {"type": "text", "text": value}


def thinking(value: str) -> dict[str, Any]:
    return {"type": "thinking", "thinking": value, "signature": "c2lnbmVk"}


def test_a_text_reply_streams_in_the_apis_order() -> None:
    assert shape(message(text())) == [
        "message_start",
        "ping",
        "content_block_start",
        "text_delta",
        "text_delta",
        "text_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]


def test_the_start_knows_the_input_but_no_content_no_stop_reason_and_hardly_any_output() -> None:
    start = events(message(text()))[0].data["message"]
    assert start["content"] == []
    assert start["stop_reason"] is None
    assert start["usage"] == {
        "input_tokens": 3,
        "cache_creation_input_tokens": 20,
        "cache_read_input_tokens": 500,
        "cache_creation": {"ephemeral_5m_input_tokens": 20, "ephemeral_1h_input_tokens": 0},
        "output_tokens": 1,
        "service_tier": "standard",
    }


def test_the_end_carries_the_stop_reason_and_the_cumulative_usage() -> None:
    end = events(message(text()))[-2].data
    assert end["delta"] == {"stop_reason": "end_turn", "stop_sequence": None}
    assert end["usage"] == {
        "input_tokens": 3,
        "cache_creation_input_tokens": 20,
        "cache_read_input_tokens": 500,
        "output_tokens": 60,
        "output_tokens_details": {"thinking_tokens": 40},
    }


def test_diagnostics_and_input_transformations_are_known_at_the_start_but_context_management_at_the_end() -> (
    None
):
    applied = {
        "applied_edits": [
            {"type": "clear_tool_uses_20250919", "cleared_tool_uses": 2, "cleared_input_tokens": 900}
        ]
    }
    data = message(text(), diagnostics=None, input_transformations=[], context_management=applied)
    start, end = events(data)[0].data["message"], events(data)[-2].data
    assert start["diagnostics"] is None
    assert start["input_transformations"] == []
    assert start["context_management"] is None
    assert end["context_management"] == applied


def test_iterations_arrive_with_the_final_usage() -> None:
    data = message(text())
    data["usage"]["iterations"] = [{"type": "message", "input_tokens": 3, "output_tokens": 60}]
    first, *_, last, _stop = events(data)
    assert "iterations" not in first.data["message"]["usage"]
    assert last.data["usage"]["iterations"] == data["usage"]["iterations"]


def test_thinking_streams_its_text_and_then_one_signature() -> None:
    assert shape(message(thinking("Spring, so nothing too far north."), text("Lisbon."))) == [
        "message_start",
        "ping",
        "content_block_start",
        "thinking_delta",
        "thinking_delta",
        "signature_delta",
        "content_block_stop",
        "content_block_start",
        "text_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]


def test_omitted_thinking_streams_its_signature_alone() -> None:
    assert shape(message(thinking("")))[2:5] == [
        "content_block_start",
        "signature_delta",
        "content_block_stop",
    ]


def test_a_tool_call_starts_with_an_empty_input_and_streams_it_as_json_pieces() -> None:
    call = {
        "type": "tool_use",
        "id": "toolu_1",
        "name": "find",
        "input": {"city": "Łódź", "nights": [1, 2, 3], "q": "a\nb"},
    }
    sent = [event.data for event in events(message(call)) if event.data["type"].startswith("content_block")]
    assert sent[0]["content_block"] == {**call, "input": {}}
    pieces = [event["delta"]["partial_json"] for event in sent[1:-1]]
    assert pieces[0] == ""
    assert len(pieces) > 2
    assert json.loads("".join(pieces)) == call["input"]


def test_a_call_without_arguments_streams_one_empty_piece() -> None:
    call = {"type": "tool_use", "id": "toolu_1", "name": "now", "input": {}}
    deltas = [
        event.data["delta"] for event in events(message(call)) if event.data["type"] == "content_block_delta"
    ]
    assert deltas == [{"type": "input_json_delta", "partial_json": ""}]


def test_threshold_compaction_starts_empty_and_comes_in_one_delta() -> None:
    block = {"type": "compaction", "content": "What was said so far.", "encrypted_content": "eA=="}
    start, delta, stop = (
        e.data for e in events(message(block)) if e.data["type"].startswith("content_block")
    )
    assert start["content_block"] == {"type": "compaction", "content": None}
    assert delta["delta"] == {
        "type": "compaction_delta",
        "content": "What was said so far.",
        "encrypted_content": "eA==",
    }
    assert stop == {"type": "content_block_stop", "index": 0}


@pytest.mark.parametrize(
    "block",
    [
        {"type": "compaction", "content": "Summary.", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "eA=="},
    ],
)
def test_other_blocks_come_whole_in_their_start(block: dict[str, Any]) -> None:
    start, stop = (e.data for e in events(message(block)) if e.data["type"].startswith("content_block"))
    assert start["content_block"] == block
    assert stop["type"] == "content_block_stop"


def test_text_arrives_evenly_between_its_first_piece_and_the_end() -> None:
    # 49 characters: the first 24 at 300 ms, the other 25 over the remaining 700 ms at 28 ms a character
    times = [event.at_ms for event in events(message(text())) if event.data["type"] == "content_block_delta"]
    assert times == [300.0, pytest.approx(300 + 24 * 28), 1000.0]


def test_thinking_fills_the_time_to_the_first_text() -> None:
    sent = events(message(thinking("x" * 48), text("Lisbon.")))
    # 48 characters of thinking and a signature that counts as one, over the 200 ms from the first event to
    # the first text
    times = [e.at_ms for e in sent if e.data["type"] == "content_block_delta"]
    assert times == [pytest.approx(100 + 24 * 200 / 49), pytest.approx(100 + 48 * 200 / 49), 300.0, 300.0]
    assert [e.at_ms for e in sent if e.data["type"] in {"message_start", "ping"}] == [100.0, 100.0]
    assert [e.at_ms for e in sent][-2:] == [1000.0, 1000.0]


BLOCKS = st.one_of(
    st.builds(text, st.text(st.characters(codec="utf-8"), max_size=120)),
    st.builds(thinking, st.text(st.characters(codec="utf-8"), max_size=80)),
    st.builds(
        lambda arguments: {"type": "tool_use", "id": "toolu_1", "name": "f", "input": arguments},
        st.dictionaries(
            st.text(max_size=8), st.one_of(st.integers(), st.text(max_size=30), st.none()), max_size=4
        ),
    ),
)


@given(st.lists(BLOCKS, max_size=4), st.lists(st.floats(0, 1e6), min_size=3, max_size=3), st.booleans())
def test_any_message_can_be_put_together_again_and_time_never_goes_back(
    blocks: list[dict[str, Any]], moments: list[float], has_text_time: bool
) -> None:
    first, middle, last = sorted(moments)
    sent = events(message(*blocks), Timing(first, middle if has_text_time else None, last))
    times = [event.at_ms for event in sent]
    assert times == sorted(times)
    assert (times[0], times[-1]) == (first, last)

    rebuilt: list[dict[str, Any]] = []
    arguments = ""
    for event in (decoded(event) for event in sent):
        match event:
            case {"type": "content_block_start", "index": index, "content_block": block}:
                assert index == len(rebuilt)
                rebuilt.append(block)
                arguments = ""
            case {
                "type": "content_block_delta",
                "delta": {"type": "input_json_delta", "partial_json": piece},
            }:
                arguments += piece
            case {"type": "content_block_delta", "delta": {"type": kind, **piece}}:
                ((name, value),) = piece.items()
                assert kind == f"{name}_delta"
                rebuilt[-1][name] += value
            case {"type": "content_block_stop"} if arguments:
                rebuilt[-1]["input"] = json.loads(arguments)
    assert rebuilt == blocks


def decoded(event: StreamEvent) -> dict[str, Any]:
    name, data, *rest = event.encode().split(b"\n")
    assert name == f"event: {event.data['type']}".encode()
    assert data.startswith(b"data: ")
    assert rest == [b"", b""]
    parsed: dict[str, Any] = json.loads(data.removeprefix(b"data: "))
    return parsed

from __future__ import annotations

from memdash.claude import read_iterations, read_usage
from memdash.claude.response import read_message
from memdash.records import Iteration, Usage


def test_every_bucket_is_read_under_the_apis_own_name():
    usage = read_usage(
        {
            "input_tokens": 3,
            "cache_creation_input_tokens": 700,
            "cache_read_input_tokens": 1_000,
            "cache_creation": {"ephemeral_5m_input_tokens": 500, "ephemeral_1h_input_tokens": 200},
            "output_tokens": 90,
            "output_tokens_details": {"thinking_tokens": 40},
            "service_tier": "standard",
            "something_new": {"a": 1},
        }
    )
    assert usage == Usage(3, 700, 500, 200, 1_000, 90, 40)
    assert usage.prompt_tokens == 1_703


def test_what_a_server_leaves_out_or_sends_as_null_is_not_zero():
    assert read_usage({"input_tokens": 10, "output_tokens": 2}) == Usage(input_tokens=10, output_tokens=2)
    assert read_usage({"input_tokens": 10, "cache_read_input_tokens": None, "cache_creation": None}) == Usage(
        input_tokens=10
    )
    assert read_usage(None) == Usage()
    assert read_usage(None).prompt_tokens is None


def test_a_zero_that_is_reported_is_zero():
    usage = read_usage({"input_tokens": 0, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0})
    assert (usage.input_tokens, usage.cache_read_input_tokens, usage.prompt_tokens) == (0, 0, 0)


def test_the_sum_of_writes_is_taken_from_the_split_where_only_that_is_given():
    usage = read_usage({"input_tokens": 1, "cache_creation": {"ephemeral_1h_input_tokens": 7}})
    assert (usage.cache_creation_input_tokens, usage.ephemeral_5m_input_tokens) == (7, None)


def test_iterations_are_read_with_their_cache_fields_and_unknown_types_survive():
    iterations = read_iterations(
        {
            "input_tokens": 5,
            "iterations": [
                {
                    "type": "compaction",
                    "input_tokens": 180,
                    "output_tokens": 30,
                    "cache_read_input_tokens": 9,
                },
                {"type": "message", "input_tokens": 5, "output_tokens": 2, "model": "claude-opus-5-5"},
                {"type": "from_the_future", "input_tokens": 1},
                "not an object",
            ],
        }
    )
    assert iterations == (
        Iteration("compaction", Usage(input_tokens=180, output_tokens=30, cache_read_input_tokens=9)),
        Iteration("message", Usage(input_tokens=5, output_tokens=2), "claude-opus-5-5"),
        Iteration("from_the_future", Usage(input_tokens=1)),
    )
    assert read_iterations(None) == ()


def test_blocks_are_kept_exactly_as_received():
    block = {"type": "compaction", "content": None, "from_the_future": [1, {"a": None}]}
    response = read_message(
        {"content": [block]},
        request_id=None,
        retries=0,
        modelled=False,
        started_ms=0,
        first_event_ms=None,
        first_text_ms=None,
        finished_ms=1,
    )
    assert response.content[0] is block
    assert (response.stop_reason, response.message_id, response.usage) == (None, None, Usage())

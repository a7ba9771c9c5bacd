from __future__ import annotations

import dataclasses

import pytest

from memdash.records import Iteration, MissReason, Usage
from memdash.replay.journal import Context
from memdash.replay.misses import Sent, find_miss

FIVE_MINUTES = 300_000.0
BEFORE = Sent(
    model="claude-opus-5-5",
    options={"max_tokens": 1024},
    context=Context("sys", "tools", ("user:a", "assistant:b", "user:c")),
    started_ms=0.0,
    usage=Usage(input_tokens=3, cache_read_input_tokens=600, cache_creation_input_tokens=400),
)


def now(read, *, extra=2, **changes):
    entries = (*BEFORE.context.entries, *(f"user:n{i}" for i in range(extra)))
    sent = Sent(
        BEFORE.model,
        BEFORE.options,
        Context("sys", "tools", entries),
        30_000.0,
        Usage(input_tokens=3, cache_read_input_tokens=read, cache_creation_input_tokens=100),
    )
    return dataclasses.replace(sent, **changes)


def test_reading_all_that_could_be_read_is_no_miss():
    assert find_miss(BEFORE, now(1000), FIVE_MINUTES) == (None, 0)


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        (now(0, model="claude-sonnet-5-5"), MissReason.MODEL_CHANGED),
        (now(0, options={"thinking": {"type": "disabled"}}), MissReason.OPTIONS_CHANGED),
        (now(0, options={"output_config": {"effort": "low"}}), MissReason.OPTIONS_CHANGED),
        (now(0, context=Context("sys", "other", BEFORE.context.entries)), MissReason.TOOLS_CHANGED),
        (now(0, context=Context("other", "tools", BEFORE.context.entries)), MissReason.SYSTEM_CHANGED),
        (now(0, context=Context("sys", "tools", ("user:c",))), MissReason.HISTORY_EDITED),
        (now(0, started_ms=300_001.0), MissReason.LIFETIME_PASSED),
        (now(0, extra=20), MissReason.LOOKBACK_EXCEEDED),
    ],
)
def test_the_first_reason_that_matches_is_named(sent, reason):
    assert find_miss(BEFORE, sent, FIVE_MINUTES) == (reason, 1000)


def test_a_change_of_max_tokens_is_no_change_of_options():
    assert find_miss(BEFORE, now(1000, options={"max_tokens": 5}), FIVE_MINUTES) == (None, 0)


def test_a_model_change_is_named_before_everything_else():
    sent = now(0, model="other", context=Context("x", "y", ()), started_ms=10**9)
    assert find_miss(BEFORE, sent, FIVE_MINUTES).reason is MissReason.MODEL_CHANGED


def test_a_partial_read_after_an_edit_counts_what_was_lost():
    sent = now(250, context=Context("sys", "tools", ("user:a", "user:c")))
    assert find_miss(BEFORE, sent, FIVE_MINUTES) == (MissReason.HISTORY_EDITED, 750)


def test_nineteen_new_blocks_are_within_the_look_back():
    assert find_miss(BEFORE, now(0, extra=19), FIVE_MINUTES).reason is None


def test_the_first_request_has_nothing_to_read_unless_its_fixed_part_was_warm():
    assert find_miss(None, now(0), FIVE_MINUTES).reason is MissReason.FIRST_REQUEST
    assert find_miss(None, now(500), FIVE_MINUTES).reason is None


def test_without_caching_or_without_figures_nothing_else_is_looked_for():
    assert find_miss(BEFORE, now(0), None).reason is MissReason.CACHING_OFF
    assert find_miss(BEFORE, now(None), FIVE_MINUTES).reason is MissReason.NOT_REPORTED


def test_where_nothing_was_written_the_prefix_is_below_the_models_minimum():
    small = dataclasses.replace(
        BEFORE, usage=Usage(input_tokens=90, cache_read_input_tokens=0, cache_creation_input_tokens=0)
    )
    assert find_miss(small, now(0), FIVE_MINUTES) == (MissReason.BELOW_MINIMUM, 0)


class Answer:
    """An answer with these iterations, each a type with the tokens it read and wrote."""

    def __init__(self, usage, *iterations, applied_edits=()):
        self.usage = usage
        self.iterations = tuple(
            Iteration(
                type, Usage(input_tokens=3, cache_read_input_tokens=r, cache_creation_input_tokens=w), None
            )
            for type, r, w in iterations
        )
        self.applied_edits = applied_edits


def answered(answer, entries, started=30_000.0):
    return Sent.of(BEFORE.model, BEFORE.options, Context("sys", "tools", entries), started, answer)


def test_a_request_that_the_api_compacts_has_read_what_its_own_prompt_read():
    inside = Usage(input_tokens=3, cache_read_input_tokens=0, cache_creation_input_tokens=90)
    compacted = answered(
        Answer(inside, ("compaction", 1_000, 50), ("message", 0, 90)), now(0).context.entries
    )
    assert find_miss(BEFORE, compacted, FIVE_MINUTES) == (None, 0)
    # The next one can read what was written behind the summary, which it begins with.
    after = answered(Answer(Usage(cache_read_input_tokens=90)), ("assistant:s", "+t", "user:q"))
    assert find_miss(compacted, after, FIVE_MINUTES) == (None, 0)
    late = answered(Answer(Usage(cache_read_input_tokens=0)), after.context.entries, started=900_000.0)
    assert find_miss(compacted, late, FIVE_MINUTES) == (MissReason.LIFETIME_PASSED, 90)


def test_going_on_from_a_paused_compaction_misses_what_it_closed():
    nothing = Usage(input_tokens=0, cache_read_input_tokens=0, cache_creation_input_tokens=0)
    paused = answered(Answer(nothing, ("compaction", 1_000, 50)), now(0).context.entries)
    on = answered(Answer(Usage(cache_read_input_tokens=0)), (*paused.context.entries, "assistant:s"))
    assert find_miss(paused, on, FIVE_MINUTES) == (MissReason.HISTORY_EDITED, 1_050)


def test_what_the_api_clears_is_an_edit_of_the_history():
    clear = {"type": "clear_tool_uses_20250919", "cleared_tool_uses": 2, "cleared_input_tokens": 400}
    sent = answered(
        Answer(Usage(cache_read_input_tokens=300), applied_edits=(clear,)), now(0).context.entries
    )
    assert find_miss(BEFORE, sent, FIVE_MINUTES) == (MissReason.HISTORY_EDITED, 700)

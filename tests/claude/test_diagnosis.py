from __future__ import annotations

import pytest

from memdash.claude.response import read_diagnosis


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ({}, None),
        ({"diagnostics": None}, {"type": "nothing_changed"}),
        ({"diagnostics": {"cache_miss_reason": None}}, {"type": "not_finished"}),
        (
            {
                "diagnostics": {
                    "cache_miss_reason": {"type": "system_changed", "cache_missed_input_tokens": 812}
                }
            },
            {"type": "system_changed", "cache_missed_input_tokens": 812},
        ),
        ({"diagnostics": {"cache_miss_reason": {"type": "unavailable"}}}, {"type": "unavailable"}),
        ({"diagnostics": "yes"}, None),
        ({"diagnostics": {}}, None),
    ],
)
def test_a_missing_answer_a_null_and_a_null_reason_are_three_different_things(message, told):
    assert read_diagnosis(message) == told

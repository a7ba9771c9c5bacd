"""What holds for every strategy on any conversation: the API's rules, the user's words, and no edit that was not declared."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memdash.claude import connect
from memdash.records import EventKind, EventRecord, Purpose, RequestRecord, Status
from memdash.replay import replay
from memdash.scripts import find_scripts
from memdash.scripts.model import Script, Step, ToolCall
from tests.replay.scripts import budget, spec, turn

pytestmark = pytest.mark.long

SAFE = [
    "full_history",
    "window:1",
    "window:3",
    "window:keep=2,trim_at=5",
    "window:keep=2,thinking=drop_block",
    "truncate:600",
    "truncate:budget=900,down_to=0.5",
    "truncate:budget=900,thinking=drop_block",
    "truncate:budget=700,system=message",
    "compaction:500,words=30",
    "compaction:400,when=cold",
    "server_compaction:500",
    "server_compaction:trigger=700,pause=true",
    "compact_on_demand:500",
    "compact_on_demand:trigger=600,tail=2",
    "compact_on_demand:trigger=600,tail=1,background=true",
    "context_editing:trigger=400,keep=1",
    "context_editing:trigger=400,keep=0,clear_at_least=20,clear_tool_inputs=true,edits=both",
]
TAU_BENCH = Path(__file__).parents[3] / "shared" / "data" / "tau_bench" / "gpt-4o-airline.json"


class Watching:
    """Keeps every request that goes out."""

    def __init__(self, client):
        self._client = client
        self.requests = []

    def __getattr__(self, name):
        value = getattr(self._client, name)
        if name not in ("send", "probe", "start"):
            return value

        def watched(request):
            self.requests.append(request)
            return value(request)

        return watched


def watch(one):
    client, clock = connect(one)
    watching = Watching(client)
    records = list(replay(one, watching, clock))
    made = [record for record in records if isinstance(record, RequestRecord)]
    return records, list(zip(made, watching.requests, strict=True))


def orphans(messages):
    """Ids of tool results without their call just before, and of calls without their result just after."""
    wrong = []
    for index, message in enumerate(messages):
        calls = {block["id"] for block in message["content"] if block["type"] == "tool_use"}
        results = {block["tool_use_id"] for block in message["content"] if block["type"] == "tool_result"}
        before = messages[index - 1]["content"] if index else []
        after = messages[index + 1]["content"] if index + 1 < len(messages) else []
        wrong += results - {block["id"] for block in before if block["type"] == "tool_use"}
        wrong += calls - {block["tool_use_id"] for block in after if block["type"] == "tool_result"}
    return wrong


def blocks_of(request):
    return [json.dumps(block) for message in request.body["messages"] for block in message["content"]]


EDITS = {EventKind.TRIM, EventKind.STRIP_THINKING, EventKind.COMPACTION}


def check(one, records, requests):
    """Assert what must hold; returns how the replay ended."""
    declared = [record for record in records if isinstance(record, EventRecord) and record.event in EDITS]
    # A compaction runs before a turn is sent (when=cold) or after its answer, and then shows in the next turn.
    edited_turns = {record.turn + later for record in declared for later in (0, 1)}
    before = None
    for record, request in requests:
        usage = record.usage
        if record.error_message is None:
            assert (
                usage.prompt_tokens
                == usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens
            )
            assert (
                usage.cache_creation_input_tokens
                == usage.ephemeral_5m_input_tokens + usage.ephemeral_1h_input_tokens
            )
            assert usage.thinking_tokens <= usage.output_tokens
        if record.purpose not in (Purpose.TURN, Purpose.TOOL):
            continue
        messages = request.body["messages"]
        assert orphans(messages) == []
        first = messages[0]
        assert first["role"] == "user" or first["content"][0]["type"] == "compaction"
        user = [block for message in messages if message["role"] == "user" for block in message["content"]]
        stated = dict(one.script.turns[record.turn - 1].content[0])
        assert stated in user, "the user's turn is sent verbatim"
        now = blocks_of(request)
        if before is not None and record.turn not in edited_turns:
            assert now[: len(before)] == before, f"turn {record.turn} changed what came before, undeclared"
        before = now
    return records[-1]


def assert_no_thinking_outlives_an_edit(one, records, requests):
    """With the history check on, a safe strategy is never refused: every thinking block it sends is still valid."""
    last = check(one, records, requests)
    assert last.status is Status.DONE, last.message
    kinds = Counter(record.event for record in records if isinstance(record, EventRecord))
    assert not kinds[EventKind.THINKING_MISMATCH]
    if one.params.get("thinking") != "drop_block":
        assert not kinds[EventKind.DROP_BLOCK]


texts = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), min_size=1, max_size=60
).filter(str.strip)


@st.composite
def conversations(draw):
    """Turns with any text, some with tool calls in one or several steps, some after a long pause."""
    turns = []
    for number in range(1, draw(st.integers(2, 9)) + 1):
        steps = tuple(
            Step(
                tuple(
                    ToolCall(f"c{number}.{step}.{nth}", "look", {"at": number, "n": nth}, draw(texts))
                    for nth in range(draw(st.integers(1, 3)))
                ),
                draw(st.sampled_from(["", "Let me look."])),
            )
            for step in range(draw(st.sampled_from([0, 0, 1, 2])))
        )
        pause = draw(st.sampled_from([None, None, 0.0, 400.0]))
        reply = draw(st.one_of(st.none(), texts))
        turns.append(turn(number, draw(texts), steps=steps, pause=pause, reply=reply))
    tool = {"name": "look", "description": "Look.", "input_schema": {"type": "object"}}
    size = draw(st.sampled_from([0, 60, 200]))
    return Script("any", "Any", tuple(turns), system="Help. " * size, tools=(tool,), facts=(budget(),))


@pytest.mark.parametrize("strategy", SAFE)
@settings(max_examples=15)
@given(script=conversations())
def test_a_safe_strategy_never_breaks_a_rule_on_any_conversation(strategy, script):
    one = spec(script, strategy, check=True, controls=False, relax_limits=True)
    assert_no_thinking_outlives_an_edit(one, *watch(one))


@settings(max_examples=25)
@given(script=conversations())
def test_an_append_only_conversation_reads_what_it_read_and_wrote_before(script):
    plain = type(script)(
        "any", "Any", tuple(turn(t.number, t.text) for t in script.turns), system=script.system
    )
    records, _ = watch(spec(plain, controls=False))
    usages = [
        record.usage for record in records if isinstance(record, RequestRecord) and record.purpose == "turn"
    ]
    for before, now in pairwise(usages):
        written = before.cache_read_input_tokens + before.cache_creation_input_tokens
        assert now.cache_read_input_tokens == written


def tau_bench_runs():
    if not TAU_BENCH.exists():
        pytest.skip(f"{TAU_BENCH} is not here; it is real data that is not part of the project")
    return find_scripts(str(TAU_BENCH))


@pytest.mark.parametrize("strategy", ["full_history", "window:2", "truncate:3000", "compaction:2500"])
def test_every_real_tool_conversation_replays_through_every_strategy(strategy):
    runs = tau_bench_runs()
    assert len(runs) == 200
    for script in runs:
        one = spec(script, strategy, check=True, controls=False)
        assert_no_thinking_outlives_an_edit(one, *watch(one))


def test_real_tool_conversations_end_in_orphaned_tool_results_under_naive_truncation_only():
    ends = Counter()
    for script in tau_bench_runs()[:60]:
        records, _ = watch(spec(script, "truncate:budget=1500,mode=naive", controls=False))
        ends[records[-1].status] += 1
        if records[-1].status is Status.REJECTED:
            message = records[-1].message
            assert "unexpected `tool_use_id` found in `tool_result` blocks" in message
    assert ends[Status.REJECTED] > 0
    assert set(ends) <= {Status.REJECTED, Status.DONE}

from __future__ import annotations

import pytest

from memdash.claude import connect
from memdash.errors import BudgetExceeded, DayBudgetSpent
from memdash.models import TokenFamily
from memdash.records import (
    Control,
    EventKind,
    EventRecord,
    FactRecord,
    ProbeRecord,
    Purpose,
    RequestRecord,
    Status,
    StatusRecord,
    Survival,
    TurnRecord,
)
from memdash.replay import replay
from memdash.replay.calls import at_most
from tests.replay.clients import ScriptedClaude, refuse, say
from tests.replay.scripts import budget, chat, spec, turn, with_tools


def run(one, client=None, **more):
    client = client or ScriptedClaude()
    return client, list(replay(one, client, client.clock, **more))


def of(records, kind):
    """The records of one kind; the verdict that every replay ends with is left out."""
    return [
        record
        for record in records
        if isinstance(record, kind) and getattr(record, "event", None) is not EventKind.VERDICT
    ]


def texts(request):
    return [block.get("text") for message in request.body["messages"] for block in message["content"]]


def test_every_turn_is_sent_verbatim_and_history_grows():
    client, records = run(spec(chat(3)))
    assert texts(client.sent[2]) == [
        "Hi! Our budget is 2,400 euros.",
        "fine",
        "message 2",
        "fine",
        "message 3",
    ]
    assert [record.purpose for record in of(records, RequestRecord)] == [Purpose.TURN] * 3
    assert of(records, StatusRecord)[-1].status is Status.DONE
    assert of(records, StatusRecord)[-1].turns_completed == 3


def test_records_are_numbered_from_zero_without_gaps():
    _, records = run(spec(chat(4, budget())))
    assert [record.seq for record in records] == list(range(len(records)))


def test_only_the_planned_turns_are_played():
    client, _ = run(spec(chat(5), turns=2))
    assert len(client.sent) == 2


def test_time_is_the_answer_plus_the_pause_and_a_scripts_own_pause_beats_the_pace():
    script = chat(3)
    paused = (*script.turns[:2], turn(3, pause=400.0))
    _, records = run(spec(type(script)("chat", "A chat", paused), pace=30.0))
    turns = of(records, TurnRecord)
    # Each answer takes 1 s; turn 2 comes 30 s after the first answer, turn 3 400 s after the second.
    assert [(one.started_ms, one.answered_ms, one.wait_ms) for one in turns] == [
        (0, 1_000, 1_000),
        (31_000, 32_000, 1_000),
        (432_000, 433_000, 1_000),
    ]
    assert [one.first_text_ms for one in turns] == [300, 300, 300]


def test_a_context_is_stored_as_what_is_new_since_the_request_before():
    _, records = run(spec(chat(3)))
    one, two, three = of(records, RequestRecord)
    assert (one.base_request, one.shared, len(one.entries)) == (None, 0, 1)
    assert (two.base_request, two.shared, len(two.entries)) == (1, 1, 2)
    assert (three.base_request, three.shared, len(three.entries)) == (2, 3, 2)
    # "fine" is one block however often it is said.
    assert [len(record.blocks) for record in (one, two, three)] == [2, 1, 1]


def test_a_window_is_told_apart_from_what_it_dropped():
    _, records = run(spec(chat(4), "window:2"))
    last = of(records, RequestRecord)[-1]
    assert (last.shared, [entry.split(":")[0] for entry in last.entries]) == (
        0,
        ["user", "assistant", "user"],
    )


def call(id, at):
    return {"type": "tool_use", "id": id, "name": "look", "input": {"at": at}}


def tool_replies(request):
    """Call as the script of :func:`with_tools` foresees: by how many results are there."""
    if "Look around." not in texts(request) or "message 3" in texts(request):
        return say("fine")
    results = sum(
        block["type"] == "tool_result" for message in request.body["messages"] for block in message["content"]
    )
    return {0: [*say("Let me look."), call("t1", 1), call("t2", 2)], 2: [call("t3", 3)]}.get(
        results, say("done")
    )


def test_parallel_calls_are_answered_in_one_message_and_the_loop_runs_to_the_end():
    client, records = run(spec(with_tools()), ScriptedClaude(tool_replies))
    requests = of(records, RequestRecord)
    assert [record.purpose for record in requests] == ["turn", "turn", "tool", "tool", "turn"]
    assert [record.step for record in requests] == [0, 0, 1, 2, 0]
    third = client.sent[2].body["messages"]
    assert third[-1] == {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "t1", "content": "one"},
            {"type": "tool_result", "tool_use_id": "t2", "content": "two", "is_error": True},
        ],
    }
    # Inside the loop requests only grow.
    assert client.sent[3].body["messages"][: len(third)] == third
    assert of(records, TurnRecord)[1].wait_ms == 3_000


def test_a_call_the_script_has_no_result_for_ends_the_replay_with_that_label():
    client = ScriptedClaude(lambda request: [{"type": "tool_use", "id": "t", "name": "other", "input": {}}])
    _, records = run(spec(with_tools()), client)
    assert of(records, EventRecord)[0].event is EventKind.UNSCRIPTED_TOOL_CALL
    last = records[-1]
    assert last.status is Status.FAILED
    assert last.message.startswith("unscripted tool call: turn 1 called 'other'")


def test_a_model_that_calls_tools_for_ever_is_stopped_after_eight_requests():
    client = ScriptedClaude(lambda request: [call("t", 3)])
    _, records = run(spec(with_tools()), client)
    assert len(client.sent) == 8
    assert records[-1].message == "turn 1: the model still called tools after 8 requests"


def test_a_cut_off_answer_that_calls_a_tool_is_still_answered_so_that_history_stays_legal():
    def reply(request):
        content = [block for message in request.body["messages"] for block in message["content"]]
        return say("done") if any(block["type"] == "tool_result" for block in content) else [call("t", 3)]

    client, records = run(spec(with_tools(), turns=1), ScriptedClaude(reply))
    assert records[-1].status is Status.DONE
    assert client.sent[1].body["messages"][-1]["content"][0]["tool_use_id"] == "t"


def test_an_empty_answer_leaves_no_empty_message_behind():
    client, records = run(spec(chat(2)), ScriptedClaude(lambda request: []))
    assert [message["role"] for message in client.sent[1].body["messages"]] == ["user", "user"]
    assert records[-1].status is Status.DONE


# -- probes -------------------------------------------------------------------------------------------------------------


def knows(request):
    """Repeat the last number of euros in the conversation, if the last message asks for the budget."""
    asked, *rest = reversed(texts(request))
    if asked != "What is our budget?":
        return say("fine")
    stated = [text for text in rest if text and "euros" in text]
    return say(stated[0] if stated else "I don't know.")


def test_a_probe_is_asked_from_the_memory_and_not_stored():
    client, records = run(spec(chat(3, budget(probe_after=(2,))), controls=False), ScriptedClaude(knows))
    (probe,) = of(records, ProbeRecord)
    assert (probe.asked_after, probe.passed, probe.visible, probe.survival) == (2, True, True, "verbatim")
    assert probe.control is Control.MEMORY
    assert "What is our budget?" not in texts(client.sent[-1])


def test_a_probe_changes_neither_times_nor_what_follows():
    _, without = run(spec(chat(3), controls=False))
    _, probed = run(spec(chat(3, budget(probe_after=(1, 2, 3))), controls=False))
    assert [(one.started_ms, one.wait_ms) for one in of(without, TurnRecord)] == [
        (one.started_ms, one.wait_ms) for one in of(probed, TurnRecord)
    ]


def test_controls_ask_the_whole_history_and_none():
    client, records = run(spec(chat(3, budget()), "window:1", controls=True), ScriptedClaude(knows))
    probes = {probe.control: probe for probe in of(records, ProbeRecord)}
    assert not probes[Control.MEMORY].passed
    assert probes[Control.MEMORY].survival is Survival.GONE
    assert probes[Control.WHOLE].passed
    assert not probes[Control.EMPTY].passed
    assert texts(client.sent[-1]) == ["What is our budget?"]


def test_the_whole_history_control_carries_no_thinking_that_an_edit_made_invalid():
    thinking = {"type": "thinking", "thinking": "", "signature": "s"}
    client, _ = run(
        spec(chat(3, budget()), "window:2", controls=True),
        ScriptedClaude(lambda request: [thinking, *say("fine")]),
    )
    kinds = [block["type"] for message in client.sent[-2].body["messages"] for block in message["content"]]
    assert kinds == ["text"] * 7


def test_an_update_makes_the_earlier_value_stale():
    script = chat(3, budget(t2="3100"))
    client = ScriptedClaude(lambda request: say("It is 2,400 euros."))
    _, records = run(spec(script, controls=False), client)
    (probe,) = of(records, ProbeRecord)
    assert (probe.passed, probe.stale) == (False, True)


def test_kept_is_measured_on_the_last_context():
    _, records = run(spec(chat(3, budget()), "window:1"))
    assert of(records, FactRecord) == [FactRecord(of(records, FactRecord)[0].seq, "budget", Survival.GONE)]
    _, records = run(spec(chat(3, budget())))
    assert of(records, FactRecord)[0].survival is Survival.VERBATIM


# -- summaries ----------------------------------------------------------------------------------------------------------


def test_a_summary_is_wait_of_the_turn_that_triggered_it_and_is_charged_to_the_strategy():
    client = ScriptedClaude(usage=lambda request: {"input_tokens": 150 * len(request.body["messages"])})
    _, records = run(spec(chat(3), "compaction:400"), client)
    # Turn 1 sends 1 message (150), turn 2 sends 3 (450 > 400) and compacts, turn 3 sends the summary and its message (300).
    assert [record.purpose for record in of(records, RequestRecord)] == ["turn", "turn", "summary", "turn"]
    assert [one.wait_ms for one in of(records, TurnRecord)] == [1_000, 2_000, 1_000]
    assert len(client.sent[-1].body["messages"]) == 2
    (event,) = of(records, EventRecord)
    assert (event.event, event.turn, event.data["used"]) == (EventKind.COMPACTION, 2, True)


def test_a_failed_summary_call_is_billed_and_the_conversation_goes_on():
    def reply(request):
        if "Summarise the conversation" in (texts(request)[-1] or ""):
            return refuse(529, "Overloaded")(request)
        return say("fine")

    client = ScriptedClaude(reply, usage=lambda request: {"input_tokens": 500})
    _, records = run(spec(chat(2), "compaction:400"), client)
    assert records[-1].status is Status.DONE
    assert of(records, EventRecord)[0].data["problem"] == "the summary call failed: Overloaded"
    summaries = [record for record in of(records, RequestRecord) if record.purpose is Purpose.SUMMARY]
    assert [record.error_status for record in summaries] == [529, 529]


# -- ends ---------------------------------------------------------------------------------------------------------------


def test_a_refusal_by_the_api_is_a_result_with_its_message():
    def reply(request):
        return (
            say("fine") if len(request.body["messages"]) < 5 else refuse(400, "prompt is too long")(request)
        )

    _, records = run(spec(chat(4, budget())), ScriptedClaude(reply))
    assert (records[-1].status, records[-1].message) == (Status.REJECTED, "prompt is too long")
    assert records[-1].turns_completed == 2
    event = of(records, EventRecord)[-1]
    assert (event.event, event.turn, event.data["message"]) == (EventKind.REJECTED, 3, "prompt is too long")
    assert of(records, FactRecord)[0].survival is Survival.VERBATIM


@pytest.mark.parametrize("status", [None, 200, 401, 403, 429, 500, 529])
def test_a_failure_of_key_network_or_service_is_not_a_refusal(status):
    _, records = run(spec(chat(2)), ScriptedClaude(refuse(status, "no luck")))
    assert (records[-1].status, records[-1].message) == (Status.FAILED, "no luck")


def test_the_gate_is_asked_before_every_request_and_can_stop_the_replay():
    seen = []

    def gate(planned):
        seen.append((planned.purpose, planned.max_tokens))
        if len(seen) == 3:
            raise BudgetExceeded("the next request could cost more than is left")

    client, records = run(spec(chat(5)), gate=gate)
    assert seen == [(Purpose.TURN, 1024)] * 3
    assert len(client.sent) == 2
    assert records[-1].status is Status.STOPPED_BY_BUDGET
    assert records[-1].message == "the next request could cost more than is left"


def test_where_the_money_of_the_day_is_spent_the_replay_has_no_end_of_its_own_and_can_go_on():
    asked, records, client = [], [], ScriptedClaude()

    def gate(planned):
        asked.append(planned)
        if len(asked) == 3:
            raise DayBudgetSpent("no more today")

    one = spec(chat(6), strategy="compaction", params={"trigger": 1})
    with pytest.raises(DayBudgetSpent):
        records.extend(replay(one, client, client.clock, gate=gate))
    assert len(of(records, RequestRecord)) == len(client.sent) == 2  # nothing that was paid for is lost
    assert [one.status for one in of(records, StatusRecord)] == [Status.RUNNING]
    again, rest = run(one, ScriptedClaude(), resume_from=records)
    assert of(rest, StatusRecord)[-1].status is Status.DONE
    whole, _ = run(one)
    assert len(client.sent) + len(again.sent) == len(whole.sent)


def test_what_the_gate_is_told_of_a_request_with_tools_is_never_too_little():
    planned = []
    client, clock = connect(spec(with_tools()))
    records = list(replay(spec(with_tools()), client, clock, gate=planned.append))
    sent = of(records, RequestRecord)
    # Tools add a hidden system prompt, 286 tokens with this model, that is in no text of the request.
    assert len(planned) == len(sent) == 5
    assert all(one.prompt_tokens >= it.usage.prompt_tokens for one, it in zip(planned, sent, strict=True))


@pytest.mark.parametrize(
    ("text", "tokens"),  # what ctok counts, of the family that has more
    [
        ("ستفتح المكتبة في الثاني عشر من سبتمبر بميزانية ألفين وأربعمائة يورو. " * 40, 1801),
        (str(7**4000)[:3000], 1001),
        ("-" * 4000, 667),
        ("The opening of the library is on 12 September. " * 100, 1301),
    ],
    ids=["Arabic", "digits", "a line", "English"],
)
def test_what_a_text_can_have_at_most_is_not_what_it_has_by_our_estimate(text, tokens):
    assert tokens <= at_most(text, TokenFamily.NEW) < 2.1 * tokens


def test_the_gate_is_told_that_a_prompt_may_be_compacted_first():
    planned = []
    script = type(chat(1))("long", "Long", (turn(1, "word " * 45_000), turn(2)))
    replayed = spec(script, "server_compaction:50000")
    client, clock = connect(replayed)
    list(replay(replayed, client, clock, gate=planned.append))
    # 45,000 words are more than three quarters of the trigger: they may be read twice, and answered twice.
    assert planned[0].prompt_tokens >= 2 * 45_000
    assert planned[0].max_tokens == 2 * 1024


def test_an_error_inside_a_strategy_fails_its_replay_with_the_strategys_own_line(monkeypatch):
    from memdash.strategies.window import Window

    def broken(self, message, workspace):
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr(Window, "open", broken)
    _, records = run(spec(chat(2), "window:2"))
    assert records[-1].status is Status.FAILED
    assert "test_loop.py" in records[-1].message
    assert records[-1].message.endswith("ZeroDivisionError: division by zero")


def test_what_a_strategy_notes_can_be_read(monkeypatch):
    from memdash.strategies.window import Window

    def notes(self, message, workspace):
        workspace.note(EventKind.TRIM, dropped_turns=message["content"])

    monkeypatch.setattr(Window, "open", notes)
    _, records = run(spec(chat(2), "window:2"))
    assert records[-1].status is Status.FAILED
    assert "notes trim with dropped_turns of another kind" in records[-1].message


def test_a_turn_may_change_the_fixed_part_from_then_on():
    script = chat(3)
    turns = (*script.turns[:1], turn(2, system="New rules."), script.turns[2])
    client, _ = run(spec(type(script)("chat", "A chat", turns, system="Old rules.")))
    assert [request.body["system"][0]["text"] for request in client.sent] == [
        "Old rules.",
        "New rules.",
        "New rules.",
    ]


def test_a_fixed_part_that_is_only_a_size_is_stood_for_by_filler():
    client, _ = run(spec(chat(1, system="Help.", fixed_tokens=500)))
    from memdash.models import TokenFamily
    from memdash.tokens import counter

    text = client.sent[0].body["system"][0]["text"]
    assert text.endswith("\n\nHelp.")
    assert counter("estimate").count(text, TokenFamily.NEW) == pytest.approx(500, rel=0.1)


def test_every_replay_ends_with_the_verdict_over_its_records():
    _, records = run(spec(chat(3), "window:2"))
    *_, verdict, status = records
    assert (verdict.event, status.status) == (EventKind.VERDICT, Status.DONE)
    assert verdict.data == {"ok": True, "requests": 3, "violated": 0, "violations": []}


def test_an_edit_that_a_strategy_does_not_declare_is_a_violation(monkeypatch):
    from memdash.strategies.full_history import FullHistory

    monkeypatch.setattr(FullHistory, "context", lambda self: self._messages[2:])
    _, records = run(spec(chat(4)))
    verdict = records[-2]
    assert not verdict.data["ok"]
    assert {one["rule"] for one in verdict.data["violations"]} == {"declared"}

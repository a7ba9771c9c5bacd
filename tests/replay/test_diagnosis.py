"""What the API says of the prompt cache is asked for, kept, and given up where the server does not take the question."""

from __future__ import annotations

from memdash.claude import Refused, Request
from memdash.records import EventKind, EventRecord, RequestRecord, Status
from memdash.replay import replay
from memdash.spec import Provider, Replies
from tests.replay.clients import ScriptedClaude, say
from tests.replay.scripts import budget, chat, spec, with_tools

BETA = "cache-diagnosis-2026-04-07"


class Diagnosing(ScriptedClaude):
    """Says of every request that asks what ``told`` holds for it, by its number from 1."""

    def __init__(self, told=(), **more):
        super().__init__(**more)
        self._told = dict(told)

    def _answer(self, request, now):
        response = super()._answer(request, now)
        diagnosis = self._told.get(len(self.sent)) if "diagnostics" in request.body else None
        return type(response)(**{**_fields(response), "diagnosis": diagnosis})


def _fields(response):
    return {name: getattr(response, name) for name in response.__slots__}


def refusing(status: int, message: str, *, from_request: int = 1):
    """A server that takes the question only before its ``from_request``-th request."""
    seen = 0

    def reply(request: Request):
        nonlocal seen
        seen += 1
        if "diagnostics" in request.body and seen >= from_request:
            raise Refused(
                message,
                status=status,
                type="invalid_request_error",
                request_id=None,
                started_ms=0,
                finished_ms=0,
            )
        return say("fine")

    return reply


def live(script=None, strategy="full_history", **changes):
    return spec(script or chat(4), strategy, provider=Provider.ANTHROPIC, **{"controls": False, **changes})


def play(one, client, resume_from=()):
    return list(replay(one, client, client.clock, resume_from=resume_from))


def requests(records):
    return [record for record in records if isinstance(record, RequestRecord)]


def asked(client):
    return [request.body.get("diagnostics") for request in client.sent]


def test_each_request_of_the_conversation_names_the_answer_before_it():
    client = ScriptedClaude()
    play(live(), client)
    assert asked(client) == [
        {"previous_message_id": None},
        {"previous_message_id": "msg_1"},
        {"previous_message_id": "msg_2"},
        {"previous_message_id": "msg_3"},
    ]
    assert all(request.betas[-1] == BETA for request in client.sent)


def test_tool_results_ask_too_probes_and_summaries_do_not():
    client = ScriptedClaude()
    play(live(chat(3, budget()), "compaction:trigger=100,words=20"), client)
    # The client counts 100 tokens a message: summaries follow turns 2 (three messages) and 3 (two); one probe at the end.
    assert ["diagnostics" in request.body for request in client.sent] == [
        True,
        True,
        False,
        True,
        False,
        False,
    ]
    client = ScriptedClaude(
        lambda request: (
            [{"type": "tool_use", "id": "a", "name": "look", "input": {"at": 1}}]
            if request.body["messages"][-1]["content"][0].get("text") == "Look around."
            else say("fine")
        )
    )
    play(live(with_tools()), client)
    assert [one["previous_message_id"] for one in asked(client)] == [None, "msg_1", "msg_2", "msg_3"]


def test_what_the_api_says_is_kept_with_the_request():
    told = {2: {"type": "nothing_changed"}, 3: {"type": "tools_changed", "cache_missed_input_tokens": 900}}
    records = play(live(), Diagnosing(told))
    assert [one.diagnosis for one in requests(records)] == [None, told[2], told[3], None]


def test_the_question_is_not_part_of_the_recorded_options():
    first, second, *_ = requests(play(live(), ScriptedClaude()))
    assert "diagnostics" not in second.options
    assert first.options == second.options
    assert BETA in second.betas


def test_a_server_that_refuses_the_question_is_asked_once_and_the_replay_goes_on():
    client = ScriptedClaude(refusing(400, "diagnostics: Extra inputs are not permitted"))
    records = play(live(), client)
    assert ["diagnostics" in request.body for request in client.sent] == [True, False, False, False, False]
    assert records[-1].status is Status.DONE
    assert [one.error_message for one in requests(records)] == [None] * 4
    assert all(BETA not in one.betas for one in requests(records))
    assert [one.event for one in records if isinstance(one, EventRecord)] == [EventKind.VERDICT]


def test_a_server_may_name_something_else_or_answer_422():
    client = ScriptedClaude(refusing(422, "bad request"))
    assert play(live(), client)[-1].status is Status.DONE
    assert len(client.sent) == 5


def test_a_refusal_for_another_reason_is_tried_once_more_and_then_told():
    def reply(request):
        raise Refused(
            "max_tokens: too many",
            status=400,
            type="invalid_request_error",
            request_id=None,
            started_ms=0,
            finished_ms=0,
        )

    client = ScriptedClaude(reply)
    records = play(live(), client)
    assert len(client.sent) == 2
    (record,) = requests(records)
    assert record.error_message == "max_tokens: too many"
    assert [one.event for one in records if isinstance(one, EventRecord)] == [
        EventKind.REJECTED,
        EventKind.VERDICT,
    ]
    assert records[-1].status is Status.REJECTED


def test_once_a_server_has_answered_it_a_refusal_is_about_the_question_only_where_it_says_so():
    client = ScriptedClaude(refusing(400, "thinking is bound to a different conversation", from_request=3))
    records = play(live(), client)
    assert len(client.sent) == 3
    assert records[-1].status is Status.REJECTED
    client = ScriptedClaude(refusing(400, "diagnostics.previous_message_id: is not known", from_request=3))
    assert play(live(), client)[-1].status is Status.DONE
    assert len(client.sent) == 5


def test_where_the_network_fails_nothing_is_tried_without_the_question():
    client = ScriptedClaude(refusing(529, "overloaded"))
    assert play(live(), client)[-1].status is Status.FAILED
    assert len(client.sent) == 1


def test_the_simulators_answers_of_recorded_replies_are_not_compared_with_live_ones():
    client = ScriptedClaude()
    play(live(replies=Replies.RECORDED), client)
    assert asked(client) == [None] * 4


def test_a_replay_that_goes_on_asks_as_it_did_before():
    told = {2: {"type": "nothing_changed"}, 4: {"type": "messages_changed", "cache_missed_input_tokens": 10}}
    whole = play(live(), Diagnosing(told))
    for cut in range(len(whole)):
        rest_told = {number - len(requests(whole[:cut])): one for number, one in told.items()}
        client = Diagnosing(rest_told)
        rest = play(live(), client, whole[:cut])
        first_new = len(requests(whole[:cut]))
        assert [one.diagnosis for one in requests(rest)] == [told.get(n + 1) for n in range(first_new, 4)]
        assert all("diagnostics" in request.body for request in client.sent)
        if client.sent and first_new:
            previous = requests(whole[:cut])[-1].message_id
            assert asked(client)[0] == {"previous_message_id": previous}


def test_a_server_that_refused_the_question_is_not_asked_again_after_an_interruption():
    reply = refusing(400, "diagnostics: Extra inputs are not permitted")
    whole = play(live(), ScriptedClaude(reply))
    for cut in range(len(whole)):
        client = ScriptedClaude(reply)
        rest = play(live(), client, whole[:cut])
        assert rest[-1].status is Status.DONE
        again = ["diagnostics" in request.body for request in client.sent]
        assert sum(again) == (0 if requests(whole[:cut]) else 1)

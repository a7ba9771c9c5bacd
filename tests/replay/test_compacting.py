"""Replays in which the API compacts or clears: what is asked, what is kept, and what it costs."""

from __future__ import annotations

import pytest

from memdash.claude import connect
from memdash.metrics.ledger import Ledger
from memdash.prices import PriceTable
from memdash.records import (
    Control,
    EventKind,
    EventRecord,
    FactRecord,
    ProbeRecord,
    Purpose,
    RequestRecord,
    Status,
    Survival,
)
from memdash.replay import replay
from memdash.scripts.model import Script, Step, ToolCall
from tests.replay.scripts import budget, spec, turn


def script(size: int = 120) -> Script:
    tool = {"name": "look", "description": "Look.", "input_schema": {"type": "object"}}
    steps = tuple(
        Step((ToolCall(f"c{n}", "look", {"at": n}, f"Line {n} of the log. " * size),)) for n in (1, 2)
    )
    return Script(
        "looking",
        "Looking",
        (
            turn(1, "Hi! Our budget is 2,400 euros for everything."),
            turn(2, "Please look around.", steps=steps),
            turn(3, "Anything else?"),
            turn(4, "Thank you."),
        ),
        system="Help with plans. " * 200,
        tools=(tool,),
        facts=(budget(),),
    )


def play(strategy, **more):
    one = spec(script(), strategy, relax_limits=True, check=True, **more)
    client, clock = connect(one)
    records = list(replay(one, client, clock))
    assert records[-1].status is Status.DONE, records[-1].message
    return records


def of(records, kind):
    return [record for record in records if isinstance(record, kind)]


@pytest.mark.parametrize("strategy", ["server_compaction:1500", "server_compaction:trigger=1500,pause=true"])
def test_a_probe_is_answered_even_where_it_is_compacted_first_and_the_summary_is_no_answer(strategy):
    records = play(strategy)
    probes = {probe.control: probe for probe in of(records, ProbeRecord)}
    assert probes[Control.MEMORY].passed
    assert probes[Control.WHOLE].passed
    assert not probes[Control.EMPTY].passed
    asked = [request for request in of(records, RequestRecord) if request.purpose is Purpose.PROBE]
    answered = next(one for one in asked if one.number == probes[Control.MEMORY].request)
    assert answered.stop_reason == "end_turn"
    # The summary names the question as what is still to be answered; the answer does not.
    assert probes[Control.MEMORY].question not in probes[Control.MEMORY].answer


@pytest.mark.parametrize(
    "strategy", ["server_compaction:1500", "compact_on_demand:1500", "compact_on_demand:trigger=1500,tail=1"]
)
def test_a_fact_in_the_block_counts_as_kept(strategy):
    (fact,) = of(play(strategy), FactRecord)
    assert fact.survival is Survival.RESTATED


@pytest.mark.parametrize(
    "strategy",
    ["server_compaction:1500", "server_compaction:trigger=1500,pause=true", "compact_on_demand:1500"],
)
def test_the_ledger_bills_every_iteration_once_and_compactions_as_summaries(strategy):
    records = play(strategy, controls=False)
    requests = of(records, RequestRecord)
    ledger = Ledger.of(requests, PriceTable.load())

    def cost(usages):
        # Claude Opus 5.5: 4 in, 5 written for five minutes, 0.20 read, 20 out, in dollars per million.
        return (
            sum(
                4 * one.input_tokens
                + 5 * one.cache_creation_input_tokens
                + 0.2 * one.cache_read_input_tokens
                + 20 * one.output_tokens
                for one in usages
            )
            / 1_000_000
        )

    iterations = [one for request in requests for one in request.iterations]
    plain = [request.usage for request in requests if not request.iterations]
    # What a probe has compacted is the probe's: production would not pay for it.
    compactions = [
        one.usage
        for request in requests
        if request.purpose is not Purpose.PROBE
        for one in request.iterations
        if one.type == "compaction"
    ]
    assert compactions
    assert ledger.spent(Purpose.SUMMARY) == pytest.approx(cost(compactions), abs=1e-12)
    everything = cost([*plain, *(one.usage for one in iterations)])
    assert sum(ledger.spent(purpose) for purpose in Purpose) == pytest.approx(everything, abs=1e-12)


def test_what_is_cleared_is_an_event_of_its_request_and_is_counted_after_clearing():
    whole, edited = play("full_history"), play("context_editing:trigger=1500,keep=1")
    clears = [record for record in of(edited, EventRecord) if record.event is EventKind.CLEAR]
    assert clears
    # The same boundary is reported by every later request: never a sum.
    assert len({clear.data["cleared_input_tokens"] for clear in clears}) < len(clears)
    last = [
        max(
            (one for one in of(records, RequestRecord) if one.purpose is Purpose.TURN),
            key=lambda one: one.number,
        )
        for records in (whole, edited)
    ]
    saved = clears[-1].data["cleared_input_tokens"]
    assert last[1].usage.prompt_tokens == last[0].usage.prompt_tokens - saved


def test_every_replay_of_it_keeps_to_the_rules():
    for strategy in (
        "server_compaction:1500",
        "server_compaction:trigger=1500,pause=true",
        "context_editing:1500",
    ):
        verdict = next(
            record for record in of(play(strategy), EventRecord) if record.event is EventKind.VERDICT
        )
        assert verdict.data["ok"], verdict.data

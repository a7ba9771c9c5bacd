"""What the model saw, put together again from records, is what was sent."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from memdash.claude import Request, connect
from memdash.claude.diagnosis import FIELD
from memdash.errors import MemdashError
from memdash.records import Record, RequestRecord
from memdash.replay import replay
from memdash.replay.contexts import ContextReader, context_of, contexts
from tests.replay.scripts import budget, chat, spec, with_tools


class Watching:
    """A client that keeps the body of every request, as text, before it is made."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.bodies: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._client, name)
        if name not in ("send", "probe", "start"):
            return value

        def watched(request: Request) -> Any:
            body = {name: value for name, value in request.body.items() if name != FIELD}
            self.bodies.append(json.loads(json.dumps(body)))
            return value(request)

        return watched


def played(one: Any) -> tuple[list[Record], list[Any]]:
    client, clock = connect(one)
    watching = Watching(client)
    return list(replay(one, watching, clock)), watching.bodies


@pytest.mark.parametrize(
    "strategy",
    [
        "full_history",
        "window:2",
        "window:keep=2,thinking=keep",
        "truncate:budget=300,mode=naive",
        "compaction:300,words=30",
        "compaction:trigger=300,words=30,live_prefix=true",
        "instant_compaction:context_limit=600,first_summary_at=300,update_every=100",
    ],
)
@pytest.mark.parametrize("script", [chat(8, budget()), with_tools()], ids=lambda one: one.id)
def test_every_body_is_found_again_as_it_was_sent(script: Any, strategy: str) -> None:
    records, bodies = played(spec(script, strategy))
    found = contexts(records)
    assert len(found) == len(bodies)
    for number, body in zip(found, bodies, strict=True):
        assert found.body(number) == body
        assert found[number] == body["messages"]


def test_an_answer_is_found_as_it_came() -> None:
    records, _ = played(spec(chat(2)))
    found = contexts(records)
    assert found[2][1] == {"role": "assistant", "content": found.answer(1)}


def test_a_journal_with_a_gap_is_refused() -> None:
    records, _ = played(spec(chat(4)))
    requests = [one for one in records if isinstance(one, RequestRecord)]
    with pytest.raises(MemdashError, match="request 3 goes on from request 2"):
        contexts([requests[0], *requests[2:]])


@pytest.mark.parametrize(
    "strategy", ["full_history", "window:2", "compaction:trigger=300,words=30,live_prefix=true"]
)
def test_one_context_alone_is_what_it_is_when_all_are_read(strategy: str) -> None:
    records, _ = played(spec(chat(8, budget(probe_after=(3,))), strategy))
    requests = {one.number: one for one in records if isinstance(one, RequestRecord)}
    reader = ContextReader()
    read = [reader.take(one) for one in requests.values()]
    assert [context_of(one, requests) for one in requests.values()] == read


def test_one_context_alone_is_refused_where_what_it_goes_on_from_is_missing() -> None:
    records, _ = played(spec(chat(4)))
    requests = {one.number: one for one in records if isinstance(one, RequestRecord)}
    del requests[1]
    with pytest.raises(MemdashError, match="request 2 goes on from request 1"):
        context_of(requests[3], requests)


def test_a_block_that_is_not_recorded_is_named() -> None:
    records, _ = played(spec(chat(1)))
    bare = [dataclasses.replace(one, blocks={}) if isinstance(one, RequestRecord) else one for one in records]
    with pytest.raises(MemdashError, match="does not hold block"):
        contexts(bare)[1]

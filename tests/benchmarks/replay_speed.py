"""What a simulated replay costs beside the SDK calls it makes.

    python -m tests.benchmarks.replay_speed [--rounds 15]

A 30-turn replay (trip-planning, full history, its probes and their controls included), stored in a database file, in a warm
process whose texts are already counted; against the very same SDK calls answered by a canned transport. The bar: at most 3
times. The cold figure is the first replay of the process. All are replays of one comparison, which is in the file already.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import anthropic
import httpx2

from memdash.claude import Claude, Pending, Request, Response, connect
from memdash.clock import Clock
from memdash.records import Status
from memdash.replay import replay
from memdash.scripts import find_scripts
from memdash.spec import ComparisonSpec, ReplaySpec
from memdash.store import Store
from memdash.strategies import parse


class Recorder:
    """A client that notes every request on its way."""

    def __init__(self, claude: Claude) -> None:
        self._claude = claude
        self.requests: list[Request] = []

    @property
    def clock(self) -> Clock:
        return self._claude.clock

    def send(self, request: Request) -> Response:
        self.requests.append(request)
        return self._claude.send(request)

    def probe(self, request: Request) -> Response:
        self.requests.append(request)
        return self._claude.probe(request)

    def start(self, request: Request) -> Pending:
        self.requests.append(request)
        return self._claude.start(request)

    def absorb(self, *arguments: Any) -> None:
        self._claude.absorb(*arguments)


class Canned(httpx2.BaseTransport):
    """Answers every call with the same message."""

    BODY = (
        b'{"id":"msg_01","type":"message","role":"assistant","model":"claude-opus-5-5","content":[{"type":"text","text":"'
        + b"Noted. " * 60
        + b'"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":20,"cache_creation_input_tokens":90,'
        b'"cache_read_input_tokens":2000,"output_tokens":90}}'
    )

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        request.read()
        return httpx2.Response(
            200, content=self.BODY, headers={"content-type": "application/json", "request-id": "req_01"}
        )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    comparison = ComparisonSpec(
        scripts=tuple(find_scripts("trip-planning")), strategies=(parse("full_history"),), repeats=rounds + 2
    )
    first, *others = (replace(spec, controls=True) for spec in comparison.replays())
    first, recorded, *others = (
        replace(spec, seed=first.seed) for spec in (first, *others)
    )  # the same texts each time
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "bench.duckdb") as store:
        store.save_comparison(comparison)
        cold = _timed(partial(_stored, first, store))
        requests = _requests(recorded)
        calls = _canned_calls(requests)
        calls()
        gc.collect()
        gc.freeze()  # as in the child processes that play replays
        ours, theirs = [], []
        for spec in others:  # alternating, so that a noisy moment hits both
            ours.append(_timed(partial(_stored, spec, store)))
            theirs.append(_timed(calls))
        ends = {log.statuses[-1].status for log in store.replay_logs(comparison.id) if log.requests}
        assert ends == {Status.DONE}, ends
    ratio = statistics.median(ours) / statistics.median(theirs)
    print(f"{len(requests)} calls a replay; medians of {rounds} rounds")
    print(f"replay, stored: {_ms(ours)}, {1000 * cold:.0f} ms cold")
    print(f"SDK calls, canned: {_ms(theirs)}")
    print(f"ratio: {ratio:.2f} (bar: 3)")


def _ms(times: list[float]) -> str:
    return f"{1000 * statistics.median(times):.1f} ms (best {1000 * min(times):.1f})"


def _stored(spec: ReplaySpec, store: Store) -> None:
    """Play one replay and have it in the file."""
    store.append(spec.id, replay(spec, *connect(spec)))
    store.flush()


def _requests(spec: ReplaySpec) -> list[Request]:
    """The requests that a replay makes."""
    client, clock = connect(spec)
    recorder = Recorder(client)
    for _ in replay(spec, recorder, clock):
        pass
    return recorder.requests


def _canned_calls(requests: list[Request]) -> Callable[[], None]:
    from memdash.claude.clients import _arguments

    sdk = anthropic.Anthropic(
        api_key="none",
        base_url="http://canned.invalid",
        http_client=httpx2.Client(transport=Canned()),
        max_retries=0,
    )

    def call() -> None:
        for request in requests:
            raw = sdk.beta.messages.with_raw_response.create(**_arguments(request))
            raw.http_response.json()

    return call


def _timed(work: Callable[[], None]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


if __name__ == "__main__":
    main()

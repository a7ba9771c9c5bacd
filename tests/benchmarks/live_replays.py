"""Twelve live replays at once, against the longest of them alone.

    python -m tests.benchmarks.live_replays [--turns 10] [--delay 0.2] [--rounds 3]

The worker plays them in its threads, over real HTTP, against a server on this machine that answers every call after 200 ms with a
stream. Every answer is in the database file before the next request goes out, as with a server that costs money. The bar: twelve
take at most 1.1 times as long as the longest one alone.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from memdash.records import Status
from memdash.scripts import parse_script
from memdash.spec import ComparisonSpec, Provider
from memdash.store import Store
from memdash.strategies import StrategyChoice, parse
from memdash.worker import LIVE_REPLAYS, Worker
from tests.benchmarks.conversations import reply_text, script_yaml

ROOT = Path(__file__).resolve().parents[2]
STRATEGIES = (
    "full_history",
    "compaction:700",
    "compaction:1500",
    "truncate:1000",
    *(f"window:{keep}" for keep in range(1, 9)),
)


def main() -> None:
    """Measure and print; with ``--serve`` be the server instead."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=10)
    parser.add_argument("--delay", type=float, default=0.2, help="seconds that every call takes")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        asyncio.run(_serve(options.delay))
        return
    together, alone, calls = measure(options.turns, options.delay, options.rounds)
    print(
        f"{LIVE_REPLAYS} replays: {together:.2f} s; the longest alone ({calls} calls of {1000 * options.delay:.0f} ms): "
        f"{alone:.2f} s"
    )
    print(f"ratio: {together / alone:.2f} (bar: 1.1)")


def measure(turns: int, delay: float, rounds: int) -> tuple[float, float, int]:
    """Return seconds of all replays together and of the longest alone (medians), and the calls it makes."""
    together, alone = [], []
    with _server(delay) as url, TemporaryDirectory() as folder:
        os.environ |= {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "none"}
        with Store.open(Path(folder) / "bench.duckdb") as store, Worker(store) as worker:
            choices = tuple(parse(one) for one in STRATEGIES)
            _run(store, worker, _live(2, choices[:1]))  # the SDK builds its types with the first answer
            longest, calls = choices[0], 0
            for _ in range(rounds):
                seconds, made = _run(store, worker, _live(turns, choices))
                together.append(seconds)
                longest, calls = max(zip(choices, made, strict=True), key=lambda one: one[1])
                seconds, _ = _run(store, worker, _live(turns, (longest,)))
                alone.append(seconds)
    return statistics.median(together), statistics.median(alone), calls


def _live(turns: int, choices: tuple[StrategyChoice, ...]) -> ComparisonSpec:
    return ComparisonSpec((parse_script(script_yaml(1, turns)),), choices, provider=Provider.ANTHROPIC)


def _run(store: Store, worker: Worker, spec: ComparisonSpec) -> tuple[float, list[int]]:
    """Play a comparison; returns the seconds it took and the calls of each replay."""
    began = time.perf_counter()
    worker.submit(spec)
    worker.wait(spec.id)
    seconds = time.perf_counter() - began
    logs = store.replay_logs(spec.id)
    ends = [log.statuses[-1] for log in logs]
    assert {one.status for one in ends} == {Status.DONE}, ends
    return seconds, [len(log.requests) for log in logs]


# -- the server ----------------------------------------------------------------------------------------------------------


@contextmanager
def _server(delay: float) -> Iterator[str]:
    """Run the server in a process of its own and give its address."""
    command = [sys.executable, "-m", "tests.benchmarks.live_replays", "--serve", "--delay", str(delay)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


async def _serve(delay: float) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                body = await reader.readexactly(int(head.split(b"content-length:")[1].split(b"\r\n")[0]))
                await asyncio.sleep(delay)
                writer.write(_stream(len(body) // 4))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, limit=1 << 20)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


def _stream(prompt_tokens: int) -> bytes:
    """An answer of about seventy words as server-sent events, with its head."""
    usage = {
        "input_tokens": prompt_tokens,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": 1,
    }
    message = {
        "id": "msg_01",
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-5-5",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    words = reply_text().split(" ")
    pieces = [" ".join(words[at : at + 8]) + " " for at in range(0, len(words), 8)]
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        *(
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": one}}
            for one in pieces
        ),
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn", "stop_sequence": None},
            "usage": {"output_tokens": 90},
        },
        {"type": "message_stop"},
    ]
    body = b"".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n".encode() for one in events)
    head = f"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nrequest-id: req_01\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


if __name__ == "__main__":
    main()

"""How the cost of one turn grows with the conversation: turn 1,000 against turn 100, with the full history.

    python -m tests.benchmarks.long_conversation [--early 100] [--late 1000] [--rounds 3]

Processor time of a simulated turn, its records written as lines, less that of the same SDK call on a canned transport: the rest
is ours. The bar: it grows no faster than the context, which is some ten times as long. Medians over the ten turns that end there,
the best of several rounds.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass

from memdash.claude import Request, connect
from memdash.records import Purpose, RequestRecord, TurnRecord, to_line
from memdash.replay import replay
from memdash.scripts import parse_script
from memdash.spec import ComparisonSpec, ReplaySpec
from memdash.strategies import parse
from tests.benchmarks.canned import Recorder, canned_call
from tests.benchmarks.conversations import script_yaml

_WINDOW = 10


@dataclass(frozen=True, slots=True)
class Turn:
    """What one turn took in seconds of processor time, and its prompt."""

    ours: float
    sdk: float
    prompt_tokens: float

    @property
    def beyond(self) -> float:
        """What we add to the SDK's own time."""
        return self.ours - self.sdk


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--early", type=int, default=100)
    parser.add_argument("--late", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    early, late = measure(options.early, options.late, options.rounds)
    for number, turn in ((options.early, early), (options.late, late)):
        print(
            f"turn {number:>5}: {turn.prompt_tokens:>9,.0f} prompt tokens, {1000 * turn.ours:.2f} ms, of which "
            f"{1000 * turn.sdk:.2f} ms are the SDK's own and {1000 * turn.beyond:.2f} ms ours"
        )
    context, ours = late.prompt_tokens / early.prompt_tokens, late.beyond / early.beyond
    print(f"context: {context:.1f} times as long; our own time: {ours:.1f} times as long (bar: no more)")
    print(f"beside it the SDK's own time: {late.sdk / early.sdk:.1f} times as long")


def measure(early: int, late: int, rounds: int) -> tuple[Turn, Turn]:
    """Return what the turns that end with these two take."""
    spec = _spec(late)
    best: list[tuple[Turn, ...]] = []
    for _ in range(rounds):
        best.append(_round(spec, (early, late)))
    return tuple(_least([one[place] for one in best]) for place in range(2))  # type: ignore[return-value]


def _spec(turns: int) -> ReplaySpec:
    script = parse_script(script_yaml(1, turns))
    return ComparisonSpec(scripts=(script,), strategies=(parse("full_history"),)).replays()[0]


def _round(spec: ReplaySpec, ends: Sequence[int]) -> tuple[Turn, ...]:
    client, clock = connect(spec)
    recorder = Recorder(client)
    took: list[float] = []
    prompts: list[int] = []
    gc.collect()
    gc.freeze()
    gc.disable()  # as in the child processes that play replays
    began = time.process_time()
    for record in replay(spec, recorder, clock):
        to_line(record)
        if isinstance(record, RequestRecord) and record.purpose is Purpose.TURN:
            prompts.append(record.usage.prompt_tokens or 0)
        if isinstance(record, TurnRecord):
            now = time.process_time()
            took.append(now - began)
            began = now
    turns = tuple(_turn(slice(max(0, end - _WINDOW), end), took, prompts, recorder.requests) for end in ends)
    gc.enable()
    gc.unfreeze()
    return turns


def _turn(window: slice, took: list[float], prompts: list[int], requests: list[Request]) -> Turn:
    call = canned_call()
    alone = []
    for request in requests[window]:
        began = time.process_time()
        call(request)
        alone.append(time.process_time() - began)
    return Turn(statistics.median(took[window]), statistics.median(alone), statistics.median(prompts[window]))


def _least(turns: Sequence[Turn]) -> Turn:
    return Turn(min(one.ours for one in turns), min(one.sdk for one in turns), turns[0].prompt_tokens)


if __name__ == "__main__":
    main()

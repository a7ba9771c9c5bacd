"""What one request costs the simulator's engine, without JSON parsing and without finding a reply.

    python -m tests.benchmarks.engine_speed [turns]

An append-only conversation of question, thinking and answer; the least processor time of several rounds, by turn.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from memdash.simulator.engine import Caller, Engine, SimulatorConfig
from memdash.simulator.rules import BINDING_CONTROLS
from tests.benchmarks.conversations import reply_text, user_text
from tests.simulator.engine_kit import Parrot

_ROUNDS = 15


def main() -> None:
    """Print milliseconds a request at some turns, and their mean."""
    turns = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    rounds = [_play(turns) for _ in range(_ROUNDS if turns <= 100 else 3)]
    best = [min(times) * 1_000 for times in zip(*rounds, strict=True)]
    for turn in sorted({1, turns // 6, turns // 2, turns}):
        print(f"turn {turn:>5}: {best[turn - 1]:.3f} ms")
    print(f"mean of {turns}: {sum(best) / turns:.3f} ms")


def _play(turns: int) -> list[float]:
    engine = Engine(SimulatorConfig(seed=1, token_counter="estimate"), Parrot(reply_text(), thinking=60))
    caller = Caller("key", "2026-10-21", frozenset({BINDING_CONTROLS}))
    messages: list[dict[str, Any]] = []
    times = []
    now = 0.0
    for turn in range(turns):
        messages.append({"role": "user", "content": user_text(1, turn)})
        body = {
            "model": "claude-opus-5-5",
            "max_tokens": 1_024,
            "system": "You plan trips with care and answer briefly. " * 60,
            "messages": messages,
            "cache_control": {"type": "ephemeral"},
        }
        # A body as it comes off the wire shares no object with the one before.
        request = json.loads(json.dumps(body))
        start = time.process_time()
        outcome = engine.create_message(request, caller, now)
        times.append(time.process_time() - start)
        messages.append({"role": "assistant", "content": outcome.message["content"]})
        now += outcome.timing.total_ms + 30_000
    return times


if __name__ == "__main__":
    main()

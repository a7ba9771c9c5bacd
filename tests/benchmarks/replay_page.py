"""How long the Replay page takes for a long replay: to open it, to step to the next turn, and to change to another section.

    python -m tests.benchmarks.replay_page [--turns 1000] [--facts 25] [--rounds 3]

A conversation with facts spread over it is played in the simulator by full history, a window and a compaction, and stored. Each
round opens the page of each replay at each section with nothing read before, as the first person after the server's start does,
then presses Next turn. Processor time of the page's whole run (queries, figures, every element made), the best of several rounds;
the bar: at most a second to open it, at any section.
"""

from __future__ import annotations

import argparse
import logging
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import streamlit as st
from streamlit.testing.v1 import AppTest

from memdash.claude import connect
from memdash.replay import replay
from memdash.scripts import Script, parse_script
from memdash.spec import ComparisonSpec
from memdash.strategies import parse
from memdash.views.replay_sections import SECTIONS
from memdash.views.state import close_services, services
from tests.benchmarks.conversations import user_text

_VIEWS = Path(__file__).resolve().parents[2] / "memdash" / "views"
_STRATEGIES = ("full_history", "window:40", "compaction:trigger=8000,words=120")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=1_000)
    parser.add_argument("--facts", type=int, default=25)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args(arguments)
    # Streamlit says at every use of its caches that no page is being served.
    logging.getLogger("streamlit.runtime.scriptrunner_utils.script_run_context").disabled = True
    with tempfile.TemporaryDirectory() as name:
        os.environ["MEMDASH_DB"] = str(Path(name) / "lab.duckdb")
        try:
            spec = _stored(_script(options.turns, options.facts))
            print(
                f"{options.turns:,} turns, {options.facts} facts; seconds of processor time to open, and to step on"
            )
            for one in spec.replays():
                taken = _measured(one.id, options.turns, options.rounds)
                told = (f"{section} {first:.2f} and {step:.2f}" for section, (first, step) in taken.items())
                print(f"  {one.series}: {', '.join(told)}")
        finally:
            close_services()
            st.cache_resource.clear()


def _script(turns: int, facts: int) -> Script:
    """A conversation whose facts are spread over it, every third one updated later."""
    stated = {1 + place * turns // facts: place for place in range(facts)}
    updated = {
        turn + turns // (2 * facts): place
        for turn, place in stated.items()
        if place % 3 == 0 and turns >= 2 * facts
    }
    lines = ["id: long", "title: A long conversation", "system: Answer in at most 80 words.", "turns:"]
    for turn in range(1, turns + 1):
        said = ""
        if turn in stated:
            said = f"The code of box {stated[turn]} is K{1000 + stated[turn]}. "
        elif turn in updated:
            said = f"The code of box {updated[turn]} is K{5000 + updated[turn]} from now on. "
        lines.append(f"  - user: '{said}{user_text(1, turn)}'")
    lines.append("facts:")
    later = {place: turn for turn, place in updated.items()}
    for turn, place in stated.items():
        lines.append(f"  - {{id: box-{place}, turn: {turn}, question: 'What is the code of box {place}?',")
        update = f" updates: [{{turn: {later[place]}, answer: K{5000 + place}}}]," if place in later else ""
        lines.append(f"     answer: K{1000 + place},{update} probe_after: [{turns}]}}")
    return parse_script("\n".join(lines) + "\n")


def _stored(script: Script) -> ComparisonSpec:
    spec = ComparisonSpec(
        scripts=(script,), strategies=tuple(map(parse, _STRATEGIES)), token_counter="estimate"
    )
    store = services().store
    store.save_comparison(spec)
    for one in spec.replays():
        client, clock = connect(one)
        store.append(one.id, replay(one, client, clock))
    store.flush()
    return spec


def _measured(replay_id: str, turns: int, rounds: int) -> dict[str, tuple[float, float]]:
    """The least time to open the page at each section, and to go on to the next turn there."""
    best: dict[str, tuple[float, float]] = {}
    for _ in range(rounds):
        for section in SECTIONS:
            st.cache_resource.clear()
            close_services()
            services()
            at = AppTest.from_file(_VIEWS / "main.py", default_timeout=120).run()  # what every page needs
            at.query_params["r"] = replay_id
            at.query_params["turn"] = str(turns // 2)
            at.query_params["show"] = section
            opening = _timed(at.switch_page("replay.py").run)
            step = _timed(at.button(key=f"replay.{replay_id}.next").click().run)
            least = best.get(section, (opening, step))
            best[section] = min(least[0], opening), min(least[1], step)
    return best


def _timed(run: Callable[[], AppTest]) -> float:
    began = time.process_time()
    at = run()
    took = time.process_time() - began
    assert not at.exception, at.exception
    return took


if __name__ == "__main__":
    main()

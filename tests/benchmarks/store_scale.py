"""How pages answer as the store grows: Library, Compare and Thresholds in stores of 10,000, 100,000 and 1,000,000 requests.

    python -m tests.benchmarks.store_scale [--sizes 10000,100000,1000000] [--rounds 5]

The store holds one comparison of 12 replays × 1,000 turns, one sweep of 1,500 replays (not in the smallest store) and, up to the
size, comparisons of four strategies over the trip-planning script. They are played by the simulator, in part, and copied in the
database with numbers, ids and block ids of their own, and with texts in which every letter stands for another, so that the file
cannot shrink by what is equal in all copies. Each figure is a page's work without Streamlit's and the browser's own: all that it
reads, computes and draws, with nothing held in memory but what the database itself keeps. Medians of the rounds: time, and
processor time in brackets, which a busy machine changes less. The bar: at most 0.3 s for a page answer in a store of a million
requests.
"""

from __future__ import annotations

import argparse
import random
import statistics
import string
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import cycle
from pathlib import Path

import duckdb

from memdash import charts
from memdash.charts.sweep import Measure, curve_styles, curves, frontier_chart, threshold_chart
from memdash.claude import connect
from memdash.collecting import uncollected
from memdash.following import Follower
from memdash.metrics import costs_against_full_history, summarise
from memdash.metrics.columns import outcomes_of
from memdash.metrics.conversations import floors
from memdash.metrics.sweep import analyse
from memdash.palette import Theme, assign
from memdash.replay import replay
from memdash.scripts import find_scripts
from memdash.scripts.loading import load_script
from memdash.spec import ComparisonSpec
from memdash.store import Store
from memdash.strategies import parse
from tests.benchmarks.conversations import script_yaml
from tests.benchmarks.sweeps import SCRIPTS, sweep_of

LONG_TURNS, PLAYED_TURNS = 1_000, 50
LONG = (
    "full_history", "window:4", "window:8", "window:16", "window:keep=4,trim_at=12", "truncate:3000", "truncate:6000",
    "compaction:2000", "compaction:4000", "compaction:6000", "compaction:8000", "running_brief:6000",
)  # fmt: skip
USUAL = ("full_history", "window:4", "window:8", "compaction:2000")
SWEPT, REPEATS = 100, 5
LOOK: Theme = "light"
RECORDS = ("replay_state", "request", "usage_iteration", "block", "event", "turn", "job", "probe", "fact")


@dataclass(frozen=True, slots=True)
class Shape:
    """How large the store is to be: the fixed comparisons in it, and its requests in all."""

    long_turns: int = LONG_TURNS
    swept: int = SWEPT
    repeats: int = REPEATS

    @property
    def requests_of_sweep(self) -> int:
        """About how many requests the sweep has."""
        return self.swept * len(SCRIPTS) * self.repeats * 42


def main(arguments: Sequence[str] | None = None, shape: Shape = Shape()) -> None:
    """Make the stores, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="10000,100000,1000000", help="requests, rising")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args(arguments)
    sizes = [int(size) for size in options.sizes.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scale.duckdb"
        long, usual = _play(path, shape)
        sweep: str | None = None
        print(
            f"{'requests':>10} {'comparisons':>12} {'Library':>15} {'Compare':>15} {'Thresholds':>15} {'B/request':>10}"
        )
        for size in sizes:
            if sweep is None and size >= _counts(path)[0] + shape.requests_of_sweep:
                sweep = _add_sweep(path, shape)
            _fill(path, size, usual)
            requests, comparisons = _counts(path)
            with Store.open(path) as store:
                cells = [
                    _timed(options.rounds, partial(library, store)),
                    _timed(options.rounds, partial(compare, store, long)),
                    _timed(options.rounds, partial(thresholds, store, sweep)) if sweep else "–",
                ]
            figures = " ".join(f"{cell:>15}" for cell in cells)
            print(
                f"{requests:>10,} {comparisons:>12,} {figures} {path.stat().st_size / requests:>10.0f}",
                flush=True,
            )
        print("bar: 300 ms each in the largest store")


# -- what pages do -------------------------------------------------------------------------------------------------------


def library(store: Store) -> None:
    """The list of every comparison."""
    assert store.comparisons()


@uncollected()
def compare(store: Store, comparison_id: str) -> None:
    """Everything that the Compare page reads and draws of one comparison."""
    _stored, _logs, results = Follower(store, comparison_id).read()
    summarise(results)
    costs_against_full_history(results)
    styles = assign((one.series, one.strategy) for one in results)
    series = charts.turn_series(results)
    for chart in charts.Chart:
        charts.draw(chart, series, styles, LOOK)


@uncollected()
def thresholds(store: Store, comparison_id: str) -> None:
    """Everything that the Thresholds page reads of a sweep, works out and draws."""
    stored = store.comparison(comparison_id)
    assert stored.spec.sweep is not None
    outcomes = outcomes_of(store.columns(comparison_id), stored.replays, stored.prices)
    analysis = analyse(outcomes)
    floors(stored.replays, outcomes, stored.prices)
    drawn = curves(stored.spec.sweep.families, analysis.settings)
    styles = curve_styles(drawn)
    for measure in Measure:
        threshold_chart(measure, drawn, styles, LOOK)
    frontier_chart(
        analysis.frontier, [one for one in analysis.settings if not one.ranked], drawn, styles, LOOK
    )


def _timed(rounds: int, work: Callable[[], None]) -> str:
    """The median time of some work, and its processor time."""
    times, used = [], []
    for _ in range(rounds):
        started, before = time.perf_counter(), time.process_time()
        work()
        times.append(time.perf_counter() - started)
        used.append(time.process_time() - before)
    return f"{1000 * statistics.median(times):.0f} ms ({1000 * statistics.median(used):.0f})"


# -- making the store ----------------------------------------------------------------------------------------------------


def _play(path: Path, shape: Shape) -> tuple[str, str]:
    """Make a comparison of long replays, of which a part is played and repeated, and a usual one; returns their ids."""
    (path.parent / "long.yaml").write_text(script_yaml(1, shape.long_turns), "utf-8")
    played = min(PLAYED_TURNS, shape.long_turns)
    long = ComparisonSpec((load_script(path.parent / "long.yaml"),), tuple(map(parse, LONG)))
    usual = ComparisonSpec(tuple(find_scripts("trip-planning")), tuple(map(parse, USUAL)))
    with Store.open(path) as store:
        for comparison in (long, usual):
            store.save_comparison(comparison)
        for spec in (*(replace(one, turns=played) for one in long.replays()), *usual.replays()):
            store.append(spec.id, replay(spec, *connect(spec)))
    with duckdb.connect(str(path)) as connection:
        numbers = dict(connection.execute("select id, number from replay").fetchall())
        for spec in long.replays():
            _lengthen(connection, numbers[spec.id], played, shape.long_turns // played)
    return long.id, usual.id


def _add_sweep(path: Path, shape: Shape) -> str:
    """Add a sweep of compaction over three scripts: full history and four thresholds are played, the others are copies."""
    sweep = sweep_of(shape.swept, shape.repeats)
    with Store.open(path) as store:
        store.save_comparison(sweep)
        originals = _played_of_sweep(store, sweep)
    with duckdb.connect(str(path)) as connection:
        numbers = dict(connection.execute("select id, number from replay").fetchall())
        for copy, original in originals.items():
            _copy_records(connection, numbers[original], numbers[copy])
    return sweep.id


def _played_of_sweep(store: Store, sweep: ComparisonSpec) -> dict[str, str]:
    """Play full history and a few thresholds of each script; returns of which of them each other replay is to be a copy."""
    played: dict[tuple[str, str], list[str]] = {}
    for script in sweep.scripts:
        own = [spec for spec in sweep.replays() if spec.script.id == script.id and spec.repeat == 1]
        for spec in own[:: max(len(own) // 5, 1)]:
            store.append(spec.id, replay(spec, *connect(spec)))
            played.setdefault((script.id, spec.strategy), []).append(spec.id)
    models = {key: cycle(ids) for key, ids in played.items()}
    done = {one for ids in played.values() for one in ids}
    return {
        one.id: next(models[one.script.id, one.strategy]) for one in sweep.replays() if one.id not in done
    }


def _lengthen(connection: duckdb.DuckDBPyConnection, number: int, turns: int, times: int) -> None:
    """Let a replay go through its turns again and again, each time with higher numbers."""
    connection.execute(
        "create or replace temp table again as select unnest(range(1, ?::bigint)) as k", [times]
    )
    step = "(select max(seq) + 1 from request where replay = $number)"
    for table in ("request", "event", "turn"):
        shifted = f"seq + k * {step} as seq, turn + k * $turns as turn"
        if table == "request":
            shifted += ", number + k * (select count(*) from request where replay = $number) as number"
        connection.execute(
            f"insert into {table} select * replace ({shifted}) from {table} join again on true "
            f"where replay = $number order by seq".replace("select * replace", f"select {table}.* replace"),
            {"number": number, "turns": turns},
        )


def _copy_records(connection: duckdb.DuckDBPyConnection, original: int, copy: int) -> None:
    for table in RECORDS:
        connection.execute(
            f"insert into {table} select * replace (?::integer as replay) from {table} where replay = ? order by rowid",
            [copy, original],
        )


def _fill(path: Path, requests: int, model: str) -> None:
    """Copy the usual comparison until the store has this many requests."""
    randomness = random.Random(requests)
    with duckdb.connect(
        str(path), config={"memory_limit": "2GB", "preserve_insertion_order": True}
    ) as connection:
        (present,), (own,) = (
            connection.execute(query, values).fetchall()[0]
            for query, values in (
                ("select count(*) from request", []),
                (
                    "select count(*) from request where replay in (select number from replay where comparison = ?)",
                    [model],
                ),
            )
        )
        copies = max((requests - present) // own, 0)
        for start in range(0, copies, 500):
            _copy_comparison(connection, model, min(500, copies - start), randomness)
        connection.execute("checkpoint")


def _copy_comparison(
    connection: duckdb.DuckDBPyConnection, model: str, copies: int, randomness: random.Random
) -> None:
    """Add copies of a comparison: other ids and numbers, block ids hashed anew, texts with their letters exchanged."""
    (first, last), (highest,), (made,) = (
        connection.execute(query, values).fetchall()[0]
        for query, values in (
            ("select min(number), max(number) from replay where comparison = ?", [model]),
            ("select max(number) from replay", []),
            ("select count(*) from comparison", []),
        )
    )
    connection.execute(
        "create or replace temp table copy (k integer, own varchar, shift integer, letters varchar)"
    )
    connection.executemany(
        "insert into copy values (?, ?, ?, ?)",
        [
            (k, f"cmp_{made + k:012x}", highest + 1 + k * (last - first + 1) - first, _letters(randomness))
            for k in range(copies)
        ],
    )

    def add(table: str, condition: str, **replaced: str) -> None:
        columns = ", ".join(f"{value} as {name}" for name, value in replaced.items())
        connection.execute(
            f"insert into {table} select {table}.* replace ({columns}) from {table} join copy on true where {condition} "
            f"order by k, {table}.rowid",
            {"model": model},
        )

    own_replay = "replay in (select number from replay where comparison = $model)"
    block = "left(md5({} || copy.own), 24)"
    entry = "list_transform({}, lambda one: left(one, instr(one, ':')) || left(md5(one || copy.own), 24))"
    add(
        "comparison",
        "id = $model",
        id="copy.own",
        created_at="created_at - to_minutes(1 + k + (select count(*) from comparison))",
    )
    add("price", "comparison = $model", comparison="copy.own")
    add(
        "replay",
        "comparison = $model",
        number="number + shift",
        comparison="copy.own",
        id="replace(id, $model, copy.own)",
    )
    add("block_text", "comparison = $model", comparison="copy.own", id=block.format("id"), body=_EXCHANGED)
    for table in RECORDS:
        other = {
            "request": {
                "entries": entry.format("entries"),
                "reply_blocks": f"list_transform(reply_blocks, lambda one: {block.format('one')})",
                "system_block": block.format("system_block"),
                "request_id": "left(md5(request_id || copy.own), 20)",
                "message_id": "left(md5(message_id || copy.own), 20)",
            },
            "block": {"id": block.format("id")},
            "event": {"data": f"case when event = 'compaction' then {_EXCHANGED_DATA} else data end"},
            "probe": {"answer": "translate(answer, 'abcdefghijklmnopqrstuvwxyz', letters)"},
        }.get(table, {})
        add(table, own_replay, replay="replay + shift", **other)


_EXCHANGED = "translate(body, 'abcdefghijklmnopqrstuvwxyz', letters)"
_EXCHANGED_DATA = "translate(data, 'bcdfghjklmnpqrstvwxyz', left(letters, 21))"


def _letters(randomness: random.Random) -> str:
    return "".join(randomness.sample(string.ascii_lowercase, 26))


def _counts(path: Path) -> tuple[int, int]:
    with duckdb.connect(str(path)) as connection:
        return (
            connection.execute("select count(*) from request").fetchall()[0][0],
            connection.execute("select count(*) from comparison").fetchall()[0][0],
        )


if __name__ == "__main__":
    main()

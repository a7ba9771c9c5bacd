"""Many people at once on the dashboard while a sweep runs: how fast pages answer, what goes wrong, and whether memory levels off.

    python -m tests.benchmarks.many_sessions [--sessions 25] [--minutes 5] [--think 4] [--repeats 20] [--seed 1]

The real server, ``streamlit run app.py``, with a database of its own, and browser tabs that speak its websocket protocol (see
``tab``). Each person opens a page, goes from page to page, opens comparisons of the library, switches panels, changes the form
and looks on, with some seconds of thought before each press; after some presses the tab is closed and another one opened. What a
page polls by itself is polled too. One of them keeps sweeps going: the form's own, over many repeats, and the next one when it is
over. Tabs and server share the machine, so the tabs' own work is in the figures. An answer is the time from sending a press to
the last message of its answer, without what a browser then takes to draw it.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.benchmarks.dashboard import Dashboard, served, wait_until
from tests.benchmarks.processes import memory_of, processor_seconds_of, resident_of
from tests.benchmarks.tab import NotOnThePage, Tab

PRESSES_A_VISIT = 12
ARRIVAL_S = 10.0
"""All have come within these seconds, or sooner in a short run; what is measured begins after that."""
SAMPLE_S = 1.0
PARTS = 6
"""Into how many parts of equal length the memory's course is cut; of the last two, the last may not be much higher."""
LEVEL = 1.05
MEDIAN_BAR_S = 1.0
_PAGES = ("Compare", "Thresholds", "Library")


@dataclass(slots=True)
class Ledger:
    """What all tabs measured together."""

    answers: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    polls: list[float] = field(default_factory=list)
    troubles: Counter[str] = field(default_factory=Counter)
    received: int = 0
    sweeps: int = 0
    open: bool = False
    """Whether what is measured counts already."""

    def note(self, what: str, seconds: float) -> None:
        """Keep how long an answer took."""
        if self.open:
            self.answers[what].append(seconds)

    def note_poll(self, seconds: float) -> None:
        """Keep how long the answer to a poll took."""
        if self.open:
            self.polls.append(seconds)


@dataclass(frozen=True, slots=True)
class Sample:
    """What the server took at a moment: its own memory, that of all its processes, in bytes, and its processor time so far."""

    own: int
    together: int
    used_s: float


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=25)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--think", type=float, default=4.0, help="seconds between presses, on average")
    parser.add_argument("--repeats", type=int, default=20, help="of each sweep")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name, served(Path(name)) as dashboard:
        wait_until(lambda: dashboard.running() == 0)
        ledger, samples = asyncio.run(_measure(dashboard, options))
        faults = dashboard.log.read_text(errors="replace").count("Traceback")
    _print(ledger, samples, faults, options)


async def _measure(dashboard: Dashboard, options: argparse.Namespace) -> tuple[Ledger, list[Sample]]:
    ledger, over = Ledger(), asyncio.Event()
    people = [
        asyncio.create_task(_person(dashboard.url, ledger, over, options, number))
        for number in range(1, options.sessions)
    ]
    people.append(asyncio.create_task(_sweeper(dashboard, ledger, over, options)))
    await asyncio.sleep(_arrival_s(options))
    ledger.open = True
    samples = []
    until = time.monotonic() + 60 * options.minutes
    while time.monotonic() < until:
        pid = dashboard.pid
        together, _resident = memory_of(pid)
        samples.append(Sample(resident_of(pid), together, processor_seconds_of(pid)))
        await asyncio.sleep(SAMPLE_S)
    ledger.open = False
    over.set()
    await asyncio.gather(*people)
    return ledger, samples


def _arrival_s(options: argparse.Namespace) -> float:
    """Seconds within which all have come."""
    return min(ARRIVAL_S, 20 * options.minutes)


# -- people --------------------------------------------------------------------------------------------------------------


async def _person(
    url: str, ledger: Ledger, over: asyncio.Event, options: argparse.Namespace, number: int
) -> None:
    """Somebody who looks around until it is over, in one tab after the other."""
    chance = random.Random(f"{options.seed} {number}")
    await _pause(over, chance.uniform(0, _arrival_s(options)))
    while not over.is_set():
        async with _tab(url, ledger) as tab:
            title = chance.choice(_PAGES)
            ledger.note(f"open {title} anew", await tab.open("" if title == "Compare" else title.lower()))
            for _ in range(PRESSES_A_VISIT):
                await _pause(over, chance.uniform(0.5, 1.5) * options.think)
                if over.is_set():
                    break
                await _press_something(tab, ledger, chance)


async def _press_something(tab: Tab, ledger: Ledger, chance: random.Random) -> None:
    """Press what a person would press on the page that is shown; where it is not there, go to another page."""
    page = next((title for title, name in tab.pages.items() if name == tab.page_hash), "Compare")
    what, press = chance.choice([*_habits(page, tab, chance), _goes(tab, chance)])
    try:
        seconds = await press()
    except NotOnThePage:
        what, press = _goes(tab, chance)
        seconds = await press()
    ledger.note(what, seconds)


Habit = tuple[str, Callable[[], Awaitable[float]]]


def _habits(page: str, tab: Tab, chance: random.Random) -> list[Habit]:
    """What people do on a page, as often as it stands in the list."""
    if page == "Compare":
        return [
            *[("panel of Compare", lambda: _switch(tab, "panel.", chance))] * 3,
            ("form of Compare", lambda: tab.type_number(".turns", chance.randint(5, 30))),
        ]
    if page == "Thresholds":
        return [
            *[("panel of Thresholds", lambda: _switch(tab, "sweep_panel.", chance))] * 3,
            ("form of Thresholds", lambda: tab.type_number(".turns", chance.randint(5, 30))),
        ]
    if page == "Library":
        return [
            ("open from the Library", lambda: tab.press("open.")),
            ("search the Library", lambda: tab.type_text("q", chance.choice(["", "window", "trip"]))),
        ]
    return []


def _goes(tab: Tab, chance: random.Random) -> Habit:
    title = chance.choice([*_PAGES, *_PAGES, "Scripts", "Prices"])
    return f"go to {title}", lambda: tab.go(title)


async def _switch(tab: Tab, key: str, chance: random.Random) -> float:
    return await tab.choose(key, chance.choice(tab.options(key)))


async def _sweeper(
    dashboard: Dashboard, ledger: Ledger, over: asyncio.Event, options: argparse.Namespace
) -> None:
    """Somebody who runs the sweep of the form, and the next one when it is over."""
    async with _tab(dashboard.url, ledger) as tab:
        ledger.note("open Thresholds anew", await tab.open("thresholds", f"repeats={options.repeats}"))
        while not over.is_set():
            if await asyncio.to_thread(dashboard.running) == 0:
                with suppress(NotOnThePage):  # looked for again in a moment
                    ledger.note("run a sweep", await tab.press(".run"))
                    ledger.sweeps += 1
            await _pause(over, 2.0)


@asynccontextmanager
async def _tab(url: str, ledger: Ledger) -> AsyncIterator[Tab]:
    """A tab whose times and troubles go into the ledger."""
    tab = Tab(url, ledger.note_poll)
    try:
        async with tab:
            yield tab
    finally:
        ledger.troubles.update(tab.troubles)
        ledger.received += tab.received


async def _pause(over: asyncio.Event, seconds: float) -> None:
    with suppress(TimeoutError):
        await asyncio.wait_for(over.wait(), seconds)


# -- what came of it -----------------------------------------------------------------------------------------------------


def _print(ledger: Ledger, samples: Sequence[Sample], faults: int, options: argparse.Namespace) -> None:
    """Print every figure, and each bar with what was measured against it."""
    everything = sorted(seconds for some in ledger.answers.values() for seconds in some)
    print(f"{'answer to':<24} {'count':>6} {'median':>9} {'p95':>9} {'slowest':>9}")
    for what, some in sorted(ledger.answers.items()):
        print(_line(what, some))
    print(_line("all presses", everything))
    print(_line("polls", ledger.polls))
    seconds = SAMPLE_S * max(len(samples) - 1, 1)
    used = samples[-1].used_s - samples[0].used_s
    print(
        f"\nthe server used {100 * used / seconds:.0f} % of a processor for {len(everything) / seconds:.1f} presses and "
        f"{len(ledger.polls) / seconds:.1f} polls a second; {ledger.sweeps} sweeps of {options.repeats} repeats were run; "
        f"{ledger.received / 1e6:,.0f} MB were sent"
    )
    own = _course([one.own for one in samples])
    print(f"memory of the server, MB, medians along the way: {_megabytes(own)}")
    print(
        f"memory of all its processes, MB:                 {_megabytes(_course([one.together for one in samples]))}"
    )
    for trouble, often in ledger.troubles.most_common(10):
        print(f"{often} × {trouble}")
    errors = sum(ledger.troubles.values()) + faults
    median = statistics.median(everything) if everything else float("nan")
    growth = own[-1] / own[-2] if len(own) > 1 else float("nan")
    print(f"\nerrors: {errors} (bar: 0): {_verdict(errors == 0)}")
    print(
        f"median of all presses: {median:.2f} s (bar: < {MEDIAN_BAR_S:g}): {_verdict(median < MEDIAN_BAR_S)}"
    )
    print(
        f"memory in the last sixth against the one before: {growth:.2f} × (bar: ≤ {LEVEL}): {_verdict(growth <= LEVEL)}"
    )


def _line(what: str, some: Sequence[float]) -> str:
    if not some:
        return f"{what:<24} {0:>6}"
    ordered = sorted(some)
    late = ordered[min(int(0.95 * len(ordered)), len(ordered) - 1)]
    figures = (statistics.median(ordered), late, ordered[-1])
    return f"{what:<24} {len(some):>6} " + " ".join(f"{1000 * one:>6,.0f} ms" for one in figures)


def _course(values: Sequence[int]) -> list[float]:
    """The medians of parts of equal length."""
    parts = min(PARTS, len(values))
    size = len(values) // parts
    return [statistics.median(values[start : start + size]) for start in range(0, size * parts, size)]


def _megabytes(values: Sequence[float]) -> str:
    return " ".join(f"{one / 1e6:5.0f}" for one in values)


def _verdict(kept: bool) -> str:
    return "kept" if kept else "missed"


if __name__ == "__main__":
    main()

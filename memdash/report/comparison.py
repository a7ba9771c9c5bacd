"""The report of an ordinary comparison: what it says, side by side, its charts, and what was forgotten."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from memdash import charts, numbers
from memdash.charts import Chart
from memdash.metrics import ProbeResult, ReplayResult, SeriesSummary, Spread, headlines, sentences, summarise
from memdash.palette import Style, assign
from memdash.records import Status
from memdash.report.blocks import Cards, Charts, Section, Table, Told
from memdash.report.figures import Sketch
from memdash.tables.grid import Grid

if TYPE_CHECKING:
    from memdash.store import StoredComparison

COLUMNS = (
    "strategy", "script", "prompt\ntokens", "cached", "cost", "vs full\nhistory", "kept", "recall", "wait\np50", "wait\np95",
    "compactions", "status",
)  # fmt: skip
_SIMULATED_RECALL = "recall\n(simulated)"


def comparison_sections(
    stored: StoredComparison, results: Sequence[ReplayResult], *, with_text: bool
) -> list[Section]:
    """Return what the replays of a comparison say; ``with_text`` also what was asked and answered."""
    styles = assign((one.series, one.strategy) for one in results)
    titles = Counter(script.title for script in stored.spec.scripts)
    by_script = {
        script.id: (
            script.title if titles[script.title] == 1 else f"{script.title} ({script.id})",
            [one for one in results if one.script == script.id],
        )
        for script in stored.spec.scripts
    }
    several = len(by_script) > 1
    sections = []
    for title, group in by_script.values():
        sections.append(Section("", _findings(group), script=title if several else None))
    sections.append(Section("Side by side", [_table(stored, by_script, styles)]))
    for title, group in by_script.values():
        sections.append(Section("Charts", [_charts(group, styles)], script=title if several else None))
    forgotten = _forgotten(results, several=several, with_text=with_text)
    if forgotten is not None:
        sections.append(Section("What was forgotten", forgotten, folded=True))
    return sections


def _findings(results: Sequence[ReplayResult]) -> list[Cards | Told]:
    summaries = summarise(results)
    found = headlines(summaries)
    cards = Cards((found.cheapest, found.fewest_tokens, found.best_cache_share, found.longest_wait))
    yet = "" if all(one.status.over for one in results) else " yet"
    told = sentences(summaries) or (f"No strategy has finished{yet}.",)
    return [cards, Told(told)]


# -- the table -----------------------------------------------------------------------------------------------------------


def _table(
    stored: StoredComparison,
    by_script: Mapping[str, tuple[str, Sequence[ReplayResult]]],
    styles: Mapping[str, Style],
) -> Table:
    """One row for each strategy on each script, over its repeats."""
    rows = [(title, one) for title, group in by_script.values() for one in summarise(group)]
    several = len(by_script) > 1
    simulated = any(one.simulated for _, one in rows)
    columns = tuple(
        _SIMULATED_RECALL if name == "recall" and simulated else name
        for name in COLUMNS
        if several or name != "script"
    )
    cells = [
        tuple(
            cell for name, cell in zip(COLUMNS, _row(title, one), strict=True) if several or name != "script"
        )
        for title, one in rows
    ]
    told: dict[tuple[str, str], int] = {}
    for place, (_, one) in enumerate(rows):
        for note in _notes(one):
            told.setdefault((one.series, note), place)  # on another script it says nothing new
    notes: dict[int, list[str]] = {}
    for (_, note), place in told.items():
        notes.setdefault(place, []).append(note)
    numeric = frozenset(columns) - {"strategy", "script", "status"}
    return Table(Grid(columns, cells, numeric=numeric, notes=notes), [styles[one.series] for _, one in rows])


def _row(script: str, one: SeriesSummary) -> tuple[str, ...]:
    over = all(result.status.over for result in one.results)
    nothing_sent = one.prompt_tokens is not None and one.prompt_tokens.mean == 0
    return (
        one.series,
        script,
        _spread(one.prompt_tokens, numbers.tokens, numbers.NOT_REPORTED),
        numbers.NOTHING if nothing_sent else numbers.percent(one.cache_share),
        _spread(one.cost_usd, numbers.usd, numbers.NOT_AVAILABLE),
        numbers.change(one.cost_against_full_history),
        numbers.part(one.kept, one.facts_total),
        numbers.part(one.recall_passed, one.recall_total)
        if over and one.recall is not None
        else numbers.NOTHING,
        _spread(one.wait_p50_ms, numbers.seconds, numbers.NOTHING),
        _spread(one.wait_p95_ms, numbers.seconds, numbers.NOTHING),
        _spread(one.compactions, lambda value: f"{value:.1f}".removesuffix(".0"), numbers.NOTHING),
        _status(one),
    )


def _spread(found: Spread | None, spell: Callable[[float], str], unknown: str) -> str:
    """A mean, with the lowest and the highest of several repeats where they differ."""
    if found is None:
        return unknown
    told = spell(found.mean)
    if found.of < 2 or spell(found.low) == spell(found.high):
        return told
    return f"{told} ({numbers.span(found.low, found.high, spell)})"


def _status(one: SeriesSummary) -> str:
    told = str(one.status).replace("_", " ")
    if len(one.results) > 1:
        done = sum(result.done for result in one.results)
        return told if done == len(one.results) else f"{told}; {numbers.part(done, len(one.results))} done"
    result = one.results[0]
    if result.turns_completed < result.turns_planned:
        told += f" at turn {min(result.turns_completed + 1, result.turns_planned)} of {result.turns_planned}"
    return told + (" (simulator only)" if result.simulator_only else "")


def _notes(one: SeriesSummary) -> list[str]:
    """What the API refused, and what is odd about the replays."""
    return [*one.errors, *(mark.words for mark in one.marks)]


# -- charts and answers --------------------------------------------------------------------------------------------------


def _charts(results: Sequence[ReplayResult], styles: Mapping[str, Style]) -> Charts:
    series = charts.turn_series(results)
    return Charts(
        [
            Sketch(
                partial(charts.draw, chart, series, styles),
                charts.title_of(chart, series),
                charts.alt_text(chart, series),
            )
            for chart in Chart
        ]
    )


def _forgotten(
    results: Sequence[ReplayResult], *, several: bool, with_text: bool
) -> list[Table | Told] | None:
    """The questions that were not answered right; None where nothing was asked."""
    if not any(one.probes for one in results):
        return None
    tests = list(_tests(results))
    if not tests:
        return [
            Told(
                [
                    "No question tests anything: none is answered right with the whole history and wrong without."
                ]
            )
        ]
    lost = [(one, probe) for one, probe in tests if not probe.passed]
    if not lost:
        return [Told(["Every question that is a test was answered right."])]
    columns = ["replay", "fact", "asked after\nturn"]
    columns += ["question", "answer"] if with_text else []
    rows = []
    for one, probe in lost:
        texts = (probe.question, probe.answer) if with_text else ()
        rows.append((one.label, probe.fact, str(probe.asked_after), *texts, *_verdict(probe)))
    simulated = any(one.recall_simulated for one in results)
    said = ["Answers are a pretend model's; what was in the context is measured by us."] if simulated else []
    numeric = frozenset(("asked after\nturn",))
    return [
        Table(Grid((*columns, "answered", "its text was"), rows, numeric=numeric)),
        *([Told(said, quiet=True)] if said else []),
    ]


def _tests(results: Sequence[ReplayResult]) -> Iterator[tuple[ReplayResult, ProbeResult]]:
    """The questions that count, of replays that came to an end of their own."""
    for one in results:
        for probe in one.probes:
            if probe.is_test and one.status in (Status.DONE, Status.REJECTED):
                yield one, probe


def _verdict(probe: ProbeResult) -> tuple[str, str]:
    answered = "with an old value" if probe.stale else "wrong"
    return answered, "in the context" if probe.visible else "not in the context"

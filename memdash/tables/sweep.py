"""A sweep as people read it in a terminal or in Markdown: a row a setting, then what to ship and what it was found by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memdash import numbers
from memdash.outcomes import read_outcomes
from memdash.records import Status
from memdash.tables.grid import Grid

if TYPE_CHECKING:
    from memdash.metrics.conversations import Traffic
    from memdash.metrics.outcome import ReplayOutcome
    from memdash.metrics.sweep import Estimate, Setting, SweepAnalysis
    from memdash.store import StoredComparison
    from memdash.store.protocol import AnyStore

_MOST_WORTH = 3
"""So many sentences about what forgetting is worth; the others are in the JSON."""
_MOST_LEFT_OUT = 3

COLUMNS = (
    "setting", "cost", "95 %", "vs full\nhistory", "cached", "kept", "recall", "lost", "lost\nat most", "wait\np95",
    "compactions", "remarks",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class SweepFindings:
    """A stored sweep with what its replays say together."""

    stored: StoredComparison
    outcomes: Sequence[ReplayOutcome]
    analysis: SweepAnalysis

    @classmethod
    def read(cls, store: AnyStore, comparison_id: str, traffic: Traffic | None = None) -> SweepFindings:
        """Read a sweep; ``traffic`` says how many conversations a month a saving is told for.

        Raises :class:`~memdash.errors.StoreError` where it cannot be read.
        """
        return cls.of(*read_outcomes(store, comparison_id), traffic)

    @classmethod
    def of(
        cls, stored: StoredComparison, outcomes: Sequence[ReplayOutcome], traffic: Traffic | None = None
    ) -> SweepFindings:
        """Return what the replays of a sweep say together."""
        from memdash.metrics.sweep import CONVERSATIONS_PER_MONTH, MAX_LOSS, analyse

        allowed = stored.spec.sweep.max_loss if stored.spec.sweep else MAX_LOSS
        often = (traffic.per_month if traffic else None) or CONVERSATIONS_PER_MONTH
        return cls(stored, outcomes, analyse(outcomes, max_loss=allowed, conversations_per_month=often))

    @property
    def statuses(self) -> set[Status]:
        """The states its replays are in."""
        return {one.status for one in self.outcomes}

    @property
    def to_confirm(self) -> tuple[str, ...]:
        """The labels of the settings that a live run should confirm; none without a recommendation."""
        advice = self.analysis.recommendation
        return () if advice is None else advice.to_confirm


def sweep_parts(found: SweepFindings, *, markdown: bool) -> list[str]:
    """Return the paragraphs about a sweep: the table, the answer, what forgetting is worth, and how it went on."""
    separator = "\n\n" if markdown else "\n"
    return [
        *_table(found.analysis, markdown),
        separator.join(_answer(found.analysis)),
        *(
            separator.join(lines)
            for lines in (worth_lines(found.analysis), refinement_lines(found), _left_out(found))
            if lines
        ),
    ]


def _table(analysis: SweepAnalysis, markdown: bool) -> list[str]:
    grid = settings_grid(analysis)
    relaxed = any(one.simulator_only for one in analysis.settings)
    said = ["Limits of the API were relaxed: these settings exist in the simulator only."] if relaxed else []
    return [*said, grid.markdown() if markdown else grid.plain()]


def by_cost(analysis: SweepAnalysis) -> list[Setting]:
    """Return the settings in the order of :func:`settings_grid`: by cost, the cheapest first."""
    return sorted(analysis.settings, key=_cost)


def _cost(setting: Setting) -> tuple[bool, float]:
    """What settings are sorted by; without a known cost, or with replays that did not finish, they come last."""
    known = setting.ranked and setting.cost_usd is not None
    return not known, setting.cost_usd.mean if setting.cost_usd else 0.0


def settings_grid(analysis: SweepAnalysis) -> Grid:
    """Return the table of a sweep, a row a setting; a column that nothing is known for is left out."""
    settings = by_cost(analysis)
    remarks = _Remarks.of(analysis)
    simulated = any(one.simulated for one in settings)
    columns = tuple("recall\n(simulated)" if name == "recall" and simulated else name for name in COLUMNS)
    rows = [(*_row(one), remarks.on(one)) for one in settings]
    shown = [
        place
        for place in range(len(columns))
        if place in (0, 1) or any(row[place] not in ("", numbers.NOTHING) for row in rows)
    ]
    return Grid(
        tuple(columns[place] for place in shown),
        [tuple(row[place] for place in shown) for row in rows],
        numeric=frozenset(columns[1:-1]),
    )


def _row(setting: Setting) -> tuple[str, ...]:
    if not setting.finished:
        return (setting.series, *[numbers.NOTHING] * (len(COLUMNS) - 2))
    cost, loss = setting.cost_usd, setting.loss
    whole = setting.is_full_history
    return (
        setting.series,
        numbers.usd(cost.mean if cost else None),
        _between(cost),
        numbers.NOTHING if whole else numbers.change(None if setting.saving is None else -setting.saving),
        _share(setting.cache_share, numbers.NOT_REPORTED),
        _share(setting.kept),
        _share(setting.recall),
        numbers.NOTHING if whole or loss is None else numbers.percent(loss.mean),
        numbers.NOTHING if whole or loss is None else numbers.percent(loss.high),
        numbers.seconds(setting.wait_p95_ms.mean if setting.wait_p95_ms else None),
        numbers.NOTHING
        if setting.compactions is None
        else f"{setting.compactions.mean:.1f}".removesuffix(".0"),
    )


def _between(estimate: Estimate | None) -> str:
    """The interval of a cost; nothing where there is one replay only, or where all are alike."""
    if estimate is None or estimate.low is None or estimate.high is None or estimate.low == estimate.high:
        return numbers.NOTHING
    return f"{numbers.usd(estimate.low)}–{numbers.usd(estimate.high)}"


def _share(estimate: Estimate | None, unknown: str = numbers.NOTHING) -> str:
    return unknown if estimate is None else numbers.percent(estimate.mean)


@dataclass(frozen=True, slots=True)
class _Remarks:
    """What is said in a setting's row beside its numbers; ``dominated`` is by series, for those on the front or behind it."""

    recommended: Mapping[str, bool]
    dominated: Mapping[str, bool]

    @classmethod
    def of(cls, analysis: SweepAnalysis) -> _Remarks:
        return cls(
            {one.setting.series: one.decisive for one in analysis.recommendations},
            {point.setting.series: point.dominated for point in analysis.frontier},
        )

    def on(self, setting: Setting) -> str:
        said = []
        if setting.series in self.recommended:
            said.append("RECOMMENDED" if self.recommended[setting.series] else "RECOMMENDED, not decisive")
        if setting.series in self.dominated:
            said.append("dominated" if self.dominated[setting.series] else "on the front")
        if setting.finished < setting.replays:
            done = numbers.part(setting.finished, setting.replays)
            said.append(f"{done} done ({str(setting.status).replace('_', ' ')})")
        for mark, scripts in setting.marks.items():
            everywhere = len(scripts) == len(setting.scripts)
            said.append(
                str(mark).replace("_", " ") + ("" if everywhere else f" on {numbers.listing(scripts)}")
            )
        return ", ".join(said)


def _answer(analysis: SweepAnalysis) -> list[str]:
    """What to ship, for each model; else why that cannot be said."""
    return [one.sentence for one in analysis.recommendations] or [analysis.unrecommended or numbers.NOTHING]


def worth_lines(analysis: SweepAnalysis) -> list[str]:
    """Say what forgetting is worth in the settings that matter: the recommended ones, then those on the front."""
    recommended = {one.setting.series for one in analysis.recommendations}
    front = {point.setting.series for point in analysis.frontier if not point.dominated}
    ordered = sorted(analysis.worth, key=lambda one: (one.series not in recommended, one.series not in front))
    lines = [one.sentence for one in ordered[:_MOST_WORTH]]
    more = len(ordered) - len(lines)
    return (
        [*lines, f"The same of {numbers.count(more, 'more setting')}: --format json"] if more > 0 else lines
    )


def refinement_lines(found: SweepFindings) -> list[str]:
    """Say what the refinement of the coarse grid played, why, and why it stopped."""
    from memdash.metrics.sweep import why_stopped

    sweep, rounds = found.stored.spec.sweep, found.stored.refinements
    lines = []
    if rounds:
        added = sum(len(one.settings) for one in rounds)
        lines.append(
            f"Refined in {numbers.count(len(rounds), 'round')}, {numbers.count(added, 'more setting')}:"
        )
    for number, one in enumerate(rounds, start=1):
        lines += [f"Round {number}: {setting.choice.label}, {setting.reason}" for setting in one.settings]
    if sweep is not None and sweep.refine:
        stopped = why_stopped(found.stored.spec, found.outcomes, rounds)
        if stopped is not None:
            lines.append(f"Refinement stopped: {stopped}.")
    return lines


def _left_out(found: SweepFindings) -> list[str]:
    """The combinations that no strategy takes."""
    from memdash.strategies import swept

    sweep = found.stored.spec.sweep
    left_out = swept(sweep.families, found.stored.spec.models).left_out if sweep else ()
    return left_out_lines(left_out)


def left_out_lines(left_out: Sequence[str]) -> list[str]:
    """Say which combinations of a grid are not played, and why."""
    lines = [f"Left out: {one}" for one in left_out[:_MOST_LEFT_OUT]]
    more = len(left_out) - len(lines)
    return [*lines, f"Left out as well: {numbers.count(more, 'more combination')}"] if more > 0 else lines

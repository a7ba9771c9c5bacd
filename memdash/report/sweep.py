"""The report of a sweep: what to ship, every setting, the front and the thresholds, and how the sweep went on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from memdash import numbers
from memdash.charts.sweep import (
    Curve,
    Measure,
    curve_styles,
    curves,
    frontier,
    frontier_chart,
    grid,
    grid_chart,
    grids,
    style_of,
    threshold_chart,
    thresholds,
)
from memdash.metrics import Headline
from memdash.metrics.conversations import common_floor, floors
from memdash.palette import Style
from memdash.report.blocks import Block, Cards, Charts, Section, Table, Told
from memdash.report.figures import Sketch
from memdash.tables.sweep import SweepFindings, by_cost, refinement_lines, settings_grid, worth_lines

if TYPE_CHECKING:
    from memdash.metrics.sweep import Estimate, Recommendation, SweepAnalysis
    from memdash.strategies import Family


def sweep_sections(found: SweepFindings, families: Sequence[Family]) -> list[Section]:
    """Return what a sweep over these families says."""
    analysis = found.analysis
    shown = curves(families, analysis.settings)
    styles = curve_styles(shown)
    under = floors(found.stored.replays, found.outcomes, found.stored.prices)
    floor = common_floor(under, (script.id for script in found.stored.spec.scripts))
    drawing = _Drawing(found, shown, styles, floor)
    looks = [style_of(one.series, shown, styles) for one in by_cost(analysis)]
    sections = [
        Section("What to ship", _answer(analysis)),
        Section("Settings by cost", [Table(settings_grid(analysis), looks)]),
        Section("Charts", [Charts([*drawing.fronts(), *drawing.thresholds(), *drawing.grids(families)])]),
    ]
    worth, rounds = worth_lines(analysis), refinement_lines(found)
    if worth:
        sections.append(Section("What forgetting is worth", [Told(worth)], folded=True))
    if rounds:
        sections.append(Section("A closer look", [Told(rounds)], folded=True))
    return sections


# -- the answer ----------------------------------------------------------------------------------------------------------


def _answer(analysis: SweepAnalysis) -> list[Block]:
    if not analysis.recommendations:
        return [Told([analysis.unrecommended or numbers.NOTHING])]
    blocks: list[Block] = []
    for one in analysis.recommendations:
        decided = "Decisive: " if one.decisive else "Not decisive: "
        blocks += [
            Told([decided + one.headline]),
            Cards(_cards(one, analysis)),
            *([Told(one.caveats, quiet=True)] if one.caveats else []),
        ]
    return blocks


def _cards(one: Recommendation, analysis: SweepAnalysis) -> list[Headline]:
    """The numbers that matter of a recommended setting."""
    setting, whose = one.setting, (one.setting.series,)
    cost = setting.cost_usd.mean if setting.cost_usd else None
    source = "simulated" if setting.simulated else "live"
    monthly = f"at {analysis.conversations_per_month:,.0f} conversations a month"
    cards = [Headline("A conversation costs", numbers.usd(cost), whose, source)]
    if setting.is_full_history:
        a_month = None if cost is None else cost * analysis.conversations_per_month
        told = numbers.NOT_AVAILABLE if a_month is None else numbers.usd_whole(a_month)
        cards.append(Headline("A month costs", told, whose, monthly))
        wait = "every other setting is measured against it"
    else:
        saved = f"{numbers.usd_whole(one.saving_per_month_usd)} {monthly}"
        cards.append(Headline("Saved against full history", numbers.usd(one.saving_usd.mean), whose, saved))
        if setting.loss is not None:
            most, allowed = numbers.percent(setting.loss.high), numbers.percent(analysis.max_loss)
            bound = f"at most {most}, {allowed} allowed"
            lost = numbers.percent(setting.loss.mean)
            cards.append(Headline("Lost of what full history keeps", lost, whose, bound))
        wait = f"full history {_seconds(one.baseline.wait_p95_ms)}"
    return [*cards, Headline("Wait p95", _seconds(setting.wait_p95_ms), whose, wait)]


def _seconds(found: Estimate | None) -> str:
    return numbers.seconds(None if found is None else found.mean)


# -- charts --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Drawing:
    """What every chart of a sweep is drawn from."""

    found: SweepFindings
    curves: Sequence[Curve]
    styles: Mapping[str, Style]
    floor: float | None

    @property
    def recommended(self) -> str | None:
        """The series of the recommended setting, None where there is none."""
        advice = self.found.analysis.recommendation
        return None if advice is None else advice.setting.series

    def fronts(self) -> Iterator[Sketch]:
        """Cost against what is kept, and against recall where a live model answered."""
        points, recommended = self.found.analysis.frontier, self.recommended
        ranked = {one.setting.series for one in points}
        unranked = [
            one for one in self.found.analysis.settings if one.simulator_only and one.series not in ranked
        ]
        live = any(one.setting.recall is not None and not one.setting.simulated for one in points)
        kinds: Sequence[frontier.Against] = ("kept", "recall") if live else ("kept",)
        for against in kinds:
            draw = partial(
                frontier_chart,
                points,
                unranked,
                self.curves,
                self.styles,
                against=against,
                recommended=recommended,
                floor=self.floor,
            )
            title = frontier.title(points, against, recommended)
            yield Sketch(draw, title, frontier.alt(points, against, recommended))

    def thresholds(self) -> Iterator[Sketch]:
        """Each measure over the threshold."""
        for measure in Measure:
            draw = partial(
                threshold_chart,
                measure,
                self.curves,
                self.styles,
                floor=self.floor,
                recommended=self.recommended,
            )
            yield Sketch(draw, thresholds.title(measure, self.curves), thresholds.alt(measure, self.curves))

    def grids(self, families: Sequence[Family]) -> Iterator[Sketch]:
        """Cost and what is kept over two thresholds at once."""
        for one in grids(families, self.found.analysis.settings):
            for measure in (Measure.COST, Measure.KEPT):
                draw = partial(grid_chart, measure, one, recommended=self.recommended)
                yield Sketch(draw, grid.title(measure, one), grid.alt(measure, one))

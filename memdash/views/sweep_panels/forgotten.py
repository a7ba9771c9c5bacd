"""What the settings of a sweep forget."""

from __future__ import annotations

from memdash.metrics.breakdown import breakdowns
from memdash.metrics.summary import BASELINE
from memdash.views.panels.breakdown import show_breakdown
from memdash.views.sweep_panels.leading import leading
from memdash.views.sweep_view import SweepView


def show(shown: SweepView) -> None:
    """Draw the breakdown, of the full history and the settings that matter first."""
    reading = shown.reading
    baselines = [one.series for one in reading.outcomes if one.strategy == BASELINE]
    found = shown.keep("breakdowns", lambda: breakdowns(reading.outcomes, reading.stored.spec.scripts))
    show_breakdown(found, shown.keep, reading.id, [*baselines, *leading(shown)])

"""Your conversations, priced with every setting of a sweep."""

from __future__ import annotations

from memdash.metrics.conversations import cost_curves
from memdash.views.panels import conversations
from memdash.views.sweep_panels.leading import leading
from memdash.views.sweep_view import SweepView, floor_of


def show(shown: SweepView) -> None:
    """Draw the inputs, the costs and the chart."""
    reading = shown.reading
    curves = shown.keep("cost curves", lambda: cost_curves(reading.outcomes))
    conversations.show(curves, floor_of(reading), reading.id, leading(shown))

"""Your conversations, priced with every setting of a sweep."""

from __future__ import annotations

from memdash.views.panels import conversations
from memdash.views.sweep_panels.leading import leading
from memdash.views.sweep_view import SweepView, floor_of


def show(shown: SweepView) -> None:
    """Draw the inputs, the costs and the chart."""
    reading = shown.reading
    conversations.show(reading.outcomes, floor_of(reading).under, reading.id, leading(shown))

"""Against the live API: the simulator's error in the settings of a sweep that were played live."""

from __future__ import annotations

from memdash.views.confirmed import confirmed
from memdash.views.sweep_view import SweepView


def show(shown: SweepView) -> None:
    """Draw the errors, or say how to come by them."""
    confirmed(shown.reading.stored)

"""Against the live API: the simulator's error in every number of a comparison."""

from __future__ import annotations

from memdash.views.comparison import view
from memdash.views.confirmed import confirmed
from memdash.views.panels.selection import Selection


def show(selection: Selection) -> None:
    """Draw the errors of the whole comparison; which rows are picked makes no difference to them."""
    confirmed(view(selection.key).stored)

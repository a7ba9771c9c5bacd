"""The settings of a sweep that a person looks at first."""

from __future__ import annotations

from memdash.views.sweep_view import SweepView


def leading(shown: SweepView) -> list[str]:
    """Return the series of the recommended setting and of those that no other beats, the cheapest first."""
    front = [one.setting.series for one in shown.analysis.frontier if not one.dominated]
    return [*([shown.recommended] if shown.recommended else []), *front]

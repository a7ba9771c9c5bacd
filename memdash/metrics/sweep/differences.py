"""What one setting costs more than another, replay by replay."""

from __future__ import annotations

from collections.abc import Iterable

from memdash.metrics.outcome import ReplayOutcome
from memdash.metrics.sweep.intervals import Sample
from memdash.metrics.sweep.measures import by_script

SAME = 1e-9
"""Costs nearer than this share of each other differ by the noise of their addition."""


def cost_differences(ours: Iterable[ReplayOutcome], theirs: Iterable[ReplayOutcome]) -> Sample | None:
    """Return what each of our finished replays cost more (+) or less (-) than theirs on the same script and repeat.

    Pairing takes out what the two have in common: a long script is dear for both. None where a partner or a cost is missing.
    """
    partners = {(one.script, one.repeat): one.cost_usd for one in theirs if one.done}
    scripts: list[list[float]] = []
    for replays in by_script(ours).values():
        row: list[float] = []
        for one in replays:
            partner = partners.get((one.script, one.repeat))
            if one.cost_usd is None or partner is None:
                return None
            difference = one.cost_usd - partner
            row.append(difference if abs(difference) > SAME * max(one.cost_usd, partner) else 0.0)
        scripts.append(row)
    return Sample(scripts, max(one for row in scripts for one in row)) if scripts else None

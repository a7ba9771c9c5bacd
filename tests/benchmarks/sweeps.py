"""The sweep that the benchmarks play."""

from __future__ import annotations

from memdash.scripts import find_scripts
from memdash.spec import ComparisonSpec, Sweep
from memdash.strategies import Axis, Family, parse

SCRIPTS = ("trip-planning", "trip-change", "coffee-breaks")
TURNS = 30


def triggers(settings: int) -> list[int]:
    """The thresholds of compaction that make ``settings`` together with full history."""
    return [500 + 7_500 * step // settings for step in range(settings - 1)]


def sweep_of(settings: int, repeats: int) -> ComparisonSpec:
    """Full history and compaction at many thresholds over three bundled scripts of up to 30 turns."""
    swept = triggers(settings)
    return ComparisonSpec(
        tuple(script for one in SCRIPTS for script in find_scripts(one)),
        (parse("full_history"), *(parse(f"compaction:{trigger}") for trigger in swept)),
        repeats=repeats,
        turns=TURNS,
        relax_limits=True,
        sweep=Sweep((Family("full_history", {}), Family("compaction", {}, (Axis("trigger", tuple(swept)),)))),
    )

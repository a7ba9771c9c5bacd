"""What changed between two comparisons: a pure function from two objects of the JSON contract to typed differences.

    found = changes_between(before, after)
    found.groups, found.settings, found.versions, found.prices, changes_json(found)

Simulated settings are compared exactly, live ones by the intervals over their repeats.
"""

from memdash.metrics.changes.comparing import changes_between, ended, is_alike
from memdash.metrics.changes.contract import changes_json
from memdash.metrics.changes.model import (
    Changes,
    Difference,
    FactChange,
    GroupChange,
    NumberChange,
    PriceChange,
    Setting,
    Side,
    Tally,
    Value,
    Verdict,
)
from memdash.metrics.changes.numbers import Number
from memdash.metrics.changes.pairing import Comparison, Group, Pairs, Replay, pair, series_of
from memdash.metrics.changes.prices import models_of
from memdash.metrics.changes.sentences import headline

__all__ = [
    "Changes",
    "Comparison",
    "Difference",
    "FactChange",
    "Group",
    "GroupChange",
    "Number",
    "NumberChange",
    "Pairs",
    "PriceChange",
    "Replay",
    "Setting",
    "Side",
    "Tally",
    "Value",
    "Verdict",
    "changes_between",
    "changes_json",
    "ended",
    "headline",
    "is_alike",
    "models_of",
    "pair",
    "series_of",
]

"""Conversation-memory strategies: one small class in one file each, known to everything by its registration."""

from memdash.strategies.base import Strategy
from memdash.strategies.blocking_compaction import BlockingCompaction
from memdash.strategies.cap_results import CapResults
from memdash.strategies.compact_on_demand import CompactOnDemand
from memdash.strategies.compaction import Compaction
from memdash.strategies.context_editing import ContextEditing
from memdash.strategies.families import Expansion, Family, merged, parse_family, swept
from memdash.strategies.full_history import FullHistory
from memdash.strategies.instant_compaction import InstantCompaction
from memdash.strategies.parameters import Parameter, parameters
from memdash.strategies.ranges import Axis
from memdash.strategies.registry import (
    StrategyChoice,
    choose,
    register,
    strategies,
    strategy,
    strategy_problems,
)
from memdash.strategies.running_brief import RunningBrief
from memdash.strategies.server_compaction import ServerCompaction
from memdash.strategies.spelling import parse
from memdash.strategies.truncate import Truncate
from memdash.strategies.window import Window

__all__ = [
    "Axis",
    "BlockingCompaction",
    "CapResults",
    "CompactOnDemand",
    "Compaction",
    "ContextEditing",
    "Expansion",
    "Family",
    "FullHistory",
    "InstantCompaction",
    "Parameter",
    "RunningBrief",
    "ServerCompaction",
    "Strategy",
    "StrategyChoice",
    "Truncate",
    "Window",
    "choose",
    "merged",
    "parameters",
    "parse",
    "parse_family",
    "register",
    "strategies",
    "strategy",
    "strategy_problems",
    "swept",
]

"""Conversation-memory strategies: one small class in one file each, known to everything by its registration."""

from memdash.strategies.base import (
    Parameter,
    Strategy,
    StrategyChoice,
    choose,
    parameters,
    parse,
    register,
    strategies,
    strategy,
)
from memdash.strategies.compaction import Compaction
from memdash.strategies.full_history import FullHistory
from memdash.strategies.truncate import Truncate
from memdash.strategies.window import Window

__all__ = [
    "Compaction",
    "FullHistory",
    "Parameter",
    "Strategy",
    "StrategyChoice",
    "Truncate",
    "Window",
    "choose",
    "parameters",
    "parse",
    "register",
    "strategies",
    "strategy",
]

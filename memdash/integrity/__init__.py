"""Checking a log of requests for edited histories: which conversations it holds, what was changed where, and what that cost."""

from memdash.integrity.check import Conversation, Edit, Fate, LogCheck, Totals, check_calls, check_log
from memdash.integrity.edits import Change, Difference, Part
from memdash.integrity.report import as_json

__all__ = [
    "Change",
    "Conversation",
    "Difference",
    "Edit",
    "Fate",
    "LogCheck",
    "Part",
    "Totals",
    "as_json",
    "check_calls",
    "check_log",
]

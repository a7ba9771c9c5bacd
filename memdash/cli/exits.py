"""The exit codes of the command line, for CI jobs."""

OK = 0
FAILED = 1
"""An assertion failed, or a replay did."""
WRONG_USAGE = 2
"""Wrong usage or bad input: one clear line on standard error."""
OUT_OF_BUDGET = 3
INTERRUPTED = 130
"""Interrupted by the user."""

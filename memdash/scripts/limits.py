"""Bounds that keep any script workable, whoever wrote it."""

from __future__ import annotations

MAX_TURNS = 10_000
"""Most turns of a script."""
MAX_FACTS = 500
"""Most facts of a script."""
MAX_UPDATES = 100
"""Most updates of a fact."""
MAX_GENERATED_LINES = 10_000
"""Most lines of a generated tool result: about a megabyte."""
MAX_ALL_GENERATED_LINES = 50_000
"""Most lines of all generated tool results of a script together."""
MAX_INCLUDED = 50
"""Most lines that a generated tool result is told to include."""
MAX_INCLUDED_LINE = 500
"""Most characters of such a line."""
MAX_SEED = 1_000_000
"""Largest seed of a generated tool result."""
MAX_OUTPUT_TOKENS = 128_000
"""Largest ``max_tokens`` of any model (Messages API, model overview)."""
MAX_PAUSE = 30 * 24 * 3600.0
"""Longest pause before a turn, in seconds."""
EFFORTS = ("low", "medium", "high", "xhigh", "max")
"""Values of ``effort`` (Messages API, ``output_config``)."""

"""Bounds that keep any script workable, whoever wrote it."""

from __future__ import annotations

MAX_TURNS = 10_000
"""Most turns of a script."""
MAX_FACTS = 500
"""Most facts of a script."""
MAX_UPDATES = 100
"""Most updates of a fact."""
MAX_OUTPUT_TOKENS = 128_000
"""Largest ``max_tokens`` of any model (Messages API, model overview)."""
MAX_PAUSE = 30 * 24 * 3600.0
"""Longest pause before a turn, in seconds."""
EFFORTS = ("low", "medium", "high", "xhigh", "max")
"""Values of ``effort`` (Messages API, ``output_config``)."""

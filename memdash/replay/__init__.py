"""One replay: the loop, as a generator of records. It knows no database and no screen.

The loop brings the SDK with it, which takes a second to import. It is imported when it is first asked for, so that a page that
only reads records (:mod:`memdash.replay.contexts`) opens without it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memdash.replay.calls import Gate, PlannedRequest
    from memdash.replay.loop import TOOL_LOOP_REQUESTS, replay

__all__ = ["TOOL_LOOP_REQUESTS", "Gate", "PlannedRequest", "replay"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = "calls" if name in ("Gate", "PlannedRequest") else "loop"
    return getattr(import_module(f"{__name__}.{home}"), name)

"""One replay: the loop, as a generator of records. It knows no database and no screen."""

from memdash.replay.calls import Gate, PlannedRequest
from memdash.replay.loop import TOOL_LOOP_REQUESTS, replay

__all__ = ["TOOL_LOOP_REQUESTS", "Gate", "PlannedRequest", "replay"]

"""The pretend model: an honest stand-in that sees a request and nothing else."""

from memdash.simulator.pretend.draft import Draft, PretendModel
from memdash.simulator.pretend.model import HonestModel

__all__ = ["Draft", "HonestModel", "PretendModel"]

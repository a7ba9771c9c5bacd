"""The pretend model: an honest stand-in that sees a request and nothing else."""

from memdash.simulator.pretend.draft import Draft, Overloaded, PretendModel
from memdash.simulator.pretend.model import HonestModel

__all__ = ["Draft", "HonestModel", "Overloaded", "PretendModel"]

"""What many replays say together: intervals, the setting to ship, the Pareto front, and what to play next.

analysis = analyse([outcome_of(result) for result in measure_all(logs, prices)], max_loss=0.05)
analysis.recommendation, analysis.frontier, analysis.settings, analysis.groups
"""

from memdash.metrics.sweep.analysis import CONVERSATIONS_PER_MONTH, MAX_LOSS, SweepAnalysis, analyse
from memdash.metrics.sweep.frontier import FrontPoint
from memdash.metrics.sweep.groups import Group
from memdash.metrics.sweep.intervals import Estimate
from memdash.metrics.sweep.losses import Basis, Loss
from memdash.metrics.sweep.pairs import Pair, Verdict
from memdash.metrics.sweep.recommendation import Recommendation
from memdash.metrics.sweep.refinement import Proposal, ProposedSetting, propose, why_stopped
from memdash.metrics.sweep.settings import Setting
from memdash.metrics.sweep.worth import Worth

__all__ = [
    "CONVERSATIONS_PER_MONTH",
    "MAX_LOSS",
    "Basis",
    "Estimate",
    "FrontPoint",
    "Group",
    "Loss",
    "Pair",
    "Proposal",
    "ProposedSetting",
    "Recommendation",
    "Setting",
    "SweepAnalysis",
    "Verdict",
    "Worth",
    "analyse",
    "propose",
    "why_stopped",
]

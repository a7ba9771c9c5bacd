"""What your conversations would cost: lengths and traffic in, costs by setting out; and the floor under all of them.

curves = cost_curves(outcomes)
conversation_costs(curves, Traffic(read_lengths("p50=12,p90=40,p100=120"), per_day=500))
under = floors(specs, outcomes, prices)
multiples(outcomes, under)

Everything is computed from the turns that were replayed (:mod:`memdash.metrics.outcome`), and nothing is drawn at random.
"""

from memdash.metrics.conversations.contract import (
    break_even_json,
    conversation_keys,
    conversations_json,
    floor_json,
)
from memdash.metrics.conversations.costs import (
    ConversationCosts,
    Conversations,
    Support,
    conversation_costs,
)
from memdash.metrics.conversations.curves import Curve, Curves, LeftOut, cost_curves
from memdash.metrics.conversations.floor import Floor, common_floor, floor_of, floor_so_far, floors, multiples
from memdash.metrics.conversations.lengths import Lengths, from_counts, from_csv, from_quantiles, read_lengths
from memdash.metrics.conversations.pairs import BreakEven, break_evens
from memdash.metrics.conversations.traffic import DAYS_A_MONTH, Traffic

__all__ = [
    "DAYS_A_MONTH",
    "BreakEven",
    "ConversationCosts",
    "Conversations",
    "Curve",
    "Curves",
    "Floor",
    "LeftOut",
    "Lengths",
    "Support",
    "Traffic",
    "break_even_json",
    "break_evens",
    "common_floor",
    "conversation_costs",
    "conversation_keys",
    "conversations_json",
    "cost_curves",
    "floor_json",
    "floor_of",
    "floor_so_far",
    "floors",
    "from_counts",
    "from_csv",
    "from_quantiles",
    "multiples",
    "read_lengths",
]

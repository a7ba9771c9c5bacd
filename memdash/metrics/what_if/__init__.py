"""What a stored comparison would have cost at other prices, on another model or with another cache lifetime.

    terms = terms_for(question, charged, replays, ours)
    answer = answer_to(terms, repriced)

Nothing is run again: prices are applied to the recorded tokens, and another cache is worked out from the recorded contexts and
times. What was charged stands beside it and never changes.
"""

from memdash.metrics.what_if.answer import Answer, Row, answer_to
from memdash.metrics.what_if.order import Overtaking, overtakings
from memdash.metrics.what_if.question import WhatIf
from memdash.metrics.what_if.repricing import Repriced, as_charged, at_prices, with_requests
from memdash.metrics.what_if.terms import OtherTokenizer, Terms, terms_for

__all__ = [
    "Answer",
    "OtherTokenizer",
    "Overtaking",
    "Repriced",
    "Row",
    "Terms",
    "WhatIf",
    "answer_to",
    "as_charged",
    "at_prices",
    "overtakings",
    "terms_for",
    "with_requests",
]

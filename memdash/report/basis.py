"""What the numbers of a comparison rest on; it stands wherever they are shown or exported."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memdash.answerer import Answerer, recorded_answerer
from memdash.spec import Provider, Replies

if TYPE_CHECKING:
    from memdash.evidence import Evidence
    from memdash.store import StoredComparison

SIMULATOR_RULES = "simulator rules of 2026-11-30"
NOT_COMPARED = "not yet compared with the live API"
LIVE_BASIS = "Live API"


def basis(stored: StoredComparison, evidence: Evidence | None = None) -> str:
    """Return what the numbers of a comparison rest on.

    ``evidence`` is what is known of the simulator's error in them.
    """
    if stored.spec.provider is Provider.SIMULATOR:
        return simulator_basis(evidence)
    answerer = recorded_answerer(stored.versions)
    if stored.spec.replies is Replies.RECORDED:
        return (
            f"Recorded replies: tokens, cache and waits of the turns are modelled by {SIMULATOR_RULES}; summaries and "
            f"recall are those of {answerer}"
        )
    return LIVE_BASIS if answerer is Answerer.LIVE_API else f"Answered by {answerer}"


def simulator_basis(evidence: Evidence | None = None) -> str:
    """Return what must be said of anything simulated: by which rules, and how they compared with the live API.

    What a compatible server said is told as well, but the rules stay "not yet compared with the live API".
    """
    told = NOT_COMPARED
    if evidence is not None and evidence.confirmation.pairs:
        told = evidence.confirmation.told("" if evidence.own else "of another comparison")
        if evidence.confirmation.answered_by is not Answerer.LIVE_API:
            told = f"{NOT_COMPARED}; {told}"
    return f"S{SIMULATOR_RULES[1:]}, {told}"


def token_counter(stored: StoredComparison) -> str:
    """How tokens were counted: ``auto`` took ctok where it was installed when the comparison was launched."""
    version = stored.versions.get("ctok")
    if stored.spec.token_counter == "estimate" or version is None:
        return "estimate"
    return f"ctok {version}"

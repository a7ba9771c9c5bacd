"""How a thing is said: as a correction, in doubt, as a part of something, by the speaker of themselves."""

from __future__ import annotations

import re
from typing import Final

UPDATE: Final = re.compile(
    r"\b(?:actually|instead|now|changed?|changes|changing|raised?|raising|increased?|lowered?|cut|reduced?|bumped|upped|moved|shifted|pushed|postponed|brought forward|"
    r"new|newer|correction|correct|rather|no longer|update|updated|revised?|revise|scrap|forget|scratch|make (?:it|that)|turns out|after all|wrong|"
    r"switched|renamed|replaced?|rebooked|rescheduled|delayed|goes up|go up|went up|up to|down to|from now on|as of)\b",
    re.I,
)
"""Says that something is no longer as it was."""


DOUBT: Final = re.compile(
    r"\b(?:if(?! i (?:eat|have|touch|so much))|unless|imagine|suppose|say we|what if|would|could|might|maybe|perhaps|hypothetically|typical(?:ly)?|usual(?:ly)?|average|on average|"
    r"most people|many people|others|normally|for example|e\.g\.)\b",
    re.I,
)
"""Says that something is only supposed, or so for people in general."""


PART: Final = re.compile(
    r"\b(?:half|third of|quarter of|part of|share of|spent|already|leftover|per (?:day|night|person|head)|each|a (?:day|night)|daily|used up|of which|deposit|remaining|left over)\b",
    re.I,
)
"""Says that an amount is a part of a whole, or spent."""

_TELLING: Final = re.compile(
    r"\b(?:note|remember|keep in mind|bear in mind|be aware|know|write down) that\b", re.I
)


CLAUSE: Final = re.compile(
    r"(?:;|,| [–—-] | but | and | while | because | since | so | who | whose | though | although | whereas |:(?= ))",
    re.I,
)
"""Where a clause ends."""


SELF_WORD: Final = re.compile(
    r"\b(?:i|i['’]m|i['’]ve|i['’]d|i['’]ll|me|my|mine|myself|we|we['’]re|we['’]ve|we['’]d|we['’]ll|us|our|ours|the user|user|your|you|you['’]re)\b",
    re.I,
)
"""The speaker, or the user as a summary or the model speaks of them."""


def is_question(text: str) -> bool:
    """Whether a sentence asks. "Could you note that the budget is 900 euros?" tells."""
    return text.rstrip(" \"”')").endswith("?") and not _TELLING.search(text)


def clauses(text: str) -> list[str]:
    """Return the clauses of a sentence."""
    return [clause for clause in CLAUSE.split(text) if clause and clause.strip()]

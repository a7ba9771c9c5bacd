"""Is a sentence a question about something said?

Ordinary chat is full of questions ("What should we do on a rainy day?"). A question about something said asks for the speaker's
own, our own or this matter's specifics, or for what was said, agreed or found.
"""

from __future__ import annotations

import re
from typing import Final

from memdash.simulator.pretend import units as reading

FIRST_PERSON: Final = re.compile(
    r"\b(?:i|i'm|i've|i'd|i'll|my|mine|me|myself|we|we're|we've|we'd|us|our|ours|the user|the user's|user's)\b"
)

_QUESTION_WORD: Final = re.compile(r"\b(?:what|which|who|whom|whose|when|where|how|why)\b")

_AUXILIARY: Final = re.compile(
    r"^(?:and |so |but |ok |okay |well |also |hey |hi |hello |sorry |please |then |now )*(?:am|is|are|was|were|do|does|did|have|has|had|can|could|will|would|should|shall|may|might)"
    r"(?:n't)? (?:i|we|you|he|she|it|they|my|our|your|his|her|the|this|that|there|any|a|an|\w+)\b"
)

_REQUEST: Final = re.compile(
    r"^(?:and |so |but |ok |okay |well |also |now |then |hey |hi |hello |please |could you |can you |would you |will you |kindly |"
    r"just |quickly |once more |i'd like you to |i want you to |you |let's )*"
    r"(?:remind me(?! to\b)|repeat|recall|restate|confirm|state|name|list|look up|tell me|give me|read (?:me )?back|show me|say|write(?: down| out)?)\b"
    r"(?: (?:again|once more|please|me|back|of|about|exactly|precisely))*"
    r" (?P<what>my|our|the|what|which|who|when|where|how|whose|if|whether)\b(?P<rest>.*)"
)

_FORGOT: Final = re.compile(
    r"\b(?:i|we)(?:'ve| have)? (?:forgot(?:ten)?|can't remember|cannot remember|don't remember|can't recall|don't recall|lost track of|"
    r"misplaced|(?:want|need|would like|just want) to (?:double-check|double check|check|confirm|be sure|verify|make sure))\b"
)

_REMEMBERED: Final = re.compile(
    r"\bremind me(?! to\b)|\b(?:do|can|did) you (?:still |happen to )?(?:remember|recall|know|note|have)\b(?= (?:my|our|the|what|which|who|when|where|how|if|"
    r"whether|i|me|we|that|any))|\bcan you (?:recall|remember)\b|"
    r"\b(?:did|have|had|has) (?:i|we|you|the (?:[\w-]+ ){0,2}[\w-]+|\w+) (?:just |already |ever |originally |first |initially )?(?:say|said|mention|mentioned|tell|told|give|given|gave|state|stated|"
    r"ask|asked|agree|agreed|decide|decided|choose|chose|chosen|pick|picked|settle|settled|set|book|booked|note|noted|specify|specified|name|named|share|"
    r"shared|introduce|introduced|report|reported|find|found|return|returned|show|shown|warn|warned|promise|promised|order|ordered|"
    r"reserve|reserved|allocate|allocated|assign|assigned|log|logged|put|want|go with|commit|describe|described|hear|set aside)\b|"
    r"\b(?:i|we|you) (?:just |already |originally |first |initially |earlier )?(?:said|mentioned|told|gave|stated|agreed|decided|chose|picked|settled|booked|noted|"
    r"specified|named|shared|introduced|reported|warned|promised|ordered|reserved|set aside|described|assigned)\b|"
    r"\b(?:was|were|been|got) (?:it )?(?:mentioned|agreed|decided|stated|given|reported|found|shown|returned|logged|assigned|booked|set|chosen|allocated)\b|"
    r"\bagain\W*$|\bearlier\b(?! than)|\bso far\b|\bat the (?:start|beginning|outset)\b|\baccording to\b|\bwhat do you know about (?:me|us|my|our)\b|\bon record\b|\bon file\b"
)

_SOURCE: Final = re.compile(
    r"\b(?:in|from) (?:the|that|this|our) (?:\w+ )?(?:logs?|outputs?|reports?|results?|lookup|response|"
    r"conversation|chat|trace|record|messages?)\b"
)
"""Where something is to be looked up."""

_ADVICE: Final = re.compile(
    r"\b(?:should|shall|could|would|might|ought|recommend\w*|suggest\w*|advise|advice|ideas?|tips?|worth|best|better|good|nice|nicest|sensible|"
    r"reasonable|realistic|enough|possible|usual|usually|typical|typically|normally|generally|in general|general|difference|differ|compare|"
    r"weather|mean|means|meant|explain|think|feel|opinion|make sense|what to|which to|where to|when to|how to|who to|how about|how come|"
    r"what about|what if|what else|can you|could you|will you|are you|are they|do they|they|people|locals|you'd|how long (?:does|do)|"
    r"does (?:it|one|that|this) (?:take|work|cost|need|matter|help)|kind of|sort of|types? of|kinds of|sorts of|examples?|history of|"
    r"the point of|popular|famous|traditional|local|nearby|nearest|closest|cheapest|fastest|easiest|quickest|safest|shortest|prettiest|nicest|chances|around there|(?:is|are) (?:a|an|some)|far (?:is|away)|some more)\b|"
    r"\bhow (?:do|does|can|will|safe|easy|hard|difficult|crowded|busy|common|strict|big a|likely|important|often)\b|"
    r"\bhow (?!much\b|many\b|old\b|long\b|big\b|large\b|high\b)\w+ (?:is|are|was|were) (?!my\b|our\b|i\b|we\b)|\bdoes one\b|\bif (?!you remember|you know|any|so|i told|i said)\w+|"
    r"\b(?:what|which(?: \w+)?|where) (?:do|can|will) (?:we|i) (?:do(?! for a living)|wear|pack|bring|eat|buy|visit|see|try|order|fix|tip|proceed|start)\b|"
    r"^why\b(?! (?:did|have|has|was|were|am|do) (?:i|we|the|my|our)\b)"
)

_PERHAPS_ADVICE: Final = re.compile(
    r"\b(?:are there|is there|is it|does it|will it|will there|will the|do (?:we|i|you|people) (?:need|have to|really need|even need)|"
    r"can (?:we|i|one|you) (?:do|see|try|expect|visit|bring|buy|get|find|use|make|avoid|tell|check|fix|improve|prevent|reach|take|walk|go|"
    r"start|keep|combine|learn|rent|hire|swim|watch|hear|park|leave|skip|plan|reduce|speed|test|stop|handle))\b"
)

_IDENTIFYING: Final = frozenset(
    ("PASSWORD", "CODE", "PORT", "VERSION", "IDENT", "PHONE", "EMAIL", "HEADCOUNT", "SEAT", "ROOM", "SIZE")
)
"""Asking which code or port I need is no call for advice."""

_RECALL: Final = re.compile(
    r"\b(?:should|must|can|could|would|may) (?:you|the \w+|people|everyone|one|somebody) (?:call|address) me\b|\bhow (?:should|do|may|can) you (?:call|address) me\b|\bwho am i\b|"
    r"\bwho (?:are|is) (?:you|it|this) (?:talking|speaking|chatting)|\bwhom? are you (?:talking|speaking|chatting|helping)|\bhow (?:did|do) i introduce\b|"
    r"\bhow (?:much|high|large|big)\b.{0,24}\b(?:can|may|could|are|do|did|am|is|have)\b.{0,14}\b(?:we|i)\b.{0,40}\b(?:spend\w*|afford|pay|set aside|put aside|available|budget\w*)\b|"
    r"\bhow much (?:money|cash)\b.{0,20}\b(?:do|have|are|is)\b|\b(?:the )?(?:most|maximum|limit|cap|ceiling|upper limit)\b.{0,40}\b(?:we|i|trip|holiday|it|us|project|everything)\b.{0,30}"
    r"\b(?:spend|afford|cost|pay)\b|\bwhat (?:can|could) (?:we|i) afford\b|\bspending (?:limit|cap|ceiling)\b|\b(?:our|my|the) (?:\w+ )?budget\W*$|"
    r"\bhow (?:big|large|high|much) (?:is|was) (?:our|my|the)\b.{0,30}\b(?:budget|limit|allowance|pot|kitty|cap|ceiling)\b|"
    r"\b(?:what|which)\b.{0,45}\b(?:must|should|can't|cannot|mustn't|shouldn't|can|do|may|am|to|have|has|needs?)\b.{0,35}\b(?:i|me|my|we)?\b.{0,25}"
    r"\b(?:avoid|not eat|never eat|can't eat|steer clear|stay away|keep away|kept away|keep (?:off|out)|kept (?:off|out)|leave out|left out|off limits|off-limits|dangerous for me)\b|"
    r"\bwhat (?:can't|mustn't|shouldn't|am i not) (?:i|we|able|allowed)\b|\b(?:can't|cannot|mustn't|must not|shouldn't|should not|must never|should never|can never) (?:i |we )?(?:eat|touch|have)\b|\bdangerous for me\b|"
    r"\b(?:do|does|did) (?:my|our) \w+ have .{0,8}\b(?:allerg\w+|intoleran\w+)|"
    r"\b(?:am i|are we|i'm|i am|we are) allergic\b|\b(?:allerg\w+|intoleran\w+)\b.{0,25}\b(?:do|did|have) (?:i|we|you)\b|(?<!how )\b(?:do|did|have) (?:i|we)\b.{0,25}\b(?:allerg\w+|intoleran\w+)|"
    r"\bwhat(?:'s| is| are| was| were) (?:my|our)\b|\bwhen (?:do|does|will|am|are|is|did|should) (?:i|we|our|my|the)\b.{0,30}\b(?:arriv\w+|land|landing|get in|getting in|touch down|touching down|get there|be there|due|reach)\b|"
    r"\b(?:what|which)(?: \w+)? (?:date|day|time)\b.{0,40}\b(?:do|does|will|are|am|is|did) (?:i|we|our|my|the)\b|\bat what time\b.{0,10}\b(?:do|does|will|are|am|is) (?:i|we|our|my|the)\b|"
    r"\bhow many (?:people|of us|are we)\b.{0,30}\b(?:we|us|our|travel\w*)\b|"
    r"\bhow do i (?:take|like|spell|pronounce|drink|prefer)\b|\bhow often does the\b|\b(?:i|we) (?:like|love|prefer) (?:best|most)\b|\bhow (?:expensive|costly|dear) (?:may|can|must)\b|"
    r"\b(?:do|did|does) (?:i|we) (?:like|love|prefer|live|work|drive|own|speak|play|sit|study|teach)\b|\bhow old (?:am i|is my|are my|is our|are our|are we)\b"
)

_YES_NO_OWN: Final = re.compile(
    r"^(?:and |so |but |also )*(?:am i|do i|do we|are we|is my|is our|are my|are our|was my|was our|have i|have we) "
)

_ELLIPTIC: Final = re.compile(
    r"^(?:and |so |but |ok |also |again:? |quick(?: check| question)?[:,]? )*(?:my|our|the) (?!idea|plan is)(?:[\w'-]+ ){0,7}[\w'-]+(?: (?:was|is|again|please|were))?\W*$"
)


MARK: Final = re.compile(r"[^\W_]*\d(?:[\w.:/-]*\w)?|\b[\w]+(?:[_-]\w+)+\b|\b[a-z]+[A-Z]\w+|\b[A-Z]{2,}\b")


def is_about_something_said(plain: str, marked: bool) -> bool:
    """Whether ``plain``, a sentence in lower case, asks about something said; ``marked`` where it ends in a question mark."""
    request = _REQUEST.match(plain)
    if request and not marked:
        return _specific_request(plain, request)
    if _FORGOT.search(plain):
        return bool(FIRST_PERSON.search(plain))
    if not (marked or _QUESTION_WORD.match(plain) or _AUXILIARY.match(plain)):
        return False
    if not marked and not _opens_question(plain):
        return False
    if _RECALL.search(plain) or _REMEMBERED.search(plain):
        return not re.search(r"\b(?:enough|realistic|reasonable)\b", plain)
    if request and _specific_request(plain, request):
        return True
    if _ELLIPTIC.match(plain):
        return bool(_has_attribute(plain) or re.match(r"^(?:and |so )?(?:my|our)\b", plain))

    bare = _without_asides(plain)
    if _ADVICE.search(bare):
        return False
    if _SOURCE.search(plain) and _QUESTION_WORD.search(plain) and not _PRESENT_STATE.search(plain):
        return True
    if (
        _PERHAPS_ADVICE.search(bare)
        and not _WHEN.search(plain)
        and not (_QUESTION_WORD.search(plain) and reading.units(plain) & (_IDENTIFYING | _ASKABLE))
    ):
        return False
    if _YES_NO_OWN.match(plain):
        return _has_attribute(plain)
    return bool(_QUESTION_WORD.search(plain)) and _specific(plain)


def _opens_question(plain: str) -> bool:
    """Whether a sentence without a question mark still is a question: it begins with its question word and verb."""
    return bool(
        re.match(
            r"^(?:what|which|who|whom|whose|when|where|how)\b.{0,40}?\b(?:is|are|was|were|do|does|did|am|can|have|has)\b",
            plain,
        )
    ) and not re.match(r"^(?:when|where|how|what|which) (?:i|we|you|he|she|they|it|the \w+ \w+s)\b", plain)


def _specific_request(plain: str, request: re.Match[str]) -> bool:
    rest = request["what"] + request["rest"]
    if request["what"] in ("my", "our"):
        return True
    if re.match(r"(?:what|which|how|when|where|who|if|whether)\b", rest):
        return not _is_advice(rest) or bool(_RECALL.search(rest) or _REMEMBERED.search(rest))
    return bool(
        _has_attribute(rest) or _REMEMBERED.search(plain) or plain.startswith("remind")
    ) and not _is_advice(rest)


def _is_advice(plain: str) -> bool:
    bare = _without_asides(plain)
    return bool(_ADVICE.search(bare) or _PERHAPS_ADVICE.search(bare))


def _without_asides(plain: str) -> str:
    """Drop what sounds like advice and is none: "if you would", "could you tell me"."""
    return re.sub(
        r"\b(?:could|can|would|will) you (?:please |kindly |just )?(?:tell|remind|give|repeat|say|confirm|recall|look up|state|name)(?: me| us)?\b|\bif you (?:would|could)\b|\ba moment ago\b|\b(?:a|an) (?:\w+ )?ago\b",
        " ",
        plain,
    )


def _specific(plain: str) -> bool:
    """Whether a question with a question word asks for something definite that somebody must have told or found.

    Ours is; so is *the* so-and-so, a code, a version, a cause; not what runs right now or what the world knows.
    """
    if FIRST_PERSON.search(plain):
        return True
    found = reading.units(plain)
    if _PRESENT_STATE.search(plain) or (_WORLD.search(plain) and found.isdisjoint(_IDENTIFYING)):
        return False
    if _DEFINITE.search(plain):
        return True
    if found & _IDENTIFYING or any(reading.is_attribute(unit) for unit in found - _GENERAL_KNOWLEDGE):
        return True
    noun = ASKED_NOUN.search(plain)
    return bool(MARK.search(plain)) or (
        noun is not None and not _ASKABLE.isdisjoint(reading.word_units(noun["noun"]))
    )


_DEFINITE: Final = re.compile(
    r"\b(?:what|which|who|whom|whose|where|when|how (?:much|many|long|often|big|large|high))\b.*\b(?:the|this|that|these|those)\b|\b(?!it|that|what|who|where|there|here|let|how|when)\w+'s \w+|"
    r"\b(?:what|which) (?:was|were)\b"
)

_WORLD: Final = re.compile(
    r"\b(?:history|story|stories|origin|capital|population|currency|climate|speciality|specialty|custom|tradition|atmosphere|views?|trick|recipe|fuss|"
    r"catch|matter with|idea behind|rule of thumb|secret of|weather|season|look like|looks like|like\W*$|opens?|closes?|opening|closing)\b"
)

_WHEN: Final = re.compile(
    r"^(?:and |so )?(?:at what time|what time|on which day|on what day|when) (?:do|must|am|are) (?:i|we)\b"
)

_PRESENT_STATE: Final = re.compile(
    r"\b(?:right now|at the moment|still|today|yet|this (?:morning|minute|instant))\b"
)

_GENERAL_KNOWLEDGE: Final = frozenset(("AGE", "FAVOURITE", "SIZE", "HOME", "COLOUR"))


ASKED_NOUN: Final = re.compile(r"\b(?:what|which) (?:[\w-]+ )??(?P<noun>[\w-]+)\b")

_ASKABLE: Final = frozenset(
    (
        "SERVER",
        "DATABASE",
        "SERVICE",
        "CUSTOMER",
        "ROOM",
        "SEAT",
        "GATE",
        "PLATFORM",
        "TERMINAL",
        "ORDER",
        "INVOICE",
        "BOOKING",
    )
)


def _has_attribute(plain: str) -> bool:
    return any(reading.is_attribute(unit) for unit in reading.units(plain))

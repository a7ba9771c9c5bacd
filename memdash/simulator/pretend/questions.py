"""Is this message a question about something said, and what does it ask for?

Ordinary chat is full of questions ("What should we do on a rainy day?"). A question about something said asks for the speaker's
own, our own or this matter's specifics, or for what was said, agreed or found.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from memdash.simulator.pretend import units as reading
from memdash.simulator.pretend.values import Kind
from memdash.simulator.pretend.visible import split


@dataclass(frozen=True, slots=True)
class Question:
    """A question about something said.

    ``units`` are the concepts an answer must be about, ``kinds`` the kinds of value of which it must hold one (empty: any words
    will do), ``also`` kinds that are asked for beside it. ``own`` says that it asks for the speaker's own.
    ``proper`` are the names and ``marks`` the numbers and identifiers it mentions, ``sort`` the sort of thing it asks for ("which
    instrument"), which a statement seldom names.
    """

    text: str
    units: frozenset[str]
    kinds: tuple[Kind, ...]
    also: tuple[Kind, ...]
    own: bool
    proper: frozenset[str]
    marks: frozenset[str]
    sort: frozenset[str]


_FIRST: Final = re.compile(
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
    r"the point of|popular|famous|traditional|local|nearby|nearest|closest|around there|(?:is|are) (?:a|an|some)|far (?:is|away)|some more)\b|"
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
_GOT_TO_BE_RECALL: Final = re.compile(
    r"\b(?:should|must|can|could|would|may) (?:you|the \w+|people|everyone|one|somebody) (?:call|address) me\b|\bhow (?:should|do|may|can) you (?:call|address) me\b|\bwho am i\b|"
    r"\bwho (?:are|is) (?:you|it|this) (?:talking|speaking|chatting)|\bwhom? are you (?:talking|speaking|chatting|helping)|\bhow (?:did|do) i introduce\b|"
    r"\bhow (?:much|high|large|big)\b.{0,24}\b(?:can|may|could|are|do|did|am|is|have)\b.{0,14}\b(?:we|i)\b.{0,40}\b(?:spend\w*|afford|pay|set aside|put aside|available|budget\w*)\b|"
    r"\bhow much (?:money|cash)\b.{0,20}\b(?:do|have|are|is)\b|\b(?:the )?(?:most|maximum|limit|cap|ceiling|upper limit)\b.{0,40}\b(?:we|i|trip|holiday|it|us|project|everything)\b.{0,30}"
    r"\b(?:spend|afford|cost|pay)\b|\bwhat (?:can|could) (?:we|i) afford\b|\bspending (?:limit|cap|ceiling)\b|\b(?:our|my|the) (?:\w+ )?budget\W*$|"
    r"\bhow (?:big|large|high|much) (?:is|was) (?:our|my|the)\b.{0,30}\b(?:budget|limit|allowance|pot|kitty|cap|ceiling)\b|"
    r"\b(?:what|which)\b.{0,45}\b(?:must|should|can't|cannot|mustn't|shouldn't|can|do|may|am|to|have|has|needs?)\b.{0,35}\b(?:i|me|my|we)?\b.{0,25}"
    r"\b(?:avoid|not eat|never eat|can't eat|steer clear|stay away|keep away|kept away|keep (?:off|out)|kept (?:off|out)|leave out|left out|off limits|off-limits|dangerous for me)\b|"
    r"\bwhat (?:can't|mustn't|shouldn't|am i not) (?:i|we|able|allowed)\b|\b(?:can't|cannot|mustn't|must not|shouldn't|should not|must never|should never|can never) (?:i |we )?(?:eat|touch|have)\b|\bdangerous for me\b|"
    r"\b(?:am i|are we|i'm|i am|we are) allergic\b|\b(?:allerg\w+|intoleran\w+)\b.{0,25}\b(?:do|did|have) (?:i|we|you)\b|\b(?:do|did|have) (?:i|we)\b.{0,25}\b(?:allerg\w+|intoleran\w+)|"
    r"\bwhat(?:'s| is| are| was| were) (?:my|our)\b|\bwhen (?:do|does|will|am|are|is|did|should) (?:i|we|our|my|the)\b.{0,30}\b(?:arriv\w+|land|landing|get in|getting in|touch down|touching down|get there|be there|due|reach)\b|"
    r"\b(?:what|which)(?: \w+)? (?:date|day|time)\b.{0,40}\b(?:do|does|will|are|am|is|did|should) (?:i|we|our|my|the)\b|\bat what time\b.{0,10}\b(?:do|does|will|are|am|is) (?:i|we|our|my|the)\b|"
    r"\bhow many (?:people|of us|are we)\b.{0,30}\b(?:we|us|our|travel\w*)\b|"
    r"\b(?:i|we) (?:like|love|prefer) (?:best|most)\b|\bhow (?:expensive|costly|dear) (?:may|can|must)\b|"
    r"\b(?:do|did|does) (?:i|we) (?:like|love|prefer|live|work|drive|own|speak|play|sit|study|teach)\b|\bhow old (?:am i|is my|are my|is our|are our|are we)\b"
)
_YES_NO_OWN: Final = re.compile(
    r"^(?:and |so |but |also )*(?:am i|do i|do we|are we|is my|is our|are my|are our|was my|was our|have i|have we) "
)
_ELLIPTIC: Final = re.compile(
    r"^(?:and |so |but |ok |also |again:? |quick(?: check| question)?[:,]? )*(?:my|our|the) (?!idea|plan is)(?:[\w'-]+ ){0,7}[\w'-]+(?: (?:was|is|again|please|were))?\W*$"
)
_LEAD_IN: Final = re.compile(
    r"^(?:(?:by the way|btw|quick (?:check|question|one)|one (?:more )?(?:quick )?(?:thing|question)|before (?:we|i) (?:go on|continue|forget|book anything|move on)|just (?:checking|to be sure|to check|checking)|"
    r"remind me|sorry|right|okay|ok|hey|hi|hello|also|oh|out of interest|for the record|to recap|for my notes|for the form|last question|a (?:quick )?(?:check|question)|refresh my memory)\s*[,:;.–—-]+\s*)+"
)
_NOT_ASKED: Final = re.compile(
    r"\b(?:answer|reply|respond|use|keep it|be brief|no explanation|if you (?:don't|do not|can't|cannot)|if (?:it|that|this|there) (?:was|is|has)|just (?:the|give|say|answer)|in one (?:short )?(?:sentence|word|line)|only)\b"
)
_PROPER: Final = re.compile(r"(?<=[a-z,;:'’] )[A-ZÀ-Þ][\w'’-]*[a-zà-ÿ][\w'’-]*")
_MARK: Final = re.compile(r"[^\W_]*\d[\w.:/-]*\w|\d|\b[\w]+(?:[_-]\w+)+\b|\b[a-z]+[A-Z]\w+|\b[A-Z]{2,}\b")
_EVERYDAY_MARKS: Final = re.compile(
    r"^(?:wi-fi|wifi|e-mail|id|pin|ip|tv|co-worker|check-in|check-out|api|url|ok|db|usd|eur|gbp|pm|am|http|https|cpu|faq|pdf|uk|us|usa|eu|i|"
    r"(?:[a-z]+-)+(?:and|to|of|in|by|up|off|out|on|term|time|friendly|free|wide))$"
)


def asked(message: str) -> Question | None:
    """Return the question about something said that ``message`` asks, None where it is ordinary chat."""
    return _asked(message) if len(message) <= 20_000 else _asked(message[-4_000:])


@lru_cache(maxsize=4_096)
def _asked(message: str) -> Question | None:
    # Clients put their instructions around the question; the question itself is one sentence, and seldom far from the end.
    said = split(message)[-12:]
    for at in range(len(said) - 1, -1, -1):
        sentence = said[at]
        plain = _plain(sentence)
        if not plain:
            continue
        if _about_something_said(plain, sentence.rstrip(" \"”')").endswith("?")):
            return _understood(sentence, plain, said[at - 1] if at else "")
        if sentence.rstrip(" \"”')").endswith("?"):
            return None  # ordinary chat ends in a question of its own
        if not _NOT_ASKED.search(plain) and len(plain.split()) > 4 and not _FORGOT.search(plain):
            continue
    return None


def _plain(sentence: str) -> str:
    lower = sentence.lower().replace("’", "'").strip(" \"“”'()*_")
    lower = re.sub(r"\b(what|who|when|where|how|which|that|it)'(?:s|re)\b", r"\1 is", lower)
    return _LEAD_IN.sub("", lower)


def _about_something_said(plain: str, marked: bool) -> bool:
    request = _REQUEST.match(plain)
    if request and not marked:
        return _specific_request(plain, request)
    if _FORGOT.search(plain):
        return bool(_FIRST.search(plain))
    if not (marked or _QUESTION_WORD.match(plain) or _AUXILIARY.match(plain)):
        return False
    if not marked and not _opens_question(plain):
        return False
    if _GOT_TO_BE_RECALL.search(plain) or _REMEMBERED.search(plain):
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
        and not (_QUESTION_WORD.search(plain) and reading.units(plain) & _IDENTIFYING)
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
        return not _is_advice(rest) or bool(_GOT_TO_BE_RECALL.search(rest) or _REMEMBERED.search(rest))
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
    if _FIRST.search(plain):
        return True
    found = reading.units(plain)
    if _PRESENT_STATE.search(plain) or (_WORLD.search(plain) and found.isdisjoint(_IDENTIFYING)):
        return False
    if _DEFINITE.search(plain):
        return True
    if found & _IDENTIFYING or any(reading.is_attribute(unit) for unit in found - _GENERAL_KNOWLEDGE):
        return True
    noun = _ASKED_NOUN.search(plain)
    return bool(_MARK.search(plain)) or (
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
_ASKED_NOUN: Final = re.compile(r"\b(?:what|which) (?:[\w-]+ )??(?P<noun>[\w-]+)\b")
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


# -- what it asks for ----------------------------------------------------------------------------------------------------


def _understood(sentence: str, plain: str, before: str) -> Question:
    found = set(reading.units(sentence) | reading.units(plain)) - _ASKING_UNITS
    if re.search(r"\bdid\b.*\breturn\b|\breturned\b", plain):
        found.discard("RETURN")  # what a tool gave back, not the way home
    if re.search(r"(?:^|\b(?:you|please|and) )name (?:my|our|the)\b", plain):
        found -= {"NAME", "SELF"}  # to name something is to say it
    subject = sentence
    if before and all(reading.weight(unit) < 0.9 for unit in found):
        # "How do I open locker 17? What was the code?": the sentence before says of what.
        found |= reading.units(before) - _ASKING_UNITS
        subject = f"{before} {sentence}"
    for unit in sorted(found):
        if unit in found:
            found -= reading.implied_by((unit,))
    kinds, also = _kinds(plain, found)
    proper = frozenset(
        unit
        for match in _PROPER.finditer(subject)
        for unit in reading.word_units(match.group())
        if not reading.is_attribute(unit) and not unit[0].isupper()
    )
    marks = frozenset(
        unit
        for match in _MARK.finditer(subject)
        if not _EVERYDAY_MARKS.match(match.group().lower())
        for unit in reading.word_units(match.group())[:1]
        if not unit[0].isupper()
    )
    noun = _ASKED_NOUN.search(plain)
    sort = (
        frozenset(unit for unit in reading.word_units(noun["noun"]) if not reading.is_concept(unit))
        if noun
        else frozenset()
    )
    return Question(sentence, frozenset(found), kinds, also, bool(_FIRST.search(plain)), proper, marks, sort)


_ASKING_UNITS: Final = frozenset(
    unit
    for word in (
        *(
            "say",
            "exact",
            "now",
            "repeat",
            "confirm",
            "recall",
            "give",
            "read",
            "look",
            "forget",
            "forgot",
            "forgotten",
            "memory",
        ),
        *("refresh", "quick", "check", "sure", "double", "spell", "track", "hand", "refer"),
    )
    for unit in reading.word_units(word)
)
"""What a question says about being a question."""

_BY_PHRASE: Final[tuple[tuple[re.Pattern[str], tuple[Kind, ...], tuple[Kind, ...]], ...]] = (
    (
        re.compile(
            r"\b(?:date|day) and (?:the |at what |what )?(?:time|hour)\b|\btime and (?:date|day)\b|\btime\b.*\b(?:which|what) (?:day|date)\b|\b(?:day|date)\b.*\b(?:what|which) time\b|\bwhen exactly\b|\bwhen\b.*\b(?:and )?at what time\b"
        ),
        (Kind.DATE, Kind.TIME),
        (Kind.DATE, Kind.TIME),
    ),
    (
        re.compile(r"\b(?:what|which) (?:\w+ )?time\b|\bo'clock\b|\bwhat hour\b|\btime (?:do|does|is|of)\b"),
        (Kind.TIME,),
        (),
    ),
    (
        re.compile(
            r"\b(?:what|which|on what|on which) (?:\w+ )?(?:date|day|weekday|month)\b|\bdate of\b|\bdate\b"
        ),
        (Kind.DATE,),
        (),
    ),
    (re.compile(r"\bwhen\b"), (Kind.DATE, Kind.TIME), (Kind.DATE, Kind.TIME)),
    (
        re.compile(
            r"\bhow (?:much|many) (?:percent|per cent)\b|\bpercentage\b|\bhow much of (?:a )?discount\b"
        ),
        (Kind.PERCENT, Kind.NUMBER),
        (),
    ),
    (re.compile(r"\bhow long\b|\bhow much time\b|\bduration\b"), (Kind.DURATION, Kind.NUMBER, Kind.DATE), ()),
    (re.compile(r"\bhow (?:many|old|tall|big|large|high|often|far)\b"), (Kind.NUMBER,), ()),
    (re.compile(r"\bhow much\b"), (Kind.MONEY, Kind.NUMBER), ()),
    (re.compile(r"\bwho(?:m|se)?\b"), (Kind.NAME,), ()),
)
_BY_UNIT: Final[dict[str, tuple[Kind, ...]]] = {
    "BUDGET": (Kind.MONEY, Kind.NUMBER),
    "SALARY": (Kind.MONEY, Kind.NUMBER),
    "SELF": (Kind.NAME,),
    "ALLERGY": (),
    "DIET": (),
    "COLOUR": (Kind.COLOUR,),
    "PORT": (Kind.NUMBER, Kind.HOST),
    "VERSION": (Kind.VERSION,),
    "PHONE": (Kind.PHONE,),
    "EMAIL": (Kind.EMAIL,),
    "BIRTHDAY": (Kind.DATE,),
    "DEADLINE": (Kind.DATE, Kind.TIME),
    "ARRIVAL": (Kind.DATE, Kind.TIME),
    "AGE": (Kind.NUMBER,),
    "HEADCOUNT": (Kind.NUMBER,),
    "NAME": (Kind.NAME,),
}
_OPEN: Final = re.compile(
    r"\bwhere\b|\bwhich (?:airport|city|town|station|terminal|place)\b|\bwhat (?:airport|city|town|station|terminal)\b|\bwhy\b|\bwith whom\b|\bhow\b(?! (?:much|many|old|long|tall|big|large|high|often|far))"
)


_SERVER_ASKED: Final = re.compile(
    r"\b(?:what|which) (?:\w+ )?(?:host|hostname|server|machine|node|instance|box)\b"
)
_NUMBER_ASKED: Final = re.compile(r"\b(?:number|id|identifier|reference|ref)\b")


def _kinds(plain: str, found: set[str]) -> tuple[tuple[Kind, ...], tuple[Kind, ...]]:
    if "BUDGET" in found or "SALARY" in found:
        return _BY_UNIT["BUDGET"], ()
    if "SELF" in found:
        return _BY_UNIT["SELF"], ()
    for pattern, kinds, also in _BY_PHRASE:
        if pattern.search(plain):
            if kinds == (Kind.NAME,) and {"PHONE", "EMAIL"} & found:
                continue
            return kinds, also
    if _OPEN.search(plain):
        return (), ()
    for unit in sorted(found):
        if unit in _BY_UNIT:
            return _BY_UNIT[unit], ()
    if _SERVER_ASKED.search(plain):
        return (Kind.HOST, Kind.CODE, Kind.NAME), ()
    if "IDENT" in found or _NUMBER_ASKED.search(plain):
        return (Kind.NUMBER, Kind.CODE, Kind.PHONE), ()
    if {"CODE", "PASSWORD", "SEAT"} & found:
        return (Kind.CODE, Kind.NUMBER), ()
    return (), ()

"""Turns of phrase that mean a concept no single word of theirs means: "get in" is an arrival, "can spend" a budget."""

from __future__ import annotations

import re
from typing import Final, NamedTuple


class Phrase(NamedTuple):
    """``pattern``, found in a lower-case sentence, means ``concept``. One of ``words`` must occur: long logs stay cheap."""

    concept: str
    words: frozenset[str]
    pattern: re.Pattern[str]


def _phrase(concept: str, words: str, *patterns: str) -> Phrase:
    return Phrase(concept, frozenset(words.split()), re.compile("|".join(patterns)))


_LIMIT: Final = (
    r"\b(?:at most|at the most|no more than|not (?:\w+ ){0,2}more than|nothing over|maximum|max|most|limit|up to|cap(?:ped)?|ceiling|upper bound|"
    r"in total|altogether|all in|all together|overall|must not exceed|can't exceed|cannot exceed)\b"
)
_PAY: Final = r"\b(?:spend|spending|cost|costs|costing|pay|paying|price|expenses?|outlay)\b"
_SHUN: Final = (
    r"\b(?:avoid|steer clear of|stay(?:ing)? clear of|keep(?:ing)? away from|stay(?:ing)? away from|kept away from|kept (?:off|out)|"
    r"keep (?:\w+ )?(?:off|out)|leave out|left out|do without|off limits|off-limits|forbidden|taboo|no-go)\b"
)
_EDIBLE: Final = r"\b(?:foods?|eat|eating|eaten|dish|dishes|plate|menu|meals?|ingredients?|diet|kitchen|cook|chef|restaurants?|waiter|order|suggestions?)\b"
_READY: Final = (
    r"(?:ready|finish|finished|done|deliver|delivered|submit|submitted|hand(?:ed)? (?:it )?in|turn(?:ed)? in|ship|shipped|complete|completed|"
    r"wrap(?:ped)? up|sent off|signed off|up and running)"
)

PHRASES: Final = (
    _phrase(
        "BUDGET",
        "spend spending cost costs costing pay paying price expense expenses outlay limit cap capped ceiling expensive keep stay exceed go",
        r"\b(?:not|never|don't) (?:want to )?go (?:over|above|beyond)\b.{0,10}\d",
        r"\b(?:can|could|may|able to|allowed to|want to|willing to|going to|plan to|planning to|happy to|prepared to|have|got|we'll|i'll|to)"
        r"(?: we| i)? (?:only |now |all |each )?(?:spend|be spending)\b",
        r"\bspending (?:limit|cap|money|ceiling|frame)\b",
        rf"{_PAY}.*{_LIMIT}",
        rf"{_LIMIT}.*{_PAY}",
        rf"\b(?:not|never|can't|mustn't|shouldn't|don't)\b.{{0,12}}{_PAY} (?:\w+ ){{0,2}}(?:more than|over|above)\b",
        r"\bprice (?:limit|ceiling|cap)\b",
        r"\b(?:ceiling|limit|cap)\b.{0,40}(?:[€$£]|\beuros?|\bdollars?|\bpounds?)",
        r"\b(?:keep|stay|remain)\b.{0,30}\b(?:under|below|within)\b.{0,12}(?:[€$£]|\d)",
        r"\bcapped at\b|\bhow (?:expensive|costly|dear) (?:may|can|must)\b|\b(?:not|never|can't|mustn't) exceed\b",
        r"\bfinancial\w* (?:limit|ceiling|cap|frame)",
    ),
    _phrase(
        "BUDGET",
        "afford aside disposal play purse wallet money cash funds kitty pot put fund saved all",
        r"\bafford\b",
        r"\b(?:set|put|setting|putting)\b.{0,30}\baside\b",
        r"\bat (?:our|my) disposal\b",
        r"\bto (?:play|work) with\b",
        r"\bin (?:the|our|my) (?:kitty|pot|(?:\w+ )?fund)\b|\bsaved (?:up )?.{0,12}\d|\d.{0,25}\bis all (?:that )?(?:we|i)(?:'ve| have)\b",
        r"\b(?:money|cash|funds)\b.{0,25}\b(?:have|got|available|left|there)\b",
        r"\b(?:have|got|there)\b.{0,25}\b(?:money|cash|funds)\b",
    ),
    _phrase(
        "ALLERGY",
        "eat touch consume served given have tolerate",
        r"\b(?:can|may|should|must) (?:i|we|(?:my|our) \w+) (?:not|never) (?:eat|touch|have)\b",
        r"\b(?:can't|cannot|can not|mustn't|must not|shouldn't|should not|may not|not allowed to|never|unable to|not able to|don't|do not|"
        r"not supposed to|not to)(?: (?:ever|safely|i|we))? (?:eat|touch|consume|have any|be (?:served|given))\b",
        r"\b(?:can't|cannot|mustn't|must not|can not|shouldn't)\b.{0,12}\b(?:i|we|(?:my|our) \w+)\b.{0,6}\b(?:eat|touch|have)\b",
        r"\b(?:can't|cannot|don't) tolerate\b",
    ),
    _phrase(
        "ALLERGY",
        "avoid steer stay staying keep keeping kept leave left off off-limits forbidden taboo no-go without",
        rf"{_SHUN}.*{_EDIBLE}",
        rf"{_EDIBLE}.*{_SHUN}",
    ),
    _phrase(
        "ALLERGY",
        "react reacts reaction ill sick swell hospital dangerous unsafe poison rash harmful agree hives",
        r"\b(?:react\w*|reaction) (?:\w+ )?to\b",
        r"\b(?:makes?|make) me (?:\w+ )?(?:ill|sick|swell)\b",
        r"\b(?:dangerous|unsafe|poison|harmful) (?:for|to) (?:me|us|(?:my|our) \w+)\b",
        r"\bin hospital\b|\b(?:in|get|got) hives\b",
        r"\b(?:get|bring me out in) a rash\b",
        r"\b(?:doesn't|don't|does not|do not) agree with me\b",
    ),
    _phrase(
        "ARRIVAL",
        "get gets getting got",
        r"\b(?:get|gets|getting|got)(?: \w+)? in(?:to)?\b(?! touch| trouble| line| contact| shape)",
    ),
    _phrase(
        "ARRIVAL",
        "touch touches fly flies flying flown pull pulls roll rolls",
        r"\b(?:touch(?:es|ing)? down|(?:fly|flies|flying|flown) in(?:to)?|(?:pulls?|rolls?) in(?:to)?)\b",
    ),
    _phrase(
        "ARRIVAL",
        "reach reaches there due come comes coming dock docks pick meet collect met turn",
        r"\breach(?:es)?\b.{0,25}\b(?:airport|city|town|station|destination|harbour|there)\b",
        r"\breach(?:es)? (?!me|us|you|him|her|them|out)[a-z]+ (?:on|at)\b",
        r"\b(?:be|are|get) there (?:at|by|on)\b|\b(?:when|(?:what|which) (?:time|day|date))\b.{0,20}\b(?:get|be|arrive) there\b|\bdue (?:in|to (?:land|arrive|get in|touch))\b",
        r"\b(?:i|we|flight|plane|train|ferry|bus)\b.{0,20}\bcom(?:e|es|ing) in(?:to)?\b",
        r"\bdocks? (?:at|in|on)\b",
        r"\b(?:pick|collect|meet)\b.{0,12}\b(?:me|us)\b.{0,25}\b(?:airport|station|arrivals)\b",
    ),
    _phrase(
        "DEPARTURE",
        "take takes taking set sets setting head heading fly flying",
        r"\b(?:take|takes|taking) off\b|\bset(?:s|ting)? off\b|\bhead(?:ing)? (?:home|back|off)\b|\bfly(?:ing)? (?:home|back|out)\b",
    ),
    _phrase(
        "SELF",
        "who whom name names surname nickname call called address talking speaking chatting introduce introduced helping go who's",
        r"\bwho(?: is|'s) (?:asking|writing|this)\b",
        r"\bwho (?:am i|i am|i'm)\b",
        r"\b(?:my|user's) (?:full |first |last |own |real |family |given )?(?:name|surname|nickname)\b",
        r"\b(?:call|address) me\b(?! (?:on|at|under|a|an|when|if|back|again)\b)",
        r"\b(?:what|which) name\b.{0,25}\bme\b",
        r"\bam i called\b|\bi(?:'m| am) called\b|\bi go by\b|\bname (?:did|do|have) i\b|\bcall(?:ed)? myself\b",
        r"\b(?:who|whom)\b.{0,25}\b(?:talking|speaking|chatting) (?:to|with)\b|\bintroduced? myself\b",
        r"\bwhom? (?:are|have) you (?:been )?helping\b",
    ),
    _phrase(
        "DEADLINE",
        "ready finished finish done delivered deliver live launch launches submit submitted hand handed ship ships shipped out complete "
        "completed wrapped wrap turn turned sent signed running due",
        r"\bdue\b(?! to\b| in\b)",
        rf"\b(?:be|is|are|get|have|has|needs?|must)\b.{{0,40}}\b(?:{_READY}|live|out)\b.{{0,12}}\b(?:by|on|before|no later than|until|when)\b",
        r"\bgo(?:es|ing)? live\b|\blaunch(?:es)? (?:date|day|on|is)\b",
        rf"\b{_READY}\b.{{0,30}}\b(?:by|before|no later than|until)\b",
        rf"\b(?:when|what date|which date|which day|what day|how long)\b.{{0,50}}\b(?:{_READY}|launch|live)\b",
    ),
    _phrase(
        "AGE",
        "old turn turned turning turns",
        r"\bhow old\b|\byears? old\b|\b(?:turn|turned|turning|turns) \d",
    ),
    _phrase(
        "PHONE",
        "reach reached call ring text contact",
        r"\b(?:reach|call|ring|text|contact) me (?:on|at|under)\b",
        r"\bnumber\b.{0,25}\b(?:call|reach|reached|ring|text)\b|\b(?:call|reach|ring|text)\b.{0,20}\bnumber\b",
    ),
    _phrase("EMAIL", "mail", r"\bmail\b"),
    _phrase(
        "HOME",
        "live living lives home based",
        r"\b(?:i|we|user)\b.{0,8}\b(?:live|living|lives|based)\b(?! through| off)|\b(?:my|our) home\b",
    ),
    _phrase(
        "JOB",
        "work works working living do",
        r"\bwork(?:s|ing)? (?:as|for|at|in|from)\b|\bfor a living\b|\bwhere (?:do|am|does|is) \w+ work(?:ing)?\b",
    ),
    _phrase(
        "FAVOURITE",
        "like likes love loves",
        r"\b(?:like|likes|love|loves)\b.{0,25}\b(?:best|most|more than)\b|\bi (?:really )?love\b",
    ),
    _phrase(
        "PORT",
        "listen listens listening bound binds exposed reachable",
        r"\b(?:listen\w*|bound|binds|exposed|reachable) (?:\w+ )?on\b",
    ),
    _phrase("ERROR", "wrong broke", r"\b(?:went|gone|goes|is) wrong\b|\bbroke\b"),
    _phrase(
        "CAUSE",
        "why because due",
        r"\bwhy\b|\bbecause\b|\bdue to (?!land|arrive|get|touch|be|depart|leave|start|finish)",
    ),
    _phrase(
        "VERSION",
        "release build",
        r"\b(?:release|build) (?:\w+ )?v?\d+(?:\.\d|\b)|\b(?:which|what) (?:\w+ )?(?:release|build)\b",
    ),
    _phrase(
        "HOTEL",
        "staying stay sleep sleeping rented renting booked reserved",
        r"\b(?:staying|stay|sleep|sleeping) (?:at|in|with)\b",
        r"\bwhere\b.{0,12}\b(?:staying|stay|sleep|sleeping)\b",
        r"\b(?:rented|renting|booked|reserved) (?:an?|the|two|our) (?:\w+ )?(?:flat|apartment|room|house|cottage|cabin|suite|place)\b",
    ),
    _phrase(
        "HEADCOUNT",
        "many group party us large big people persons adults travellers friends",
        r"\bhow many (?:people|of us|travellers|persons|are we|guests)\b|\b(?:group|party) of \w+\b",
        r"\b(?:\d+|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve) of us\b",
        r"\b(?:\d+|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve) (?:people|persons|adults|travellers|friends)\b",
        r"\bsize of (?:our|the) (?:group|party)\b|\bhow (?:big|large) is (?:our|the) (?:group|party)\b",
    ),
    _phrase("LANGUAGE", "written coded programmed", r"\b(?:written|coded|programmed) in\b"),
    _phrase(
        "ORIGIN",
        "grow grew hometown town from",
        r"\b(?:grew|grow) up\b|\bhome ?town\b|\b(?:i|we) (?:come|am|are|hail) (?:originally )?from\b|\bi['’]?m from\b|\boriginally from\b",
        r"\bwhere (?:am|do|did) i (?:come )?from\b",
    ),
)

"""The words people use when they want a summary, as parts of patterns."""

from __future__ import annotations

from typing import Final

VERB: Final = r"(?:summari[sz]e|condense|compress|compact|distil|distill|recap|digest|abridge|sum up|sum .{0,40} up|boil .{0,40}down|boil down|shorten|consolidate)"


STRONG: Final = (
    r"(?:summary|summaries|recap|digest|synopsis|session memory|hand-?over|hand-?off|précis|(?:a|the|this|that|one|your|our|its|running|living|updated|revised|previous|"
    r"new|short|compact|concise|single|working) brief\b(?! \w*(?:message|note to|overview|description|list|introduction|look|intro|email|text|reply|answer|packing|history|guide)\b)"
    r"|brief (?:of|from|that|which|for the next))"
)


WEAK: Final = r"(?:memory|memories|notes?|key (?:facts|points|details|information)|facts|record|state|checkpoint|context|essentials|everything|information|details|minutes|account)"


MAKE: Final = (
    r"(?:create|write|produce|generate|draft|prepare|provide|make|give|update|revise|extend|rewrite|refresh|fold|merge|extract|build|compose|output|return|record|"
    r"capture|collect|extract|turn|reduce|note|list|need|want|compile|pull together|put together|keep|maintain)"
)


OBJECT: Final = (
    r"(?:conversation|transcript|chat so far|chat (?:history|log|above|below)|(?:the|this|our|whole|entire|following) chat|dialog(?:ue)?|discussion|(?:the|these|those|all|following|above|earlier|older|previous|our) (?:\w+ )?messages|session|"
    r"(?:chat|message|conversation) history|exchanges?|thread|(?:the|these|earlier|older|following) turns|so far|everything (?:above|below|said|we|that)|context window|"
    r"interaction|what (?:we|was|has been|you and i|you have|have we)\b.{0,20}(?:said|discussed|decided|agreed|planned|covered|talked|done|know|happened)?|"
    r"(?:text|material|content)s? (?:above|below)|(?:above|below) (?:text|material)|previous (?:summary|brief|memory))"
)


ONWARD: Final = (
    r"(?:continu\w+|resum\w+|take over|takes over|taking over|pick(?:s|ing)? up|carry(?:ing)? on|carries on|another (?:assistant|agent|instance|model)|next (?:assistant|agent|instance|session|turn|shift)|"
    r"new (?:assistant|agent|session|context)|future (?:context|session|instance)|colleague|replace the (?:history|messages|conversation))"
)


POLITE: Final = (
    r"^(?:(?:please|now|then|ok|okay|next|first|and|so|hey|hi|hello|also|great|thanks|thank you|quickly|briefly|progressively|carefully|kindly|could you|can you|would you|will you|let's|let us|"
    r"you (?:must|should|need to|will|have to)|i(?:'d| would)? (?:want|need|like) you to|i need|i want|i'd like|we need|we want|read|go through|look at|take|stop|pause)\b[\s,:.!-]*(?:it |this |that )?)*"
)


TASK: Final = r"\b(?:(?:task|job|objective|goal|role|purpose|duty|assignment)(?: \w+){0,4} is to|you are (?:asked|being asked|tasked) (?:to|with)|asked to|tasked (?:to|with))\s+(?:\w+ ){0,3}?"

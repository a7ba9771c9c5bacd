"""Recognising that a summary is wanted, whoever asks and however it is worded, and finding what is to be summarised."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from memdash.simulator.pretend.limits import Limit, named
from memdash.simulator.pretend.visible import (
    Passage,
    Request,
    Speaker,
    last_user_text,
    passages,
    split,
    system_text,
)


@dataclass(frozen=True, slots=True)
class SummaryOrder:
    """A wanted summary: what to summarise, how long it may be, and the tags it is to stand in.

    ``limit`` is None where the instructions name none.
    """

    material: tuple[Passage, ...]
    limit: Limit | None
    tag: str | None
    scratch_tag: str | None


_VERB: Final = r"(?:summari[sz]e|condense|compress|compact|distil|distill|recap|digest|abridge|sum up|sum .{0,40} up|boil .{0,40}down|boil down|shorten|consolidate)"
_STRONG: Final = (
    r"(?:summary|summaries|recap|digest|synopsis|session memory|hand-?over|hand-?off|précis|(?:a|the|this|that|one|your|our|its|running|living|updated|revised|previous|"
    r"new|short|compact|concise|single|working) brief\b(?! \w*(?:message|note to|overview|description|list|introduction|look|intro|email|text|reply|answer|packing|history|guide)\b)"
    r"|brief (?:of|from|that|which|for the next))"
)
_WEAK: Final = r"(?:memory|memories|notes?|key (?:facts|points|details|information)|facts|record|state|checkpoint|context|essentials|everything|information|details|minutes|account)"
_MAKE: Final = (
    r"(?:create|write|produce|generate|draft|prepare|provide|make|give|update|revise|extend|rewrite|refresh|fold|merge|extract|build|compose|output|return|record|"
    r"capture|collect|extract|turn|reduce|note|list|need|want|compile|pull together|put together|keep|maintain)"
)
_OBJECT: Final = (
    r"(?:conversation|transcript|chat so far|chat (?:history|log|above|below)|(?:the|this|our|whole|entire|following) chat|dialog(?:ue)?|discussion|(?:the|these|those|all|following|above|earlier|older|previous|our) (?:\w+ )?messages|session|"
    r"(?:chat|message|conversation) history|exchanges?|thread|(?:the|these|earlier|older|following) turns|so far|everything (?:above|below|said|we|that)|context window|"
    r"interaction|what (?:we|was|has been|you and i|you have|have we)\b.{0,20}(?:said|discussed|decided|agreed|planned|covered|talked|done|know|happened)?|"
    r"(?:text|material|content)s? (?:above|below)|(?:above|below) (?:text|material)|previous (?:summary|brief|memory))"
)
_ONWARD: Final = (
    r"(?:continu\w+|resum\w+|take over|takes over|taking over|pick(?:s|ing)? up|carry(?:ing)? on|carries on|another (?:assistant|agent|instance|model)|next (?:assistant|agent|instance|session|turn|shift)|"
    r"new (?:assistant|agent|session|context)|future (?:context|session|instance)|colleague|replace the (?:history|messages|conversation))"
)
_POLITE: Final = (
    r"^(?:(?:please|now|then|ok|okay|next|first|and|so|hey|hi|hello|also|great|thanks|thank you|quickly|briefly|progressively|carefully|kindly|could you|can you|would you|will you|let's|let us|"
    r"you (?:must|should|need to|will|have to)|i(?:'d| would)? (?:want|need|like) you to|i need|i want|i'd like|we need|we want|read|go through|look at|take|stop|pause)\b[\s,:.!-]*(?:it |this |that )?)*"
)
_TASK: Final = r"\b(?:(?:task|job|objective|goal|role|purpose|duty|assignment)(?: \w+){0,4} is to|you are (?:asked|being asked|tasked) (?:to|with)|asked to|tasked (?:to|with))\s+(?:\w+ ){0,3}?"

_ORDER_VERB: Final = re.compile(
    rf"(?:{_POLITE}|{_TASK}|[,;] ?(?:and |then |now )?|\b(?:and|then|to) ){_VERB}\b"
)
_ORDER_NOUN: Final = re.compile(
    rf"(?:{_POLITE}|{_TASK}|[,;] ?(?:and |then |now )?|\b(?:and|then) ){_MAKE}\b.{{0,90}}?\b{_STRONG}"
)
_ORDER_WEAK: Final = re.compile(rf"(?:{_POLITE}|{_TASK}){_MAKE}\b.{{0,90}}?\b{_WEAK}\b")
_ORDER_ONWARD: Final = re.compile(
    rf"(?:{_POLITE}|{_TASK})(?:{_MAKE}|write down|jot down|set down|tell|leave)\b.{{0,80}}\b(?:everything|what(?:ever)?|all|the (?:least|shortest|minimum))\b.{{0,60}}{_ONWARD}"
)
_OBJECT_RE: Final = re.compile(rf"\b{_OBJECT}")
_ONWARD_RE: Final = re.compile(rf"\b{_ONWARD}")
_SUCCESSOR: Final = re.compile(
    r"\b(?:another|next|new|future|fresh) (?:assistant|agent|instance|session|model|turn|context|conversation)\b"
)
_TASTE: Final = re.compile(
    r"summar|condens|compress|compact|distil|recap|digest|abridg|sum .*up|boil|shorten|consolidat|brief|memor|hand-?o|synopsis|précis|notes?\b|key |record|session|facts|everything|transcript|conversation|context|take over|tl;?dr",
    re.I,
)
_TLDR: Final = re.compile(r"^tl;?dr\b", re.I)
_CONDITION: Final = re.compile(
    r"\b(?:when|if|whenever|once|unless|on request|as soon as|asked by|may be|might|can be|has been|have been|is given)\b"
)
_SYSTEM_ROLE: Final = re.compile(
    r"\b(?:you are|you're|you act as|act as|you will act as|you work as|you serve as)\b[^.\n]{0,80}\b(?:summari[sz]er|summari[sz]ation|summari[sz]ing|note-?taker|compressor|condenser|compactor|compaction|"
    r"memory (?:writer|keeper|maker|module|manager)|context extraction|archivist|minute-?taker)|"
    rf"\byou (?:only |always |just )?(?:{_VERB}|(?:write|create|maintain|keep|produce|revise|update) [^.\n]{{0,40}}(?:{_STRONG}|session memories|briefs?|memory|handover notes))\b[^.\n]*"
    rf"\b(?:{_OBJECT}|conversations?|transcripts?|chats?|dialog(?:ue)?s?|sessions?)"
)


def summary_order(request: Request, given: Sequence[Mapping[str, Any]]) -> SummaryOrder | None:
    """Return what summary ``request``, whose visible messages are ``given``, asks for; None where it asks for none."""
    index, text = last_user_text(given)
    system = system_text(request)
    by_system = _system_orders(system)
    if not by_system and not (_TASTE.search(text[:3_000]) or _TASTE.search(text[-3_000:])):
        return None
    instructions, pasted = divide(text)
    by_message = _orders(instructions, bool(pasted))
    if not by_system and not by_message:
        return None
    limit = named(instructions) or (named(system) if by_system else None)
    wording = f"{system}\n{instructions}" if by_system else instructions
    material = _material(request, given, index, text, instructions, pasted, by_message)
    return SummaryOrder(tuple(material), limit, _tag(wording), _scratch_tag(wording))


@lru_cache(maxsize=512)
def _system_orders(system: str) -> bool:
    if not _TASTE.search(system):
        return False
    for sentence in split(system):
        lower = sentence.lower().replace("’", "'")
        if _CONDITION.search(lower):
            continue
        if _SYSTEM_ROLE.search(lower):
            return True
        if re.match(rf"{_POLITE}(?:{_VERB})\b", lower) and re.search(
            rf"\b(?:{_OBJECT}|conversations?|transcripts?|dialogues?)", lower
        ):
            return True
        if re.match(rf"{_POLITE}{_MAKE}\b.{{0,60}}\b{_STRONG}", lower) and _OBJECT_RE.search(lower):
            return True
        if re.search(rf"{_TASK}(?:{_VERB}|{_MAKE}\b.{{0,60}}\b(?:{_STRONG}|{_WEAK})\b)", lower) and re.search(
            rf"\b(?:{_OBJECT}|conversations?|transcripts?|dialogues?)", lower
        ):
            return True
    return False


def _orders(instructions: str, has_paste: bool) -> bool:
    lines = instructions.splitlines()
    if len(lines) > 80:
        lines = lines[:40] + lines[-40:]
    plain = [
        sentence.lower().replace("’", "'").strip(" \"“”'()*_#>")
        for line in lines
        if not re.match(r"\s*(?:[-*•–]|\d+[.)])\s", line)
        for sentence in split(re.sub(r"</?[\w-]+/?>", " ", line))
    ]
    whole = " ".join(plain)
    about = has_paste or bool(_OBJECT_RE.search(whole))
    for sentence in plain:
        if sentence.startswith(
            ("here is", "here's", "this is", "below is", "the following is")
        ) and not re.search(r"[.;:,] ?(?:now|please|then)\b", sentence):
            continue
        near = has_paste or bool(_OBJECT_RE.search(sentence))
        if _TLDR.match(sentence) and (about or len(sentence) < 20):
            return True
        if _ORDER_VERB.search(sentence) and (
            near or (about and re.search(r"\b(?:it|this|that|them|everything|all)\b", sentence))
        ):
            return True
        if _ORDER_NOUN.search(sentence) and (
            near or _ONWARD_RE.search(sentence) or (about and _ONWARD_RE.search(whole))
        ):
            return True
        if _ORDER_WEAK.search(sentence) and _SUCCESSOR.search(sentence):
            return True
        if _ORDER_WEAK.search(sentence) and (
            (_ONWARD_RE.search(sentence) and (about or near))
            or (
                near
                and re.search(
                    r"\b(?:conversation|transcript|dialogue|dialog|session|exchanges?)\b|so far", sentence
                )
            )
        ):
            return True
        if _ORDER_ONWARD.search(sentence):
            return True
    return False


# -- what is to be summarised ----------------------------------------------------------------------------------------------

_TAGS: Final = re.compile(
    r"<(?P<tag>[\w-]*(?:transcript|conversation|messages?|chat|history|dialog(?:ue)?|brief|memory|summary|exchanges?|turns?|text|document|notes|log|input|material|content)[\w-]*)(?: [^>]*)?>"
    r"(?P<body>.*?)</(?P=tag)>",
    re.I | re.S,
)
_EXAMPLE: Final = re.compile(r"<(examples?|template|format)>.*?</\1>", re.I | re.S)
_FENCE: Final = re.compile(r"^\s*(?:```\w*|~~~|\"\"\"|-{3,}|={3,}|\*{3,}|#{4,})\s*$")
_MARKER: Final = re.compile(
    r"^\W*(?:[\w' ,-]{0,60}\b)?(?:transcript|conversation|dialog(?:ue)?|messages|chat|history|brief|summary|memory|exchanges|turns|text|notes|log|material|so far|follows|below)\b[^.!?:]{0,30}:\W*$",
    re.I,
)
_LABEL: Final = re.compile(
    r"^\s*(?:[-*•]\s*)?\W{0,3}(?:\[?[\d:. -]+\]?\s*)?(?P<who>user|human|assistant|ai|agent|customer|client|bot|claude|model|tool(?: result)?|system|me|you|caller|operator)\b(?:\s*\([^)]*\))?\W{0,2}:\W{0,2}(?:\s|$)",
    re.I,
)
_SPEAKERS: Final = {
    "user": Speaker.USER,
    "human": Speaker.USER,
    "customer": Speaker.USER,
    "client": Speaker.USER,
    "me": Speaker.USER,
    "caller": Speaker.USER,
    "tool": Speaker.TOOL,
    "tool result": Speaker.TOOL,
}
_CLOSING: Final = re.compile(
    rf"{_POLITE}(?:{_VERB}|{_MAKE}|reply|respond|answer|use|stay|do not|don't|limit|at most|no more than|return|aim|output|remember)\b",
    re.I,
)


def divide(text: str) -> tuple[str, str]:
    """Part a message into its instructions and the text it brings along to be summarised ("" if none)."""
    bare = _EXAMPLE.sub(" ", text) if len(text) < 200_000 else text
    bodies = [
        match
        for match in _TAGS.finditer(bare)
        if len(match["body"].split()) >= 3 and not _looks_like_template(match["body"])
    ]
    if bodies:
        pasted = "\n\n".join(match["body"].strip() for match in bodies)
        kept, at = [], 0
        for match in bodies:
            kept.append(bare[at : match.start()])
            at = match.end()
        return "\n".join([*kept, bare[at:]]), pasted
    return _divide_lines(bare)


def _looks_like_template(body: str) -> bool:
    return len(body.split()) < 40 and bool(
        re.search(r"\[[^\]]+\]|\.\.\.|…|\byour summary\b|\bsummary (?:here|text)\b", body, re.I)
    )


def _divide_lines(text: str) -> tuple[str, str]:
    instructions: list[str] = []
    pasted: list[str] = []
    inside = fenced = after_blank = False
    lines = text.splitlines()
    for line in lines:
        if _FENCE.match(line):
            fenced = not fenced
            inside = fenced
            continue
        labelled = bool(_LABEL.match(line))
        if not inside and labelled:
            inside = True
        elif not inside and _MARKER.match(line):
            instructions.append(line)
            inside, after_blank = True, False
            continue
        elif (
            inside
            and not fenced
            and after_blank
            and not labelled
            and _CLOSING.match(line.lower())
            and (named(line) or _orders_line(line))
        ):
            inside = False
        (pasted if inside else instructions).append(line)
        after_blank = not line.strip()
    joined = "\n".join(pasted).strip()
    # "Keep the following:" opens a list of instructions, not a transcript.
    if (
        joined
        and not any(_LABEL.match(line) for line in pasted)
        and all(
            not line.strip() or re.match(r"\s*(?:[-*•–]|\d+[.)])\s", line) or named(line) for line in pasted
        )
        and _asks_to_keep(instructions)
    ):
        return text, ""
    return ("\n".join(instructions), joined) if len(joined.split()) >= 3 else (text, "")


def _orders_line(line: str) -> bool:
    lower = line.lower()
    return bool(re.match(rf"{_POLITE}(?:{_VERB}|{_MAKE}\b.{{0,60}}\b{_STRONG})", lower))


def _asks_to_keep(instructions: Sequence[str]) -> bool:
    last = next((line for line in reversed(instructions) if line.strip()), "")
    return bool(
        re.search(
            r"\b(?:keep|include|cover|contain|preserve|state|list|mention|following (?:sections|points|headings))\b",
            last,
            re.I,
        )
    )


def _material(
    request: Request,
    given: Sequence[Mapping[str, Any]],
    index: int,
    text: str,
    instructions: str,
    pasted: str,
    by_message: bool,
) -> list[Passage]:
    found = [one for one in passages(request) if one.speaker is not Speaker.SYSTEM]
    last = next(
        (at for at in range(len(found) - 1, -1, -1) if found[at].message == index and found[at].text == text),
        None,
    )
    if last is not None:
        del found[last]
    if pasted:
        found.extend(_labelled(pasted, index))
    elif not found or not by_message:
        rest = [one for one in split(instructions) if not _is_instruction(one)]
        if rest:
            found.append(Passage(Speaker.USER, index, "\n".join(rest)))
    return found


def _is_instruction(sentence: str) -> bool:
    lower = sentence.lower().replace("’", "'")
    return bool(
        _ORDER_VERB.search(lower)
        or _ORDER_NOUN.search(lower)
        or _ORDER_WEAK.search(lower)
        or _ORDER_ONWARD.search(lower)
        or named(sentence)
    ) or lower.startswith(
        ("keep ", "include ", "leave out ", "do not ", "don't ", "answer ", "reply ", "wrap ", "use ")
    )


def _labelled(pasted: str, message: int) -> list[Passage]:
    """Read a pasted transcript: who says which lines. Without labels it is all the user's."""
    if pasted[:1] in ("[", "{"):
        try:
            data = json.loads(pasted)
        except (ValueError, RecursionError):
            data = None
        if isinstance(data, Mapping):
            data = data.get("messages")
        if (
            isinstance(data, list)
            and data
            and all(isinstance(one, Mapping) and "role" in one for one in data)
        ):
            return [
                Passage(one.speaker, message, one.text, one.about)
                for one in passages({"messages": data})
                if one.speaker is not Speaker.SYSTEM
            ]
    found: list[Passage] = []
    speaker, lines = Speaker.USER, list[str]()
    for line in pasted.splitlines():
        label = _LABEL.match(line)
        if label:
            if any(one.strip() for one in lines):
                found.append(Passage(speaker, message, "\n".join(lines)))
            speaker = _SPEAKERS.get(label["who"].lower(), Speaker.ASSISTANT)
            lines = [line[label.end() :]]
        else:
            lines.append(line)
    if any(one.strip() for one in lines):
        found.append(Passage(speaker, message, "\n".join(lines)))
    return found


def _tag(wording: str) -> str | None:
    match = re.search(
        r"<(?P<tag>[\w-]*(?:summary|brief|memory|handover|handoff|context|notes)[\w-]*)>", wording, re.I
    )
    if not match:
        return None
    named_before = re.search(
        rf"\b(?:in|inside|within|into|with|between|using|wrap\w*|enclose\w*|put|tags?|output|format|example)\b[^<]{{0,120}}<{match['tag']}>",
        wording,
        re.I | re.S,
    )
    empty = re.search(rf"<{match['tag']}>\s*(?:</{match['tag']}>|\.\.\.|…|\[)", wording, re.I)
    after = re.search(rf"<{match['tag']}>[^.\n]{{0,30}}\btags?\b", wording, re.I)
    return match["tag"] if named_before or empty or after else None


def _scratch_tag(wording: str) -> str | None:
    match = re.search(r"<(analysis|scratchpad|scratch|thinking|reasoning|notes|draft)>", wording, re.I)
    return match.group(1) if match else None

"""Recognising that a summary is wanted, whoever asks and however it is worded, and finding what is to be summarised."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from memdash.simulator.pretend.limits import Limit, named
from memdash.simulator.pretend.summary_words import MAKE, OBJECT, ONWARD, POLITE, STRONG, TASK, VERB, WEAK
from memdash.simulator.pretend.transcripts import divide, labelled
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


_ORDER_VERB: Final = re.compile(rf"(?:{POLITE}|{TASK}|[,;] ?(?:and |then |now )?|\b(?:and|then|to) ){VERB}\b")

_ORDER_NOUN: Final = re.compile(
    rf"(?:{POLITE}|{TASK}|[,;] ?(?:and |then |now )?|\b(?:and|then) ){MAKE}\b.{{0,90}}?\b{STRONG}"
)

_ORDER_WEAK: Final = re.compile(rf"(?:{POLITE}|{TASK}){MAKE}\b.{{0,90}}?\b{WEAK}\b")

_ORDER_ONWARD: Final = re.compile(
    rf"(?:{POLITE}|{TASK})(?:{MAKE}|write down|jot down|set down|tell|leave)\b.{{0,80}}\b(?:everything|what(?:ever)?|all|the (?:least|shortest|minimum))\b.{{0,60}}{ONWARD}"
)

_OBJECT_RE: Final = re.compile(rf"\b{OBJECT}")

_ONWARD_RE: Final = re.compile(rf"\b{ONWARD}")

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
    rf"\byou (?:only |always |just )?(?:{VERB}|(?:write|create|maintain|keep|produce|revise|update) [^.\n]{{0,40}}(?:{STRONG}|session memories|briefs?|memory|handover notes))\b[^.\n]*"
    rf"\b(?:{OBJECT}|conversations?|transcripts?|chats?|dialog(?:ue)?s?|sessions?)"
)


def summary_order(request: Request, given: Sequence[Mapping[str, Any]]) -> SummaryOrder | None:
    """Return what summary ``request``, whose visible messages are ``given``, asks for; None where it asks for none."""
    index, text = last_user_text(given)
    system = system_text(request)
    by_system = _system_orders(system)
    if not by_system and not _has_taste(text):
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
def _has_taste(text: str) -> bool:
    """Whether a message has a word of summaries near its start or its end; a cheap test that most messages end with."""
    return bool(_TASTE.search(text[:3_000]) or _TASTE.search(text[-3_000:]))


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
        if re.match(rf"{POLITE}(?:{VERB})\b", lower) and re.search(
            rf"\b(?:{OBJECT}|conversations?|transcripts?|dialogues?)", lower
        ):
            return True
        if re.match(rf"{POLITE}{MAKE}\b.{{0,60}}\b{STRONG}", lower) and _OBJECT_RE.search(lower):
            return True
        if re.search(rf"{TASK}(?:{VERB}|{MAKE}\b.{{0,60}}\b(?:{STRONG}|{WEAK})\b)", lower) and re.search(
            rf"\b(?:{OBJECT}|conversations?|transcripts?|dialogues?)", lower
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
        found.extend(labelled(pasted, index))
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

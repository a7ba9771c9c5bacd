"""Text that a message brings along to be summarised, told from the instructions around it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from memdash.simulator.pretend.limits import named
from memdash.simulator.pretend.summary_words import MAKE, POLITE, STRONG, VERB
from memdash.simulator.pretend.visible import Passage, Speaker, passages

_TAGS: Final = re.compile(
    r"<(?P<tag>[\w-]*(?:transcript|conversation|messages?|chat|history|dialog(?:ue)?|brief|memory|summary|exchanges?|turns?|text|document|notes|log|input|material|content)[\w-]*)(?: [^>]*)?>"
    r"(?P<body>.*?)</(?P=tag)>",
    re.I | re.S,
)

_WHO: Final = r"user|human|customer|client|assistant|ai|agent|bot|claude|model|tool"

_SAID: Final = re.compile(
    rf"<(?P<who>{_WHO})>(?P<text>.*?)</(?P=who)>|"
    rf"<(?P<tag>\w+)\s[^>]*\b(?:role|speaker|from|author|name)=[\"']?(?P<role>{_WHO})\b[^>]*>(?P<words>.*?)</(?P=tag)>",
    re.I | re.S,
)
_HEADED: Final = re.compile(
    rf"^[ \t]*(?:\[(?P<in>{_WHO})\]|#{{1,6}}[ \t]*(?P<head>{_WHO})[ \t]*$)", re.I | re.M
)

_JSON: Final = re.compile(r"[\[{]\s*[\[{\"]")

_EXAMPLE: Final = re.compile(r"<(examples?|template|format)>.*?</\1>", re.I | re.S)

_FENCE: Final = re.compile(r"^\s*(?:```\w*|~~~|\"\"\"|-{3,}|={3,}|\*{3,}|#{4,})\s*$")

_MARKER: Final = re.compile(
    r"^\W*(?:[\w' ,-]{0,60}\b)?(?:transcript|conversation|dialog(?:ue)?|messages|chat|history|brief|summary|memory|exchanges|turns|text|notes|log|material|so far|follows|below)\b[^.!?:]{0,30}:\W*$",
    re.I,
)

_LABEL: Final = re.compile(
    r"^\s*(?:[-*•]\s*)?\W{0,3}(?:\[?[\d:. -]+\]?\s*)?(?P<who>user|human|assistant|ai|agent|customer|client|bot|claude|model|tool|(?:(?:tool|function|call) )?(?:results?|outputs?)(?: of [\w ]{1,40})?|system|me|you|caller|operator)\b(?:\s*\([^)]*\))?\W{0,2}:\W{0,2}(?:\s|$)",
    re.I,
)

_SPEAKERS: Final = {
    "user": Speaker.USER,
    "human": Speaker.USER,
    "customer": Speaker.USER,
    "client": Speaker.USER,
    "me": Speaker.USER,
    "caller": Speaker.USER,
}

_RESULT: Final = re.compile(r"tool|function|result|output", re.I)
_CALL: Final = re.compile(
    r"^\s*(?:assistant|ai|agent|bot|claude|model)\s+(?:called|calls|used|uses|ran|runs)\s+(?P<name>[\w.-]+)\W*?\s*(?P<input>\{.*\})?\s*$",
    re.I,
)

_CLOSING: Final = re.compile(
    rf"{POLITE}(?:{VERB}|{MAKE}|reply|respond|answer|use|stay|do not|don't|limit|at most|no more than|return|aim|output|remember)\b",
    re.I,
)


def divide(text: str) -> tuple[str, str]:
    """Part a message into its instructions and the text it brings along to be summarised ("" if none)."""
    as_json = _divide_json(text)
    if as_json is not None:
        return as_json
    bare = _with_labels(_EXAMPLE.sub(" ", text) if len(text) < 200_000 else text)
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


def _with_labels(text: str) -> str:
    """Write who speaks as ``user: …``, where tags, brackets or headings say it."""
    text = _SAID.sub(
        lambda said: f"\n{said['who'] or said['role']}: {(said['text'] or said['words'] or '').strip()}\n",
        text,
    )
    return _HEADED.sub(lambda head: f"{head['in'] or head['head']}:", text)


def _divide_json(text: str) -> tuple[str, str] | None:
    """Part a message at the messages that it brings along as JSON, in one list or one a line; None without any."""
    if '"role"' not in text:
        return None
    reader = json.JSONDecoder()
    found: list[Any] = []
    first = end = -1
    at = _JSON.search(text)
    while at is not None:
        try:
            data, after = reader.raw_decode(text, at.start())
        except (ValueError, RecursionError):
            at = _JSON.search(text, at.start() + 1)
            continue
        messages = data.get("messages", [data]) if isinstance(data, dict) else data
        if isinstance(messages, list) and messages and all(_is_message(one) for one in messages):
            found += messages
            first, end = (at.start() if first < 0 else first), after
        at = _JSON.search(text, after)
    return (f"{text[:first]}\n{text[end:]}", json.dumps(found)) if found else None


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("role"), str)


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
    return bool(re.match(rf"{POLITE}(?:{VERB}|{MAKE}\b.{{0,60}}\b{STRONG})", lower))


def _asks_to_keep(instructions: Sequence[str]) -> bool:
    last = next((line for line in reversed(instructions) if line.strip()), "")
    return bool(
        re.search(
            r"\b(?:keep|include|cover|contain|preserve|state|list|mention|following (?:sections|points|headings))\b",
            last,
            re.I,
        )
    )


def labelled(pasted: str, message: int) -> list[Passage]:
    """Read a pasted transcript: who says which lines. Without labels it is all the user's."""
    if pasted.startswith("["):
        try:
            data = json.loads(pasted)
        except (ValueError, RecursionError):
            data = None
        if isinstance(data, list) and data and all(_is_message(one) for one in data):
            return [
                Passage(one.speaker, message, one.text, one.about)
                for one in passages({"messages": [_message(one) for one in data]})
                if one.speaker is not Speaker.SYSTEM
            ]
    found: list[Passage] = []
    calls: list[str] = []
    speaker, lines, about = Speaker.USER, list[str](), ""
    for line in [*pasted.splitlines(), None]:
        call = _CALL.match(line) if line is not None else None
        label = _LABEL.match(line) if line is not None else None
        if line is not None and call is None and label is None:
            lines.append(line)
            continue
        if any(one.strip() for one in lines):
            found.append(Passage(speaker, message, "\n".join(lines), about))
        lines, about = [], ""
        if call is not None:
            calls.append(f"{call['name']} {call['input'] or ''}")
            speaker = Speaker.ASSISTANT
        elif line is not None and label is not None:
            speaker = _speaker(label["who"])
            lines = [line[label.end() :]]
            # Results follow their calls in the same order.
            about = calls.pop(0) if speaker is Speaker.TOOL and calls else ""
    return found


def _message(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return a pasted message in the API's form; what has no such form is left out."""
    role, content = value["role"].lower(), value.get("content")
    blocks = content if isinstance(content, list) else [{"type": "text", "text": str(content or "")}]
    shown = [block for block in blocks if isinstance(block, dict) and isinstance(block.get("type"), str)]
    if role in ("tool", "function"):
        shown = [{"type": "tool_result", "content": shown}]
    return {"role": "assistant" if role in ("ai", "model") else role, "content": shown}


def _speaker(who: str) -> Speaker:
    if _RESULT.match(who):
        return Speaker.TOOL
    return _SPEAKERS.get(who.lower(), Speaker.ASSISTANT)

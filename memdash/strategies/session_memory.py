"""Making a session memory: the prompt that asks for it, the transcript it reads, and what may be used of the answer."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from memdash.strategies.base import Answer, Ask, Message

INSTRUCTIONS = """\
You keep the memory of a conversation between a user and an assistant. The conversation will go on with your text in place of \
everything below, so write down what the next turn needs:
- the user's goal, in the user's own words;
- decisions taken, and why;
- every value and identifier that was supplied: names, numbers, dates, times, amounts, limits, paths, codes;
- tools that were run, and what came of them;
- errors, and what was corrected;
- work that is still open;
- whatever the user asked to remember.
Where a later statement replaces an earlier one, keep the later one. Leave out greetings, thanks and small talk. Answer with the \
memory alone."""
"""What a session-memory summary is asked for, unless the strategy's ``instructions`` say something else."""

_SCRATCH = re.compile(r"<(analysis|scratchpad|thinking)>.*?(</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_SUMMARY = re.compile(r"<summary>(.*?)(?:</summary>|\Z)", re.DOTALL | re.IGNORECASE)


def transcript(messages: Iterable[Message]) -> str:
    """Write messages out as plain text, one paragraph a block, each led by who it is from. Thinking is left out."""
    lines: list[str] = []
    for message in messages:
        speaker = "User" if message["role"] == "user" else "Assistant"
        for block in message["content"]:
            line = _line(speaker, block)
            if line:
                lines.append(line)
    return "\n\n".join(lines)


def _line(speaker: str, block: Mapping[str, Any]) -> str | None:
    match block.get("type"):
        case "text":
            return f"{speaker}: {block['text']}"
        case "tool_use":
            return f"{speaker} called {block['name']}: {json.dumps(block['input'], ensure_ascii=False)}"
        case "tool_result":
            failed = " (error)" if block.get("is_error") else ""
            return f"Result of the call{failed}: {_result_text(block.get('content'))}"
        case "thinking" | "redacted_thinking" | None:
            return None
        case kind:
            return f"{speaker} sent a block of type {kind}."


def _result_text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", f"[{part.get('type')}]") for part in content or ())


def summary_request(
    messages: Iterable[Message],
    *,
    words: int,
    instructions: str | None,
    model: str | None,
    max_tokens: int | None,
) -> Ask:
    """Ask for a session memory of ``messages`` in at most ``words`` words.

    ``max_tokens`` None leaves room for the words and for the model's thinking.
    """
    task = f"{instructions or INSTRUCTIONS}\n\nWrite at most {words} words."
    text = f"<transcript>\n{transcript(messages)}\n</transcript>\n\nSummarise the conversation above in at most {words} words."
    return Ask(
        messages=({"role": "user", "content": [{"type": "text", "text": text}]},),
        system=task,
        model=model,
        max_tokens=max_tokens or max(1024, 512 + 4 * words),
    )


@dataclass(frozen=True, slots=True)
class Memory:
    """A summary that may be used, or the ``problem`` why there is none."""

    text: str
    problem: str | None = None


def read_memory(answer: Answer) -> Memory:
    """Take the memory out of an answer: scratch text is removed; an empty, failed or cut-off summary is never used."""
    if answer.problem:
        return Memory("", answer.problem)
    if answer.stop_reason == "max_tokens":
        return Memory("", "the summary was cut off at max_tokens")
    if answer.stop_reason == "refusal":
        return Memory("", "the model refused to summarise")
    text = _SCRATCH.sub("", answer.text)
    tagged = _SUMMARY.search(text)
    text = (tagged.group(1) if tagged else text).strip()
    return Memory(text, None if text else "the summary was empty")

"""Making a session memory: the prompt that asks for it, the transcript it reads, and what may be used of the answer."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from memdash.errors import InputError
from memdash.records import EventKind, Usage
from memdash.strategies.base import Answer, Ask, Message, Workspace
from memdash.strategies.folding import FoldedHistory
from memdash.strategies.messages import user_message

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


class SummaryParams(Protocol):
    """The parameters that every summarising strategy has; see :func:`summary_request` for what they do."""

    @property
    def words(self) -> int: ...  # noqa: D102

    @property
    def instructions(self) -> str | None: ...  # noqa: D102

    @property
    def summary_model(self) -> str | None: ...  # noqa: D102

    @property
    def max_tokens(self) -> int | None: ...  # noqa: D102

    @property
    def live_prefix(self) -> bool: ...  # noqa: D102


WORDS_HELP = "How long the summary may be"
INSTRUCTIONS_HELP = "What the summary is asked for, in place of our own instructions"
SUMMARY_MODEL_HELP = "Another model for the summary; it cannot read the main model's cache"
MAX_TOKENS_HELP = "max_tokens of the summary call; room for the words and for thinking if not given"
LIVE_PREFIX_HELP = (
    "Ask for the summary with the conversation's own system prompt, tools and messages plus one instruction, so that the call "
    "reads the cache; else it reads a transcript"
)


def check_summary_params(params: SummaryParams) -> None:
    """Raise :class:`InputError` where two of the parameters do not fit."""
    if params.live_prefix and params.summary_model is not None:
        raise InputError(
            "live_prefix reads the main model's cache; leave summary_model out, or use a transcript"
        )


def summary_request(
    params: SummaryParams, messages: Sequence[Message], *, previous: str | None = None
) -> Ask:
    """Ask for a session memory of ``messages`` in at most ``params.words`` words.

    With ``previous``, the memory so far is handed in and is to be revised rather than written anew. With ``params.live_prefix``
    the messages go out as they are, followed by the instruction; else as a transcript under a system prompt of their own.
    ``params.max_tokens`` None leaves room for the words and for the model's thinking.
    """
    task = f"{params.instructions or INSTRUCTIONS}\n\nWrite at most {params.words} words."
    earlier = ""
    if previous is not None:
        earlier = f"<memory_so_far>\n{previous}\n</memory_so_far>\n\n"
    revise = "Revise the memory so far in the light of" if previous is not None else "Summarise"
    max_tokens = params.max_tokens or max(1024, 512 + 4 * params.words)
    if params.live_prefix:
        instruction = (
            f"{earlier}{task}\n\n{revise} the conversation up to here in at most {params.words} words."
        )
        return Ask((*messages, user_message(instruction)), max_tokens=max_tokens, live_prefix=True)
    text = (
        f"{earlier}<transcript>\n{transcript(messages)}\n</transcript>\n\n"
        f"{revise} the conversation above in at most {params.words} words."
    )
    return Ask((user_message(text),), system=task, model=params.summary_model, max_tokens=max_tokens)


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


def context_size(usage: Usage, history: FoldedHistory, workspace: Workspace) -> int:
    """Return how much of the context a conversation takes up after an answer: its prompt, cached or not, and the answer.

    Where the server does not report it, it is estimated.
    """
    prompt = usage.prompt_tokens
    if prompt is None:
        return workspace.fixed_tokens + workspace.estimate(history.messages())
    return prompt + (usage.output_tokens or 0)


def summarise_inline(
    history: FoldedHistory, params: SummaryParams, workspace: Workspace, *, before_tokens: int
) -> bool:
    """Summarise everything now and fold it into one memory; returns whether it could be.

    Either way it is an event: a summary that must not be used leaves the history as it was.
    """
    through = history.last_turn
    answer = workspace.ask(summary_request(params, history.messages()))
    return put_into_use(history, answer, through, workspace, before_tokens=before_tokens)


def put_into_use(
    history: FoldedHistory,
    answer: Answer,
    through: int,
    workspace: Workspace,
    *,
    before_tokens: int,
    event: EventKind = EventKind.COMPACTION,
    **more: Any,
) -> bool:
    """Fold ``history`` up to turn ``through`` into the memory that ``answer`` holds, and declare it; returns whether it did."""
    memory = read_memory(answer)
    if memory.problem:
        workspace.note(
            event,
            used=False,
            problem=memory.problem,
            request=answer.request,
            before_tokens=before_tokens,
            **more,
        )
        return False
    fold = history.fold(memory.text, through)
    workspace.note(
        event,
        used=True,
        request=answer.request,
        before_tokens=before_tokens,
        after_tokens=workspace.fixed_tokens + workspace.estimate(history.messages()),
        elapsed_ms=answer.elapsed_ms,
        replaced_turns=list(fold.replaced_turns),
        kept_turns=list(fold.kept_turns),
        summary=memory.text,
        **more,
    )
    if fold.stripped_blocks:
        workspace.note(EventKind.STRIP_THINKING, blocks=fold.stripped_blocks)
    return True

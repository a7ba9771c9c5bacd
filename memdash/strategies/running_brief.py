"""Running brief: older turns are folded into one living brief, and the last messages stay as they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Literal

from memdash.records import EventKind, Usage
from memdash.strategies.base import Answer, Ask, Exchange, Job, Message, Strategy, Workspace
from memdash.strategies.capping import CAP_HELP
from memdash.strategies.folding import FoldedHistory, as_pair
from memdash.strategies.messages import THINKING_HELP, Thinking, flatten
from memdash.strategies.parameters import param, with_extras
from memdash.strategies.registry import register
from memdash.strategies.session_memory import (
    INSTRUCTIONS_HELP,
    LIVE_PREFIX_HELP,
    MAX_TOKENS_HELP,
    SUMMARY_MODEL_HELP,
    WORDS_HELP,
    check_summary_params,
    context_size,
    put_into_use,
    read_memory,
    summary_request,
)

GROWING_REVISIONS = 3
"""A brief that is longer after each of this many revisions in a row is reported: it is meant to be revised, not to grow."""


@dataclass(frozen=True, slots=True)
class RunningBriefParams:
    """When the brief is revised, what stays beside it, and how."""

    context_limit: int = param(
        12_000, "Tokens the conversation may take up", minimum=500, maximum=1_000_000, unit="tokens"
    )
    fraction: float = param(
        0.6, "Revise the brief once this share of the context limit is taken up", minimum=0.1, maximum=1.0
    )
    tail: int = param(
        6,
        "Messages that stay as they are, cut at the start of an exchange",
        minimum=0,
        maximum=1_000,
        unit="messages",
    )
    words: int = param(250, WORDS_HELP, minimum=5, maximum=5_000, unit="words")
    when: Literal["between_turns", "inline"] = param(
        "between_turns", "Revise the brief while the user thinks, or while the user waits"
    )
    thinking: Thinking = param("strip", THINKING_HELP)
    instructions: str | None = param(None, INSTRUCTIONS_HELP)
    summary_model: str | None = param(None, SUMMARY_MODEL_HELP)
    live_prefix: bool = param(False, LIVE_PREFIX_HELP)
    max_tokens: int | None = param(None, MAX_TOKENS_HELP, minimum=1, maximum=128_000)
    cap_results: int | None = param(None, CAP_HELP, minimum=50, maximum=1_000_000, unit="tokens")

    def __post_init__(self) -> None:
        """Refuse parameters that do not fit together."""
        check_summary_params(self)


@register
class RunningBrief(Strategy):
    """Keep one brief that is revised, never only added to, in front of the last messages.

    The brief is a user message and its acknowledgement. It is revised between turns, so that nobody waits unless the next
    message comes first; a revision that failed is made up for inline in the next turn.
    """

    name: ClassVar[str] = "running_brief"
    title: ClassVar[str] = "running brief"
    description: ClassVar[str] = (
        "Keeps one brief of the older turns, revised between turns, and the last few messages."
    )
    Params: ClassVar[type] = RunningBriefParams
    fires: ClassVar[frozenset[EventKind]] = frozenset({EventKind.COMPACTION})

    def __init__(self, params: RunningBriefParams) -> None:
        super().__init__(params)
        self._history = FoldedHistory(as_pair, params.thinking)
        self._job: Job | None = None
        self._through = 0
        self._due = False
        self._size = 0
        self._lengths: list[int] = []

    @classmethod
    def label(cls, params: RunningBriefParams) -> str:
        """Return ``running brief at 60 % of 12000``."""
        label = f"running brief at {params.fraction * 100:g} % of {params.context_limit}"
        words = {"when": "{}"}
        return with_extras(label, params, told=("context_limit", "fraction"), words=words)

    def open(self, message: Message, workspace: Workspace) -> None:
        """Put a revision that was made between turns into use; make it now where there is none."""
        if self._job is not None:
            job, self._job = self._job, None
            held_up = not job.ready()
            answer = job.result()
            problem = read_memory(answer).problem
            workspace.note(
                EventKind.BACKGROUND_READY, request=answer.request, held_up=held_up, problem=problem
            )
            if problem is None:
                self._use(answer, workspace)
                return
            workspace.note(EventKind.FALLBACK_INLINE, problem=problem)
            self._due = True
        if self._due:
            self._due = False
            self._use(workspace.ask(self._revision()), workspace)

    def context(self) -> Sequence[Message]:
        """Return the brief, if there is one, and the messages after it."""
        return self._history.messages()

    def close(self, exchange: Exchange, usage: Usage, workspace: Workspace) -> None:
        """Append the exchange; have the brief revised if the context has grown past its share."""
        self._history.append(exchange)
        self._size = context_size(usage, self._history, workspace)
        if self._size <= self.params.fraction * self.params.context_limit:
            return
        through = self._safe_cut()
        if through is None:
            return
        self._through = through
        if self.params.when == "inline":
            self._due = True
            return
        self._job = workspace.start(self._revision())
        workspace.note(EventKind.BACKGROUND_STARTED, covers_through=through)

    def _safe_cut(self) -> int | None:
        """Return the last turn to be folded so that the tail starts with an exchange; None where nothing is older than the tail.

        The cut moves forward to the start of an exchange; if none is left there, back to the start of the last one.
        """
        exchanges = self._history.exchanges
        older = sum(len(one.messages) for one in exchanges) - self.params.tail
        if older <= 0:
            return None
        folded = 0
        while older > 0:
            older -= len(exchanges[folded].messages)
            folded += 1
        if folded == len(exchanges) and self.params.tail:
            folded -= 1
        return exchanges[folded - 1].turn if folded else None

    def _revision(self) -> Ask:
        """Ask for the brief to be revised by the turns that are to be folded into it."""
        if self.params.live_prefix:
            # The brief stands in the messages already: with the prefix kept as it is, the call reads the cache.
            return summary_request(self.params, self._history.messages(self._through))
        folded = [one for one in self._history.exchanges if one.turn <= self._through]
        return summary_request(self.params, flatten(folded), previous=self._history.memory)

    def _use(self, answer: Answer, workspace: Workspace) -> None:
        if not put_into_use(self._history, answer, self._through, workspace, before_tokens=self._size):
            return
        self._size = workspace.fixed_tokens + workspace.estimate(self._history.messages())
        self._lengths.append(len((self._history.memory or "").split()))
        recent = self._lengths[-GROWING_REVISIONS - 1 :]
        if len(recent) > GROWING_REVISIONS and all(one < other for one, other in pairwise(recent)):
            workspace.note(EventKind.BRIEF_GROWING, words=recent)

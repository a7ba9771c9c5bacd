"""Checking a log: its conversations, where a history was edited, and what that cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from memdash.errors import InputError
from memdash.integrity.binding import Bindings
from memdash.integrity.conversations import Conversations, Request
from memdash.integrity.edits import Difference, changed_answer, first_difference
from memdash.integrity.log import LoggedCall, read_log
from memdash.integrity.prompts import Blocks
from memdash.models import facts
from memdash.prices import PriceTable
from memdash.records import Usage
from memdash.usage import read_iterations, read_usage


class Fate(StrEnum):
    """What the API does to signed thinking blocks that no longer fit their history (Messages API, preserved thinking)."""

    REFUSED = "refused"
    """The request asks for an error, or was refused."""
    DROPPED = "dropped"
    """The request asks for ``drop_block``: the model does not see them."""
    BY_ACCOUNT = "refused_for_new_accounts"
    """The request says nothing: accounts from 2026-08-31 on have it refused, older ones have it let pass."""


@dataclass(frozen=True, slots=True)
class Edit:
    """An edited history: the request on ``line``, compared with the one on ``previous_line`` that it continues.

    ``tokens_lost`` is what the earlier request had read from or written to the cache, as far as this prompt is long enough to
    read it again, and did not; ``cost_lost_usd`` what was paid for these tokens above a read. None: not reported, or no price
    known. ``thinking_lost`` counts the signed thinking blocks that this edit makes invalid, the first at ``thinking_path``; None
    where it is not known whether the model checks them.
    """

    line: int
    previous_line: int
    difference: Difference
    tokens_lost: int | None
    cost_lost_usd: float | None
    thinking_lost: int | None
    thinking_path: str | None = None
    thinking_fate: Fate | None = None


@dataclass(frozen=True, slots=True)
class Totals:
    """The numbers an assertion can speak of; None as in :class:`Edit`, if it is so for one of the edits."""

    requests: int
    edits: int
    tokens_lost: int | None
    cost_lost_usd: float | None
    thinking_lost: int | None
    errors: int


@dataclass(slots=True)
class Conversation:
    """One conversation of a log, numbered from 1; ``lines`` are those of its requests."""

    number: int
    model: str
    lines: list[int] = field(default_factory=list)
    edits: list[Edit] = field(default_factory=list)
    errors: list[tuple[int, str]] = field(default_factory=list)

    @property
    def totals(self) -> Totals:
        """Its sums."""
        return _totals(len(self.lines), self.edits, len(self.errors))


@dataclass(frozen=True, slots=True)
class LogCheck:
    """What a log holds."""

    conversations: tuple[Conversation, ...]

    @property
    def totals(self) -> Totals:
        """The sums over all conversations."""
        edits = [edit for one in self.conversations for edit in one.edits]
        requests = sum(len(one.lines) for one in self.conversations)
        return _totals(requests, edits, sum(len(one.errors) for one in self.conversations))


def check_log(path: Path, prices: PriceTable | None = None) -> LogCheck:
    """Read and check the log at ``path``.

    Raises :class:`memdash.errors.InputError` where it cannot be used, and where it holds no request: nothing would be
    checked, and no assertion could fail.
    """
    checked = check_calls(read_log(path), prices)
    if not checked.conversations:
        raise InputError(
            f"{path} holds no request; did the client under test talk to the server that records it?"
        )
    return checked


def check_calls(calls: Iterable[LoggedCall], prices: PriceTable | None = None) -> LogCheck:
    """Check logged requests in the order they were made."""
    checker = _Checker(prices or PriceTable.load())
    for call in calls:
        checker.take(call)
    return LogCheck(tuple(checker.conversations))


class _Checker:
    """Takes in a log request by request; keeps of each what later ones are compared with."""

    def __init__(self, prices: PriceTable) -> None:
        self.conversations: list[Conversation] = []
        self._prices = prices
        self._blocks = Blocks()
        self._places = Conversations(self._blocks)
        self._bindings = Bindings(self._blocks)
        self._usages: dict[int, Usage] = {}
        self._dead: set[int] = set()
        self._edited: dict[int, tuple[Conversation, int]] = {}

    def take(self, call: LoggedCall) -> None:
        prompt = self._blocks.prompt(call.body)
        reply = None if call.reply is None else self._blocks.numbers("assistant", call.reply)
        request = self._places.place(call.line, prompt, reply, failed=call.error is not None)
        if request.conversation > len(self.conversations):
            self.conversations.append(Conversation(request.conversation, prompt.model))
        conversation = self.conversations[request.conversation - 1]
        conversation.lines.append(call.line)
        if call.error is not None:
            conversation.errors.append((call.line, call.error))
        usage = _context_usage(call)
        if call.error is None:
            self._usages[call.line] = usage
        drops = _behaviour(call.body) == "drop_block"
        lost = self._newly_lost(request, reply or (), drops)
        if request.retry_of is not None:
            self._answer_retried(request, usage)
        elif request.parent is not None:
            self._compare(conversation, call, request, request.parent, lost, usage)

    def _newly_lost(self, request: Request, reply: Sequence[int], drops: bool) -> list[int]:
        """The places of thinking blocks that this request makes invalid; what was dead before is not counted again."""
        model = facts(request.prompt.model)
        if model is not None and not model.checks_prefix:
            return []
        entries = request.prompt.entries
        lost = [
            place
            for place in self._bindings.lost(request.prompt, reply, drops=drops)
            if place < len(entries) and entries[place] not in self._dead
        ]
        self._dead.update(entries[place] for place in lost)
        return lost

    def _compare(
        self,
        conversation: Conversation,
        call: LoggedCall,
        request: Request,
        earlier: Request,
        lost: Sequence[int],
        usage: Usage,
    ) -> None:
        model = facts(request.prompt.model)
        difference = first_difference(
            self._blocks, earlier, request, ignores_thinking=model is not None and not model.keeps_thinking
        )
        if difference is None and lost:
            difference = changed_answer(self._blocks, earlier, request)
        if difference is None:
            return
        tokens, dollars = self._price(request, earlier, usage, refused=call.error is not None)
        edit = Edit(call.line, earlier.line, difference, tokens, dollars, len(lost))
        if lost:
            edit = replace(
                edit,
                thinking_lost=None if model is None else len(lost),
                thinking_path=request.prompt.path(lost[0]),
                thinking_fate=_fate(call),
            )
        conversation.edits.append(edit)
        self._edited[call.line] = conversation, len(conversation.edits) - 1

    def _answer_retried(self, request: Request, usage: Usage) -> None:
        """Charge an edit whose request had no answer with what the same request sent again shows."""
        first = request.retry_of
        while first is not None and first.retry_of is not None:
            first = first.retry_of
        if (
            first is None
            or first.parent is None
            or first.line not in self._edited
            or first.line in self._usages
        ):
            return
        conversation, place = self._edited[first.line]
        tokens, dollars = self._price(request, first.parent, usage, refused=request.failed)
        conversation.edits[place] = replace(
            conversation.edits[place], tokens_lost=tokens, cost_lost_usd=dollars
        )

    def _price(
        self, request: Request, earlier: Request, usage: Usage, *, refused: bool
    ) -> tuple[int | None, float | None]:
        """Return what was not read from the cache, in tokens and in dollars; a refused request is not billed."""
        if refused:
            return 0, 0.0
        before = self._usages.get(earlier.line, Usage())
        read, prompt = usage.cache_read_input_tokens, usage.prompt_tokens
        if before.cache_read_input_tokens is None or read is None or prompt is None:
            return None, None
        readable = before.cache_read_input_tokens + (before.cache_creation_input_tokens or 0)
        lost = max(0, min(readable, prompt) - read)
        paid = self._prices.cost(usage, request.prompt.model)
        instead = self._prices.cost(_read_instead(usage, lost), request.prompt.model)
        return lost, None if paid is None or instead is None else paid - instead


def _read_instead(usage: Usage, tokens: int) -> Usage:
    """Return ``usage`` with so many tokens read from the cache that were written, or neither."""
    hour = usage.ephemeral_1h_input_tokens or 0
    written = usage.cache_creation_input_tokens or 0
    from_writes = min(tokens, written)
    from_hour = min(hour, max(0, from_writes - (written - hour)))
    return replace(
        usage,
        input_tokens=(usage.input_tokens or 0) - (tokens - from_writes),
        cache_creation_input_tokens=written - from_writes,
        ephemeral_5m_input_tokens=written - hour - (from_writes - from_hour),
        ephemeral_1h_input_tokens=hour - from_hour,
        cache_read_input_tokens=(usage.cache_read_input_tokens or 0) + tokens,
    )


def _context_usage(call: LoggedCall) -> Usage:
    """The usage of the call's last pass over the messages: with a server compaction the top level tells less."""
    passes = read_iterations(call.usage)
    return next((one.usage for one in reversed(passes) if one.type == "message"), None) or (
        passes[-1].usage if passes else read_usage(call.usage)
    )


def _behaviour(body: Mapping[str, Any]) -> object:
    thinking = body.get("thinking")
    binding = thinking.get("block_binding") if isinstance(thinking, dict) else None
    return binding.get("prefix_mismatch_behavior") if isinstance(binding, dict) else None


def _fate(call: LoggedCall) -> Fate:
    behaviour = _behaviour(call.body)
    if behaviour == "drop_block":
        return Fate.DROPPED
    return Fate.REFUSED if behaviour == "error" or call.error is not None else Fate.BY_ACCOUNT


def _totals(requests: int, edits: Sequence[Edit], errors: int) -> Totals:
    tokens = [edit.tokens_lost for edit in edits]
    dollars = [edit.cost_lost_usd for edit in edits]
    thinking = [edit.thinking_lost for edit in edits]
    return Totals(
        requests,
        len(edits),
        None if None in tokens else sum(one for one in tokens if one is not None),
        None if None in dollars else sum(one for one in dollars if one is not None),
        None if None in thinking else sum(one for one in thinking if one is not None),
        errors,
    )

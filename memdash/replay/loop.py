"""The replay: one script through one strategy, turn by turn, as a stream of records."""

from __future__ import annotations

import operator
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from memdash.claude import Claude, RequestBuilder
from memdash.clock import Clock
from memdash.errors import BudgetExceeded, DayBudgetSpent, InputError, MemdashError
from memdash.fixed_part import FixedPart, fixed_parts
from memdash.models import TokenFamily, facts
from memdash.records import (
    Control,
    EventKind,
    EventRecord,
    FactRecord,
    ProbeRecord,
    Purpose,
    Record,
    RequestRecord,
    Status,
    StatusRecord,
    Survival,
    TurnRecord,
    Usage,
)
from memdash.replay.background import Background
from memdash.replay.calls import Answered, Calls, Gate, RequestFailed, Slot
from memdash.replay.clearing import as_read
from memdash.replay.hints import probe_hint, turn_hint
from memdash.replay.journal import Journal
from memdash.replay.recall import due, survival, visible_text
from memdash.replay.timeline import Timeline
from memdash.replay.tools import ToolAnswers
from memdash.replay.verdict import Judgement
from memdash.replay.workspace import ReplayWorkspace
from memdash.scripts.grading import grade
from memdash.scripts.model import Fact, Turn
from memdash.spec import Provider, ReplaySpec, Replies
from memdash.strategies import StrategyChoice
from memdash.strategies.base import Exchange, Message, RequestOptions
from memdash.strategies.messages import strip_compactions, strip_thinking, user_message

T = TypeVar("T")

TOOL_LOOP_REQUESTS = 8
"""How many requests one turn may take where the script does not plan for more: a live model must not call tools for ever."""


_PROBE_REQUESTS = 3
"""How often a probe is handed back to the API where it stops before it has answered."""

_UNFINISHED = ("pause_turn", "compaction")
"""Stop reasons after which the caller appends what it got and calls again (Messages API)."""


def replay(
    spec: ReplaySpec,
    client: Claude,
    clock: Clock,
    *,
    resume_from: Sequence[Record] = (),
    gate: Gate | None = None,
) -> Iterator[Record]:
    """Replay ``spec.script`` through ``spec.strategy`` and yield what happens, in order.

    ``resume_from`` holds what an earlier run of the same replay yielded: it is gone through without sending
    any answered request again,
    only what comes after it is yielded, and the replay goes on from there. ``gate`` is called before every request and may raise
    :class:`BudgetExceeded`, which ends the replay as ``stopped_by_budget``. The last record is a
    :class:`StatusRecord` that says how
    it ended; a refusal by the API is such an end, not an exception. Raises :class:`MemdashError` where
    ``resume_from`` is not from this
    replay.
    """
    yield from _Replay(spec, client, clock, resume_from, gate).run()


class _End(Exception):  # an outcome, not an error: the replay ends before its last turn
    def __init__(self, status: Status, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


@dataclass(frozen=True, slots=True)
class _Question:
    """A probe with the context it is asked from."""

    fact: Fact
    asked_after: int
    control: Control
    context: tuple[Message, ...]
    fixed: FixedPart
    options: RequestOptions


class _Replay:
    def __init__(
        self, spec: ReplaySpec, client: Claude, clock: Clock, resume_from: Sequence[Record], gate: Gate | None
    ) -> None:
        known = facts(spec.model)
        family = known.token_family if known else TokenFamily.NEW
        self._spec = spec
        self._judgement = Judgement(spec)
        self._journal = Journal(resume_from, self._judgement.take)
        self._timeline = Timeline(clock)
        self._calls = Calls(spec, client, self._timeline, self._journal, gate)
        self._background = Background(self._calls)
        self._builder = RequestBuilder(spec)
        self._workspace = ReplayWorkspace(
            spec, family, self._calls, self._background, self._builder, self._journal, self._timeline
        )
        self._strategy = StrategyChoice(spec.strategy, spec.params, spec.strategy_file).build()
        self._fixed = fixed_parts(spec.script, family, spec.token_counter)
        self._tools = ToolAnswers(spec.script)
        self._history: list[Exchange] = []
        self._stated_in: dict[int, frozenset[int]] = {}
        self._completed = 0
        self._asks_late = spec.provider is Provider.ANTHROPIC and spec.replies is Replies.FRESH
        self._late: list[_Question] = []
        # The latest request that was answered from the memory: it says what the API clears of that.
        self._latest: RequestRecord | None = None

    def run(self) -> Iterator[Record]:
        """Play every turn, then ask what was kept for the end."""
        self._say(Status.RUNNING)
        yield from self._journal.drain()
        try:
            for turn in self._spec.script.turns[: self._spec.turns]:
                yield from self._turn(turn)
            self._background.settle()
            yield from self._journal.drain()
            yield from self._ask_all(self._late)
            self._measure_kept()
            self._say(Status.DONE)
        except RequestFailed as failed:
            self._fail(failed)
        except BudgetExceeded as over:
            self._say(Status.STOPPED_BY_BUDGET, str(over))
        except DayBudgetSpent:  # no end of its own: whoever plays it says that it can go on
            yield from self._journal.drain()
            raise
        except _End as end:
            self._say(end.status, end.message)
        yield from self._journal.drain()

    # -- one turn ---------------------------------------------------------------------------------------------------

    def _turn(self, turn: Turn) -> Iterator[Record]:
        if self._completed:
            pause = self._spec.pace if turn.pause is None else turn.pause
            self._pause(pause * 1000.0)
        started = self._timeline.now()
        self._workspace.turn = turn.number
        self._workspace.fixed = self._fixed[turn.number]
        message: Message = {"role": "user", "content": [dict(block) for block in turn.content]}
        self._guard(lambda: self._strategy.open(message, self._workspace))
        yield from self._journal.drain()
        context = tuple(self._guard(self._strategy.context))
        self._workspace.options = self._guard(self._strategy.options)
        exchange, answers = [message], list[Answered]()
        for _ in self._exchange(turn, context, exchange, answers):
            yield from self._journal.drain()
        answered = self._timeline.now()
        self._history.append(finished := Exchange(turn.number, tuple(exchange)))
        self._stated_in[turn.number] = frozenset(
            id(block) for one in exchange if one["role"] == "user" for block in one["content"]
        )
        self._latest = answers[-1].record
        usage = _context_usage(answers[-1])
        self._guard(lambda: self._strategy.close(finished, usage, self._workspace))
        self._completed = turn.number
        closed = self._timeline.now()
        first_text = next(
            (one.record.first_text_ms for one in answers if one.record.first_text_ms is not None), None
        )
        self._journal.add(
            lambda seq: TurnRecord(
                seq,
                turn.number,
                started,
                answered,
                wait_ms=closed - started,
                first_text_ms=None if first_text is None else first_text - started,
            )
        )
        yield from self._journal.drain()
        questions = self._questions(turn.number)
        if self._asks_late:
            self._late.extend(questions)
        else:
            yield from self._ask_all(questions)

    def _exchange(
        self, turn: Turn, context: tuple[Message, ...], exchange: list[Message], answers: list[Answered]
    ) -> Iterator[None]:
        """Send the user's message and answer tool calls until the final answer; inside, requests only grow."""
        self._tools.begin(turn)
        most = max(TOOL_LOOP_REQUESTS, len(turn.steps) + 1)
        for step in range(most):
            hint = turn_hint(self._spec, turn, step)
            request = self._builder.conversation(
                self._fixed[turn.number], (*context, *exchange), self._workspace.options, hint
            )
            purpose = Purpose.TURN if step == 0 else Purpose.TOOL
            answered = self._calls.send(request, Slot(purpose, turn.number, step))
            answers.append(answered)
            if answered.content:
                exchange.append({"role": "assistant", "content": list(answered.content)})
            calls = [block for block in answered.content if block.get("type") == "tool_use"]
            if calls:
                exchange.append(
                    {"role": "user", "content": [self._tool_result(call, turn) for call in calls]}
                )
            elif answered.record.stop_reason not in _UNFINISHED:
                return
            yield
        raise _End(Status.FAILED, f"turn {turn.number}: the model still called tools after {most} requests")

    def _tool_result(self, call: Mapping[str, Any], turn: Turn) -> Mapping[str, Any]:
        block = self._tools.result_block(call)
        if block is None:
            now = self._timeline.now()
            data = {"name": call.get("name"), "input": call.get("input")}
            self._journal.add(
                lambda seq: EventRecord(seq, EventKind.UNSCRIPTED_TOOL_CALL, turn.number, now, data)
            )
            raise _End(
                Status.FAILED,
                f"unscripted tool call: turn {turn.number} called {call.get('name')!r} with an input the script has no result "
                "for; add the call, or a default result for this tool, to the script",
            )
        return self._guard(lambda: self._strategy.admit(block, self._workspace))

    def _pause(self, pause_ms: float) -> None:
        """Let the user think; where recorded answers are still to come, the pause has already been waited for."""
        until = self._timeline.now() + pause_ms
        if self._journal.peek() is None:
            self._timeline.wait_until(until)
        else:
            self._timeline.jump_to(until)

    # -- probes -----------------------------------------------------------------------------------------------------

    def _questions(self, turn: int) -> list[_Question]:
        """The probes that are due after ``turn``, each with its controls where this replay asks them."""
        asked = due(self._spec.script, turn, self._spec.turns)
        if not asked:
            return []
        context = tuple(self._guard(self._strategy.context))
        options = self._guard(self._strategy.options)
        whole = [message for exchange in self._history for message in exchange.messages]
        memory_is_whole = len(whole) == len(context) and all(map(operator.is_, whole, context))
        contexts = [(Control.MEMORY, context, options)]
        if self._spec.controls:
            plain = RequestOptions()
            everything = context if memory_is_whole else strip_thinking(whole).messages
            contexts.append((Control.WHOLE, strip_compactions(everything), plain))
            contexts.append((Control.EMPTY, (), plain))
        fixed = self._fixed[turn]
        return [
            _Question(fact, turn, control, tuple(one), fixed, chosen)
            for fact in asked
            for control, one, chosen in contexts
        ]

    def _ask_all(self, questions: Sequence[_Question]) -> Iterator[Record]:
        for question in questions:
            self._ask(question)
            yield from self._journal.drain()

    def _ask(self, question: _Question) -> None:
        fact, after = question.fact, question.asked_after
        hint = probe_hint(self._spec, fact.id, after)
        messages: tuple[Message, ...] = (*question.context, user_message(fact.question))
        for _ in range(_PROBE_REQUESTS):
            request = self._builder.conversation(question.fixed, messages, question.options, hint)
            answered = self._calls.send(request, Slot(Purpose.PROBE, after, control=question.control))
            messages = (*messages, {"role": "assistant", "content": list(answered.content)})
            if answered.record.stop_reason not in _UNFINISHED or not answered.content:
                break
        # A compaction on the way is no answer, whatever it says.
        said = [visible_text(block) for block in answered.content if block.get("type") == "text"]
        answer = "\n".join(said).strip()
        *earlier, latest = fact.stated_by(after)
        verdict = grade(latest, earlier, answer)
        found = self._survival(fact, after, as_read(question.context, answered.record))
        if question.control is Control.MEMORY and after == self._completed:
            self._latest = answered.record
        self._journal.add(
            lambda seq: ProbeRecord(
                seq,
                fact=fact.id,
                asked_after=after,
                control=question.control,
                question=fact.question,
                answer=answer,
                passed=verdict.passed,
                stale=verdict.stale,
                visible=found in (Survival.VERBATIM, Survival.RESTATED),
                survival=found,
                grading=latest.answer.grading,
                request=answered.record.number,
            )
        )

    def _survival(self, fact: Fact, turn: int, context: Sequence[Message]) -> Survival:
        return survival(fact, turn, context, self._stated_in)

    def _measure_kept(self) -> None:
        """Record which facts the last context still holds, without what the API cleared of it when it last read it."""
        turn = self._completed
        context: Sequence[Message] = tuple(self._guard(self._strategy.context))
        if self._latest is not None:
            context = as_read(context, self._latest)
        for fact in self._spec.script.facts:
            if fact.stated_by(turn):
                self._journal.add(
                    partial(FactRecord, fact=fact.id, survival=self._survival(fact, turn, context))
                )

    # -- ends -------------------------------------------------------------------------------------------------------

    def _fail(self, failed: RequestFailed) -> None:
        if not failed.by_api:
            self._say(Status.FAILED, failed.message)
            return
        record = failed.record
        self._journal.add(
            lambda seq: EventRecord(
                seq,
                EventKind.REJECTED,
                record.turn,
                record.finished_ms,
                {"request": record.number, "status": record.error_status, "message": failed.message},
            )
        )
        self._measure_kept()
        self._say(Status.REJECTED, failed.message)

    def _say(self, status: Status, message: str | None = None) -> None:
        completed, now = self._completed, self._timeline.now()
        if status.over:
            data = self._judgement.verdict().data()
            self._journal.add(
                partial(EventRecord, event=EventKind.VERDICT, turn=completed, at_ms=now, data=data)
            )
        self._journal.add(lambda seq: StatusRecord(seq, status, completed, now, message))

    def _guard(self, call: Callable[[], T]) -> T:
        """Call into the strategy; what it raises ends this replay alone, with the strategy's own line in the message."""
        try:
            return call()
        except (BudgetExceeded, RequestFailed, _End):
            raise
        except Exception as error:
            if isinstance(error, MemdashError) and not isinstance(error, InputError):
                raise
            frame = traceback.extract_tb(error.__traceback__)[-1]
            raise _End(
                Status.FAILED,
                f"the strategy {self._spec.strategy!r} failed at {frame.filename}:{frame.lineno}: "
                f"{type(error).__name__}: {error}",
            ) from error


def _context_usage(answered: Answered) -> Usage:
    """The usage that says how large the context is: with server compaction that of the last message iteration."""
    messages = [one.usage for one in answered.record.iterations if one.type == "message"]
    return messages[-1] if messages else answered.record.usage

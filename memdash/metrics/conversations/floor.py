"""The floor: what a conversation would cost if a perfect memory sent only what is needed.

A perfect memory sends with every request of a turn

* the fixed part (tool definitions and system prompt);
* the latest value, and nothing else, of each fact that was stated in an earlier turn and is still to be asked for, as the words
  that the script looks for;
* the turn's own exchange: the user's words and, in later requests of the turn, the tool calls and their results so far.

What frames a message costs, thinking that goes back within a tool loop, images and documents are left out. The answers are full
history's own, so their tokens are its output. The cache is used as well as it can be, wherever its marks would have to stand and
in whichever order the facts would have to be: what stayed the same since the request before is read where it was written and the
script's pauses (or the pace) have not outlived it; before each request the cheapest of sending plainly, caching the stable part
and caching the turn's exchange too is known. A stable part that is shorter than the model can cache is filled up to that size
where this is cheaper. Sending everything remembers everything, so the floor is never above what full history itself took.

A strategy that keeps every fact in sight and answers at the same length pays at least this, token by token: its prompts hold
all of the above and more, and none of it is read where it is not read here. Only the few words of a fact may cost it less, by one
write, where they stay in the message that stated them. One that falls below the floor forgets facts, shortens what the turn
itself needs (a tool result that is capped or cleared) or had shorter answers.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from statistics import fmean
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memdash.fixed_part import fixed_part_tokens, fixed_parts
from memdash.metrics.conversations.curves import mean_turns
from memdash.metrics.outcome import ReplayOutcome
from memdash.metrics.pricing import Prices
from memdash.metrics.recall import planned_probes
from memdash.metrics.summary import BASELINE
from memdash.models import ModelFacts, facts
from memdash.records import Usage
from memdash.scripts.facts import said_in
from memdash.scripts.model import Grading, Turn, Value
from memdash.scripts.patterns import compile_pattern
from memdash.spec import CacheLifetime, CacheMarks, ReplaySpec
from memdash.tokens import TokenCounter, at_hand, counter


class Conditions(NamedTuple):
    """What replays must share for one floor to be the measure of them all."""

    script: str
    model: str
    cache: str
    cache_marks: str
    repeat: int

    @classmethod
    def of(cls, outcome: ReplayOutcome) -> Conditions:
        """The conditions of a replay."""
        return cls(outcome.script, outcome.model, outcome.cache, outcome.cache_marks, outcome.repeat)


@dataclass(frozen=True, slots=True, eq=False)
class Floor:
    """The floor under the replays of some conditions: ``turns_usd`` is what each turn would cost, in US dollars.

    ``full_history_usd`` is what full history took.
    """

    conditions: Conditions
    turns_usd: NDArray[np.float64]
    full_history_usd: float

    @property
    def cost_usd(self) -> float:
        """What the whole conversation would cost."""
        return math.fsum(self.turns_usd.tolist())


def floors(
    specs: Iterable[ReplaySpec], outcomes: Iterable[ReplayOutcome], prices: Prices
) -> tuple[Floor, ...]:
    """Return the floor under every finished replay of the full history; none where a price or a count is not known."""
    by_id = {spec.id: spec for spec in specs}
    sent = _Sent()
    found = (
        floor_of(by_id[outcome.id], outcome, prices, sent)
        for outcome in outcomes
        if outcome.strategy == BASELINE and outcome.done
    )
    return tuple(one for one in found if one is not None)


def multiples(outcomes: Iterable[ReplayOutcome], under: Iterable[Floor]) -> dict[str, float | None]:
    """Return, by series, what its replays cost as a multiple of the floors under them.

    None unless every replay of the series is finished, priced and has a floor.
    """
    floor_usd = {floor.conditions: floor.cost_usd for floor in under}
    pairs: dict[str, list[tuple[float | None, float | None]]] = defaultdict(list)
    for one in outcomes:
        cost = one.cost_usd if one.done else None
        pairs[one.series].append((cost, floor_usd.get(Conditions.of(one))))
    return {series: _ratio(found) for series, found in pairs.items()}


def common_floor(under: Iterable[Floor], scripts: Iterable[str]) -> float | None:
    """Return what a conversation costs at the floor, in US dollars, as a mean in which each of ``scripts`` counts the same.

    None where there is none under a script, or floors of several models or caches.
    """
    known = tuple(under)
    conditions = {(one.conditions.model, one.conditions.cache, one.conditions.cache_marks) for one in known}
    costs: dict[str, list[float]] = defaultdict(list)
    for one in known:
        costs[one.conditions.script].append(one.cost_usd)
    if len(conditions) != 1 or costs.keys() != set(scripts):
        return None
    return fmean(fmean(group) for group in costs.values())


def floor_so_far(under: Sequence[Floor]) -> NDArray[np.float64]:
    """Return what a conversation of n turns costs at the floor, at index n - 1: the curve of a setting that nobody has."""
    scripts: dict[str, list[NDArray[np.float64]]] = defaultdict(list)
    for floor in under:
        scripts[floor.conditions.script].append(floor.turns_usd)
    return np.cumsum(mean_turns(scripts.values())[0])


def floor_of(
    spec: ReplaySpec, full_history: ReplayOutcome, prices: Prices, sent: _Sent | None = None
) -> Floor | None:
    """Return the floor under a finished replay of the full history; None where the model, a price or a count is not known.

    ``sent`` remembers what a perfect memory sends, for further replays of the same script.
    """
    model = facts(spec.model)
    output, own = full_history.turns.output_tokens, full_history.turns.cost_usd
    if model is None or output.size < spec.turns or np.isnan(output).any() or np.isnan(own).any():
        return None
    requests = _answered((sent or _Sent()).of(spec, model), output)
    turns = _cheapest(requests, _Rates(spec, model, prices))
    if turns is None:
        return None
    whole = math.fsum(own.tolist())
    return Floor(Conditions.of(full_history), own if whole < math.fsum(turns.tolist()) else turns, whole)


def _ratio(pairs: Sequence[tuple[float | None, float | None]]) -> float | None:
    costs = [cost for cost, _ in pairs if cost is not None]
    under = [floor for _, floor in pairs if floor is not None]
    if not len(costs) == len(under) == len(pairs) or not math.fsum(under):
        return None
    return math.fsum(costs) / math.fsum(under)


# -- what is sent --------------------------------------------------------------------------------------------------------


class _Request(NamedTuple):
    """What one request holds, in tokens.

    ``facts`` are those it tells, ``facts_before`` those of them that the request before told too. ``exchange`` is the turn's own
    so far, ``resent`` what of it the request before held. ``same_fixed`` is whether that one had this fixed part; ``cold``
    whether the pause since has outlived the cache.
    """

    turn: int
    fixed: int
    same_fixed: bool
    facts: int
    facts_before: int
    exchange: int
    resent: int
    output: int
    cold: bool


class _Sent:
    """What a perfect memory sends, worked out once for all repeats of a script: they differ in the answers alone."""

    def __init__(self) -> None:
        self._known: dict[Hashable, list[_Request]] = {}

    def of(self, spec: ReplaySpec, model: ModelFacts) -> list[_Request]:
        """Return the requests of a replay without their answers."""
        key = (id(spec.script), spec.turns, spec.model, spec.token_counter, spec.cache, spec.pace)
        if key not in self._known:
            self._known[key] = list(_requests(spec, model))
        return self._known[key]


def _answered(requests: Sequence[_Request], output: NDArray[np.float64]) -> list[_Request]:
    """Give the requests their answers. A turn's output is known in all; at its shortest prompt it has the lowest tier's price."""
    first = {one.turn: place for place, one in reversed(list(enumerate(requests)))}
    return [
        one._replace(output=round(float(output[one.turn - 1]))) if first[one.turn] == place else one
        for place, one in enumerate(requests)
    ]


_Told = tuple[str, int]
"""A fact and the turn that stated its value."""


def _requests(spec: ReplaySpec, model: ModelFacts) -> Iterator[_Request]:
    """Yield the requests of the conversation, one for each turn and one more for each step of tool calls."""
    counted_by = at_hand(spec.token_counter)
    tokens = counter(counted_by)
    parts = fixed_parts(spec.script, model.token_family, counted_by)
    lifetime = spec.cache.milliseconds
    asked_last: dict[str, int] = {}
    for fact, after in planned_probes(spec.script, spec.turns):
        asked_last[fact] = max(after, asked_last.get(fact, 0))
    told: dict[_Told, int] = {}
    sizes: dict[int, int] = {}
    for turn in spec.script.turns[: spec.turns]:
        before, told = told, _needed(spec, turn, asked_last, tokens, model)
        pause = spec.pace if turn.pause is None else turn.pause
        part = parts[turn.number]
        fixed = sizes.get(id(part)) or fixed_part_tokens(part, spec.model, counted_by)
        sizes[id(part)] = fixed
        all_told = sum(told.values())
        exchange = resent = 0
        for step, added in enumerate(_steps(turn, tokens, model)):
            resent, exchange = exchange, exchange + added
            yield _Request(
                turn=turn.number,
                fixed=fixed,
                same_fixed=step > 0 or part is parts.get(turn.number - 1),
                facts=all_told,
                facts_before=all_told if step else sum(told[value] for value in told if value in before),
                exchange=exchange,
                resent=resent,
                output=0,
                cold=step == 0 and (lifetime is None or pause * 1000 > lifetime),
            )


def _needed(
    spec: ReplaySpec, turn: Turn, asked_last: Mapping[str, int], tokens: TokenCounter, model: ModelFacts
) -> dict[_Told, int]:
    """The values that a perfect memory brings into ``turn``, with their tokens."""
    needed: dict[_Told, int] = {}
    for fact in spec.script.facts:
        stated = fact.stated_by(turn.number)
        if stated and stated[-1].turn < turn.number <= asked_last.get(fact.id, 0):
            words = _words(stated[-1], spec.script.turns[stated[-1].turn - 1])
            needed[fact.id, stated[-1].turn] = tokens.count(words, model.token_family)
    return needed


def _words(value: Value, stated_in: Turn) -> str:
    """The words that tell a value: what its pattern finds where it was stated, or the number, the date, the texts themselves."""
    if value.text.grading is not Grading.REGEX:
        return " ".join(value.text.values)
    found = compile_pattern(value.text.values[0]).search(said_in(stated_in))
    return str(found.group(0)) if found else ""


def _steps(turn: Turn, tokens: TokenCounter, model: ModelFacts) -> Iterator[int]:
    """What each request of a turn adds to its exchange: the user's words, then the calls and results of each step."""
    family = model.token_family
    yield tokens.count(turn.text, family)
    for step in turn.steps:
        yield tokens.count(step.text, family) + sum(
            tokens.count(call.name, family)
            + tokens.count(json.dumps(call.input, ensure_ascii=False, separators=(",", ":")), family)
            + tokens.count(call.result, family)
            for call in step.calls
        )


# -- what it costs -------------------------------------------------------------------------------------------------------


class _Cached(IntEnum):
    """What of a request is in the cache after it."""

    NOTHING = 0
    STABLE = 1
    """The fixed part and the facts."""
    WHOLE = 2
    """The turn's exchange too."""


class _Rates:
    """What a request costs, by what was cached before it and what is after it."""

    def __init__(self, spec: ReplaySpec, model: ModelFacts, prices: Prices) -> None:
        self._model = spec.model
        self._prices = prices
        self._minimum = model.min_cacheable
        self._off = spec.cache is CacheLifetime.OFF
        self._long = spec.cache is CacheLifetime.ONE_HOUR
        # Other conversations have written the fixed part, where a mark ends it (cache marks; warm).
        self._warm = spec.warm and spec.cache_marks is CacheMarks.FIXED_AND_AUTO and not self._off

    @property
    def outcomes(self) -> tuple[_Cached, ...]:
        """What a request can leave in the cache."""
        return (_Cached.NOTHING,) if self._off else tuple(_Cached)

    def cost(self, request: _Request, before: _Cached, after: _Cached, *, first: bool) -> float | None:
        """Return the dollars of one request; None where a price is not known."""
        if after is _Cached.NOTHING:
            return self._price(request.fixed + request.facts + request.exchange, 0, 0, request.output)
        base = max(request.fixed, self._minimum)
        stable, read = base + request.facts, self._read(request, before, base, first=first)
        read_exchange = request.resent if before is _Cached.WHOLE and not request.cold else 0
        new_exchange = request.exchange - read_exchange
        plain, written = (new_exchange, 0) if after is _Cached.STABLE else (0, new_exchange)
        return self._price(plain, written + stable - read, read + read_exchange, request.output)

    def _read(self, request: _Request, before: _Cached, base: int, *, first: bool) -> int:
        """What of the fixed part (of ``base`` tokens, filled up) and the facts is read."""
        if request.cold or before is _Cached.NOTHING:
            return request.fixed if first and self._warm and request.fixed >= self._minimum else 0
        return base + request.facts_before if request.same_fixed else 0

    def _price(self, plain: int, written: int, read: int, output: int) -> float | None:
        usage = Usage(
            input_tokens=plain,
            cache_creation_input_tokens=written,
            ephemeral_5m_input_tokens=0 if self._long else written,
            ephemeral_1h_input_tokens=written if self._long else 0,
            cache_read_input_tokens=read,
            output_tokens=output,
        )
        return self._prices.cost(usage, self._model)


class _Way(NamedTuple):
    """The cheapest way to a point of the conversation: its cost, its last request's, and the way before that."""

    total: float
    last: float
    before: _Way | None


def _cheapest(requests: Sequence[_Request], rates: _Rates) -> NDArray[np.float64] | None:
    """Return what each turn costs on the cheapest way through the conversation; None where a price is not known."""
    ways: dict[_Cached, _Way] = {_Cached.NOTHING: _Way(0.0, 0.0, None)}
    for place, request in enumerate(requests):
        reached: dict[_Cached, _Way] = {}
        for before, way in ways.items():
            for after in rates.outcomes:
                cost = rates.cost(request, before, after, first=place == 0)
                if cost is None:
                    return None
                if after not in reached or way.total + cost < reached[after].total:
                    reached[after] = _Way(way.total + cost, cost, way)
        ways = reached
    turns = np.zeros(requests[-1].turn if requests else 0)
    last: _Way | None = min(ways.values(), key=lambda one: one.total)
    for request in reversed(requests):
        if last is not None:
            turns[request.turn - 1] += last.last
            last = last.before
    return turns

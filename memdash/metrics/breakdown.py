"""What is kept and what is answered right, by kind of fact, by how long ago it was said and by the compactions it survived."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from memdash.metrics.outcome import ReplayOutcome
from memdash.metrics.recall import still_there
from memdash.records import Survival
from memdash.scripts.model import Script

Cut = Literal["type", "age", "compactions"]
"""By what facts and questions are sorted."""

CUTS: Mapping[Cut, str] = {
    "type": "kind of fact",
    "age": "how long ago it was said",
    "compactions": "compactions since it was said",
}
"""Each cut in words."""

_AGES = ((0, 5), (6, 10), (11, 20), (21, 40), (41, 80))
"""Bins of an age, in turns, both ends included; each about twice the one before, since forgetting is fast at first."""
_MANY_COMPACTIONS = 3
"""From so many on they are one bin."""


class Line(NamedTuple):
    """One bin of a breakdown, over all replays of a series.

    ``kept`` of ``facts`` stood with their latest value in the last context, ``outdated`` with an earlier value alone. ``right``
    of ``asked`` questions were answered right and ``stale`` with an earlier value; the others were wrong in another way.
    Questions that are no test are left out.
    """

    name: str
    facts: int
    kept: int
    outdated: int
    asked: int
    right: int
    stale: int

    @property
    def wrong(self) -> int:
        """Questions answered neither right nor with an earlier value."""
        return self.asked - self.right - self.stale

    @property
    def kept_share(self) -> float | None:
        """Kept over facts; None where there are none."""
        return self.kept / self.facts if self.facts else None

    @property
    def recall(self) -> float | None:
        """Right over asked; None where nothing was asked."""
        return self.right / self.asked if self.asked else None


class Sight(NamedTuple):
    """Questions by whether the fact's latest text was in the context, and whether the answer was right.

    Right without sight is a guess, or was told by something that the fact's pattern does not find; wrong in sight is a model that
    did not use what it had.
    """

    visible_right: int
    visible_wrong: int
    hidden_right: int
    hidden_wrong: int

    @property
    def asked(self) -> int:
        """All questions."""
        return sum(self)


@dataclass(frozen=True, slots=True)
class Breakdown:
    """The facts and questions of one series' finished replays.

    Kept is looked at once, in the last context of a replay; a question counts where it was asked. Each bin holds what there is of
    both. ``simulated`` says that the pretend model answered.
    """

    series: str
    simulated: bool
    total: Line
    sight: Sight
    cuts: Mapping[Cut, tuple[Line, ...]]


def breakdowns(outcomes: Iterable[ReplayOutcome], scripts: Iterable[Script]) -> tuple[Breakdown, ...]:
    """Return one breakdown for each series with a finished replay, in the order the series first appear.

    ``scripts`` are those of the outcomes; they say what kind a fact is and which turn states it. Bins that no series has
    anything in are left out, and all series have the same ones.
    """
    known = {script.id: script for script in scripts}
    groups: dict[str, list[ReplayOutcome]] = {}
    for outcome in outcomes:
        if outcome.done:
            groups.setdefault(outcome.series, []).append(outcome)
    items = {
        series: [item for one in group for item in _items(one, known[one.script])]
        for series, group in groups.items()
    }
    every = [item for found in items.values() for item in found]
    bins = {cut: _bins(cut, every) for cut in CUTS}
    return tuple(
        Breakdown(
            series=series,
            simulated=any(one.recall_simulated for one in groups[series]),
            total=_line("all", found),
            sight=_sight(groups[series]),
            cuts={cut: _lines(cut, names, found) for cut, names in bins.items()},
        )
        for series, found in items.items()
    )


class _Item(NamedTuple):
    """A fact in the last context (``survival``), or a question about one (``right`` and ``stale``)."""

    fact_type: str
    age: int
    compactions: int
    survival: Survival | None
    right: bool
    stale: bool


def _items(outcome: ReplayOutcome, script: Script) -> Iterator[_Item]:
    facts = {fact.id: fact for fact in script.facts}

    def since(fact: str, turn: int) -> tuple[str, int, int]:
        """The fact's type, and the turns and compactions between its latest statement and the end of ``turn``.

        A compaction of the very turn that stated it counts: most strategies make it when the turn is over.
        """
        stated = facts[fact].stated_by(turn)[-1].turn
        return (
            facts[fact].fact_type,
            turn - stated,
            sum(stated <= one <= turn for one in outcome.summary_turns),
        )

    for fact, survival in outcome.survival.items():
        yield _Item(*since(fact, outcome.turns_completed), survival, False, False)
    for probe in outcome.probes:
        if probe.is_test:
            yield _Item(*since(probe.fact, probe.asked_after), None, probe.passed, probe.stale)


def _sight(outcomes: Iterable[ReplayOutcome]) -> Sight:
    seen = Counter((probe.visible, probe.passed) for one in outcomes for probe in one.probes if probe.is_test)
    return Sight(seen[True, True], seen[True, False], seen[False, True], seen[False, False])


def _line(name: str, items: Sequence[_Item]) -> Line:
    facts = [one.survival for one in items if one.survival is not None]
    asked = [one for one in items if one.survival is None]
    return Line(
        name=name,
        facts=len(facts),
        kept=sum(still_there(one) for one in facts),
        outdated=sum(one is Survival.STALE for one in facts),
        asked=len(asked),
        right=sum(one.right for one in asked),
        stale=sum(one.stale and not one.right for one in asked),
    )


def _lines(cut: Cut, names: Sequence[str], items: Sequence[_Item]) -> tuple[Line, ...]:
    sorted_in: dict[str, list[_Item]] = defaultdict(list)
    for item in items:
        sorted_in[_NAMED[cut](item)].append(item)
    return tuple(_line(name, sorted_in[name]) for name in names)


def _bins(cut: Cut, items: Sequence[_Item]) -> tuple[str, ...]:
    """The bins that hold anything: kinds by the alphabet, the others in their order."""
    present = {_NAMED[cut](item) for item in items}
    if cut == "type":
        return tuple(sorted(present))
    return tuple(name for name in _ORDER[cut] if name in present)


def _age(item: _Item) -> str:
    return next((_turns(low, high) for low, high in _AGES if item.age <= high), _OLDER)


def _turns(low: int, high: int) -> str:
    return f"{low} to {high}"


def _compactions(item: _Item) -> str:
    return _SURVIVED[min(item.compactions, _MANY_COMPACTIONS)]


_OLDER = f"over {_AGES[-1][1]}"
_SURVIVED = ("none", "1", "2", f"{_MANY_COMPACTIONS} or more")
_ORDER: Mapping[Cut, Sequence[str]] = {
    "age": (*(_turns(low, high) for low, high in _AGES), _OLDER),
    "compactions": _SURVIVED,
}
_NAMED: Mapping[Cut, Callable[[_Item], str]] = {
    "type": lambda item: item.fact_type,
    "age": _age,
    "compactions": _compactions,
}


def breakdown_json(found: Iterable[Breakdown]) -> list[dict[str, Any]]:
    """Return the breakdowns as the JSON contract has them: counts alone, so that whoever reads them can add them up."""
    return [
        {
            "label": one.series,
            "recall_simulated": one.simulated,
            "sight": one.sight._asdict(),
            **{f"by_{cut}": [_line_json(line) for line in lines] for cut, lines in one.cuts.items()},
        }
        for one in found
    ]


def _line_json(line: Line) -> dict[str, Any]:
    return {**line._asdict(), "wrong": line.wrong}

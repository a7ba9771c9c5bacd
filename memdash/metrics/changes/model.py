"""What changed between two comparisons, as typed values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from memdash.metrics.changes.numbers import Number


class Verdict(StrEnum):
    """What a change is."""

    BETTER = "better"
    WORSE = "worse"
    OTHER = "other"
    """It changed, and neither way is better by itself."""
    SAME = "same"
    WITHIN = "within"
    """Live: the intervals of both sides overlap, so this may be how one run differs from the next."""
    UNKNOWN = "unknown"
    """A side is not known, the sides are not alike, or one live replay has no interval."""

    @property
    def words(self) -> str:
        """What it says after a number."""
        return _WORDS[self]


_WORDS = {
    Verdict.BETTER: "better",
    Verdict.WORSE: "worse",
    Verdict.OTHER: "changed",
    Verdict.SAME: "the same",
    Verdict.WITHIN: "within the intervals",
    Verdict.UNKNOWN: "not comparable",
}


class Value(NamedTuple):
    """A number of one side: its mean over the replays that are compared, None where it is not known.

    ``low`` and ``high`` are its 95 % interval; None for simulated replays, which are exact, and for a single live one.
    """

    mean: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class NumberChange:
    """One number of one setting on one script, before and after."""

    number: Number
    before: Value
    after: Value
    verdict: Verdict

    @property
    def difference(self) -> float | None:
        """After less before; None where a side is not known."""
        if self.before.mean is None or self.after.mean is None:
            return None
        return self.after.mean - self.before.mean

    @property
    def relative(self) -> float | None:
        """The difference as a share of what was before; None where a side is not known or where there was 0 before."""
        difference = self.difference
        if difference is None or self.before.mean is None:
            return None
        if difference == 0:
            return 0.0
        return difference / self.before.mean if self.before.mean else None

    @property
    def changed(self) -> bool:
        """Whether the sides differ, for sure or not."""
        return self.verdict is not Verdict.SAME and not (self.before.mean is None and self.after.mean is None)


class Tally(NamedTuple):
    """In how many of how many replays."""

    yes: int
    of: int

    @property
    def words(self) -> str:
        """``yes`` or ``no`` of one replay, ``2 of 5`` of several."""
        return f"{self.yes} of {self.of}" if self.of != 1 else "yes" if self.yes else "no"


@dataclass(frozen=True, slots=True)
class FactChange:
    """A recall question whose outcome changed: whether the fact was kept (its text still in the request), and answered right.

    ``answer`` is the first wrong answer of the later side, None where all were right.
    """

    fact: str
    asked_after: int
    question: str
    kept_before: Tally
    kept_after: Tally
    kept: Verdict
    right_before: Tally
    right_after: Tally
    right: Verdict
    answer: str | None

    @property
    def lost(self) -> bool:
        """Whether the fact is kept or answered less than before."""
        return Verdict.WORSE in (self.kept, self.right)


class Difference(NamedTuple):
    """Something that is written otherwise on the two sides: a setting, a version, an outcome."""

    name: str
    before: str
    after: str


class PriceChange(NamedTuple):
    """One price of a model, in dollars per million tokens, for prompts longer than ``above`` tokens; None where it has none."""

    model: str
    name: str
    above: int
    before: float | None
    after: float | None


@dataclass(frozen=True, slots=True)
class GroupChange:
    """One setting on one script on both sides: the later side's names, and what became of its replays.

    ``label`` is the series; ``label_before`` differs where the setting itself was changed. ``replays_before`` and
    ``replays_after`` are how many replays the numbers are over. ``live`` says that it is compared by intervals; everything else
    is compared exactly. ``not_alike`` says why the numbers cannot be held against each other (another length, an early end), None
    where they can. ``outcome`` is set where the replays ended otherwise; ``errors`` are those that were not there before.
    """

    label: str
    label_before: str
    strategy: str
    script: str
    live: bool
    recall_simulated: bool
    replays_before: int
    replays_after: int
    numbers: tuple[NumberChange, ...]
    facts: tuple[FactChange, ...]
    outcome: Difference | None
    errors: tuple[str, ...]
    not_alike: str | None

    @property
    def name(self) -> str:
        """What people call it: its label, with what it was called before where that differs."""
        return self.label if self.label == self.label_before else f"{self.label} (was {self.label_before})"

    @property
    def changed(self) -> tuple[NumberChange, ...]:
        """The numbers that differ; none where a side has no replay to hold against the other's."""
        if not (self.replays_before and self.replays_after):
            return ()
        return tuple(one for one in self.numbers if one.changed)

    @property
    def lost(self) -> tuple[FactChange, ...]:
        """The facts that are kept or answered less than before."""
        return tuple(one for one in self.facts if one.lost)

    @property
    def is_same(self) -> bool:
        """Whether nothing at all differs."""
        return not (self.changed or self.facts or self.outcome or self.errors or self.not_alike)

    def number(self, number: Number) -> NumberChange:
        """Return the change of one number."""
        return next(one for one in self.numbers if one.number is number)


class Setting(NamedTuple):
    """A setting on a script that one side alone has."""

    label: str
    script: str


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two comparisons; ``created_at`` is as in the JSON contract, ``basis`` says what its numbers rest on."""

    comparison: str
    title: str
    created_at: str
    basis: str
    token_counter: str
    live: bool


@dataclass(frozen=True, slots=True)
class Changes:
    """What changed from ``before`` to ``after``.

    ``missing`` and ``new`` are what only one side has. ``prices`` is None where a side does not say its prices (an older file).
    ``repriced`` says that the later side's money is counted at the earlier one's prices, so that a change of price is no change
    of a setting. ``notes`` say what else is not alike and so may be behind a difference.
    """

    before: Side
    after: Side
    groups: tuple[GroupChange, ...]
    missing: tuple[Setting, ...]
    new: tuple[Setting, ...]
    settings: tuple[Difference, ...]
    versions: tuple[Difference, ...]
    prices: tuple[PriceChange, ...] | None
    repriced: bool
    recommendation: Difference | None
    notes: tuple[str, ...]

    @property
    def live(self) -> bool:
        """Whether anything is compared by intervals."""
        return any(one.live for one in self.groups)

    @property
    def is_nothing(self) -> bool:
        """Whether the two are alike in everything that is compared."""
        differs = (self.missing, self.new, self.settings, self.versions, self.prices, self.recommendation)
        return not any(differs) and all(one.is_same for one in self.groups)

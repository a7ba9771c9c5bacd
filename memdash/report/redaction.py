"""A comparison without the text of its conversations, for people who may see its numbers but not read it.

Left out are what users, models and scripts wrote: questions and answers, error messages, summaries and whatever else events
quote, the texts given to strategies as parameters, and the titles and ids of the comparison, its scripts and its facts, since
people write into those what a conversation is about. Names stand in their place, the same name for the same thing in every table
and file of one comparison: "script 1", "fact 3", "text 2". Numbers, strategies, models, settings, prices and versions stay.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from memdash import numbers
from memdash.errors import MemdashError
from memdash.metrics.refusals import explain
from memdash.metrics.result import EventResult, ProbeResult, ReplayResult, TurnResult
from memdash.records import Status
from memdash.strategies import StrategyChoice, parameters
from memdash.strategies import strategy as strategy_of

if TYPE_CHECKING:
    from memdash.evidence import Evidence
    from memdash.metrics.outcome import ReplayOutcome
    from memdash.metrics.sweep.refinement import Proposal
    from memdash.scripts.model import Fact, Script
    from memdash.spec import ComparisonSpec, ReplaySpec
    from memdash.store import StoredComparison
    from memdash.strategies import Family

LEFT_OUT = "[left out]"
"""What stands where a text stood."""

_OWN_WORDS = frozenset(("server", "inline", "background", "number", "date", "list", "text"))
_API_WORDS = re.compile(r"(clear_tool_uses|clear_thinking|thinking_dropped|thinking_mismatch)(_\d{8})?")
"""Words in events and kinds of facts that are ours or the API's; any other may be a conversation's."""
_MODEL_PARAMETERS = frozenset(("summary_model",))


@dataclass(frozen=True, slots=True)
class _Called(StrategyChoice):
    """A choice whose strategy finds no label for it."""

    called: str = ""

    @property
    def label(self) -> str:
        """The name that it was given."""
        return self.called


class Redaction:
    """The names that stand for one comparison's texts, and the comparison with them in place: :attr:`comparison`.

    Scripts and facts are numbered as the comparison has them, so whoever has the original can tell which is which.
    """

    def __init__(self, stored: StoredComparison) -> None:
        self._names: dict[str, dict[tuple[str, ...], str]] = {}
        self._replays: dict[str, ReplaySpec] = {}
        self._scripts: dict[
            int, tuple[Script, Script]
        ] = {}  # with the original, so that no other takes its place
        self._series: dict[str, str] = {}
        self._labels: dict[str, str] = {}
        self._several = len(stored.spec.scripts) > 1
        self.comparison = self._comparison(stored)

    def result(self, one: ReplayResult) -> ReplayResult:
        """Return the numbers of a replay of the comparison without its texts."""
        spec = self._replays[one.id]
        facts = {fact: self._fact_name(one.script, fact) for fact in one.facts}
        return replace(
            one,
            script=spec.script.id,
            params=spec.params,
            label=spec.label,
            series=spec.series,
            errors=tuple(_error(one.status, error) for error in one.errors),
            turns=tuple(_turn(row) for row in one.turns),
            probes=tuple(self._probe(one.script, probe) for probe in one.probes),
            survival={self._fact_name(one.script, fact): where for fact, where in one.survival.items()},
            facts=tuple(facts.values()),
            planned_probes=tuple(
                (self._fact_name(one.script, fact), turn) for fact, turn in one.planned_probes
            ),
            usage_faults=(),
        )

    def outcome(self, one: ReplayOutcome) -> ReplayOutcome:
        """Return what a replay of the comparison came to without its texts."""
        spec = self._replays[one.id]
        return replace(
            one,
            script=spec.script.id,
            params=spec.params,
            label=spec.label,
            series=spec.series,
            survival={self._fact_name(one.script, fact): where for fact, where in one.survival.items()},
            probes=tuple(
                probe._replace(fact=self._fact_name(one.script, probe.fact)) for probe in one.probes
            ),
        )

    def evidence(self, known: Evidence | None) -> Evidence | None:
        """Return what is known of the simulator's error without texts."""
        if known is None:
            return None
        found = known.confirmation
        pairs = tuple(replace(pair, spec=self._replay(pair.spec)) for pair in found.pairs)
        settings = tuple(replace(one, series=self._known(self._series, one.series)) for one in found.settings)
        left_out = tuple(
            replace(
                one,
                label=self._known(self._labels, one.label),
                message=None if one.message is None else LEFT_OUT,
            )
            for one in found.left_out
        )
        return known._replace(confirmation=replace(found, pairs=pairs, settings=settings, left_out=left_out))

    # -- the comparison --------------------------------------------------------------------------------------------------

    def _comparison(self, stored: StoredComparison) -> StoredComparison:
        replays = tuple(self._replay(one) for one in stored.replays)
        nouns = ("setting", "settings") if stored.spec.sweep else ("strategy", "strategies")
        series = numbers.count(len({one.series for one in replays}), *nouns)
        title = f"{series} on {numbers.count(len(stored.spec.scripts), 'script')} (text left out)"
        return replace(
            stored,
            title=title,
            spec=self._spec(stored.spec, title),
            replays=replays,
            refinements=tuple(self._round(one) for one in stored.refinements),
        )

    def _spec(self, spec: ComparisonSpec, title: str) -> ComparisonSpec:
        sweep = spec.sweep
        return replace(
            spec,
            title=title,
            scripts=tuple(self._script(one) for one in spec.scripts),
            strategies=tuple(self._choice(one) for one in spec.strategies),
            refined=tuple(self._choice(one) for one in spec.refined),
            sweep=sweep and replace(sweep, families=tuple(self._family(one) for one in sweep.families)),
        )

    def _replay(self, spec: ReplaySpec) -> ReplaySpec:
        found = self._replays.get(spec.id)
        if found is None:
            found = self._replays[spec.id] = self._renamed(spec)
            self._series[spec.series] = found.series
            self._labels[spec.label] = found.label
        return found

    def _renamed(self, spec: ReplaySpec) -> ReplaySpec:
        script = self._script(spec.script)
        choice = StrategyChoice(spec.strategy, spec.params, spec.strategy_file)
        renamed = self._choice(choice)
        series = spec.series
        if renamed.params != choice.params:
            series = self._relabelled(choice, renamed, spec.series)
        where = [script.id] if self._several or spec.script.id in spec.label.removeprefix(spec.series) else []
        if spec.label.endswith(f" · repeat {spec.repeat}"):
            where.append(f"repeat {spec.repeat}")
        return replace(
            spec,
            script=script,
            params=renamed.params,
            series=series,
            label=" · ".join([series, *where]),
            salt="",
            strategy_file=None,
        )

    def _script(self, script: Script) -> Script:
        """Its names replaced; what its turns say stays inside, where the floor counts it and nothing shows it."""
        known = self._scripts.get(id(script))
        if known is None:
            known = self._scripts[id(script)] = (script, self._renamed_script(script))
        return known[1]

    def _renamed_script(self, script: Script) -> Script:
        name = self._name("script", script.id)
        return replace(
            script,
            id=name,
            title=name.capitalize(),
            description="",
            warnings=(),
            facts=tuple(self._fact(script.id, fact) for fact in script.facts),
        )

    def _fact(self, script: str, fact: Fact) -> Fact:
        kind = fact.kind if fact.kind is None or fact.kind in _OWN_WORDS else self._name("kind", fact.kind)
        return replace(fact, id=self._fact_name(script, fact.id), question=LEFT_OUT, kind=kind)

    def _fact_name(self, script: str, fact: str) -> str:
        return self._name("fact", script, fact)

    def _probe(self, script: str, probe: ProbeResult) -> ProbeResult:
        fact = self._fact_name(script, probe.fact)
        return replace(probe, fact=fact, question=LEFT_OUT, answer=LEFT_OUT)

    # -- strategies ------------------------------------------------------------------------------------------------------

    def _choice(self, choice: StrategyChoice) -> StrategyChoice:
        params = self._params(choice.name, choice.file, choice.params)
        if params == choice.params:
            return choice
        renamed = replace(choice, params=params)
        try:
            _ = renamed.label
        except Exception:  # whatever a strategy's own code raises over a name in place of its text
            number = self._name("setting", repr(sorted(choice.params.items())))
            return _Called(choice.name, params, choice.file, choice.model, called=f"{choice.name} · {number}")
        return renamed

    def _family(self, family: Family) -> Family:
        swept = self._params_swept(family)
        return replace(
            family,
            given=self._params(family.strategy, family.file, family.given),
            axes=tuple(replace(axis, values=swept[axis.name]) for axis in family.axes),
            file=None,
        )

    def _params_swept(self, family: Family) -> dict[str, tuple[Any, ...]]:
        return {
            axis.name: tuple(
                self._params(family.strategy, family.file, {axis.name: value})[axis.name]
                for value in axis.values
            )
            for axis in family.axes
        }

    def _params(self, strategy: str, file: str | None, params: Mapping[str, Any]) -> dict[str, Any]:
        """Keep numbers, switches and words of the strategy's own choosing; a name stands for any other text."""
        chosen = words_of(strategy, file)
        return {
            name: value if not isinstance(value, str) or name in chosen else self._name("text", value)
            for name, value in params.items()
        }

    def _relabelled(self, choice: StrategyChoice, renamed: StrategyChoice, series: str) -> str:
        """The series under its label with names in place of texts."""
        try:
            before = choice.label
        except MemdashError:  # the file of a strategy of the user's own is gone
            before = series
        if not series.startswith(before):
            return f"{renamed.label} · {self._name('setting', series)}"
        return renamed.label + series.removeprefix(before)

    def _round(self, proposal: Proposal) -> Proposal:
        """Reasons name settings, so they go where settings hold texts."""
        hidden = "text" in self._names
        return replace(
            proposal,
            best=tuple(self._known(self._series, one) for one in proposal.best),
            settings=tuple(
                replace(one, choice=self._choice(one.choice), reason=LEFT_OUT if hidden else one.reason)
                for one in proposal.settings
            ),
        )

    # -- names -----------------------------------------------------------------------------------------------------------

    def _name(self, noun: str, *what: str) -> str:
        """The name of a thing, the next number where it is met for the first time."""
        known = self._names.setdefault(noun, {})
        return known.setdefault(what, f"{noun} {len(known) + 1}")

    def _known(self, names: Mapping[str, str], name: str) -> str:
        return names[name] if name in names else self._name("setting", name)


def words_of(strategy: str, file: str | None) -> frozenset[str]:
    """Return the parameters whose words are the strategy's own, or a model's name; none of a strategy that is not there."""
    try:
        declared = parameters(strategy_of(strategy, file).Params)
    except MemdashError:
        return frozenset()
    return frozenset(
        one.name for one in declared if one.choices or one.type is not str or one.name in _MODEL_PARAMETERS
    )


def _error(status: Status, message: str) -> str:
    return explain(message) if status is Status.REJECTED else LEFT_OUT


def _turn(row: TurnResult) -> TurnResult:
    return row._replace(events=tuple(EventResult(one.kind, _numbers_of(one.data)) for one in row.events))


def _numbers_of(data: Mapping[str, Any]) -> dict[str, Any]:
    """What an event says in numbers, switches and words of our own."""
    return {name: value for name, value in data.items() if name.isidentifier() and is_open(value)}


def is_open(value: Any) -> bool:
    """Return whether a value in an event tells nothing of a conversation."""
    if isinstance(value, str):
        return value in _OWN_WORDS or bool(_API_WORDS.fullmatch(value))
    if isinstance(value, Sequence):
        return all(isinstance(one, int | float) for one in value)
    return value is None or isinstance(value, int | float)

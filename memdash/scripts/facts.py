"""Checks of planted facts: each is stated where it says, can be graded, and is asked only once it is known."""

from __future__ import annotations

from collections.abc import Iterator

from memdash.scripts.dates import parse_date
from memdash.scripts.fields import ID, KIND
from memdash.scripts.grading import matches
from memdash.scripts.limits import MAX_UPDATES
from memdash.scripts.model import Expectation, Fact, Grading, Script, Turn, Value
from memdash.scripts.numbers import parse_number
from memdash.scripts.patterns import PatternError, compile_pattern
from memdash.scripts.problems import Place, Problem, brief


def fact_problems(script: Script, fact: Fact, place: Place) -> Iterator[Problem]:
    """Yield what is wrong with ``fact``, which stands at ``place`` of ``script``."""
    if not ID.fullmatch(fact.id):
        yield Problem((*place, "id"), f"{brief(fact.id)} is no id")
    if not fact.question.strip():
        yield Problem((*place, "question"), "is empty")
    if fact.kind is not None and not KIND.fullmatch(fact.kind):
        words = "a kind is a word in small letters, at most 30 characters, such as name, amount or date"
        yield Problem((*place, "kind"), f"{brief(fact.kind)} is no kind; {words}")
    if not fact.values:
        yield Problem(place, "has no value")
        return
    if len(fact.values) > MAX_UPDATES + 1:
        yield Problem((*place, "updates"), f"a fact has at most {MAX_UPDATES} updates")
    for index, value in enumerate(fact.values):
        here = (*place, "updates", index - 1) if index else place
        yield from _value_problems(script, value, here)
        if index:
            yield from _update_problems(value, fact.values[index - 1], here)
    yield from _probe_problems(script, fact, (*place, "probe_after"))


def _update_problems(value: Value, before: Value, place: Place) -> Iterator[Problem]:
    if value.turn <= before.turn:
        text = f"an update comes after what it changes: turn {value.turn} is not after turn {before.turn}"
        yield Problem((*place, "turn"), text)
    if value.answer == before.answer:
        yield Problem((*place, "answer"), "is the same as before; an update changes the answer")


def _probe_problems(script: Script, fact: Fact, place: Place) -> Iterator[Problem]:
    seen: set[int] = set()
    for index, turn in enumerate(fact.probe_after):
        here = (*place, index) if len(fact.probe_after) > 1 else place
        if not 1 <= turn <= len(script.turns):
            yield Problem(here, f"there is no turn {turn}; the script has {len(script.turns)}")
        elif turn < fact.values[0].turn:
            yield Problem(
                here, f"the fact is not yet stated after turn {turn}; turn {fact.values[0].turn} states it"
            )
        elif turn in seen:
            yield Problem(here, f"turn {turn} stands twice")
        seen.add(turn)


def _value_problems(script: Script, value: Value, place: Place) -> Iterator[Problem]:
    broken = False
    for key, expectation in (("answer", value.answer), ("text", value.text)):
        if key == "text" and expectation == value.answer:
            continue
        problem = _expectation_problem(expectation)
        if problem:
            broken = True
            yield Problem((*place, key), problem)
    if not 1 <= value.turn <= len(script.turns):
        yield Problem((*place, "turn"), f"there is no turn {value.turn}; the script has {len(script.turns)}")
    elif broken:
        return
    elif value.text.grading is Grading.F1:
        yield Problem(
            place,
            "needs 'text': the words that show that the fact is still in a request (f1 only grades answers)",
        )
    elif not matches(value.text, said_in(script.turns[value.turn - 1])):
        missing = f"{describe(value.text)} is found neither in the user's text nor in a tool result"
        yield Problem((*place, "turn"), f"turn {value.turn} does not say this: {missing}")


def said_in(turn: Turn) -> str:
    """Return what ``turn`` can state a fact with: the user's text and the tool results."""
    return "\n".join([turn.text, *(call.result for step in turn.steps for call in step.calls)])


def describe(expectation: Expectation) -> str:
    """Spell ``expectation`` for people."""
    if expectation.grading is Grading.ALL_OF:
        return "all of " + ", ".join(brief(value) for value in expectation.values[:5])
    name = {Grading.REGEX: "the pattern", Grading.F1: "the reference"}.get(
        expectation.grading, f"the {expectation.grading.value}"
    )
    return f"{name} {brief(expectation.values[0])}"


def _expectation_problem(expectation: Expectation) -> str | None:
    """Return why nothing can be graded by ``expectation``, None if it is fine."""
    values = expectation.values
    if not values or not all(value.strip() for value in values):
        return "holds an empty text" if values else "is an empty list"
    if len(values) > 1 and expectation.grading is not Grading.ALL_OF:
        return "holds several values; only all_of does"
    match expectation.grading:
        case Grading.REGEX:
            try:
                compile_pattern(values[0])
            except PatternError as error:
                return str(error)
        case Grading.NUMBER if parse_number(values[0]) is None:
            return f"{brief(values[0])} is no number; write digits without separators (2400 or 2400.50)"
        case Grading.DATE if parse_date(values[0]) is None:
            return f"{brief(values[0])} is no date; write YYYY-MM-DD (2026-06-14)"
    if matches(expectation, ""):
        return f"{describe(expectation)} matches an empty answer, so every answer would pass"
    if expectation.grading is Grading.F1 and not matches(expectation, values[0]):
        return f"{describe(expectation)} has no words to compare"
    return None

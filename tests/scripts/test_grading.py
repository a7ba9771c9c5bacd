"""How answers are judged, and how the words of a fact are found in a request."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memdash.scripts import Expectation, Grading, PatternError, Value, Verdict, grade, matches
from memdash.scripts.grading import token_f1
from memdash.scripts.patterns import compile_pattern


def expect(grading: Grading, *values: str) -> Expectation:
    return Expectation(grading, values)


def number(turn: int, value: str) -> Value:
    return Value(turn, expect(Grading.NUMBER, value), expect(Grading.NUMBER, value))


def test_a_pattern_is_found_anywhere_and_case_makes_no_difference() -> None:
    assert matches(expect(Grading.REGEX, r"\bingrid\b"), "You are INGRID Solheim.")
    assert not matches(expect(Grading.REGEX, r"\bingrid\b"), "You are Ingridsson.")


def test_typographic_quotes_spaces_and_hyphens_read_as_plain_ones() -> None:
    assert matches(expect(Grading.REGEX, "don't know"), "I don\u2019t\u00a0know")
    assert matches(expect(Grading.REGEX, "BW-20417"), "BW\u201120417")
    assert matches(expect(Grading.ALL_OF, "Arthur\u2019s Seat"), "up to ARTHUR'S SEAT")


def test_all_of_needs_every_part() -> None:
    both = expect(Grading.ALL_OF, "14 June", "18:40")
    assert matches(both, "At 18:40 on 14 june")
    assert not matches(both, "On 14 June")


def test_number_and_date_are_understood() -> None:
    assert matches(expect(Grading.NUMBER, "2400"), "2,400 euros")
    assert matches(expect(Grading.DATE, "2026-06-14"), "June 14th")


def test_token_f1_is_that_of_question_answering_sets() -> None:
    # Answer words: {blue, car}; reference words: {blue, sports, car} (article gone). Shared 2, precision 2/2, recall 2/3,
    # so F1 = 2 * 1 * (2/3) / (1 + 2/3) = 0.8.
    assert token_f1("Blue car!", "the blue sports car") == pytest.approx(0.8)
    assert token_f1("", "blue") == 0
    assert matches(expect(Grading.F1, "the blue sports car"), "blue car")
    # Words {blue, one} share 1 of 2 and 1 of 3: 2 * 1 / (2 + 3) = 0.4.
    assert not matches(expect(Grading.F1, "the blue sports car"), "a blue one")


def test_an_old_value_alone_is_stale() -> None:
    latest, earlier = number(20, "2150"), number(2, "1800")
    assert grade(latest, [earlier], "2,150 pounds") == Verdict(passed=True, stale=False)
    assert grade(latest, [earlier], "1,800 pounds") == Verdict(passed=False, stale=True)
    assert grade(latest, [earlier], "I don't know.") == Verdict(passed=False, stale=False)


def test_the_right_value_passes_beside_an_old_one() -> None:
    assert grade(number(20, "2150"), [number(2, "1800")], "2150, no longer 1800") == Verdict(True, False)


@pytest.mark.parametrize("pattern", [r"(?=a)b", r"(?<!a)b", r"(a)\1"])
def test_constructs_that_can_run_away_are_refused_with_the_reason(pattern: str) -> None:
    with pytest.raises(PatternError, match="lookarounds and backreferences are not supported"):
        compile_pattern(pattern)


def test_a_catastrophic_pattern_is_harmless() -> None:
    assert not matches(expect(Grading.REGEX, r"^(a+)+$"), "a" * 100_000 + "b")


def test_a_long_pattern_is_refused() -> None:
    with pytest.raises(PatternError, match="the pattern has 1,001 characters; at most 1,000 are accepted"):
        compile_pattern("a" * 1001)


def test_a_pattern_that_grows_too_large_is_refused() -> None:
    with pytest.raises(PatternError, match="pattern too large"):
        compile_pattern(r"[\p{L}\p{N}]{500}")


@settings(max_examples=100)
@given(st.text(max_size=40))
def test_any_pattern_compiles_or_is_refused(pattern: str) -> None:
    message = None
    try:
        compile_pattern(pattern)
    except PatternError as error:
        message = str(error)
    assert message is None or message.startswith("not a valid regular expression: ")

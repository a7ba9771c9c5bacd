"""Kept and recall by kind of fact, age and compactions survived; visible against answered right; stale apart from wrong."""

from __future__ import annotations

import dataclasses

import pytest

from memdash.metrics.breakdown import CUTS, Line, Sight, breakdown_json, breakdowns
from memdash.metrics.outcome import ProbeOutcome, ReplayOutcome
from memdash.records import Status, Survival
from memdash.scripts import Script
from tests.builders import fact, script
from tests.metrics.outcomes import outcome

NAME = dataclasses.replace(fact("name", turn=1), kind="name")
BUDGET = dataclasses.replace(fact("budget", turn=2, updated=30), kind="amount")
PRICE = dataclasses.replace(fact("price", turn=28), kind="amount")
SCRIPT = script(turns=30, facts=[NAME, BUDGET, PRICE])


def probe(
    fact: str, after: int, *, passed: bool = False, stale: bool = False, visible: bool = False
) -> ProbeOutcome:
    return ProbeOutcome(fact, after, passed, stale, visible, is_test=True)


def replay(series: str = "compaction", **changes: object) -> ReplayOutcome:
    plain = {
        "survival": {
            "name": Survival.GONE,
            "budget": Survival.STALE,
            "price": Survival.RESTATED,
        },
        "probes": (
            probe("name", 30),
            probe("budget", 20, passed=True, visible=True),
            probe("budget", 30, stale=True),
            probe("price", 30, passed=True),
        ),
        "summary_turns": (10, 25, 28),
    }
    return outcome(series, [0.01] * 30, **{**plain, **changes})


def lines(cut: str, *outcomes: ReplayOutcome, of: Script = SCRIPT) -> dict[str, Line]:
    return {line.name: line for line in breakdowns(outcomes, [of])[0].cuts[cut]}


def test_by_kind_of_fact() -> None:
    assert lines("type", replay()) == {
        "amount": Line("amount", facts=2, kept=1, outdated=1, asked=3, right=2, stale=1),
        "name": Line("name", facts=1, kept=0, outdated=0, asked=1, right=0, stale=0),
    }


def test_by_age_in_turns_of_the_latest_value() -> None:
    # At the end: name is 29 turns old, budget 0 (restated in turn 30), price 2; budget was asked for at 18 turns, too.
    assert lines("age", replay()) == {
        "0 to 5": Line("0 to 5", facts=2, kept=1, outdated=1, asked=2, right=1, stale=1),
        "11 to 20": Line("11 to 20", facts=0, kept=0, outdated=0, asked=1, right=1, stale=0),
        "21 to 40": Line("21 to 40", facts=1, kept=0, outdated=0, asked=1, right=0, stale=0),
    }


@pytest.mark.parametrize(
    ("age", "name"),
    [
        (0, "0 to 5"),
        (5, "0 to 5"),
        (6, "6 to 10"),
        (80, "41 to 80"),
        (81, "over 80"),
    ],
)
def test_the_bins_of_age_meet_without_gaps(age: int, name: str) -> None:
    long = script(turns=age + 1, facts=[fact("name")])
    one = outcome(costs=[0.01] * (age + 1), survival={"name": Survival.VERBATIM})
    assert list(lines("age", one, of=long)) == [name]


def test_by_compactions_survived() -> None:
    # name: 10, 25 and 28; budget at 20: 10, at the end (said in turn 30): none; price: that of its own turn 28.
    assert lines("compactions", replay()) == {
        "none": Line("none", facts=1, kept=0, outdated=1, asked=1, right=0, stale=1),
        "1": Line("1", facts=1, kept=1, outdated=0, asked=2, right=2, stale=0),
        "3 or more": Line("3 or more", facts=1, kept=0, outdated=0, asked=1, right=0, stale=0),
    }


def test_what_was_visible_against_what_was_answered_right() -> None:
    [found] = breakdowns([replay()], [SCRIPT])
    assert found.sight == Sight(visible_right=1, visible_wrong=0, hidden_right=1, hidden_wrong=2)
    assert found.sight.asked == 4


def test_a_stale_answer_is_told_apart_from_a_wrong_one() -> None:
    [found] = breakdowns([replay()], [SCRIPT])
    assert (found.total.right, found.total.stale, found.total.wrong) == (2, 1, 1)
    assert (found.total.recall, found.total.kept_share) == (0.5, 1 / 3)


def test_a_question_that_is_no_test_counts_nowhere() -> None:
    spoilt = probe("name", 30, passed=True)._replace(is_test=False)
    [found] = breakdowns([replay(probes=(spoilt,))], [SCRIPT])
    assert (found.total.asked, found.sight.asked, found.total.recall) == (0, 0, None)


def test_repeats_count_together_and_unfinished_replays_not_at_all() -> None:
    cut = replay(status=Status.REJECTED, turns_completed=5)
    [found] = breakdowns([replay(), replay(repeat=2), cut], [SCRIPT])
    assert (found.total.facts, found.total.asked) == (6, 8)
    assert breakdowns([cut], [SCRIPT]) == ()


def test_all_series_have_the_same_bins() -> None:
    kept = {"name": Survival.VERBATIM}
    one, other = breakdowns(
        [replay(), replay("full history", survival=kept, probes=(), summary_turns=())], [SCRIPT]
    )
    for cut in CUTS:
        assert [line.name for line in one.cuts[cut]] == [line.name for line in other.cuts[cut]]
    assert other.cuts["type"][0] == Line("amount", facts=0, kept=0, outdated=0, asked=0, right=0, stale=0)
    assert other.cuts["type"][0].kept_share is None


def test_every_cut_adds_up_to_the_total() -> None:
    [found] = breakdowns([replay()], [SCRIPT])
    for cut_lines in found.cuts.values():
        for name in ("facts", "kept", "outdated", "asked", "right", "stale"):
            assert sum(getattr(line, name) for line in cut_lines) == getattr(found.total, name)


def test_the_json_holds_counts() -> None:
    [shown] = breakdown_json(breakdowns([replay()], [SCRIPT]))
    assert shown["sight"] == {"visible_right": 1, "visible_wrong": 0, "hidden_right": 1, "hidden_wrong": 2}
    assert shown["by_type"][1] == {
        "name": "name", "facts": 1, "kept": 0, "outdated": 0, "asked": 1, "right": 0, "stale": 0, "wrong": 1,
    }  # fmt: skip
    assert set(shown) == {"label", "recall_simulated", "sight", "by_type", "by_age", "by_compactions"}

"""What a sweep plays after its coarse grid, with users' strategies replaced by formulas."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memdash.metrics.outcome import ReplayOutcome
from memdash.metrics.sweep import Proposal, propose, why_stopped
from memdash.records import Status
from memdash.spec import ComparisonSpec, Sweep
from memdash.strategies import choose
from memdash.strategies.families import parse_family, swept
from tests.builders import MODEL, script
from tests.metrics.sweep.outcomes import FACTS, outcome

Formula = Callable[[dict[str, Any]], tuple[float, int]]
"""The cost of a setting, and how many of four facts it loses, from its parameters."""


def compaction(params: dict[str, Any]) -> tuple[float, int]:
    """Cheaper the earlier it fires, and below 3,000 tokens it loses facts."""
    return 0.05 + params["trigger"] / 100_000, 0 if params["trigger"] >= 3000 else 2


def a_sweep(
    *written: str, models: Sequence[str] = (MODEL,), limit: int = 1000, **changes: Any
) -> ComparisonSpec:
    families = tuple(parse_family(text) for text in written)
    return ComparisonSpec(
        (script("a"), script("b")),
        swept(families, models).choices,
        models=tuple(models),
        sweep=Sweep(families, refine=True, limit=limit),
        **changes,
    )


def played(spec: ComparisonSpec, formula: Formula) -> list[ReplayOutcome]:
    found = []
    for replay in spec.replays():
        params = dict(replay.params)
        cost, lost = (0.2, 0) if replay.strategy == "full_history" else formula(params)
        found.append(
            outcome(
                replay.series,
                strategy=replay.strategy,
                params=params,
                script=replay.script.id,
                repeat=replay.repeat,
                cost=cost,
                lost=FACTS[:lost],
                model=replay.model,
                id=replay.id,
            )
        )
    return found


def refined(spec: ComparisonSpec, formula: Formula) -> tuple[ComparisonSpec, list[Proposal], str]:
    """Play rounds until there is nothing to propose, and say why there is not."""
    rounds: list[Proposal] = []
    while proposal := propose(spec, played(spec, formula), rounds):
        assert why_stopped(spec, played(spec, formula), rounds) is None
        rounds.append(proposal)
        spec = dataclasses.replace(spec, refined=spec.refined + proposal.choices)
    why = why_stopped(spec, played(spec, formula), rounds)
    assert why is not None
    return spec, rounds, why


def labels(proposal: Proposal | None) -> list[str]:
    return [] if proposal is None else [choice.label for choice in proposal.choices]


def test_the_first_round_looks_on_either_side_of_the_best_and_where_most_changes() -> None:
    spec = a_sweep("compaction:1000..8000*2")
    proposal = propose(spec, played(spec, compaction), [])
    assert proposal is not None
    assert proposal.best == ("compaction at 4000",)
    assert [(one.choice.label, one.reason) for one in proposal.settings] == [
        ("compaction at 3000", "next to compaction at 4000, the best so far"),
        ("compaction at 6000", "next to compaction at 4000, the best so far"),
        (
            "compaction at 1400",
            "the cost changes by 5 % of the dearest setting's between compaction at 1000 and compaction at 2000",
        ),
    ]


def test_a_change_in_what_is_kept_is_told_in_points() -> None:
    spec = a_sweep("compaction:1000|2000|7000|7200")
    # The best is 7000, whose left neighbour is already looked into; 1000 and 2000 differ in what they keep.
    proposal = propose(spec, played(spec, lambda one: (0.1, {1000: 4, 2000: 2}.get(one["trigger"], 0))), [])
    assert proposal is not None
    assert "what is kept changes by 50 points between compaction at 1000 and compaction at 2000" in [
        one.reason for one in proposal.settings
    ]


def test_it_ends_next_to_where_facts_begin_to_be_lost() -> None:
    spec, rounds, why = refined(a_sweep("compaction:500..8000*2"), compaction)
    assert rounds[-1].best == ("compaction at 3000",)
    assert why == "compaction at 3000 is the best, and its neighbours are close"
    triggers = sorted(
        one.params["trigger"] for one in (*spec.strategies, *spec.refined) if "trigger" in one.params
    )
    below = triggers[triggers.index(3000) - 1]
    assert 2850 <= below < 3000


def test_whole_exchanges_are_looked_at_down_to_the_last() -> None:
    spec, _, why = refined(
        a_sweep("window:2..24/8"), lambda one: (0.1 + one["keep"] / 1000, 0 if one["keep"] > 6 else 2)
    )
    assert why == "window of 7 is the best, and its neighbours are close"
    keeps = {one.params.get("keep") for one in spec.refined}
    assert {6, 7, 8} <= keeps


def test_on_a_grid_the_best_gets_neighbours_on_both_axes() -> None:
    def formula(one: dict[str, Any]) -> tuple[float, int]:
        return 0.1 + abs(one["keep"] - 12) / 1000 + abs(one["trim_at"] - 23) / 1000, 0

    spec, rounds, _ = refined(a_sweep("window:keep=2..14/6,trim_at=16..30/7"), formula)
    assert rounds[-1].best == ("window of 12, trimmed at 23",)
    around = {
        (one.params["keep"], one.params["trim_at"])
        for one in (*spec.strategies, *spec.refined)
        if one.name == "window"
    }
    assert {(11, 23), (13, 23), (12, 22), (12, 24)} <= around


def test_where_full_history_stays_it_looks_around_what_comes_nearest() -> None:
    spec = a_sweep("window:2..14/6")
    proposal = propose(spec, played(spec, lambda one: (0.1, 4 if one["keep"] < 8 else 1)), [])
    assert proposal is not None
    assert proposal.best == ("full history",)
    assert proposal.settings[0].reason == (
        "next to window of 8, which loses least among those cheaper than full history"
    )


def test_a_choice_of_words_has_nothing_between() -> None:
    spec = a_sweep("compaction:trigger=2000,when=over|cold")
    assert propose(spec, played(spec, compaction), []) is None
    assert (
        why_stopped(spec, played(spec, compaction), []) == "no neighbours differ enough to look between them"
    )


def test_the_limit_of_replays_is_kept() -> None:
    spec, _, why = refined(a_sweep("compaction:1000..8000*2", limit=15), compaction)
    assert (
        len(spec.replays()) == 14
    )  # five settings on two scripts, then two more; a third would pass the limit
    assert why == "the limit of 15 replays is reached"


@pytest.mark.parametrize("end", [Status.RUNNING, Status.CANCELLED, Status.INTERRUPTED])
def test_it_has_not_stopped_where_a_replay_is_yet_to_be_played_to_its_end(end: Status) -> None:
    spec = a_sweep("compaction:trigger=2000,when=over|cold")
    first, *others = played(spec, compaction)
    assert why_stopped(spec, [dataclasses.replace(first, status=end), *others], []) is None


def test_it_stops_where_the_budget_does() -> None:
    spec = a_sweep("compaction:1000..8000*2")
    ended = [dataclasses.replace(one, status=Status.STOPPED_BY_BUDGET) for one in played(spec, compaction)]
    assert why_stopped(spec, ended, []) == "the budget is used up"


def test_a_share_of_the_window_is_refined_for_its_own_model() -> None:
    models = (MODEL, "claude-haiku-4-5")
    spec = a_sweep("compaction:1%..4%*2", models=models)
    proposal = propose(spec, played(spec, lambda one: (0.05 + one["trigger"] / 1_000_000, 0)), [])
    assert proposal is not None
    assert {choice.model for choice in proposal.choices} == set(models)
    dataclasses.replace(spec, refined=proposal.choices).replays()  # no setting twice


def test_nothing_is_read_into_the_numbers_of_a_setting_that_was_refused() -> None:
    spec = a_sweep("compaction:1000|2000|8000")
    outcomes = [
        dataclasses.replace(one, status=Status.REJECTED) if one.params.get("trigger") == 2000 else one
        for one in played(spec, lambda one: (0.1, 4 if one["trigger"] == 1000 else 0))
    ]
    assert labels(propose(spec, outcomes, [])) == [
        "compaction at 5000"
    ]  # next to the best, not between 1000 and 2000


def test_a_comparison_that_is_no_sweep_is_not_refined() -> None:
    spec = ComparisonSpec((script(),), (choose("full_history"),))
    assert propose(spec, played(spec, compaction), []) is None


formulas = st.fixed_dictionaries(
    {
        "step": st.floats(0.0, 0.1),
        "edge": st.integers(0, 9000),
        "bump": st.integers(0, 9000),
        "lost": st.integers(0, 4),
    }
)
written = st.sampled_from(
    [
        ["compaction:500..8000*2"],
        ["compaction:1000..9000/4000", "window:2..20/6"],
        ["window:keep=2..12/5,trim_at=12..30/9"],
        ["running_brief:context_limit=4000..16000*4,fraction=0.3..0.9/0.3"],
        ["truncate:budget=1000|5000", "compaction:trigger=2000,when=over|cold"],
    ]
)


@settings(max_examples=25, deadline=None)
@given(written, formulas, st.integers(1, 90))
def test_refinement_ends_plays_nothing_twice_and_stays_within_its_limit(
    families: list[str], shape: dict[str, float], room: int
) -> None:
    def formula(params: dict[str, Any]) -> tuple[float, int]:
        size = sum(
            value
            for value in params.values()
            if isinstance(value, (int, float)) and not isinstance(value, bool)
        )
        bump = shape["step"] if size > shape["bump"] else 0.0
        return 0.1 + bump + (size % 977) / 10_000, int(shape["lost"]) if size < shape["edge"] else 0

    start = a_sweep(*families)
    limit = len(start.replays()) + room
    assert start.sweep is not None
    spec, rounds, _ = refined(
        dataclasses.replace(start, sweep=dataclasses.replace(start.sweep, limit=limit)), formula
    )
    assert len(spec.replays()) <= limit  # building them refuses settings given twice
    assert len(rounds) <= room
    assert all(0 < len(one.settings) <= 6 for one in rounds)

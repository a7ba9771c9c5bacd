"""From which length on the order of cost of two settings is another one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memdash.metrics.conversations import BreakEven, break_even_json, break_evens, cost_curves
from tests.metrics.outcomes import outcome


def pairs(**costs: list[float]) -> tuple[BreakEven, ...]:
    return break_evens(cost_curves(outcome(name, turns) for name, turns in costs.items()).curves)


def test_a_pair_changes_order_where_the_cost_so_far_does() -> None:
    # so far: 1, 2, 5, 8 against 2, 4, 5, 6: a tie at three turns is no change
    assert pairs(window=[1, 1, 3, 3], whole=[2, 2, 1, 1]) == (BreakEven("window", "whole", (4,)),)
    [one] = pairs(window=[1, 1, 3, 3], whole=[2, 2, 1, 1])
    assert (one.turns, one.long) == (4, "whole")
    assert one.words == "window is cheaper than whole up to 3 turns and dearer from 4 on"


def test_several_changes_are_all_told() -> None:
    # so far: 1, 4, 4, 9 against 2, 3, 5, 6
    [one] = pairs(brief=[1, 3, 0, 5], whole=[2, 1, 2, 1])
    assert one == BreakEven("brief", "whole", (2, 3, 4))
    assert one.words == (
        "brief is cheaper than whole at first; the order changes at 2, 3 and at 4 turns, and it is dearer from 4 on"
    )
    [again] = pairs(brief=[1, 3, 0], whole=[2, 1, 2])
    assert (again.changes, again.long) == ((2, 3), "brief")
    assert again.words.endswith("and it is cheaper from 3 on")


def test_a_pair_of_one_order_is_not_listed_and_every_other_is() -> None:
    found = pairs(a=[1, 9], b=[2, 2], c=[3, 3])
    assert [(one.short, one.other) for one in found] == [("a", "b"), ("a", "c")]
    assert pairs(a=[1, 1], b=[1, 1]) == ()
    assert pairs(a=[1]) == ()


def test_rounding_of_sums_is_no_change() -> None:
    assert pairs(a=[0.1, 0.2, 0.0], b=[0.3, 0.0, 0.0]) == ()


def test_settings_of_different_length_are_compared_as_far_as_both_go() -> None:
    assert pairs(a=[1, 5], b=[2, 1, 9]) == (BreakEven("a", "b", (2,)),)


def test_the_json_tells_both_ends() -> None:
    assert break_even_json(pairs(window=[1, 1, 3, 3], whole=[2, 2, 1, 1])) == [
        {
            "cheaper_when_short": "window",
            "other": "whole",
            "turns": 4,
            "changes": [4],
            "cheaper_when_long": "whole",
        }
    ]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=12))
def test_between_changes_the_order_stays(turns: list[tuple[int, int]]) -> None:
    found = pairs(a=[float(a) for a, _ in turns], b=[float(b) for _, b in turns])
    so_far = [(sum(a for a, _ in turns[:n]), sum(b for _, b in turns[:n])) for n in range(1, len(turns) + 1)]
    changes = found[0].changes if found else ()
    short_is_a = not found or found[0].short == "a"
    if not found:
        assert not (any(a > b for a, b in so_far) and any(a < b for a, b in so_far))
        return
    for length, (a, b) in enumerate(so_far, 1):
        turned = sum(change <= length for change in changes) % 2 == 1
        cheaper_is_a = short_is_a != turned
        assert a <= b if cheaper_is_a else b <= a

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memdash.strategies.folding import FoldedHistory, as_pair, as_user_message
from tests.strategies.workspaces import exchange, turns_in


def history(turns, thinking="strip"):
    folded = FoldedHistory(as_user_message, thinking)
    for turn in turns:
        folded.append(exchange(turn, thinking=True))
    return folded


def test_a_fold_replaces_the_covered_turns_and_keeps_the_rest():
    folded = history(range(1, 6))
    fold = folded.fold("memory", through=3)
    assert (fold.replaced_turns, fold.kept_turns, fold.stripped_blocks) == ((1, 2, 3), (4, 5), 2)
    assert turns_in(folded.messages()) == ["This", "q4", "a4", "q5", "a5"]
    assert (folded.memory, folded.covered_through, folded.last_turn) == ("memory", 3, 5)


def test_thinking_of_kept_turns_goes_with_the_history_before_it_unless_it_is_asked_for():
    kept = history([1, 2], thinking="keep")
    assert kept.fold("memory", through=1).stripped_blocks == 0
    assert kept.messages()[2]["content"][0]["type"] == "thinking"


def test_a_brief_is_a_pair_and_a_memory_one_user_message():
    assert [message["role"] for message in as_pair("x")] == ["user", "assistant"]
    assert [message["role"] for message in as_user_message("x")] == ["user"]
    assert as_pair("the brief")[0]["content"][0]["text"].endswith("the brief")


@given(
    steps=st.lists(st.one_of(st.just("append"), st.integers(0, 12)), max_size=30),
)
def test_every_exchange_is_covered_or_kept_exactly_once_whatever_is_folded_when(steps):
    folded = FoldedHistory(as_user_message)
    turn = 0
    for step in steps:
        if step == "append":
            turn += 1
            folded.append(exchange(turn))
        else:
            # A memory may be of any turn so far, older than the last fold included.
            folded.fold("memory", through=min(step, turn))
        kept = [one.turn for one in folded.exchanges]
        assert sorted([*range(1, folded.covered_through + 1), *kept]) == list(range(1, turn + 1))

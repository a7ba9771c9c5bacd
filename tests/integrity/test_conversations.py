from __future__ import annotations

import copy
import random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.integrity.logs import (
    Chat,
    answered,
    assistant,
    body,
    check,
    line,
    message,
    refusal,
    user,
)


def shape(checked: Any) -> list[list[int]]:
    """The lines of each conversation."""
    return [one.lines for one in checked.conversations]


def test_a_conversation_that_only_grows_is_one_without_edits() -> None:
    chat = Chat("ada", thinks=True)
    checked = check(*(chat.turn() for _ in range(5)))
    assert shape(checked) == [[1, 2, 3, 4, 5]]
    assert checked.totals.edits == 0


def test_interleaved_conversations_stay_apart() -> None:
    ada, bob = Chat("ada"), Chat("bob")
    checked = check(ada.turn(), bob.turn(), bob.turn(), ada.turn(), ada.turn(), bob.turn())
    assert shape(checked) == [[1, 4, 5], [2, 3, 6]]
    assert checked.totals.edits == 0


def test_conversations_with_the_same_first_message_are_told_apart_by_how_they_go_on() -> None:
    ada, bob = Chat("ada", first="Hi"), Chat("bob", first="Hi")
    checked = check(ada.turn(), bob.turn(), ada.turn(), bob.turn(), bob.turn(), ada.turn())
    assert shape(checked) == [[1, 3, 6], [2, 4, 5]]
    assert checked.totals.edits == 0


def test_twins_with_the_same_answer_get_a_conversation_each() -> None:
    """Two users say hello and are greeted alike: the first to go on is the first conversation, the other the second."""
    hello = line(body([user("Hi")]), message(answered("Hello!")))
    told = [user("Hi"), assistant(answered("Hello!"))]
    one = line(body([*told, user("What is a fern?")]), message(answered("A plant.")))
    other = line(body([*told, user("What is a tern?")]), message(answered("A bird.")))
    checked = check(hello, hello, one, other)
    assert shape(checked) == [[1, 3], [2, 4]]
    assert checked.totals.edits == 0


def test_a_request_that_shares_nothing_is_a_conversation_of_its_own() -> None:
    chat = Chat("ada")
    summary = line(
        body([user("Summarise: ada asks question 1")], system="You summarise."), message(answered("Ferns."))
    )
    checked = check(chat.turn(), summary, chat.turn())
    assert shape(checked) == [[1, 3], [2]]
    assert checked.totals.edits == 0


def test_a_question_beside_the_conversation_does_not_disturb_it() -> None:
    """A recall question, or a summary on the live prefix: appended once, then never seen again."""
    chat = Chat("ada")
    first = chat.turn()
    aside = line(body([*chat.history, user("Sum it up.")]), message(answered("So far: ferns.")))
    checked = check(first, aside, chat.turn(), chat.turn())
    assert shape(checked) == [[1, 2, 3, 4]]
    assert checked.totals.edits == 0


def test_many_questions_after_the_same_examples_are_no_edits() -> None:
    """A classifier: each request holds the same examples, and its answer is a word that they hold too."""
    examples = [user("good"), assistant(answered("positive")), user("bad"), assistant(answered("negative"))]
    lines = [line(body([*examples, user(f"text {n}")]), message(answered("positive"))) for n in range(6)]
    checked = check(*lines)
    assert checked.totals.edits == 0
    assert len(checked.conversations) == 6


def test_short_answers_alone_do_not_join_conversations() -> None:
    ada = line(body([user("Is a fern a plant? Tell me quickly.")]), message(answered("Yes.")))
    bob = line(
        body([user("Can terns fly?"), assistant(answered("Yes.")), user("How far?")]),
        message(answered("Far.")),
    )
    checked = check(ada, bob)
    assert shape(checked) == [[1], [2]]
    assert checked.totals.edits == 0


def test_a_retry_is_no_edit() -> None:
    chat = Chat("ada")
    first, second = chat.turn(), chat.turn()
    busy = {**second, "response": refusal("Overloaded")}
    checked = check(first, busy, busy, second, chat.turn())
    assert shape(checked) == [[1, 2, 3, 4, 5]]
    assert (checked.totals.edits, checked.totals.errors) == (0, 2)


def test_the_first_request_retried_stays_one_conversation() -> None:
    chat = Chat("ada")
    first = chat.turn()
    checked = check({**first, "response": refusal("Overloaded")}, first, chat.turn())
    assert shape(checked) == [[1, 2, 3]]


def test_a_new_branch_from_an_earlier_turn_is_no_edit() -> None:
    """The user goes back and asks something else: what the branch repeats is as it was."""
    chat = Chat("ada")
    first = chat.turn()
    branch = line(body([*chat.history, user("Something else.")]), message(answered("Else, then.")))
    checked = check(first, chat.turn(), chat.turn(), branch)
    assert shape(checked) == [[1, 2, 3, 4]]
    assert checked.totals.edits == 0


def test_another_model_has_a_cache_and_so_a_conversation_of_its_own() -> None:
    chat = Chat("ada")
    first = chat.turn()
    checked = check(first, chat.turn(model="claude-sonnet-5"))
    assert shape(checked) == [[1], [2]]


def test_without_answers_requests_are_joined_by_what_they_repeat() -> None:
    chat = Chat("ada")
    lines = [{**chat.turn(), "response": None} for _ in range(4)]
    checked = check(*lines)
    assert shape(checked) == [[1, 2, 3, 4]]
    assert checked.totals.edits == 0


def test_without_answers_an_edit_is_found_too() -> None:
    chat = Chat("ada")
    lines = [{**chat.turn(), "response": None} for _ in range(3)]
    chat.history[2] = user("ada asks question two")
    checked = check(*lines, {**chat.turn(), "response": None})
    assert shape(checked) == [[1, 2, 3, 4]]
    (edit,) = checked.conversations[0].edits
    assert (edit.previous_line, edit.difference.path_before) == (3, "messages.2.content.0")


def test_without_answers_an_edit_of_the_latest_message_is_found() -> None:
    chat = Chat("ada")
    lines = [{**chat.turn(), "response": None} for _ in range(2)]
    chat.history[2] = user("ada asked question 2 at 10:04")
    checked = check(*lines, {**chat.turn(), "response": None})
    (edit,) = checked.conversations[0].edits
    assert (edit.line, edit.previous_line, edit.difference.path_before) == (3, 2, "messages.2.content.0")


@settings(max_examples=60)
@given(st.integers(0, 10**9), st.integers(1, 4), st.booleans())
def test_any_interleaving_of_clean_conversations_has_no_edits(seed: int, chats: int, alike: bool) -> None:
    source = random.Random(seed)
    clients = [Chat(f"client {n}", first="Hi" if alike else None, thinks=bool(n % 2)) for n in range(chats)]
    owners = [source.choice(clients) for _ in range(12)]
    lines = [owner.turn() for owner in owners]
    checked = check(*lines)
    assert checked.totals.edits == 0
    assert checked.totals.thinking_lost == 0
    expected: dict[str, list[int]] = {}
    for number, owner in enumerate(owners, 1):
        expected.setdefault(owner.name, []).append(number)
    assert sorted(shape(checked)) == sorted(expected.values())


@settings(max_examples=80)
@given(st.integers(0, 10**9), st.integers(1, 3))
def test_an_edit_anywhere_in_any_interleaving_is_found_once_and_where_it_is(seed: int, chats: int) -> None:
    source = random.Random(seed)
    clients = [Chat(f"client {n}", first="Hi") for n in range(chats)]
    owners = [source.choice(clients) for _ in range(10)]
    victim = clients[0]
    owners += [victim, victim]
    lines = [owner.turn() for owner in owners]
    sent = [n for n, owner in enumerate(owners, 1) if owner is victim]
    place = source.randrange(len(victim.history) - 1)
    old = victim.history[place]
    victim.history[place] = copy.deepcopy(old)
    victim.history[place]["content"][-1]["text"] += " (edited)"
    checked = check(*lines, victim.turn(), victim.turn())
    edits = [edit for one in checked.conversations for edit in one.edits]
    assert [(edit.line, edit.previous_line, edit.difference.path_before) for edit in edits] == [
        (len(lines) + 1, sent[-1], f"messages.{place}.content.0")
    ]

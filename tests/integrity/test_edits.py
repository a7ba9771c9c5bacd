from __future__ import annotations

import copy
from typing import Any

import pytest

from memdash.integrity import Change, Edit, Part
from tests.integrity.logs import (
    MODEL,
    Chat,
    answered,
    assistant,
    body,
    check,
    line,
    message,
    refusal,
    usage,
    user,
)


def edits(*lines: Any) -> list[Edit]:
    return [edit for one in check(*lines).conversations for edit in one.edits]


def only(*lines: Any) -> Edit:
    (edit,) = edits(*lines)
    return edit


TOOLS = [{"name": "look", "description": "Look.", "input_schema": {"type": "object", "properties": {}}}]


def a_tool_chat() -> list[dict[str, Any]]:
    """A question, a call, its result: two lines, each with its messages in ``body.messages``."""
    call = {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"a": 1, "b": 2}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "four ferns"}
    first = [user("What is there?")]
    second = [*first, assistant([call]), {"role": "user", "content": [result]}]
    third = [*second, assistant(answered("Four ferns.")), user("Thanks")]
    return [
        line(body(first, tools=TOOLS), message([call], usage(0, 100))),
        line(body(second, tools=TOOLS), message(answered("Four ferns."), usage(100, 50))),
        line(body(third, tools=TOOLS), message(answered("You are welcome."), usage(150, 50))),
    ]


# -- what is no edit ----------------------------------------------------------------------------------------------------


def test_a_tool_loop_is_no_edit() -> None:
    assert edits(*a_tool_chat()) == []


def test_moved_marks_other_spellings_and_other_options_are_no_edits() -> None:
    one, two, three = a_tool_chat()
    mark = {"type": "ephemeral"}
    sent = two["body"]
    sent["messages"][0]["content"] = "What is there?"
    sent["messages"][1]["content"][0]["input"] = {"b": 2, "a": 1}
    sent["messages"][1]["content"][0]["caller"] = {"type": "direct"}
    sent["messages"][2]["content"][0]["cache_control"] = mark
    sent["system"] = [{"type": "text", "text": "Be brief.", "cache_control": mark}]
    sent["tools"] = [{**TOOLS[0], "cache_control": mark}]
    later = three["body"]
    later["messages"][2]["content"][0]["content"] = [
        {"type": "text", "text": "four ferns", "citations": None}
    ]
    later["messages"][2]["content"][0]["is_error"] = False
    later["tools"] = [{"input_schema": TOOLS[0]["input_schema"], **TOOLS[0]}]
    later |= {"max_tokens": 900, "metadata": {"user_id": "1"}, "tool_choice": {"type": "auto"}}
    later["output_config"] = {"effort": "low"}
    assert edits(one, two, three) == []


def test_splitting_a_message_in_two_of_the_same_role_is_no_edit() -> None:
    """The API joins neighbours of one role."""
    both = {"role": "user", "content": [*user("One.")["content"], *user("Two.")["content"]]}
    first = line(body([both]), message(answered("Three, and so on it goes.")))
    told = assistant(answered("Three, and so on it goes."))
    assert (
        edits(
            first, line(body([user("One."), user("Two."), told, user("Go on")]), message(answered("Four.")))
        )
        == []
    )


def test_an_answer_handed_back_without_its_thinking_is_no_edit() -> None:
    chat = Chat("ada", thinks=True)
    first = chat.turn()
    del chat.history[1]["content"][0]
    assert edits(first, chat.turn(), chat.turn()) == []


def test_models_that_strip_earlier_thinking_themselves_may_be_spared_it() -> None:
    """Sonnet 4.5 leaves the thinking of earlier turns out, so it makes no difference that the client does."""
    chat = Chat("ada", thinks=True, model="claude-sonnet-4-5")
    lines = [chat.turn(), chat.turn()]
    chat.history[1]["content"].pop(0)
    assert edits(*lines, chat.turn()) == []


def test_what_lies_before_a_server_compaction_may_be_kept_or_dropped() -> None:
    chat = Chat("ada")
    lines = [chat.turn(), chat.turn()]
    compaction = {"type": "compaction", "content": "ferns were discussed", "signature": "sc"}
    chat.history.append(user("Go on"))
    content = [compaction, *answered("Going on with the ferns, as you wish.")]
    lines.append(line(body(chat.history), message(content, usage(0, 300))))
    kept = [*chat.history, assistant(content), user("More")]
    dropped = [assistant(content), user("More")]
    more = answered("More about ferns there is to tell.")
    end = [*dropped, assistant(more), user("Enough")]
    for messages in (kept, dropped):
        last = line(body(end), message(answered("Good.")))
        checked = check(*lines, line(body(messages), message(more)), last)
        assert [one.lines for one in checked.conversations] == [[1, 2, 3, 4, 5]]
        assert checked.totals.edits == 0


def test_an_edit_after_a_server_compaction_is_one() -> None:
    compaction = {"type": "compaction", "content": "ferns were discussed", "signature": "sc"}
    content = [compaction, *answered("Going on with the ferns, as you wish.")]
    more = answered("More about ferns there is to tell.")
    first = line(body([user("Go on")]), message(content))
    second = line(body([assistant(content), user("More at 10:04")]), message(more))
    third = line(
        body([assistant(content), user("More at 10:05"), assistant(more), user("Yes?")]), message(more)
    )
    edit = only(first, second, third)
    assert (edit.line, edit.difference.path_before) == (3, "messages.1.content.0")


def test_an_on_demand_compaction_with_a_kept_tail_is_no_edit() -> None:
    chat = Chat("ada")
    lines = [chat.turn(), chat.turn(), chat.turn()]
    compaction = {"type": "compaction", "content": "ferns were discussed", "signature": "sc"}
    asked = body(chat.history[:4], compaction={"type": "summarize"})
    lines.append(line(asked, message([compaction])))
    after = [assistant([compaction]), *chat.history[4:], user("More")]
    more = answered("More about ferns there is to tell.")
    lines.append(line(body(after), message(more)))
    lines.append(line(body([*after, assistant(more), user("Enough")]), message(answered("Good."))))
    checked = check(*lines)
    assert [one.lines for one in checked.conversations] == [[1, 2, 3, 4, 5, 6]]
    assert checked.totals.edits == 0


# -- what changed where -------------------------------------------------------------------------------------------------


def test_a_changed_text_is_shown_around_the_place_where_it_differs() -> None:
    chat = Chat("ada", first="It is now 10:04 and the ferns are fine, thank you for asking me about them.")
    first = chat.turn()
    chat.history[0]["content"][0]["text"] = chat.history[0]["content"][0]["text"].replace("10:04", "10:05")
    edit = only(first, chat.turn())
    assert (edit.line, edit.previous_line) == (2, 1)
    what = edit.difference
    assert (what.part, what.change, what.blocks) == (Part.MESSAGES, Change.CHANGED, 1)
    assert what.path_before == what.path_after == "messages.0.content.0"
    assert what.before == "It is now 10:04 and the ferns are fine, thank you for asking me about them."
    assert what.after == "It is now 10:05 and the ferns are fine, thank you for asking me about them."


def test_a_long_text_is_cut_on_both_sides() -> None:
    chat = Chat("ada", first="x" * 100 + "A" + "y" * 200)
    first = chat.turn()
    chat.history[0]["content"][0]["text"] = "x" * 100 + "B" + "y" * 200
    what = only(first, chat.turn()).difference
    # 32 characters before the difference at 100, 96 in all
    assert what.before == "…" + "x" * 32 + "A" + "y" * 63 + "…"
    assert what.after == "…" + "x" * 32 + "B" + "y" * 63 + "…"


def test_nothing_in_an_excerpt_can_move_the_cursor_or_turn_the_writing_round() -> None:
    chat = Chat("ada", first="one\n\x1b[2J\u202etwo\x07")
    first = chat.turn()
    chat.history[0]["content"][0]["text"] = "one\r\u2028"
    what = only(first, chat.turn()).difference
    assert what.before == "one\\n\\u{1b}[2J\\u{202e}two\\u{7}"
    assert what.after == "one\\r\\u{2028}"


def test_dropped_turns_are_removed_blocks() -> None:
    """A sliding window: the first two exchanges go."""
    chat = Chat("ada")
    lines = [chat.turn(), chat.turn(), chat.turn()]
    del chat.history[:4]
    what = only(*lines, chat.turn()).difference
    assert (what.change, what.blocks, what.path_before, what.path_after) == (
        Change.REMOVED, 4, "messages.0.content.0", None,
    )  # fmt: skip
    assert what.before == "ada asks question 1"


def test_a_block_put_in_between_is_inserted() -> None:
    chat = Chat("ada")
    lines = [chat.turn(), chat.turn()]
    chat.history.insert(2, user("By the way: be quick."))
    what = only(*lines, chat.turn()).difference
    assert (what.change, what.path_before, what.path_after) == (Change.INSERTED, None, "messages.2.content.0")
    assert what.after == "By the way: be quick."


def test_a_summary_in_place_of_old_turns_is_a_change() -> None:
    chat = Chat("ada")
    lines = [chat.turn(), chat.turn(), chat.turn()]
    chat.history[:4] = [user("So far: ferns.")]
    what = only(*lines, chat.turn()).difference
    assert (what.change, what.path_before, what.path_after) == (
        Change.CHANGED, "messages.0.content.0", "messages.0.content.0",
    )  # fmt: skip


def test_a_cleared_tool_result_is_a_change() -> None:
    one, two, three = a_tool_chat()
    three["body"]["messages"][2]["content"][0]["content"] = "[cleared]"
    what = only(one, two, three).difference
    assert (what.change, what.path_before) == (Change.CHANGED, "messages.2.content.0")
    assert what.before is not None
    assert "four ferns" in what.before


@pytest.mark.parametrize(
    ("field", "value", "path"),
    [
        ("system", "Be brief. It is Monday.", "system.0"),
        ("tools", [{**TOOLS[0], "description": "Look well."}], "tools.0"),
    ],
)
def test_a_changed_fixed_part_is_named(field: str, value: Any, path: str) -> None:
    one, two, three = a_tool_chat()
    three["body"][field] = value
    what = only(one, two, three).difference
    assert (what.part, what.change, what.path_before) == (field, Change.CHANGED, path)


def test_an_added_tool_is_inserted() -> None:
    one, two, three = a_tool_chat()
    three["body"]["tools"] = [*TOOLS, {**TOOLS[0], "name": "leap"}]
    what = only(one, two, three).difference
    assert (what.part, what.change, what.path_after) == (Part.TOOLS, Change.INSERTED, "tools.1")


def test_every_edit_is_one_and_the_same_history_goes_on_after_it() -> None:
    chat = Chat("ada")
    lines = [chat.turn(), chat.turn()]
    chat.history[0] = user("ada asked question 1")
    lines += [chat.turn(), chat.turn(), chat.turn()]
    assert [edit.line for edit in edits(*lines)] == [3]


# -- what it cost -------------------------------------------------------------------------------------------------------


def test_what_could_have_been_read_and_was_not_is_lost() -> None:
    """Line 2 had 1,000 in the cache; line 3 reads 200 of it and writes the rest anew, 900 tokens in all.

    Opus 5.5: a write is $5 and a read $0.20 a million, so 800 tokens written instead of read cost 800 · 4.80 / 1,000,000.
    """
    chat = Chat("ada")
    one, two = chat.turn(), chat.turn()
    one["response"]["usage"], two["response"]["usage"] = usage(0, 600), usage(600, 400)
    chat.history[0] = user("ada asked question 1")
    three = chat.turn()
    three["response"]["usage"] = usage(200, 900)
    edit = only(one, two, three)
    assert edit.tokens_lost == 800
    assert edit.cost_lost_usd == pytest.approx(800 * 4.80 / 1e6)


def test_a_prompt_cannot_lose_more_than_it_holds() -> None:
    """The window left 303 tokens of 1,000: none was read, so 303 are lost: 300 written and 3 plain (Opus 5.5: $4 a million)."""
    chat = Chat("ada")
    lines = [chat.turn(), chat.turn()]
    lines[1]["response"]["usage"] = usage(600, 400)
    del chat.history[:2]
    last = chat.turn()
    last["response"]["usage"] = usage(0, 300)
    edit = only(*lines, last)
    assert edit.tokens_lost == 303
    assert edit.cost_lost_usd == pytest.approx((300 * 4.80 + 3 * 3.80) / 1e6)


def test_hour_long_writes_cost_more() -> None:
    chat = Chat("ada")
    first = chat.turn()
    first["response"]["usage"] = usage(0, 100)
    chat.history[0] = user("ada asked question 1")
    last = chat.turn()
    split = {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 200}
    last["response"]["usage"] = {**usage(0, 200), "cache_creation": split}
    assert only(first, last).cost_lost_usd == pytest.approx(100 * 7.80 / 1e6)  # $8 written, $0.20 read


@pytest.mark.parametrize("missing", ["before", "after"])
def test_without_usage_the_loss_is_not_reported(missing: str) -> None:
    chat = Chat("ada")
    first = chat.turn()
    chat.history[0] = user("ada asked question 1")
    last = chat.turn()
    del (first if missing == "before" else last)["response"]["usage"]
    checked = check(first, last)
    assert checked.totals.tokens_lost is None
    assert checked.totals.cost_lost_usd is None
    assert checked.totals.thinking_lost == 0


def test_a_model_without_a_price_has_a_loss_in_tokens_only() -> None:
    chat = Chat("ada", model="claude-next")
    first = chat.turn()
    chat.history[0] = user("ada asked question 1")
    edit = only(first, chat.turn(read=0))
    assert (edit.tokens_lost, edit.cost_lost_usd) == (100, None)


def test_a_refused_request_costs_nothing_until_the_same_one_is_answered() -> None:
    chat = Chat("ada")
    first = chat.turn()
    chat.history[0] = user("ada asked question 1")
    last = chat.turn(read=0)
    busy = {**last, "response": refusal("Overloaded")}
    assert only(first, busy).tokens_lost == 0
    assert only(first, busy, last).tokens_lost == 100
    assert only(first, busy, last, last).tokens_lost == 100


def test_after_a_server_compaction_the_last_pass_says_what_is_in_the_cache() -> None:
    chat = Chat("ada")
    first = chat.turn()
    first["response"]["usage"] = {
        **usage(0, 0),
        "iterations": [{"type": "compaction", **usage(5000, 0)}, {"type": "message", **usage(0, 70)}],
    }
    chat.history[0] = user("ada asked question 1")
    assert only(first, chat.turn(read=0)).tokens_lost == 70


# -- what dies of it ----------------------------------------------------------------------------------------------------


def test_thinking_after_an_edit_is_dead_and_thinking_before_it_is_not() -> None:
    chat = Chat("ada", thinks=True)
    lines = [chat.turn(), chat.turn(), chat.turn()]
    chat.history[2] = user("ada asked question 2")
    edit = only(*lines, chat.turn())
    # the answers to questions 2 and 3 were made after the edited message 2
    assert (edit.thinking_lost, edit.thinking_path) == (2, "messages.3.content.0")
    assert edit.thinking_fate == "refused_for_new_accounts"


@pytest.mark.parametrize(
    ("thinking", "fate"),
    [
        ({"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}, "dropped"),
        ({"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "error"}}, "refused"),
        ({"type": "adaptive"}, "refused_for_new_accounts"),
    ],
)
def test_what_becomes_of_dead_thinking_is_what_the_request_asks_for(thinking: Any, fate: str) -> None:
    chat = Chat("ada", thinks=True)
    first = chat.turn()
    chat.history[0] = user("ada asked question 1")
    assert only(first, chat.turn(thinking=thinking)).thinking_fate == fate


def test_a_refusal_shows_that_the_account_is_checked() -> None:
    chat = Chat("ada", thinks=True)
    first = chat.turn()
    chat.history[0] = user("ada asked question 1")
    assert only(first, {**chat.turn(), "response": refusal()}).thinking_fate == "refused"


@pytest.mark.parametrize("field", ["system", "tools"])
def test_a_changed_fixed_part_kills_all_thinking(field: str) -> None:
    chat = Chat("ada", thinks=True)
    lines = [chat.turn(), chat.turn()]
    edit = only(*lines, chat.turn(**{field: "Be kind." if field == "system" else TOOLS}))
    assert (edit.thinking_lost, edit.thinking_path) == (2, "messages.1.content.0")


def test_models_that_do_not_check_lose_nothing() -> None:
    chat = Chat("ada", thinks=True, model="claude-opus-5")
    first = chat.turn()
    chat.history[0] = user("ada asked question 1")
    assert only(first, chat.turn()).thinking_lost == 0


def test_of_an_unknown_model_it_is_not_known() -> None:
    chat = Chat("ada", thinks=True, model="claude-next")
    first = chat.turn()
    chat.history[0] = user("ada asked question 1")
    edit = only(first, chat.turn())
    assert (edit.thinking_lost, edit.thinking_path) == (None, "messages.1.content.0")


def three_thoughts(*removed: int) -> Edit:
    """Three answered questions whose thinking is handed back; then some of it is left out (0, 1, 2)."""
    chat = Chat("ada", thinks=True)
    lines = [chat.turn(), chat.turn(), chat.turn(), chat.turn()]
    for answer in removed:
        del chat.history[2 * answer + 1]["content"][0]
    return only(*lines, chat.turn())


@pytest.mark.parametrize("removed", [(0,), (0, 1), (0, 1, 2), (0, 1, 2, 3)])
def test_leaving_out_the_first_thoughts_or_all_kills_none(removed: tuple[int, ...]) -> None:
    edit = three_thoughts(*removed)
    assert (edit.difference.change, edit.thinking_lost) == (Change.REMOVED, 0)


def test_leaving_out_a_thought_in_the_middle_kills_those_after_it() -> None:
    """Thought 2 was made after thought 1; with that gone it does not fit. Thought 3 comes after 2 as before."""
    edit = three_thoughts(1)
    assert (edit.thinking_lost, edit.thinking_path) == (1, "messages.5.content.0")


def test_a_thought_that_is_put_back_kills_what_was_made_without_it() -> None:
    chat = Chat("ada", thinks=True)
    lines = [chat.turn(), chat.turn()]
    thought = chat.history[1]["content"].pop(0)
    lines.append(chat.turn())
    chat.history[1]["content"].insert(0, thought)
    first, second = edits(*lines, chat.turn())
    assert (first.line, first.thinking_lost) == (3, 0)
    # at line 3 the answer to question 3 was made after thought 2 alone; two thoughts now stand before it
    assert (second.line, second.difference.change, second.thinking_lost) == (4, Change.INSERTED, 1)


def test_dead_thinking_is_counted_once() -> None:
    chat = Chat("ada", thinks=True)
    lines = [chat.turn(), chat.turn()]
    for n in range(3):
        chat.history[0] = user(f"ada asks question 1 at 10:0{n}")
        lines.append(chat.turn())
    # two die at the first edit, then each time the one answer that was made since
    assert [edit.thinking_lost for edit in edits(*lines)] == [2, 1, 1]


def test_an_answer_handed_back_in_other_words_is_an_edit_where_thinking_dies_of_it() -> None:
    """An answer of two thoughts and two texts: the second thought was made after the first text."""
    content = [*answered("Let me see what the ferns say."), *answered("Four ferns it is.", thought="second")]
    first = line(body([user("How many?")]), message(content))
    back = copy.deepcopy(content)
    back[0]["text"] = "Let me see."
    edit = only(
        first, line(body([user("How many?"), assistant(back), user("Sure?")]), message(answered("Yes.")))
    )
    assert (edit.difference.part, edit.difference.path_after) == (Part.ANSWER, "messages.1.content.0")
    assert (edit.thinking_lost, edit.tokens_lost) == (1, 0)


def test_history_replaced_by_a_summary_is_known_by_the_thinking_that_was_kept() -> None:
    """Every text was rewritten, but a signature is nobody else's."""
    chat = Chat("ada", thinks=True)
    first = chat.turn()
    rewritten = assistant([chat.history[1]["content"][0], *answered("Ferns.")])
    edit = only(first, line(body([user("Ferns?"), rewritten, user("And?")]), message(answered("Done."))))
    assert (edit.line, edit.thinking_lost) == (2, 1)


def test_the_model_named_in_the_tests_checks_its_prefix() -> None:
    from memdash.models import facts

    known = facts(MODEL)
    assert known is not None
    assert known.checks_prefix

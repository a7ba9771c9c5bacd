"""One script, turn by turn, with its facts. Everything in it was written by somebody else and is shown as text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import streamlit as st

from memdash.scripts.model import Expectation, Fact, Grading, Script, Turn
from memdash.views.components import HELP, badge, clip, plain

_PAGE: Final = 10
_LONG: Final = 4_000
"""A longer tool result is cut on the page, and the cut is said."""

_GRADED: Final = {
    Grading.REGEX: "matches",
    Grading.NUMBER: "is the number",
    Grading.DATE: "is the date",
    Grading.ALL_OF: "has all of",
    Grading.F1: "is close to",
}


def summary(script: Script) -> str:
    """Say in a few words what is in a script."""
    calls = sum(len(step.calls) for turn in script.turns for step in turn.steps)
    parts = [f"{len(script.turns)} turns", f"{len(script.facts)} fact{'s' if len(script.facts) != 1 else ''}"]
    if calls:
        parts.append(f"{calls} tool calls")
    return " · ".join(parts)


def read_script(script: Script) -> None:
    """Show a script: what it is, its conversation, its facts, its fixed part."""
    head, action = st.columns([3, 1.25], vertical_alignment="bottom")
    head.subheader(plain(script.title), anchor=False)
    if action.button(
        "Compare with this script",
        icon=":material/play_arrow:",
        type="primary",
        key="compare_script",
        width="stretch",
    ):
        st.switch_page("compare.py", query_params={"scripts": script.id})
    if script.description:
        st.text(script.description)
    with st.container(horizontal=True, gap="small"):
        badge(script.id, icon=":material/tag:", color="gray")
        badge(summary(script), icon=":material/forum:", color="blue")
        if updated := sum(len(fact.values) > 1 for fact in script.facts):
            st.badge(
                f"{updated} fact{'s change' if updated > 1 else ' changes'}",
                icon=":material/update:",
                color="orange",
            )
        if pauses := sum(turn.pause is not None for turn in script.turns):
            st.badge(f"{pauses} scripted pauses", icon=":material/hourglass:", color="gray")
    for warning in script.warnings:
        st.caption(f":orange[:material/warning:] {plain(warning)}")
    view = st.segmented_control(
        "Show",
        ["Conversation", "Facts and probes", "Fixed part"],
        default="Conversation",
        required=True,
        key="script_view",
        bind="query-params",
        label_visibility="collapsed",
    )
    if view == "Facts and probes":
        _facts(script)
    elif view == "Fixed part":
        _fixed_part(script)
    else:
        _conversation(script)


# -- conversation --------------------------------------------------------------------------------------------------------


def _conversation(script: Script) -> None:
    pages, page = -(-len(script.turns) // _PAGE), 1
    turns = st.container()
    if pages > 1:
        with st.container(horizontal_alignment="center"):
            page = st.pagination(pages, key=f"turns.{script.id}", bind="query-params")
    first = (page - 1) * _PAGE
    stated = _stated_by_turn(script)
    with turns:
        for turn in script.turns[first : first + _PAGE]:
            _turn(turn, stated.get(turn.number, []))


def _stated_by_turn(script: Script) -> dict[int, list[tuple[str, bool]]]:
    """Which facts a turn states, and whether it changes them."""
    stated: dict[int, list[tuple[str, bool]]] = {}
    for fact in script.facts:
        for position, value in enumerate(fact.values):
            stated.setdefault(value.turn, []).append((fact.id, position > 0))
    return stated


def _turn(turn: Turn, facts: Sequence[tuple[str, bool]]) -> None:
    with st.container(border=True, gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption(f"**Turn {turn.number}**", width="content")
            for fact, changed in facts:
                badge(
                    f"{'changes' if changed else 'states'} {fact}",
                    icon=":material/update:" if changed else ":material/push_pin:",
                    color="orange" if changed else "green",
                )
            if turn.pause is not None:
                st.badge(f"after {turn.pause:,.0f} s", icon=":material/hourglass:", color="gray")
            if turn.system is not None:
                st.badge("changes the system prompt", icon=":material/edit_note:", color="violet")
            if turn.tools is not None:
                st.badge("changes the tools", icon=":material/build:", color="violet")
        st.text(turn.text)
        others = [block for block in turn.content if block.get("type") != "text"]
        if others:
            st.caption("Other content: " + plain(", ".join(str(block.get("type")) for block in others)))
        for step in turn.steps:
            names = ", ".join(call.name for call in step.calls)
            count = f"{len(step.calls)} calls: " if len(step.calls) > 1 else ""
            with st.expander(f"{count}{plain(clip(names, 80))}", icon=":material/build:"):
                if step.text:
                    st.text(step.text)
                for call in step.calls:
                    st.caption(
                        f"**{plain(call.name)}**" + (" · answers with an error" if call.is_error else "")
                    )
                    st.code(_json(call.input), language="json", wrap_lines=True)
                    st.code(
                        _shortened(call.result),
                        language=None,
                        wrap_lines=True,
                        height=240 if len(call.result) > 900 else None,
                    )
        if turn.reply is not None:
            st.caption("Recorded reply")
            st.text(_shortened(turn.reply))


def _shortened(text: str) -> str:
    if len(text) <= _LONG:
        return text
    half = _LONG // 2
    return f"{text[:half]}\n\n… {len(text) - _LONG:,} characters not shown …\n\n{text[-half:]}"


def _json(value: Any) -> str:
    return json.dumps(dict(value) if isinstance(value, Mapping) else value, ensure_ascii=False, indent=2)


# -- facts ---------------------------------------------------------------------------------------------------------------


def _facts(script: Script) -> None:
    if not script.facts:
        st.caption("This script plants no facts, so no recall is measured with it.")
        return
    for fact in script.facts:
        _fact(fact)


def _fact(fact: Fact) -> None:
    with st.container(border=True, gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"**{plain(fact.id)}**", width="content")
            st.badge(plain(fact.fact_type), icon=":material/category:", color="gray")
            turns = ", ".join(str(value.turn) for value in fact.values)
            st.badge(
                f"turn{'s' if len(fact.values) > 1 else ''} {turns}",
                icon=":material/push_pin:",
                color="green",
            )
            asked = ", ".join(map(str, fact.probe_after)) if fact.probe_after else "the last turn"
            st.badge(f"asked after {asked}", icon=":material/quiz:", color="blue")
        st.text(fact.question)
        latest, *older = reversed(fact.values)
        st.caption("A right answer " + _expectation(latest.answer))
        for value in older:
            st.caption(f"A stale answer (from turn {value.turn}) " + _expectation(value.answer))
        if latest.text != latest.answer:
            st.caption("Counts as kept where the request " + _expectation(latest.text), help=HELP["kept"])


def _expectation(one: Expectation) -> str:
    values = ", ".join(plain(value) for value in one.values)
    return f"{_GRADED[one.grading]}: **{values}**"


# -- fixed part ----------------------------------------------------------------------------------------------------------


def _fixed_part(script: Script) -> None:
    st.caption(
        "What every request of the conversation starts with: tool definitions, then the system prompt."
    )
    if script.fixed_tokens is not None:
        st.caption(
            f"{script.fixed_tokens:,} tokens of filler stand for a fixed part that the script does not give."
        )
    if script.system:
        st.code(script.system, language=None, wrap_lines=True)
    for tool in script.tools:
        with st.expander(plain(str(tool.get("name", tool.get("type", "tool")))), icon=":material/build:"):
            st.code(_json(tool), language="json", wrap_lines=True)
    if not script.system and not script.tools:
        st.caption("It has neither a system prompt nor tools.")
    st.caption(
        f"Replies up to {script.max_tokens:,} tokens; effort: {plain(script.effort or 'the model’s default')}."
    )

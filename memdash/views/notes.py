"""Notes on a comparison: the latest below its title, all of them with a place to write one in a menu."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

import streamlit as st

from memdash import numbers
from memdash.errors import MemdashError
from memdash.store.notes import MOST_CHARACTERS, Note
from memdash.views.components import clip, moment, plain, problem
from memdash.views.people import who
from memdash.views.state import services

_SHOWN: Final = 2
"""Notes below a title; the menu has them all."""
_SHOWN_CHARACTERS: Final = 180


def latest_notes(notes: Sequence[Note]) -> None:
    """Draw the latest notes, a line each, and say how many more there are; nothing where there are none."""
    lines = [
        f":material/sticky_note_2: {plain(clip(one.text, _SHOWN_CHARACTERS))} *— {plain(_signed(one))}*"
        for one in reversed(notes[-_SHOWN:])
    ]
    if more := len(notes) - len(lines):
        lines.append(f"and {numbers.count(more, 'older note')}")
    if lines:
        st.caption("  \n".join(lines))


def notes_menu(
    comparison_id: str, notes: Sequence[Note], look: Literal["secondary", "tertiary"] = "tertiary"
) -> None:
    """Draw a menu with every note in full, the newest first, and a form for one more; ``look`` is that of its button."""
    count = f"{len(notes):,}" if notes else ""
    menu = st.popover(
        count,
        icon=":material/sticky_note_2:",
        help="Notes",
        type=look,
        key=f"notes_menu.{comparison_id}",
        on_change="rerun",
    )
    if menu.open:
        with menu:
            write_note(comparison_id)
            for one in reversed(notes):
                with st.container(border=True, gap="xsmall"):
                    st.text(one.text)
                    st.caption(plain(_signed(one)))


def write_note(comparison_id: str) -> None:
    """Draw the form for a note, and keep what is written with who wrote it and when."""
    with st.form(f"note_form.{comparison_id}", clear_on_submit=True, border=False):
        text = st.text_area(
            "Note",
            key=f"note.{comparison_id}",
            max_chars=MOST_CHARACTERS,
            placeholder="What should others know about this comparison?",
            label_visibility="collapsed",
            height=90,
        )
        pressed = st.form_submit_button(
            "Add note", icon=":material/add_comment:", key=f"add_note.{comparison_id}"
        )
    if not pressed:
        return
    try:
        services().store.add_note(comparison_id, text, who())
    except MemdashError as error:
        problem(error)
        return
    st.rerun()


def _signed(note: Note) -> str:
    """Who wrote it and when; where nobody is signed in, when alone."""
    return ", ".join(part for part in (note.who, moment(note.at)) if part)

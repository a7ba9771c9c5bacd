"""Checking a script of one's own: every problem with its line and field, or a script that can be compared at once."""

from __future__ import annotations

from typing import Final

import streamlit as st

from memdash.errors import ScriptError
from memdash.scripts import check_text
from memdash.views.components import plain
from memdash.views.script_reader import summary
from memdash.views.state import keep_upload

_SHOWN: Final = 12


def upload() -> None:
    """Draw the upload and its result. A valid script joins this session's list, and is stored with what it is used in."""
    with st.expander("Check a script of your own", icon=":material/upload_file:", expanded=False):
        given = st.file_uploader(
            "YAML script",
            type=["yaml", "yml"],
            key="script_file",
            label_visibility="collapsed",
            max_upload_size=8,
        )
        if given is None:
            st.caption("It is checked here and stays in this session, until you run a comparison with it.")
            return
        script, errors = check_text(given.getvalue(), given.name)
        if script is not None:
            if keep_upload(script):
                st.session_state["script"] = script.id  # show it at once
            st.success(
                f"{plain(script.title)}: {plain(summary(script))}. It is in the list, and in the setup form.",
                title="Valid",
                icon=":material/check_circle:",
            )
            return
        _problems(errors)


def _problems(errors: list[ScriptError]) -> None:
    count = f"{len(errors)} problems" if len(errors) > 1 else "One problem"
    st.error("Correct the file and upload it again.", title=f"{count} in this file", icon=":material/error:")
    for error in errors[:_SHOWN]:
        place = " · ".join(
            part for part in (f"line {error.line}" if error.line else "", error.field or "") if part
        )
        with st.container(gap="xxsmall"):
            st.caption(f"**{plain(place or str(error.path or 'file'))}**")
            st.text(error.problem)
    if len(errors) > _SHOWN:
        st.caption(f"{len(errors) - _SHOWN} more after these.")

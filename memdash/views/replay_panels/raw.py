"""A request as it can be made once more: the command for curl, and its body as JSON."""

from __future__ import annotations

from typing import Final

import streamlit as st

from memdash import numbers
from memdash.errors import MemdashError
from memdash.inspection.raw import RawRequest, Target, raw_request
from memdash.inspection.requests import blocks_of
from memdash.views.components import plain, problem
from memdash.views.replay_panels import Opened
from memdash.views.replay_panels.inspected import choose_request, texts

_LONGEST: Final = 60_000
"""Characters of a body that are shown to be copied; a longer one is a file."""
_HEIGHT: Final = 460
_FILE: Final = "request.json"


def raw_panel(opened: Opened, turn: int) -> None:
    """Draw one of a turn's requests as it can be sent to the simulator or to the API."""
    record = choose_request(opened, turn)
    if record is None:
        return
    key = f"raw.{opened.log.spec.id}"
    target = st.segmented_control(
        "Send it to",
        list(Target),
        default=Target.SIMULATE if record.modelled else Target.API,
        required=True,
        format_func=str,
        key=f"{key}.target.{record.modelled}",
    )
    try:
        raw = raw_request(
            opened.log, record, texts(opened.log.spec.id, blocks_of(opened.log, record)), Target(target)
        )
    except MemdashError as error:
        problem(error, "The texts of this request cannot be read")
        return
    with st.container(border=True, gap="small"):
        _draw(raw, Target(target), key)


def _draw(raw: RawRequest, target: Target, key: str) -> None:
    body = raw.json
    if target is Target.SIMULATE:
        st.caption(
            "Start `memdash simulate` first. It answers this request as it did in the replay, except for the cache, which is "
            "empty there."
        )
    else:
        st.caption("Set ANTHROPIC_API_KEY first. The call is billed to that key.")
    for note in raw.notes:
        st.caption(f":material/info: {plain(note)}")
    download, about = st.columns([1, 3], vertical_alignment="center")
    download.download_button(
        "Body as a file",
        body,
        file_name=_FILE,
        mime="application/json",
        icon=":material/download:",
        on_click="ignore",
        key=f"{key}.body",
    )
    about.caption(f"{numbers.count(len(body), 'character')}")
    if len(body) > _LONGEST:
        st.caption(f"The body is too long to be shown. Download it; this command sends {_FILE}.")
        st.code(raw.curl(_FILE), language="bash", wrap_lines=True)
        return
    st.markdown("**Command**")
    st.code(raw.curl(), language="bash", wrap_lines=True, height=_HEIGHT)
    st.markdown("**Body**")
    st.code(body, language="json", wrap_lines=True, height=_HEIGHT)

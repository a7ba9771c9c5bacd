"""A comparison as a file. The file is made when its button is pressed, not before."""

from __future__ import annotations

import re
from functools import partial
from typing import Final

import streamlit as st

from memdash.errors import MemdashError
from memdash.report.preview import preview
from memdash.views.bundles import bundle_download
from memdash.views.comparison import file_of
from memdash.views.components import clip, plain, problem
from memdash.views.state import services

_KINDS: Final = {
    ".html": (
        "Report",
        "text/html",
        "One file that opens anywhere, with the network off: findings, table and charts.",
    ),
    ".md": ("Markdown", "text/markdown", "The report without its charts, fit for a pull request."),
    ".json": ("JSON", "application/json", "Everything the command line's contract holds, for programs."),
    ".csv": ("CSV", "text/csv", "One row a turn, for a spreadsheet."),
    ".parquet": ("Parquet", "application/vnd.apache.parquet", "The same rows, typed, for data tools."),
}
_REDACT_HELP: Final = (
    "Questions, answers, messages, summaries and the names that people gave to things are left out of every file. Numbers, "
    "strategies, models, settings and prices stay."
)
_LONGEST: Final = 140
"""Characters of an example in the preview."""


def downloads(comparison_id: str) -> None:
    """Draw the download buttons of a comparison, with what will be shared of its conversations above them."""
    redact = _redact(comparison_id)
    _preview(comparison_id, redact)
    name = f"memdash-{re.sub('[^A-Za-z0-9_-]', '', comparison_id)}{'-redacted' if redact else ''}"
    with st.container(horizontal=True, gap="small"):
        for ending, (label, mime, help_text) in _KINDS.items():
            st.download_button(
                label,
                data=partial(file_of, comparison_id, ending, redact=redact),
                file_name=f"{name}{ending}",
                mime=mime,
                icon=":material/download:",
                key=f"download{ending}.{comparison_id}",
                help=help_text,
                on_click="ignore",
            )
        if not redact:  # a bundle holds everything
            bundle_download(comparison_id)


def _redact(comparison_id: str) -> bool:
    """Draw the switch; it stands as it was left when its menu, with which Streamlit forgets it, is opened again."""
    key, kept = f"redact.{comparison_id}", f"redacting.{comparison_id}"

    def switched() -> None:
        st.session_state[kept] = st.session_state[key]

    st.session_state[key] = st.session_state.get(kept, False)
    return st.toggle("Leave out conversation text", key=key, help=_REDACT_HELP, on_change=switched)


def _preview(comparison_id: str, redact: bool) -> None:
    """Show an example of every kind of text as it will stand in the files."""
    try:
        shared = preview(services().store, comparison_id, redact=redact)
    except MemdashError as error:
        problem(error)
        return
    with st.container(border=True, gap="xxsmall", height=220):
        st.caption("What will be shared of the conversations, for example")
        for one in shared:
            where = "" if one.files == "all" else f" (in {one.files})"
            st.markdown(f"**{one.what}**{where}: {plain(clip(one.text, _LONGEST))}")

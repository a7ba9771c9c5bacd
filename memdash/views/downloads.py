"""A comparison as a file. The file is made when its button is pressed, not before."""

from __future__ import annotations

import re
from functools import partial

import streamlit as st

from memdash.views.comparison import file_of

_KINDS = {
    ".json": ("JSON", "application/json", "Everything the command line's contract holds, for programs."),
    ".csv": ("CSV", "text/csv", "One row a turn, for a spreadsheet."),
    ".parquet": ("Parquet", "application/vnd.apache.parquet", "The same rows, typed, for data tools."),
}


def downloads(comparison_id: str) -> None:
    """Draw the download buttons of a comparison."""
    with st.container(horizontal=True, gap="small"):
        for ending, (label, mime, help_text) in _KINDS.items():
            st.download_button(
                label,
                data=partial(file_of, comparison_id, ending),
                file_name=f"memdash-{re.sub('[^A-Za-z0-9_-]', '', comparison_id)}{ending}",
                mime=mime,
                icon=":material/download:",
                key=f"download{ending}.{comparison_id}",
                help=help_text,
                on_click="ignore",
            )

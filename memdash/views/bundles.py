"""Comparisons that come and go as bundles, and what was deleted erased for good: a part of the Library page."""

from __future__ import annotations

import io
import re
import tempfile
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

import streamlit as st

from memdash import numbers
from memdash.access import Act
from memdash.errors import MemdashError
from memdash.store import Arrival, Arrived
from memdash.views import acts, people
from memdash.views.components import clip, plain, problem
from memdash.views.state import services

if TYPE_CHECKING:
    from streamlit.runtime.uploaded_file_manager import UploadedFile

_MIME: Final = "application/zip"
_LARGEST_UPLOAD: Final = 1024
"""Megabytes of a bundle that a browser may hand in, which the server holds in memory; memdash import takes any size."""
_HELP: Final = (
    "A bundle holds all of a comparison, conversation text included: another memdash takes it in on its Library page, or with "
    "memdash import. It is a zip of JSON and Parquet, which other tools read too."
)
_SAID: Final = {
    Arrival.NEW: "Imported",
    Arrival.MORE: "Added to what was here",
    Arrival.KNOWN: "Here already",
}
_SHOWN: Final = 8
_RESULT: Final = "bundle_result"
_ERASED: Final = "erased"
_UPLOADS: Final = "bundle_uploads"


def bundles() -> None:
    """Draw how to take comparisons in, how to take all of them along, and how to erase what was deleted."""
    with st.expander(
        "Import, export, erase", icon=":material/folder_zip:", key="bundles", on_change="rerun"
    ) as opened:
        if opened.open:
            result = st.container()
            _import()
            with result:
                _result()
            with st.container(horizontal=True, gap="small"):
                bundle_download(None)
                _erase()
        else:
            st.session_state[_ERASED], st.session_state[_RESULT] = 0, ()


def bundle_download(comparison_id: str | None) -> None:
    """Draw the button that downloads a comparison, or with None every one, as a bundle. It is made when it is pressed."""
    name = re.sub("[^A-Za-z0-9_-]", "", comparison_id or "library")
    empty = comparison_id is None and not services().store.comparisons()
    st.download_button(
        "Bundle" if comparison_id else "Export all as a bundle",
        data=partial(bundle_of, comparison_id),
        file_name=f"memdash-{name}.zip",
        mime=_MIME,
        icon=":material/folder_zip:",
        key=f"bundle.{comparison_id or 'all'}",
        help=_HELP,
        disabled=empty,
        on_click="ignore",
    )


def bundle_of(comparison_id: str | None) -> bytes:
    """Return a comparison, or with None every one, as a bundle."""
    with tempfile.TemporaryFile(prefix="memdash-") as file:
        services().store.export_bundle(file, None if comparison_id is None else [comparison_id])
        file.seek(0)
        return file.read()


def _import() -> None:
    uploads = st.session_state.setdefault(_UPLOADS, 0)
    given = st.file_uploader(
        "Import a bundle",
        type=["zip"],
        key=f"bundle_file.{uploads}",
        max_upload_size=_LARGEST_UPLOAD,
        help=_HELP,
    )
    if given is not None and st.button(
        "Import", type="primary", icon=":material/download:", key="import_bundle"
    ):
        _take_in(given)


def _take_in(given: UploadedFile) -> None:
    """Import, saying how far it is; then show what became of it and be ready for the next file."""
    bar = st.progress(0.0, "Looking through the bundle")

    def told(done: int, of: int) -> None:
        bar.progress(done / of, f"{done} of {numbers.count(of, 'comparison')} imported")

    try:
        arrived = services().store.import_bundle(io.BytesIO(given.getvalue()), clip(given.name, 80), told)
    except MemdashError as error:
        bar.empty()
        # What came of the one before is not what came of this.
        st.session_state[_ERASED], st.session_state[_RESULT] = 0, ()
        problem(error, "This bundle was not imported")
        return
    st.session_state[_ERASED], st.session_state[_RESULT] = 0, arrived
    st.session_state[_UPLOADS] += 1
    st.rerun()


def _result() -> None:
    """Say what was erased last, or became of the last import, until the part is closed."""
    if erased := st.session_state.get(_ERASED, 0):
        st.success(f"Erased {numbers.count(erased, 'comparison')} for good.", icon=":material/check_circle:")
    arrived: Sequence[Arrived] = st.session_state.get(_RESULT, ())
    if not arrived:
        return
    st.success(_counted(arrived), icon=":material/check_circle:")
    for arrival, said in _SAID.items():
        titles = [clip(one.title or one.id, 80) for one in arrived if one.arrival is arrival]
        if titles:
            st.caption(f"{said}: {plain(numbers.listing(titles, limit=_SHOWN))}")


def _counted(arrived: Sequence[Arrived]) -> str:
    counts = {said: sum(one.arrival is arrival for one in arrived) for arrival, said in _SAID.items()}
    parts = [f"{count} {said[0].lower()}{said[1:]}" for said, count in counts.items() if count]
    return f"{numbers.count(len(arrived), 'comparison')} in the bundle: {', '.join(parts)}."


def _erase() -> None:
    if not people.may(Act.DELETE):
        return
    deleted = services().store.deleted()
    if st.button(
        "Erase what was deleted…",
        icon=":material/delete_forever:",
        key="erase",
        disabled=not deleted,
        help="Deleted comparisons are hidden; erasing takes them and their texts out of the database file as well.",
    ):
        ask_to_erase(deleted)


@st.dialog("Erase what was deleted?", icon=":material/delete_forever:")
def ask_to_erase(deleted: int) -> None:
    """Ask whether what was deleted is to be erased for good, and erase it."""
    st.caption(
        f"{numbers.count(deleted, 'deleted comparison')} and every text that no other comparison uses will be gone from the "
        "database file for good. What runs goes on; pages wait a moment while the file is written anew."
    )
    with st.container(horizontal=True, horizontal_alignment="right"):
        if st.button("Keep", key="keep_deleted"):
            st.rerun()
        if st.button("Erase", type="primary", icon=":material/delete_forever:", key="erase_deleted"):
            try:
                acts.purge()
            except MemdashError as error:
                problem(error)
                return
            st.session_state[_ERASED], st.session_state[_RESULT] = deleted, ()
            st.rerun()

"""The Library page's way in and out for bundles, and its way to erase what was deleted."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from memdash.store import MEMORY, Store
from memdash.views import bundles
from memdash.views.bundles import bundle_of
from tests.store.bundles import changed
from tests.views.samples import sample_spec, store_sample
from tests.views.test_pages import page, texts


def a_bundle(title: str) -> bytes:
    """A bundle of one comparison made elsewhere."""
    with Store.open(MEMORY) as store:
        store_sample(store, sample_spec(title=title))
        file = io.BytesIO()
        store.export_bundle(file)
        return file.getvalue()


def library() -> AppTest:
    """The Library page with the part opened."""
    at = page("library")
    at.session_state["bundles"] = True
    return at.run()


def given(at: AppTest, name: str, content: bytes) -> AppTest:
    """Hand a file in and press Import."""
    at.file_uploader[0].upload(name, content, "application/zip").run()
    at.button(key="import_bundle").click().run()
    assert not at.exception, at.exception
    return at


def test_a_bundle_is_imported_and_imported_again_changes_nothing(store: Store) -> None:
    content = a_bundle("From **elsewhere**")
    at = given(library(), "theirs.zip", content)
    assert "1 comparison in the bundle: 1 imported." in texts(at)
    assert "Imported: From **elsewhere**" in texts(at)
    assert [one.title for one in store.comparisons()] == ["From **elsewhere**"]
    at = given(at, "theirs.zip", content)
    assert "1 comparison in the bundle: 1 here already." in texts(at)
    assert len(store.comparisons()) == 1
    at.session_state["bundles"] = False
    assert "in the bundle" not in texts(at.run())  # until it is closed


def test_what_cannot_be_imported_is_said_in_a_line(store: Store) -> None:
    at = given(library(), "broken [x].zip", a_bundle("x")[:-30])
    assert at.error[0].value.count("\n") == 0
    assert "broken [x].zip: is no zip, or only a part of one" in texts(at)
    assert store.comparisons() == []


def test_what_came_of_an_import_does_not_stand_beside_the_refusal_of_the_next(store: Store) -> None:
    at = given(library(), "theirs.zip", a_bundle("theirs"))
    at = given(at, "broken.zip", b"PK")
    assert "broken.zip: is no zip" in texts(at)
    assert "in the bundle" not in texts(at)


def test_the_whole_library_and_one_comparison_go_out_as_bundles(store: Store) -> None:
    first, second = (store_sample(store, sample_spec(title=title)) for title in ("one", "two"))
    assert _ids(bundle_of(None)) == {first, second}
    assert _ids(bundle_of(first)) == {first}


def _ids(bundle: bytes) -> set[str]:
    with zipfile.ZipFile(io.BytesIO(bundle)) as archive:
        return {name.split("/")[1] for name in archive.namelist() if "/" in name}


def _dialog() -> None:
    """The question alone: on the page it answers by itself, which a page test cannot do."""
    from memdash.views.bundles import ask_to_erase

    ask_to_erase(1)


def test_what_was_deleted_is_erased_after_a_question(store: Store, database: Path) -> None:
    at = library()
    assert at.button(key="erase").disabled
    gone = store_sample(store, sample_spec(title="private title 9931"))
    store.delete(gone)
    at = library()
    at.button(key="erase").click().run()
    assert "1 deleted comparison and every text" in texts(at)
    assert store.deleted() == 1
    dialog = AppTest.from_function(_dialog).run()
    dialog.button(key="keep_deleted").click().run()
    assert store.deleted() == 1
    at = dialog.button(key="erase_deleted").click().run()
    assert not at.exception, at.exception
    assert store.deleted() == 0
    assert at.session_state["erased"] == 1  # the page says so
    assert b"private title 9931" not in b"".join(
        one.read_bytes() for one in database.parent.iterdir() if one.is_file()
    )


def test_a_viewer_is_offered_no_erasing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.delete(store_sample(store, sample_spec()))
    monkeypatch.setattr(bundles.people, "may", lambda act: False)
    shown: list[Any] = [one.key for one in library().button]
    assert "erase" not in shown


def test_somebody_elses_own_strategy_is_shown_though_it_is_not_known_here(store: Store) -> None:
    known = sample_spec(title="Theirs")
    with Store.open(MEMORY) as elsewhere:
        store_sample(elsewhere, known)
        file = io.BytesIO()
        elsewhere.export_bundle(file)
    content = changed(file.getvalue(), "comparison.json", _with_another_strategy)
    store.import_bundle(io.BytesIO(content), "theirs.zip")
    at = page("compare", c=known.id)
    assert "The form cannot take its settings over: there is no strategy 'bookends'" in texts(at)
    assert "bookends" in " ".join(at.dataframe[0].value["strategy"])


def _with_another_strategy(document: dict[str, Any]) -> dict[str, Any]:
    return json.loads(
        json.dumps(document).replace("window of 4", "bookends, last 4").replace("window", "bookends")
    )

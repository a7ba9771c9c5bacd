"""The one door to what the server owns: the store and the worker, and the scripts that can be chosen.

There is one of each for a database in a server process, however many pages, sessions and reruns there are. ``app.py`` opens
them when the server starts and closes them when it stops; a page that runs without it (a test) opens them on its first use.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import streamlit as st

from memdash.children import Children
from memdash.errors import MemdashError, StoreError
from memdash.prices import PriceTable
from memdash.scripts import Entry, Script, list_scripts, stamp_of_scripts
from memdash.store import Store, database_path
from memdash.treasury import DayBudget
from memdash.views.choices import DEMO
from memdash.views.people import access
from memdash.worker import Worker

_RETRY_SECONDS: Final = 2.0
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class Services:
    """What the pages work with."""

    store: Store
    worker: Worker

    def close(self) -> None:
        """Stop what runs (it can be resumed) and give the database back."""
        self.worker.close()
        self.store.close()


@dataclass(frozen=True, slots=True)
class _Failure:
    """Why the database could not be opened, and when that was tried."""

    error: StoreError
    at: float


@st.cache_resource(show_spinner=False)
def _opened() -> dict[Path, Services | _Failure]:
    return {}


def services() -> Services:
    """Return the store and the worker of this server.

    Raises :class:`StoreError` where the database cannot be opened; it is tried again at the next call some seconds later. Raises
    :class:`InputError` where the user's own prices cannot be read.
    """
    path = database_path()
    with _lock:
        held = _opened().get(path)
        if isinstance(held, Services):
            return held
        if held is not None and time.monotonic() - held.at < _RETRY_SECONDS:
            raise held.error
        try:
            opened = _open(path)
        except StoreError as error:
            _opened()[path] = _Failure(error, time.monotonic())
            raise
        _opened()[path] = opened
        return opened


def has_spent() -> bool:
    """Return whether anything was ever started live here; False as well while the database cannot be opened."""
    try:
        return services().store.has_ledger
    except MemdashError:
        return False


def close_services() -> None:
    """Close everything that :func:`services` opened in this process."""
    with _lock:
        for held in _opened().values():
            if isinstance(held, Services):
                held.close()
        _opened().clear()


def _open(path: Path) -> Services:
    PriceTable.load()  # a price file that cannot be read is found before the database is taken
    children = Children()
    if not path.exists():
        children.warm_up_one()  # a new database gets the demo comparison: what plays it loads while the rest is made ready
    try:
        store = Store.open(path)
    except StoreError:
        children.close()
        raise
    limit = access().day_budget
    budget = None if limit is None else DayBudget(limit, store.spent_on)
    return Services(store, Worker(store, children=children, day_budget=budget, spent_in=store.spent_in))


# -- scripts -------------------------------------------------------------------------------------------------------------


def scripts_on_disk() -> dict[str, Script]:
    """Return every valid script of the script folders, by id; those of the demo come first."""
    found = {entry.script.id: entry.script for entry in _files() if entry.script is not None}
    return {one: found[one] for one in DEMO.scripts if one in found} | found


def scripts_at_hand() -> Mapping[str, Script]:
    """Return every script that can be chosen in this session, by id: the files, then what was uploaded here."""
    uploads: dict[str, Script] = st.session_state.get("uploads", {})
    return {**scripts_on_disk(), **uploads}


def broken_scripts() -> list[str]:
    """Return what is wrong with the script files that cannot be used."""
    return [str(entry.error) for entry in _files() if entry.error is not None]


def _files() -> list[Entry]:
    return _read_files(_stamp())


@st.cache_resource(ttl=5, show_spinner=False)
def _stamp() -> tuple[tuple[str, int, int], ...]:
    return stamp_of_scripts()


@st.cache_resource(max_entries=2, show_spinner=False)
def _read_files(stamp: tuple[tuple[str, int, int], ...]) -> list[Entry]:
    """``stamp`` is what makes two readings different: scripts are read again only where a file has changed."""
    return list_scripts()


def keep_upload(script: Script) -> bool:
    """Make an uploaded script one of those that can be chosen in this session; returns whether that is news."""
    uploads: dict[str, Script] = st.session_state.setdefault("uploads", {})
    if uploads.get(script.id) == script:
        return False
    uploads[script.id] = script
    return True

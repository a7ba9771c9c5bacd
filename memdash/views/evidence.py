"""What the pages know of the simulator's error, read once for each state of the comparisons it rests on."""

from __future__ import annotations

from typing import Final

import streamlit as st

from memdash import report
from memdash.errors import InputError, StoreError
from memdash.evidence import Evidence, evidence_for, latest_evidence
from memdash.store import StoredComparison
from memdash.views.state import services

_KEPT_IN_MEMORY: Final = 32

_Checks = tuple[tuple[str, int, int], ...]
"""Every live comparison that checks another one: its id, and the versions of both."""


def evidence_of(stored: StoredComparison) -> Evidence | None:
    """Return what is known of the simulator's error in the numbers of a comparison; None where nothing is."""
    store = services().store
    return _evidence(str(store.path), stored.id, _checks(), _stored=stored)


def basis_of(stored: StoredComparison) -> str:
    """Return what the numbers of a comparison rest on; it stands wherever they are shown."""
    return report.basis(stored, evidence_of(stored))


def simulator_caption() -> str:
    """Return what to say of the simulator as such, also where the database cannot be read."""
    try:
        store = services().store
        return report.simulator_basis(_latest(str(store.path), _checks()))
    except (InputError, StoreError):
        return report.simulator_basis()


def _checks() -> _Checks:
    store = services().store
    pairs = _checking(str(store.path), store.library_version())
    return tuple((live, store.version(live), store.version(simulated)) for live, simulated in pairs)


@st.cache_resource(max_entries=_KEPT_IN_MEMORY, show_spinner=False)
def _checking(path: str, library_version: int) -> tuple[tuple[str, str], ...]:
    """The live comparisons that check another one; ``library_version`` is what makes two readings different."""
    return tuple((one.id, one.confirms) for one in services().store.comparisons() if one.confirms is not None)


@st.cache_resource(max_entries=_KEPT_IN_MEMORY, show_spinner=False)
def _evidence(
    path: str, comparison_id: str, checks: _Checks, *, _stored: StoredComparison
) -> Evidence | None:
    """A comparison that is no part of a check may change as it will: of it only its versions and its counter are looked at."""
    return evidence_for(services().store, _stored)


@st.cache_resource(max_entries=_KEPT_IN_MEMORY, show_spinner=False)
def _latest(path: str, checks: _Checks) -> Evidence | None:
    return latest_evidence(services().store)

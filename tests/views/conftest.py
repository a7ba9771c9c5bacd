"""A database of its own for every page test, and nothing left open behind it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import streamlit as st

from memdash.store import Store
from memdash.views.state import close_services, services


@pytest.fixture(autouse=True)
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    path = tmp_path / "lab.duckdb"
    monkeypatch.setenv("MEMDASH_DB", str(path))
    yield path
    close_services()
    st.cache_resource.clear()


@pytest.fixture
def store(database: Path) -> Store:
    return services().store

"""The dashboard's server, which starts a sweep once the file named by ``BENCHMARK_SWEEP`` is there; see ``page_during_sweep``.

The file holds how many thresholds and repeats the sweep has.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import streamlit as st

from memdash.views.server import MIDDLEWARE, lifespan, routes
from memdash.views.state import services
from tests.benchmarks.sweeps import sweep_of

ROOT = Path(__file__).resolve().parents[2]


def _start_when_asked(order: Path) -> None:
    while not order.exists():
        time.sleep(0.05)
    thresholds, repeats = map(int, order.read_text().split())
    services().worker.submit(sweep_of(thresholds, repeats))


@asynccontextmanager
async def _lifespan(app: st.App) -> AsyncIterator[dict[str, Any]]:
    async with lifespan(app) as state:
        order = Path(os.environ["BENCHMARK_SWEEP"])
        threading.Thread(target=_start_when_asked, args=(order,), daemon=True).start()
        yield state


app = st.App(
    ROOT / "memdash" / "views" / "main.py", lifespan=_lifespan, routes=routes(), middleware=MIDDLEWARE
)

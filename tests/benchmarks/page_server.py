"""The dashboard's server, which runs a sweep while the file named by ``BENCHMARK_SWEEP`` is there; see ``page_during_sweep``.

The file holds how many settings and repeats the sweep has.
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


def _obey(order: Path) -> None:
    """Start a sweep while the order is there, and cancel it when it is gone."""
    running: str | None = None
    while True:
        time.sleep(0.05)
        if order.exists() and running is None:
            settings, repeats = map(int, order.read_text().split())
            running = services().worker.submit(sweep_of(settings, repeats))
        elif not order.exists() and running is not None:
            services().worker.cancel(running)
            running = None


@asynccontextmanager
async def _lifespan(app: st.App) -> AsyncIterator[dict[str, Any]]:
    async with lifespan(app) as state:
        order = Path(os.environ["BENCHMARK_SWEEP"])
        threading.Thread(target=_obey, args=(order,), daemon=True).start()
        yield state


app = st.App(
    ROOT / "memdash" / "views" / "main.py", lifespan=_lifespan, routes=routes(), middleware=MIDDLEWARE
)

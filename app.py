"""The dashboard's server: ``streamlit run app.py``.

The server process owns the store and the worker, from start to stop; the pages only look at them. So a run outlives every page,
tab and rerun.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from memdash.views.door import check_start
from memdash.views.server import MIDDLEWARE, lifespan, routes

check_start()

app = st.App(
    Path(__file__).parent / "memdash" / "views" / "main.py",
    lifespan=lifespan,
    routes=routes(),
    middleware=MIDDLEWARE,
)

if __name__ == "__main__":
    app.run()

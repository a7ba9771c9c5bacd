"""The estimate in one line. It is rehearsed by the worker's processes, so that the page never waits for it."""

from __future__ import annotations

from typing import Final

import streamlit as st

from memdash import numbers
from memdash.errors import MemdashError
from memdash.estimate import Estimate
from memdash.spec import ComparisonSpec, Provider
from memdash.views.components import HELP, plain
from memdash.views.state import services

_POLL_SECONDS: Final = 1.0


def estimate_line(spec: ComparisonSpec) -> None:
    """Say what ``spec`` will take; until that is known, look for it every second, and only until then."""
    try:
        estimate = services().worker.estimate(spec)
    except MemdashError as error:
        st.caption(f":orange[{plain(str(error))}]")
        return
    if estimate is None:
        st.fragment(_wait_for_it, run_every=_POLL_SECONDS)(spec)
    else:
        st.caption(plain(in_words(estimate, spec.provider)), help=HELP["estimate"])


def _wait_for_it(spec: ComparisonSpec) -> None:
    st.caption("Estimating…", help=HELP["estimate"])
    if services().worker.estimate(spec) is not None:
        st.rerun()


def in_words(estimate: Estimate, provider: Provider) -> str:
    """Spell an estimate in one line."""
    live = provider is Provider.ANTHROPIC
    cost = estimate.total_usd if live else estimate.cost_usd
    parts = [
        numbers.count(estimate.requests, "request"),
        f"{numbers.tokens_short(estimate.prompt_tokens)} tokens",
        f"{numbers.usd(cost)} with probes" if live else numbers.usd(cost),
    ]
    return "About " + ", ".join(parts)

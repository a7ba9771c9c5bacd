"""The estimate in one line. It is rehearsed by the worker's processes, so that the page never waits for it."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import streamlit as st

from memdash import numbers
from memdash.errors import MemdashError
from memdash.estimate import Estimate
from memdash.metrics import BASELINE
from memdash.spec import ComparisonSpec, Provider
from memdash.strategies import choose
from memdash.views.components import HELP, plain
from memdash.views.state import services

_POLL_SECONDS: Final = 1.0

_SWEEP_HELP: Final = (
    "Every setting is played on every script, as often as it is repeated; full history is added where it is missing. "
    "It runs in the simulator, on the processors of this machine: nothing is sent and nothing is charged."
)


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


def sweep_estimate_line(spec: ComparisonSpec) -> None:
    """Say what a sweep will take.

    A live one is rehearsed setting by setting, since it costs money. Of a simulated one only full history is: that many
    requests a replay, or a few more, is what every setting takes, and rehearsing all of them would be the sweep itself.
    """
    replays = len(spec.replays())
    settings = len({one.series for one in spec.replays()})
    size = f"{numbers.count(settings, 'setting')}, {numbers.count(replays, 'replay')}"
    if spec.provider is Provider.ANTHROPIC:
        st.caption(plain(size))
        estimate_line(spec)
        return
    base = replace(spec, strategies=(choose(BASELINE),), sweep=None, repeats=1)
    try:
        estimate = services().worker.estimate(base)
    except MemdashError as error:
        st.caption(f":orange[{plain(str(error))}]")
        return
    if estimate is None:
        st.fragment(_wait_for_it, run_every=_POLL_SECONDS)(base, f"{size}, estimating requests…")
        return
    requests = float(f"{estimate.requests * replays / len(base.replays()):.2g}")
    st.caption(plain(f"{size}, about {requests:,.0f} requests"), help=_SWEEP_HELP)


def _wait_for_it(spec: ComparisonSpec, text: str = "Estimating…") -> None:
    st.caption(text, help=HELP["estimate"])
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

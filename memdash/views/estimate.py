"""The estimate in one line. It is rehearsed by the worker's processes, so that the page never waits for it."""

from __future__ import annotations

from collections.abc import Callable
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
from memdash.views.polling import draw_until
from memdash.views.state import services

_POLL_SECONDS: Final = 1.0

_SWEEP_HELP: Final = (
    "Every setting is played on every script, as often as it is repeated; full history is added where it is missing. "
    "It runs in the simulator, on the processors of this machine: nothing is sent and nothing is charged."
)


def estimate_line(spec: ComparisonSpec) -> None:
    """Say what ``spec`` will take; until that is known, look for it every second, and only until then."""
    _line(spec, lambda estimate: in_words(estimate, spec.provider), "Estimating…", HELP["estimate"])


def sweep_estimate_line(spec: ComparisonSpec) -> None:
    """Say what a sweep will take.

    A live one is rehearsed setting by setting, since it costs money. Of a simulated one only full history is: that many
    requests a replay, or a few more, is what every setting takes, and rehearsing all of them would be the sweep itself.
    """
    once = replace(spec, repeats=1).replays()
    replays = len(once) * spec.repeats
    settings = len({one.series for one in once})
    size = f"{numbers.count(settings, 'setting')}, {numbers.count(replays, 'replay')}"
    if spec.provider is Provider.ANTHROPIC:
        st.caption(plain(size))
        estimate_line(spec)
        return
    base = replace(spec, strategies=(choose(BASELINE),), sweep=None, repeats=1)

    def told(estimate: Estimate) -> str:
        requests = float(f"{estimate.requests * replays / len(estimate.replays):.2g}")
        return f"{size}, about {requests:,.0f} requests"

    _line(base, told, f"{size}, estimating requests…", _SWEEP_HELP)


def _line(spec: ComparisonSpec, told: Callable[[Estimate], str], until_then: str, help_text: str) -> None:
    """Draw one line; only it is drawn again when the estimate comes, not the page with its charts."""
    try:
        known = services().worker.estimate(spec)
    except MemdashError as error:
        st.caption(f":orange[{plain(str(error))}]")
        return

    def draw() -> bool:
        found = services().worker.estimate(spec)
        st.caption(plain(until_then if found is None else told(found)), help=help_text)
        return found is not None

    if known is None:
        draw_until(draw, every=_POLL_SECONDS)
    else:
        draw()


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

"""The setup form of a sweep in the sidebar: which thresholds to try, what that takes, and Run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import streamlit as st

from memdash.errors import InputError
from memdash.scripts.model import Script
from memdash.spec import ComparisonSpec
from memdash.views import address
from memdash.views.choices import MAX_SWEEP_REPLAYS, SweepChoices, of_sweep, to_sweep
from memdash.views.estimate import sweep_estimate_line
from memdash.views.family_editor import families_input
from memdash.views.form_parts import (
    advanced_input,
    conditions_input,
    length_input,
    models_input,
    provider_badge,
    provider_input,
    run_button,
    scripts_input,
)
from memdash.views.state import scripts_at_hand

HELP: Final = {
    "max loss": (
        "The largest share of the facts that full history keeps which a recommended setting may lose. "
        "A setting is recommended without reservation only if the upper bound of its loss stays below this."
    ),
    "refine": (
        "After the ranges have been played, more values are tried around the best setting and where cost or kept facts change "
        "most, until the answer stops moving or the limit of replays is reached."
    ),
}


@st.fragment(key="sweep_form")
def sweep_form() -> None:
    """Draw the form. It reruns alone, so that choosing leaves the results beside it untouched."""
    seed: SweepChoices = st.session_state["setup_seed"]
    prefix = f"setup.{st.session_state['setup_epoch']}."
    scripts = scripts_at_hand()

    provider_badge(prefix)
    top = st.container(
        gap="xsmall"
    )  # filled last: Run is in sight on a small screen too, and needs all that is chosen below
    chosen = scripts_input(prefix, seed, scripts)
    models = tuple(st.session_state.get(prefix + "models", seed.models))
    families, trouble = families_input(prefix, seed, models)
    chosen = models_input(prefix, replace(chosen, families=families))
    chosen = length_input(prefix, chosen, scripts)
    chosen = _answer_input(prefix, chosen)
    chosen = conditions_input(prefix, chosen)
    chosen = advanced_input(prefix, chosen)
    chosen = provider_input(prefix, chosen)

    address.write_choices(chosen)
    with top:
        _run(prefix, chosen, scripts, trouble)


def _answer_input(prefix: str, chosen: SweepChoices) -> SweepChoices:
    """What the recommendation may lose, and whether the sweep looks closer by itself."""
    points = st.number_input(
        "A setting may lose, % of the facts",
        min_value=0.0,
        max_value=100.0,
        value=chosen.max_loss * 100,
        step=1.0,
        format="%.0f",
        key=prefix + "max_loss",
        help=HELP["max loss"],
    )
    refine = st.toggle(
        "Look closer around the answer", chosen.refine, key=prefix + "refine", help=HELP["refine"]
    )
    limit = chosen.limit
    if refine:
        limit = int(
            st.number_input(
                "At most, replays in all",
                min_value=1,
                max_value=MAX_SWEEP_REPLAYS,
                value=chosen.limit,
                step=100,
                key=prefix + "limit",
            )
        )
    return replace(chosen, max_loss=round(points / 100, 4), refine=refine, limit=limit)


def _run(prefix: str, chosen: SweepChoices, scripts: Mapping[str, Script], trouble: str) -> None:
    spec: ComparisonSpec | None = None
    try:
        spec = None if trouble else to_sweep(chosen, scripts)
    except InputError as error:
        trouble = str(error)
    run_button(prefix, spec, trouble, sweep_estimate_line, of_sweep)

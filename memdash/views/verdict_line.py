"""The verdict over the replays of a comparison: a violation is loud, everything in order is one quiet line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import streamlit as st

from memdash import numbers
from memdash.metrics import ReplayVerdict, verdicts
from memdash.replay_log import AnyLog
from memdash.views.components import plain

_HELP: Final = (
    "Every request is checked when a replay ends: user turns word for word, legal roles and tool calls, earlier "
    "messages changed only with an event that says so, totals that add up, and a cache that gave what it could. What "
    "the API refuses is a result and no violation."
)
_MOST_SHOWN: Final = 5


def verdict_line(logs: Sequence[AnyLog]) -> None:
    """Say whether the records can be trusted; nothing before the first replay has ended."""
    judged = verdicts(logs)
    broken = [one for one in judged if not one.ok]
    for one in broken:
        _alarm(one)
    if judged and not broken:
        requests = sum(one.requests for one in judged)
        st.caption(
            f":material/verified: {numbers.count(requests, 'request')} of {numbers.count(len(judged), 'replay')} checked, "
            "no rule broken",
            help=_HELP,
        )


def _alarm(verdict: ReplayVerdict) -> None:
    shown = verdict.violations[:_MOST_SHOWN]
    lines = [
        f"- request {one.request}, {plain(one.rule.replace('_', ' '))}: {plain(one.text)}" for one in shown
    ]
    if verdict.violated > len(shown):
        lines.append(f"- and {verdict.violated - len(shown):,} more")
    st.error(
        "Its numbers cannot be trusted.\n" + "\n".join(lines),
        title=plain(
            f"{verdict.label}: {numbers.count(verdict.violated, 'violation')} of the replay's own rules"
        ),
        icon=":material/gpp_bad:",
    )

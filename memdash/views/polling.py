"""Asking again until something has come, and then no more, without drawing the page anew."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.scriptrunner import get_script_run_ctx


def draw_until(done: Callable[[], bool], *, every: float) -> None:
    """Let ``done`` draw now and again every so many seconds, until it says that what it drew will stay."""
    st.fragment(_draw, run_every=every)(done)


def _draw(done: Callable[[], bool]) -> None:
    if done():
        _ask_no_more()


def _ask_no_more() -> None:
    """Stop the timer of the fragment that is run by it.

    Streamlit has no call for that: a fragment is asked for until the page around it is drawn anew, charts and all. The message is
    the one it sends itself for fragments that are gone. Where several fragments are run at once ours is not known, and the next
    time will do.
    """
    context = get_script_run_ctx()
    if context is None or not context.fragment_ids_this_run or len(context.fragment_ids_this_run) > 1:
        return
    message = ForwardMsg()
    message.stop_auto_rerun.fragment_ids.extend(context.fragment_ids_this_run)
    context.enqueue(message)

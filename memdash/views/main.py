"""The frame of every page: brand, navigation, and the page itself. ``app.py`` serves this script."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from memdash import __version__
from memdash.errors import InputError, StoreError
from memdash.views.components import clip, plain, problem, theme
from memdash.views.evidence import simulator_caption
from memdash.views.people import access, person
from memdash.views.sign_in import sign_in
from memdash.views.state import has_spent, services
from memdash.views.trouble import store_trouble

_HERE = Path(__file__).parent

st.set_page_config(
    page_title="memdash",
    page_icon=str(_HERE / "assets" / "icon.svg"),
    layout="wide",
    initial_sidebar_state=344,
    menu_items={
        "About": f"**memdash {__version__}** replays one scripted conversation through several conversation-memory "
        f"strategies and compares the bill.\n\n{simulator_caption()}."
    },
)
st.logo(
    str(_HERE / "assets" / f"logo-{theme()}.svg"),
    size="large",
    icon_image=str(_HERE / "assets" / "icon.svg"),
)

rules, someone = access(), person()
locked = rules.sign_in and someone is None
pages = [
    st.Page(
        _HERE / "compare.py",
        title="Compare",
        icon=":material/compare_arrows:",
        default=True,
        help="Run the same conversation through several strategies and read tokens, cost, recall and waiting side by side.",
    ),
    st.Page(
        _HERE / "thresholds.py",
        title="Thresholds",
        icon=":material/tune:",
        help="Try a strategy at many thresholds and read which setting to ship, what it saves and how sure that is.",
    ),
    st.Page(
        _HERE / "replay.py",
        title="Replay",
        icon=":material/frame_inspect:",
        help="One replay turn by turn: what was done to the conversation, and where each fact was lost.",
    ),
    st.Page(
        _HERE / "side_by_side.py",
        title="Side by side",
        icon=":material/splitscreen_right:",
        help="Replays of different comparisons in one table and in the same charts.",
    ),
    st.Page(
        _HERE / "what_changed.py",
        title="What changed",
        icon=":material/difference:",
        visibility="hidden",
    ),
    st.Page(
        _HERE / "library.py",
        title="Library",
        icon=":material/folder_open:",
        help="Every comparison that was run, with its notes: open, rename, pin, compare, download or delete it.",
    ),
    st.Page(
        _HERE / "scripts.py",
        title="Scripts",
        icon=":material/forum:",
        help="The scripted conversations with their facts and probes; check a script of your own.",
    ),
    st.Page(
        _HERE / "prices.py",
        title="Prices",
        icon=":material/payments:",
        help="What a million tokens cost, by model, and what a comparison would have cost at other prices.",
    ),
]
if rules.sign_in or has_spent():
    pages.append(
        st.Page(
            _HERE / "spending.py",
            title="Spending",
            icon=":material/savings:",
            help="What live runs cost, by whom and on which day, against the budget of a day.",
        )
    )
if someone is not None:
    pages.append(
        st.Page(
            _HERE / "account.py",
            title=plain(clip(someone.name, 40)),
            icon=":material/account_circle:",
            url_path="account",
            help="Who is signed in, and signing out.",
        )
    )
page = st.navigation(pages, position="hidden" if locked else "top")
if locked:
    sign_in(rules)
    st.stop()

try:
    trouble = services().store.problem
except StoreError as error:
    store_trouble(error)
except InputError as error:
    problem(error, "The prices of your own cannot be used")
else:
    if trouble is not None:
        problem(trouble, "Results cannot be written at the moment")
    page.run()

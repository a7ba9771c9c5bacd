"""What came of a confirmation, on the page of the live comparison and on that of the simulated one: the worst error first."""

from __future__ import annotations

from typing import Final

import streamlit as st

from memdash import numbers
from memdash.metrics.confirmation import Confirmation
from memdash.metrics.number_errors import Errors, NumberError
from memdash.spec import Provider
from memdash.store import StoredComparison
from memdash.views import address
from memdash.views.components import plain
from memdash.views.evidence import basis_of, evidence_of
from memdash.views.opening import COMPARE

_ALL: Final = "all settings together"
_ERROR_HELP: Final = (
    "How much more the simulator says, as a share of the live value. Errors of several settings may cancel in the sum, so look "
    "at each of them too."
)
_NOT_YET: Final = (
    "Its settings can be played live with “Confirm live” at the top of the page: the simulator's error in every number then "
    "stands here, and what is said of the simulator's rules tells it."
)
_NO_CHECK: Final = (
    "This live comparison was not started to check a simulated one, so there is nothing to hold it against."
)


def confirmed(stored: StoredComparison) -> None:
    """Draw the simulator's error in every number, or say why there is none."""
    evidence = evidence_of(stored)
    if evidence is None or not evidence.own:
        simulated = stored.spec.provider is Provider.SIMULATOR
        with st.container(border=True):
            st.markdown("**Not played live yet**" if simulated else "**Nothing to hold it against**")
            st.caption(_NOT_YET if simulated else _NO_CHECK)
            if evidence is not None:
                st.caption(plain(basis_of(stored)) + ".")
        return
    found = evidence.confirmation
    with st.container(border=True, gap="small"):
        told = f"Simulator {found.told()}" if found.pairs else "No replay finished on both sides yet"
        st.markdown(f"**{plain(told)}**", help=_ERROR_HELP)
        if found.pairs:
            _errors(found)
        for one in found.left_out:
            st.caption(f":material/remove_circle: Not counted: {plain(f'{one.label}, {one.words}')}")
        for note in found.notes:
            st.caption(f":material/info: Not alike: {plain(note)}")
        _other(stored, found)


def _errors(found: Confirmation) -> None:
    by_setting: dict[str, Errors] = {_ALL: found.total}
    by_setting |= {one.series: one.errors for one in found.settings}
    chosen = address.wanted(address.ERRORS_OF, by_setting, _ALL)
    if len(found.settings) > 1:
        names = list(by_setting)
        key = f"confirmed.{found.live}"
        chosen = st.selectbox("Errors of", names, index=names.index(chosen), key=key, width=420)
    address.keep(address.ERRORS_OF, chosen, _ALL)
    _table(by_setting[chosen], f"{chosen}: the simulator's error in every number, the worst first")


def _table(errors: Errors, alt: str) -> None:
    text = st.column_config.TextColumn
    st.dataframe(
        {
            "Number": [one.number.words for one in errors],
            "Simulated": [one.number.spelled(one.simulated) for one in errors],
            "Live": [one.number.spelled(one.live) for one in errors],
            "Difference": [one.number.spelled_difference(one.difference) for one in errors],
            "Error": [_relative(one) for one in errors],
        },
        column_config={
            "Number": text(width=190, pinned=True),
            "Simulated": text(width=110, alignment="right"),
            "Live": text(width=110, alignment="right"),
            "Difference": text(width=110, alignment="right"),
            "Error": text(width=90, alignment="right", help=_ERROR_HELP),
        },
        hide_index=True,
        height="content",
        alt=alt,
    )


def _relative(error: NumberError) -> str:
    """The relative error; against a live value of 0 there is none."""
    if error.difference is None:
        return numbers.NOTHING
    return numbers.NOT_AVAILABLE if error.relative is None else numbers.change(error.relative)


def _other(stored: StoredComparison, found: Confirmation) -> None:
    """Lead from one side to the other; a link to a sweep finds its own way from Compare."""
    live = stored.id == found.live
    name, other = ("Open the simulated one", found.simulated) if live else ("Open the live one", found.live)
    if st.button(name, icon=":material/arrow_forward:", type="tertiary", key=f"confirmed_other.{stored.id}"):
        st.switch_page(COMPARE, query_params={address.COMPARISON: other})

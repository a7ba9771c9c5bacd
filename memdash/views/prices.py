"""The Prices page: what a million tokens cost, and what a comparison would have cost on other terms."""

from __future__ import annotations

import streamlit as st

from memdash.errors import InputError
from memdash.prices import PriceTable
from memdash.views.components import problem
from memdash.views.price_table import price_table
from memdash.views.what_if import what_if

st.header("Prices", anchor=False)
try:
    table = PriceTable.load()
except InputError as error:
    problem(error, "The prices of your own cannot be used")
else:
    price_table(table)
    st.space("small")
    what_if(table)

"""The Prices page: what a million tokens cost, since when, and where that was read."""

from __future__ import annotations

import streamlit as st

from memdash import numbers
from memdash.prices import ModelPrice, PriceTable, Tier
from memdash.views.components import clip

table = PriceTable.load()


def _row(price: ModelPrice, tier: Tier) -> dict[str, object]:
    over = f", prompt > {numbers.tokens_short(tier.above)}" if tier.above else ""
    return {
        "Model": price.model + over,
        "Input": tier.input,
        "Write, 5 min": tier.write_5m,
        "Write, 1 h": tier.write_1h,
        "Read": tier.read,
        "Output": tier.output,
        "Read against input": tier.read / tier.input if tier.input else None,
        "Since": price.since,
        "Source": clip(price.source, 200),
    }


st.header("Prices", anchor=False)
checked = (
    f"Compared with the sources on {table.checked:%d %B %Y}."
    if table.checked
    else "Not yet compared with the sources."
)
st.caption(f"US dollars per million tokens, as the Messages API charges them. {checked}")

money = {
    name: st.column_config.NumberColumn(name, format="$%.3f", width=92, help=text)
    for name, text in {
        "Input": "Prompt tokens that are neither read from the cache nor written to it.",
        "Write, 5 min": "Writing a cache entry that lives five minutes after its last use.",
        "Write, 1 h": "Writing a cache entry that lives one hour.",
        "Read": "Reading from the cache.",
        "Output": "What the model writes, thinking included.",
    }.items()
}
st.dataframe(
    [_row(price, tier) for price in table.models.values() for tier in price.tiers],
    hide_index=True,
    height="content",
    placeholder="–",
    alt="Prices per million tokens by model",
    key="prices",
    column_config={
        "Model": st.column_config.TextColumn("Model", pinned=True, width=210),
        **money,
        "Read against input": st.column_config.ProgressColumn(
            "Read against input",
            format="percent",
            min_value=0,
            max_value=0.1,
            width=130,
            help="What a token read from the cache costs against one that is not cached. "
            "It differs by model, so it is never derived.",
        ),
        "Since": st.column_config.DateColumn("Since", format="D MMM YYYY", width=100),
        "Source": st.column_config.TextColumn("Source", width="large"),
    },
)
st.caption(
    "A model with a second line has another price once a request's whole prompt is longer than that; "
    "it then holds for every token of the request. A comparison keeps the prices of the day it ran. "
    "A model that is not here costs “n/a”, never nothing."
)

"""The price table with its dates and sources, the prices that held before, and those of the user's own."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

import streamlit as st

from memdash import numbers
from memdash.prices import ModelPrice, PriceTable, Tier
from memdash.views.components import clip, plain

_ROWS = 10
_ROW_HEIGHT = 35


def price_table(table: PriceTable) -> None:
    """Draw the table; a price that has been replaced, or that is announced, has a row of its own with its days."""
    checked = (
        f"Compared with the sources on {table.checked:%d %B %Y}."
        if table.checked
        else "Not yet compared with the sources."
    )
    st.caption(f"US dollars per million tokens, as the Messages API charges them. {checked}")
    rows = list(_rows(table))
    shares = [tier.read / tier.input for one in table.models.values() for tier in one.tiers if tier.input]
    st.dataframe(
        rows if table.own else [{name: row[name] for name in row if name != "Own"} for row in rows],
        hide_index=True,
        height=min(len(rows) + 1, _ROWS + 1) * _ROW_HEIGHT,
        placeholder="–",
        alt="Prices per million tokens by model",
        key="prices",
        column_config=_columns(most_read=max([0.1, *shares])),
    )
    if table.own:
        own = numbers.count(sum(price.own for price in table.models.values()), "model")
        st.caption(
            f":material/person: {plain(f'Own prices of {own} come from {table.own} (MEMDASH_PRICES).')}"
        )
    st.caption(
        "A model with a second line has another price once a request's whole prompt is longer than that; "
        "it then holds for every token of the request. A comparison keeps the prices of the day it ran. "
        "A model that is not here costs “n/a”, never nothing; a file of your own that MEMDASH_PRICES names can give it one."
    )


def _rows(table: PriceTable) -> Iterator[dict[str, object]]:
    models = list(dict.fromkeys([*table.models, *table.history]))
    for model in models:
        held = table.models.get(model)
        versions = table.history.get(model) or ((held,) if held else ())
        for place in range(len(versions) - 1, -1, -1):
            price = versions[place]
            later = versions[place + 1].since if place + 1 < len(versions) else None
            until = None if later is None else later - timedelta(days=1)
            for tier in price.tiers:
                yield _row(price, tier, until, in_force=price == held)


def _row(price: ModelPrice, tier: Tier, until: date | None, *, in_force: bool) -> dict[str, object]:
    over = f", prompt > {numbers.tokens_short(tier.above)}" if tier.above else ""
    state = "" if in_force else ", before" if until is not None else ", announced"
    return {
        "Model": price.model + over + state,
        "Input": tier.input,
        "Write, 5 min": tier.write_5m,
        "Write, 1 h": tier.write_1h,
        "Read": tier.read,
        "Output": tier.output,
        "Read against input": tier.read / tier.input if tier.input else None,
        "Since": price.since,
        "Until": until,
        "Own": price.own,
        "Source": clip(price.source, 200),
    }


def _columns(most_read: float) -> dict[str, Any]:
    """How the columns look; ``most_read`` is the share of the input price at which the bar of a cache read is full."""
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
    return {
        "Model": st.column_config.TextColumn("Model", pinned=True, width=210),
        **money,
        "Read against input": st.column_config.ProgressColumn(
            "Read against input",
            format="percent",
            min_value=0,
            max_value=most_read,
            width=120,
            help="What a token read from the cache costs against one that is not cached. "
            "It differs by model, so it is never derived.",
        ),
        "Since": st.column_config.DateColumn("Since", format="D MMM YYYY", width=95),
        "Until": st.column_config.DateColumn(
            "Until", format="D MMM YYYY", width=95, help="The last day of a price that has been replaced."
        ),
        "Own": st.column_config.CheckboxColumn(
            "Own", width=60, help="At least one of the prices comes from the file that MEMDASH_PRICES names."
        ),
        "Source": st.column_config.TextColumn("Source", width="large"),
    }

"""The question of a what-if: a comparison, and what would be different. Everything chosen stands in the address."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Final

import streamlit as st

from memdash.metrics.what_if import OtherTokenizer, WhatIf, terms_for
from memdash.models import facts
from memdash.prices import FIELDS, MAX_PRICE, PriceTable
from memdash.spec import CacheLifetime
from memdash.store import ComparisonSummary, StoredComparison
from memdash.views import what_if_link as link
from memdash.views.components import HELP, clip, moment, plain

_CACHES: Final = {"5m": "5 min", "1h": "1 h", "off": "Off"}
_HEADS: Final = {
    "input": "Input",
    "write_5m": "Write, 5 min",
    "write_1h": "Write, 1 h",
    "read": "Read",
    "output": "Output",
}

Prices = Mapping[str, Mapping[str, float]]


def choose_comparison(summaries: Sequence[ComparisonSummary]) -> str | None:
    """Let one of the comparisons be chosen, the newest first; typing searches them."""
    known = {one.id: one for one in summaries}
    link.seed(link.COMPARISON, known, what="comparison that is here")
    return st.selectbox(
        "Comparison",
        list(known),
        format_func=lambda one: _called(known[one]),
        key=link.COMPARISON,
        help="The newest come first; type to search titles, models and ids.",
    )


def _called(one: ComparisonSummary) -> str:
    simulated = "simulated" if one.provider == "simulator" else "live"
    return f"{clip(one.title or one.id, 90)} · {moment(one.created_at)} · {', '.join(one.models)} · {simulated} · {one.id}"


def choose_terms(stored: StoredComparison, table: PriceTable) -> WhatIf:
    """Let the terms be chosen, with the prices they come to in a table that can be edited."""
    models = [one for one in table.models if facts(one) is not None]
    link.seed(link.MODEL, models, what="model")
    link.seed(link.CACHE, _CACHES, what="cache lifetime")
    link.seed_day(link.DAY)
    link.seed_flag(link.BATCH)
    model, cache, day, batch = st.columns([2.2, 1.8, 1.3, 1], vertical_alignment="bottom")
    other = model.selectbox(
        "Model",
        models,
        index=None,
        placeholder="As it ran",
        key=link.MODEL,
        format_func=lambda one: _model_called(one, stored),
        help="Its prices, its smallest cached prefix and its context window; the tokens and the replies stay those recorded. "
        "A model with another tokenizer has to run.",
    )
    lifetime = cache.segmented_control(
        "Cache lifetime",
        list(_CACHES),
        format_func=lambda one: _CACHES[one],
        key=link.CACHE,
        help=HELP["cache"],
    )
    as_of = day.date_input(
        "Prices of",
        value=None,
        key=link.DAY,
        help="The prices that held on a day. Left open, those that the comparison ran with.",
    )
    halved = batch.toggle(
        "Batch",
        key=link.BATCH,
        help="The Batch API takes half of every price. It answers within a day, so it is for work that nobody waits for.",
    )
    question = WhatIf(
        model=other,
        cache=None if lifetime is None else CacheLifetime(lifetime),
        batch=bool(halved),
        as_of=as_of if isinstance(as_of, date) else None,
    )
    question = _with_prices(question, stored, table)
    link.write(stored.id, question)
    return question


def _model_called(model: str, stored: StoredComparison) -> str:
    ours, ran = facts(model), [facts(one) for one in stored.spec.models]
    alike = any(one is not None and ours is not None and one.token_family is ours.token_family for one in ran)
    return model if alike else f"{model} (has to run)"


# -- the prices ------------------------------------------------------------------------------------------------------------


def _with_prices(question: WhatIf, stored: StoredComparison, table: PriceTable) -> WhatIf:
    """Show the prices that the question comes to, and take in what is changed of them."""
    plain_terms = WhatIf(model=question.model, cache=question.cache, as_of=question.as_of)
    try:
        terms = terms_for(plain_terms, stored.prices, stored.replays, table)
    except OtherTokenizer:
        return question
    base: dict[str, dict[str, float]] = {}
    for ran, price in terms.prices.models.items():
        name = question.model if question.model and ran in terms.stand_ins else ran
        base.setdefault(name, {field: getattr(price.tiers[0], field) for field in FIELDS})
    if not base:
        return question
    key = f"what_if_prices.{stored.id}.{question.model}.{question.as_of}"
    if key not in st.session_state:
        st.session_state[key] = _known(link.prices(), base)
    seed: Prices = st.session_state[key]
    changed = _differing(
        {
            name: _price_row(key, name, {**prices, **seed.get(name, {})}, heads=place == 0)
            for place, (name, prices) in enumerate(base.items())
        },
        base,
    )
    tiered = any(len(price.tiers) > 1 for price in terms.prices.models.values())
    st.caption(
        "US dollars per million tokens, before any batch discount. Change any of them."
        + (" A price that is changed holds for prompts of every length." if tiered else "")
    )
    return WhatIf(question.model, changed, question.cache, question.batch, question.as_of)


def _price_row(key: str, model: str, prices: Mapping[str, float], *, heads: bool) -> dict[str, float]:
    """Draw the five prices of a model as inputs and return what they hold; ``heads`` names them above."""
    name, *cells = st.columns([2, 1, 1, 1, 1, 1], vertical_alignment="bottom")
    name.markdown(f"**{plain(model)}**")
    return {
        field: cell.number_input(
            f"{_HEADS[field]} ($)",
            min_value=0.0,
            max_value=float(MAX_PRICE),
            value=float(prices[field]),
            step=0.01,
            format="%.3f",
            key=f"{key}.{model}.{field}",
            label_visibility="visible" if heads else "collapsed",
        )
        for field, cell in zip(FIELDS, cells, strict=True)
    }


def _differing(held: Prices, base: Prices) -> dict[str, dict[str, float]]:
    changed = {
        model: {field: price for field, price in prices.items() if price != base[model][field]}
        for model, prices in held.items()
    }
    return {model: given for model, given in changed.items() if given}


def _known(prices: Prices, base: Prices) -> Prices:
    return {model: given for model, given in prices.items() if model in base}

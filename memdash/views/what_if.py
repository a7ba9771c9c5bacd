"""What a comparison would have cost on other terms: the question, and the answer beside what was charged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import streamlit as st

from memdash import numbers
from memdash.charts import what_if as chart
from memdash.errors import InputError, MemdashError, StoreError
from memdash.metrics.what_if import Answer, OtherTokenizer, Row, WhatIf
from memdash.palette import assign
from memdash.prices import PriceTable
from memdash.spec import Provider
from memdash.store import StoredComparison
from memdash.views import acts
from memdash.views.chart_card import chart_card
from memdash.views.components import HELP, empty, plain, problem, theme
from memdash.views.evidence import basis_of
from memdash.views.state import services
from memdash.views.swatches import swatch
from memdash.views.what_if_form import choose_comparison, choose_terms
from memdash.what_if import ask, run_instead

_KEPT_IN_MEMORY: Final = 16
_MANY_ROWS: Final = 12
_ROW_HEIGHT: Final = 38
_DOLLARS: Final = "$%.4f"


def what_if(table: PriceTable) -> None:
    """Draw the question and its answer; ``table`` is the whole price table with its past."""
    st.subheader("What if", anchor=False)
    st.caption(
        "What a comparison would have cost at other prices, on another model or with another cache lifetime. Nothing is run: "
        "recorded tokens are priced anew, and what was charged stands beside it."
    )
    summaries = services().store.comparisons()
    if not summaries:
        empty("There is nothing to price yet", "Run a comparison on the Compare page first.")
        return
    with st.container(border=True):
        comparison = choose_comparison(summaries)
        if comparison is None:
            return
        try:
            stored = services().store.comparison(comparison)
            question = choose_terms(stored, table)
        except (StoreError, InputError) as error:
            problem(error)
            return
    if not question.changes_something:
        st.caption(
            "Choose what would be different: a model, a cache lifetime, a day, batch or any of the prices above."
        )
        return
    try:
        with st.spinner("Pricing every request anew…", show_time=True):
            answer = _answer(stored, question, table)
    except OtherTokenizer as error:
        _offer_to_run(stored, error)
    except MemdashError as error:
        problem(error)
    else:
        _show(stored, answer)


def _answer(stored: StoredComparison, question: WhatIf, table: PriceTable) -> Answer:
    store = services().store
    return _asked(
        str(store.path),
        stored.id,
        store.version(stored.id),
        f"{question!r} {table!r}",
        stored,
        question,
        table,
    )


@st.cache_resource(max_entries=_KEPT_IN_MEMORY, show_spinner=False)
def _asked(
    path: str,
    comparison_id: str,
    version: int,
    terms: str,
    _stored: StoredComparison,
    _question: WhatIf,
    _table: PriceTable,
) -> Answer:
    """The first four arguments are what makes two answers different; they are not read here."""
    return ask(services().store, _stored, _question, _table)


# -- the answer ------------------------------------------------------------------------------------------------------------


def _show(stored: StoredComparison, answer: Answer) -> None:
    styles = assign((row.series, row.strategy) for row in answer.rows)
    st.markdown("\n".join(f"- {plain(sentence)}" for sentence in answer.sentences))
    _table(answer, {series: swatch(style, theme()) for series, style in styles.items()})
    for problem_text, labels in _problems(answer.rows).items():
        st.caption(f":material/info: {plain(f'{numbers.listing(labels)}: {problem_text}.')}")
    figure = chart.cost_before_and_after(answer, styles, theme())
    chart_card(figure, chart.title(answer), chart.alt(answer), "what_if_chart")
    repeats = max(row.replays for row in answer.rows)
    means = f" Costs are means of {repeats} repeats." if repeats > 1 else ""
    st.caption(plain(" ".join([*answer.notes, f"{basis_of(stored)}.{means}"])))
    if st.button("Open the comparison", key="what_if_open", icon=":material/open_in_full:"):
        page = "thresholds.py" if stored.spec.sweep is not None else "compare.py"
        st.switch_page(page, query_params={"c": stored.id})


def _problems(rows: Sequence[Row]) -> dict[str, list[str]]:
    """Why a cost is not known, or a row has no rank, with the rows it holds for."""
    found: dict[str, list[str]] = {}
    for row in rows:
        if row.problem:
            found.setdefault(row.problem, []).append(row.label)
        elif not row.finished:
            found.setdefault("not every turn was played, so it has no rank", []).append(row.label)
    return found


def _table(answer: Answer, swatches: dict[str, str]) -> None:
    rows = answer.rows
    columns: dict[str, list[Any]] = {
        "look": [swatches[row.series] for row in rows],
        "setting": [row.label for row in rows],
        "charged": [row.charged_usd for row in rows],
        "what_if": [row.what_if_usd for row in rows],
        "change": [None if row.change is None else row.change * 100 for row in rows],
        "rank": [numbers.NOTHING if row.rank is None else f"{row.rank} → {row.what_if_rank}" for row in rows],
        "cached": [_points(row.cache_share) for row in rows],
        "would_cache": [
            None if row.what_if_usd is None else _points(row.what_if_cache_share) for row in rows
        ],
        "kept": [numbers.part(row.kept, row.facts_total) for row in rows],
    }
    st.dataframe(
        columns,
        hide_index=True,
        height="content" if len(rows) <= _MANY_ROWS else _ROW_HEIGHT * (_MANY_ROWS + 1),
        row_height=_ROW_HEIGHT,
        placeholder=numbers.NOT_AVAILABLE,
        key="what_if_table",
        alt=f"What each setting cost and would have cost. {chart.title(answer)}.",
        column_config={
            "look": st.column_config.ImageColumn("", pinned=True, width=60),
            "setting": st.column_config.TextColumn("Setting", pinned=True, width=260),
            "charged": st.column_config.NumberColumn(
                "As charged", format=_DOLLARS, width=110, help=HELP["cost"]
            ),
            "what_if": st.column_config.NumberColumn(
                "What if",
                format=_DOLLARS,
                width=110,
                help="What the recorded requests would have cost. Probes are left out, as everywhere.",
            ),
            "change": st.column_config.NumberColumn("Change", format="%+.0f %%", width=90),
            "rank": st.column_config.TextColumn(
                "Rank",
                width=90,
                help="The place by cost among the finished settings of the script, before and after; 1 is the cheapest. "
                "It says nothing about what a setting forgets: see kept.",
            ),
            "cached": st.column_config.NumberColumn(
                "Cached", format="%.0f %%", width=90, help=HELP["cached"]
            ),
            "would_cache": st.column_config.NumberColumn(
                "Would be cached",
                format="%.0f %%",
                width=130,
                help="The share of the prompt tokens that would have been read from the cache.",
            ),
            "kept": st.column_config.TextColumn("Kept", width=90, help=HELP["kept"]),
        },
    )


def _points(share: float | None) -> float | None:
    return None if share is None else share * 100


# -- where it has to run instead -------------------------------------------------------------------------------------------


def _offer_to_run(stored: StoredComparison, error: OtherTokenizer) -> None:
    with st.container(border=True):
        st.markdown(f"**{plain(f'{error.model} has to run')}**")
        st.caption(
            plain(
                f"It counts tokens by another tokenizer than {numbers.listing(stored.spec.models)}, so nothing that was recorded "
                "can be priced for it."
            )
        )
        if stored.spec.provider is not Provider.SIMULATOR:
            st.caption(
                "This comparison is live, so running it again costs money: choose the model and a budget on the Compare page."
            )
            if st.button("Go to Compare", key="what_if_compare", icon=":material/compare_arrows:"):
                st.switch_page("compare.py", query_params={"c": stored.id})
            return
        count = numbers.count(len(stored.replays), "replay")
        if st.button(
            plain(f"Run it on {error.model}"),
            key="what_if_run",
            type="primary",
            icon=":material/play_arrow:",
            help=f"Starts a new comparison with the same settings: {count}, simulated, no key and no cost.",
        ):
            _run(stored, error.model)


def _run(stored: StoredComparison, model: str) -> None:
    try:
        comparison = acts.start(run_instead(stored, model))
    except MemdashError as error:
        problem(error)
        return
    page = "thresholds.py" if stored.spec.sweep is not None else "compare.py"
    st.switch_page(page, query_params={"c": comparison})

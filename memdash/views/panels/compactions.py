"""Compactions: what each took and freed, and whether it paid for itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import streamlit as st

from memdash import numbers
from memdash.metrics import Compaction, CompactionSummary, compaction_summaries
from memdash.records import EventKind
from memdash.views.components import plain
from memdash.views.panels import tables
from memdash.views.panels.selection import Selection
from memdash.views.replay_address import PAGE, query

_PAYBACK_HELP: Final = (
    "Compared with a model of what the following turns would have cost without it. Each would have carried what was "
    "freed as well: read from the cache where it was still warm, written where it had gone cold, plain input without "
    "caching; the first one would have read what the turn before had cached. It has paid for itself once the "
    "differences come to its own cost; the count ends where the next summary replaces the same context."
)
_CACHED_HELP: Final = (
    "The share of the summary calls' own prompts that was read from the cache. A call that reads a transcript under a "
    "prompt of its own reads nothing; one with the live prefix can."
)
_SAVED_HELP: Final = (
    "By the turns that followed, as modelled; below zero they cost more than they would have."
)
_TOKENS_HELP: Final = "Of the calls that were made for it."
_FREED_HELP: Final = "Context before and after, fixed part included. The size after it is an estimate."


def show(selection: Selection) -> None:
    """Draw a row for each strategy, and a line for each compaction."""
    lines = selection.compactions
    if not lines:
        with st.container(border=True):
            st.markdown("**No compaction took place**")
            st.caption(
                "None of these strategies made a summary: they make none, or their threshold was never reached."
            )
        return
    summaries = compaction_summaries(lines)
    with st.container(border=True, gap="small"):
        st.markdown(f"**{plain(_headline(summaries))}**", help=_PAYBACK_HELP)
        _summary_table(selection, summaries)
    with st.container(border=True, gap="small"):
        st.markdown("**Each compaction**", help=_PAYBACK_HELP)
        _lines_table(selection, lines)
        st.caption(
            "Calls that were made for it since the one before count with it; what led to nothing by the end stands in a "
            "last line. Pick a row to look inside its replay at that turn."
        )


def _headline(summaries: Sequence[CompactionSummary]) -> str:
    used = sum(one.used for one in summaries)
    paid = sum(one.paid_back for one in summaries)
    costs = [one.cost_usd for one in summaries]
    known = [cost for cost in costs if cost is not None]
    price = f" for {numbers.usd(sum(known))}" if len(known) == len(costs) else ""
    if not used:
        return f"No summary was put into use{price}"
    if not paid:
        return f"{numbers.count(used, 'summary', 'summaries')} put into use{price}; none paid for itself"
    return f"{numbers.count(used, 'summary', 'summaries')} put into use{price}; {numbers.part(paid, used)} paid for themselves"


def _summary_table(selection: Selection, rows: Sequence[CompactionSummary]) -> None:
    paid = [numbers.part(one.paid_back, one.used) for one in rows]
    freed = [one.freed_tokens for one in rows]
    columns = [
        tables.counts("Put into use", [one.used for one in rows], width=90),
        tables.text("Paid back", paid, width=80, help=_PAYBACK_HELP),
        tables.dollars("Cost", [one.cost_usd for one in rows], width=76),
        tables.signed_dollars("Saved after", [one.saved_usd for one in rows], width=98, help=_SAVED_HELP),
        tables.signed_dollars(
            "Net", [one.net_usd for one in rows], width=80, help="Saved less cost; below zero it cost more."
        ),
        tables.amount("Freed", freed, "localized", _or_nothing, width=74, help=_FREED_HELP),
        tables.tokens("Prompt", [one.prompt_tokens for one in rows], width=74, help=_TOKENS_HELP),
        tables.tokens("Output", [one.output_tokens for one in rows], width=74, help=_TOKENS_HELP),
        tables.percent("Cached", [one.cache_share for one in rows], width=70, help=_CACHED_HELP),
        tables.seconds("Longest", [one.longest_ms for one in rows], width=76),
    ]
    strategies = numbers.count(len(rows), "strategy", "strategies")
    alt = f"{strategies}: compactions with tokens, cost and whether they paid for themselves"
    tables.series_table(selection, [one.series for one in rows], columns, "panel.compactions", alt)


def _lines_table(selection: Selection, lines: Sequence[Compaction]) -> None:
    columns = [
        tables.counts("Turn", [one.turn for one in lines], width=54),
        tables.text("What", [_what(one) for one in lines], width=176),
        tables.text("Freed", [_freed(one) for one in lines], width=112, help=_FREED_HELP),
        tables.dollars("Cost", [one.cost_usd for one in lines], width=74),
        tables.text("Paid for itself", [_paid(one) for one in lines], width=200, help=_PAYBACK_HELP),
        tables.seconds("Time", [one.elapsed_ms for one in lines], width=66),
        tables.tokens("Prompt", [one.prompt_tokens for one in lines], width=70, help=_TOKENS_HELP),
        tables.tokens("Output", [one.output_tokens for one in lines], width=70, help=_TOKENS_HELP),
        tables.percent("Cached", [one.cache_share for one in lines], width=70, help=_CACHED_HELP),
    ]
    repeats = {log.spec.id: log.spec.repeat for log in selection.logs}
    if len(set(repeats.values())) > 1:
        columns.insert(0, tables.counts("Repeat", [repeats[one.replay] for one in lines], width=68))
    told = numbers.count(len(lines), "compaction")
    alt = f"{told}, each with its tokens, time, cost and when it had paid for itself"
    picked = tables.picked_of_series_table(
        selection, [one.series for one in lines], columns, "panel.compaction_lines", alt
    )
    if picked is not None:
        line = lines[picked]
        st.switch_page(PAGE, query_params=query(line.replay, line.turn, "events"))


def _what(line: Compaction) -> str:
    if line.kind is None:
        return f"{numbers.count(line.calls, 'call')} that led to nothing"
    if line.problem:
        return f"not used: {line.problem}"
    if not line.used:
        return "not used"
    name = "swap" if line.kind is EventKind.SWAP else "summary"
    where = "by the API" if line.by_server else "in background" if line.background else "waited for"
    calls = f", {line.calls} calls" if line.calls > 1 else ""
    return f"{name}, {where}{calls}"


def _freed(line: Compaction) -> str:
    if line.before_tokens is None or line.after_tokens is None:
        return numbers.NOTHING
    return f"{line.before_tokens:,} → {line.after_tokens:,}"


def _paid(line: Compaction) -> str:
    return numbers.NOTHING if line.payback is None else line.payback.words


def _or_nothing(count: int | None) -> str:
    return numbers.NOTHING if count is None else numbers.tokens(count)

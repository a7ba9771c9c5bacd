"""One request as the model got it, block by block, and what it answered, with usage and money."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import streamlit as st

from memdash import numbers
from memdash.errors import MemdashError
from memdash.inspection.blocks import CODE, Kind, kind_of, text_of, tool_text
from memdash.inspection.buckets import Split
from memdash.inspection.events import NAMES, details
from memdash.inspection.requests import InspectedRequest, Piece, Run
from memdash.metrics.misses import CAUSES, REASONS, CacheMiss, Cause, cache_misses
from memdash.prices import PriceTable
from memdash.records import MissReason, Purpose, RequestRecord, Usage
from memdash.views.components import plain, problem, theme
from memdash.views.replay_panels import Opened
from memdash.views.replay_panels.inspected import choose_request, inspected, texts
from memdash.views.replay_panels.markup import BUCKET_HUES, Shown, block_list, plain_table, share_bar

_PAGE: Final = 20
"""Blocks of a run that are shown at once."""
_COUNTED: Final = (
    "The API reports how many tokens of a prompt were read, written and plain input, not which. A prompt is read from its start "
    "up to where an earlier request had left a mark, and written up to its own last mark: so each block's part follows. "
    "The tokens of single blocks are counted by us; what the API writes around messages and tools belongs to no block."
)
_BUCKET_NAMES: Final = {
    "input": "uncached input",
    "write_5m": "cache write, 5 min",
    "write_1h": "cache write, 1 h",
    "read": "cache read",
    "output": "output",
}
_HIDDEN: Final = "its text is kept by the API"


def request_panel(opened: Opened, turn: int) -> None:
    """Draw the request that is chosen among those of a turn, and its answer."""
    record = choose_request(opened, turn)
    if record is None:
        return
    try:
        found = inspected(opened, record)
        with st.container(border=True, gap="small"):
            _prompt(opened, found)
            _miss(opened, record)
            for place, run in enumerate(found.runs):
                _run(opened, run, f"run.{opened.log.spec.id}.{record.number}.{place}", place)
        with st.container(border=True, gap="small"):
            _answer(opened, record)
    except MemdashError as error:
        problem(error, "The texts of this request cannot be read")


# -- the prompt ----------------------------------------------------------------------------------------------------------


def _prompt(opened: Opened, found: InspectedRequest) -> None:
    record, split = found.record, found.split
    prompt = None if split is None else sum(share.reported for share in split.shares)
    size = record.usage.prompt_tokens if prompt is None else prompt
    sent = "prompt size not reported" if size is None else f"{numbers.tokens(size)} prompt tokens"
    st.markdown(f"**Request {record.number}: {sent}** · {plain(record.model)}", help=_COUNTED)
    counted = sum(piece.tokens or 0 for piece in found.pieces)
    if split is None:
        st.caption(
            f"{_blocks(found.pieces)}, {numbers.tokens(counted)} tokens as we count them ({plain(found.counter)}). "
            "How the prompt was billed is not reported."
        )
        return
    told = [f"{numbers.tokens(share.reported)} {share.bucket}" for share in split.shares]
    share_bar([(one.bucket, one.reported) for one in split.shares], theme(), alt=", ".join(told))
    read = split.shares[0].reported
    cached = f" ({numbers.percent(read / size)} cached)" if size else ""
    st.markdown(plain(" · ".join(told) + cached))
    st.caption(plain(_about_counts(found, split)))


def _about_counts(found: InspectedRequest, split: Split) -> str:
    around = ", ".join(f"{numbers.tokens(one.around)} {one.bucket}" for one in split.shares if one.around)
    told = [f"{_blocks(found.pieces)}, counted by us ({found.counter})."]
    if around:
        told.append(f"In no block: {around}; the API writes around blocks, and our count may be off.")
    if split.estimated:
        told.append("Where cached and uncached part meet is estimated by our counts.")
    return " ".join(told)


def _blocks(pieces: Sequence[Piece]) -> str:
    return numbers.count(len(pieces), "block")


def _miss(opened: Opened, record: RequestRecord) -> None:
    """Why less was read from the cache than could have been, and which event that comes from."""
    if record.purpose not in (Purpose.TURN, Purpose.TOOL) or record.error_message is not None:
        return
    if record.miss_reason is MissReason.FIRST_REQUEST:
        st.caption("The first request finds nothing in the cache.")
        return
    misses = cache_misses(opened.log, opened.stored.prices)
    miss = next((one for one in misses if one.request == record.number), None)
    if miss is None:
        st.caption(":material/check: All that the request before had left in the cache was read.")
        return
    st.markdown(f":orange[:material/database_off:] {_miss_in_words(opened, miss)}")


def _miss_in_words(opened: Opened, miss: CacheMiss) -> str:
    # After an edit new text of the same turn is not told apart from old.
    bound = "up to " if miss.reason is MissReason.HISTORY_EDITED else ""
    tokens = "" if miss.tokens is None else f" of {bound}{numbers.tokens(miss.tokens)} tokens"
    told = [f"**Cache miss{tokens}: {plain(REASONS[miss.reason])}**"]
    event = next((one for one in opened.log.events if one.seq == miss.event), None)
    if event is not None:
        more = details(event.event, event.data)
        told.append(
            plain(f"caused by: {NAMES[event.event]} in turn {event.turn}" + (f" ({more})" if more else ""))
        )
    elif miss.cause is Cause.PAUSE and miss.pause_s is not None:
        told.append(f"the request before began {numbers.seconds(miss.pause_s * 1000)} earlier")
    elif miss.cause is not Cause.NONE:
        told.append(f"caused by: {CAUSES[miss.cause]}")
    if miss.cost_usd:
        told.append(plain(f"{numbers.usd(miss.cost_usd)} more than reading them"))
    if miss.said is not None:
        told.append(plain(f"the API says: {miss.said.replace('_', ' ')}"))
    return "; ".join(told)


def _run(opened: Opened, run: Run, key: str, place: int) -> None:
    """Draw a run: what is new in full, what was sent before in one line that opens."""
    if not (run.kept or run.fixed):
        st.markdown(f"**New: {_about_run(run)}**")
        _pieces(opened, run.pieces, key)
        return
    name = "Fixed part" if run.fixed else "As in the request before"
    shown = st.expander(f"{name}: {_about_run(run)}", key=key, on_change="rerun", type="compact")
    if shown.open:
        with shown:
            _pieces(opened, run.pieces, f"{key}.open")


def _about_run(run: Run) -> str:
    billed = f", {run.bucket}" if run.bucket else ""
    return f"{_blocks(run.pieces)}, {numbers.tokens(run.tokens)} tokens{billed}"


def _pieces(opened: Opened, pieces: Sequence[Piece], key: str) -> None:
    """Draw pieces, a page at a time; the texts of that page alone are read."""
    pages = -(-len(pieces) // _PAGE)
    page = st.pagination(pages, key=f"{key}.page") if pages > 1 else 1
    shown = pieces[(page - 1) * _PAGE : page * _PAGE]
    read = texts(opened.log.spec.id, [one.block for one in shown])
    block_list(
        (_shown(one, json.loads(read[one.block])) for one in shown),
        theme(),
        alt=f"{_blocks(shown)} of the request with kind, tokens and text",
    )


def _shown(piece: Piece, value: Any) -> Shown:
    if piece.role == "tools":
        text = tool_text(value[piece.part])
    elif piece.part is not None:
        text = text_of(value[piece.part])
    else:
        text = text_of(value)
    facts = [
        "tokens not known" if piece.tokens is None else f"{numbers.tokens(piece.tokens)} tokens",
        str(piece.bucket) if piece.bucket else "",
        "" if piece.kept else "new",
        f"not read: {piece.note}" if piece.note and piece.bucket is None else piece.note or "",
        _HIDDEN if piece.kind is Kind.THINKING and not text else "",
    ]
    hue = BUCKET_HUES[piece.bucket] if piece.bucket else None
    told = [one for one in facts if one]
    return Shown(_name(piece), told, piece.path, text, hue, code=piece.kind in CODE)


def _name(piece: Piece) -> str:
    return str(piece.kind) if piece.role in ("tools", "system") else f"{piece.role}: {piece.kind}"


# -- the answer ----------------------------------------------------------------------------------------------------------


def _answer(opened: Opened, record: RequestRecord) -> None:
    if record.error_message is not None:
        status = f" ({record.error_status})" if record.error_status else ""
        st.markdown(f":red[:material/block:] **Refused{status}: {plain(record.error_type or 'no answer')}**")
        st.code(record.error_message, language=None, wrap_lines=True)
        return
    st.markdown(f"**Answer: {plain((record.stop_reason or 'no stop reason').replace('_', ' '))}**")
    read = texts(opened.log.spec.id, record.reply_blocks)
    values = [json.loads(read[one]) for one in record.reply_blocks]
    block_list(map(_of_answer, values), theme(), alt=f"The answer, {numbers.count(len(values), 'block')}")
    _bill(record, opened.stored.prices)
    times = [
        f"answered after {numbers.seconds(record.finished_ms - record.started_ms)}",
        f"first text after {numbers.seconds(record.first_text_ms - record.started_ms)}"
        if record.first_text_ms is not None
        else "",
        f"{numbers.count(record.retries, 'retry', 'retries')}" if record.retries else "",
        "by the simulator" if record.modelled else "",
        record.request_id or "",
    ]
    st.caption(plain(" · ".join(one for one in times if one)))


def _of_answer(value: Mapping[str, Any]) -> Shown:
    kind, text = kind_of(value), text_of(value)
    facts = (_HIDDEN,) if kind is Kind.THINKING and not text else ()
    return Shown(str(kind), facts, "", text, code=kind in CODE)


def _bill(record: RequestRecord, prices: PriceTable) -> None:
    """What the answer took and cost, bucket by bucket; where the API reports its iterations, each for itself."""
    parts: list[tuple[str, Usage, str]] = [("", record.usage, record.model)]
    if record.iterations:
        parts = [(f"{one.type}: ", one.usage, one.model or record.model) for one in record.iterations]
    rows: list[tuple[str, str, str, str]] = []
    for name, usage, model in parts:
        bill = prices.bill(usage, model)
        if bill is None:
            rows.append((f"{name}{_not_priced(usage)}", "", "", numbers.NOT_AVAILABLE))
            continue
        for line in bill:
            tokens = f"{name}{_BUCKET_NAMES[line.field]}"
            rows.append(
                (tokens, numbers.tokens(line.tokens), f"${line.rate:.2f}", numbers.usd(line.cost_usd))
            )
            if line.field == "output" and usage.thinking_tokens:
                rows.append((f"{name}of which thinking", numbers.tokens(usage.thinking_tokens), "", ""))
    rows.append(("in all", "", "", numbers.usd(prices.request_cost(record))))
    plain_table(
        ("Usage", "Tokens", "Price per million", "Cost"),
        rows,
        numbers_from=1,
        alt="What the request took and cost, by kind of token",
    )


def _not_priced(usage: Usage) -> str:
    prompt, output = usage.prompt_tokens, usage.output_tokens
    return f"prompt {numbers.tokens(prompt)}, output {numbers.tokens(output)}; no price is known"

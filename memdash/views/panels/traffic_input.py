"""Where a person says what their conversations are like; kept in the address, so that a link shows the same costs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

import streamlit as st

from memdash import numbers
from memdash.errors import InputError
from memdash.metrics.conversations import Lengths, Traffic, from_csv, from_quantiles
from memdash.views import address
from memdash.views.components import clip, plain, problem

_PARTS: Final = ("lengths", "day", "peak", "limit")
"""What a link may say of the conversations."""

_LENGTHS_HELP: Final = (
    "Quantiles in turns: p90=40 says that 90 % of your conversations have at most 40 turns. The longest, p100, is needed; "
    "between the quantiles the line is straight."
)
_FILE_HELP: Final = "One length a line, or turns,count columns. It is read and kept nowhere; a link holds typed lengths alone."
_DAY_HELP: Final = "How many conversations begin in a day. A month is taken as 30 days."
_PEAK_HELP: Final = (
    "Which part of a day's conversations falls into the busiest hour. Spread evenly it would be 4.2 %."
)
_LIMIT_HELP: Final = (
    "How many input tokens you may send in a minute. Uncached input and cache writes count against it, cache reads do not, so "
    "a strategy that breaks the cache needs a higher limit."
)


def traffic_input(key: str, longest: int) -> Traffic | None:
    """Draw the inputs and return what they say; None, with the reason on the page, where it makes no sense.

    ``key`` tells one comparison's inputs from another's. Until something is typed the lengths are an example, up to the
    ``longest`` script, and said to be one.
    """
    example = f"p50={max(longest // 2, 1)},p90={max(longest * 4 // 5, 1)},p100={max(longest, 1)}"
    given = _read(st.session_state.get(address.TRAFFIC) or "")
    with st.grid(4, min_column_width=180, gap="small", vertical_alignment="bottom"):
        lengths = st.text_input(
            "Lengths in turns",
            given.get("lengths", example),
            max_chars=500,
            key=f"{key}.lengths",
            help=_LENGTHS_HELP,
        )
        day = _number("Conversations a day", given.get("day"), f"{key}.day", _DAY_HELP)
        peak = _number("In the peak hour, %", given.get("peak"), f"{key}.peak", _PEAK_HELP)
        limit = _number("Limit, input tokens a minute", given.get("limit"), f"{key}.limit", _LIMIT_HELP)
    _write({"lengths": None if lengths == example else lengths, "day": day, "peak": peak, "limit": limit})
    with st.popover("Lengths from a CSV file", icon=":material/upload_file:", type="tertiary"):
        file = st.file_uploader(
            "CSV file", type=["csv", "txt"], key=f"{key}.file", max_upload_size=5, help=_FILE_HELP
        )
    try:
        distribution = from_quantiles(lengths) if file is None else from_csv(file.getvalue(), file.name)
        traffic = Traffic(distribution, day, None if peak is None else round(peak / 100, 9), limit)
    except InputError as error:
        problem(error, "This cannot be priced yet")
        return None
    st.caption(plain(_told(distribution, is_example=file is None and lengths == example)))
    return traffic


def _told(lengths: Lengths, *, is_example: bool) -> str:
    head = "An example, until you say how long yours are" if is_example else lengths.source
    longest = numbers.count(lengths.longest, "turn")
    return f"{head}: {lengths.mean:.1f} turns on average, 95 % have at most {lengths.quantile(0.95)}, the longest {longest}"


def _number(label: str, given: str | None, key: str, help_text: str) -> float | None:
    """An input that may be left empty."""
    return st.number_input(
        label,
        min_value=0.0,
        value=None if given is None else float(given),
        step=1.0,
        format="%.10g",
        placeholder="not given",
        key=key,
        help=help_text,
    )


def _read(text: str) -> Mapping[str, str]:
    """What a link says: ``lengths:p50=12,p100=40;day:500;peak:12;limit:50000``, any of them missing."""
    found: dict[str, str] = {}
    for part in filter(None, text.split(";")):
        name, _, value = part.partition(":")
        if name not in _PARTS or not value:
            address.not_used(address.TRAFFIC, f"{clip(part, 60)!r} is none of {', '.join(_PARTS)}")
        elif name != "lengths" and not _is_amount(value):
            address.not_used(address.TRAFFIC, f"{clip(value, 60)!r} is no number for {name}")
        else:
            found[name] = value
    return found


def _is_amount(value: str) -> bool:
    try:
        return 0 <= float(value) < math.inf
    except ValueError:
        return False


def _write(values: Mapping[str, str | float | None]) -> None:
    """Take the inputs into the address; what makes up the example, or is empty, is left out."""
    told = (
        f"{name}:{value if isinstance(value, str) else f'{value:.10g}'}"
        for name, value in values.items()
        if value is not None
    )
    address.keep(address.TRAFFIC, ";".join(told) or None)

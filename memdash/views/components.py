"""What the pages share: text that stays text, help marks, small pieces of layout."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import streamlit as st

from memdash.errors import MemdashError, NotStored
from memdash.palette import Theme
from memdash.tables.lines import one_line

HELP: Final[dict[str, str]] = {
    "prompt tokens": (
        "Everything sent to the model over the whole replay: uncached input, cache writes and cache reads together. "
        "Probes are left out, so this is what production would send."
    ),
    "cached": (
        "The share of the prompt tokens that was read from the prompt cache, at a fraction of the input price. "
        "A strategy that edits earlier messages changes the prefix, so what follows the edit has to be paid for again."
    ),
    "cost": (
        "What the requests of the conversation cost, summaries included and probes left out. "
        "Fewer tokens is not always cheaper: a token read from the cache costs a small part of a token written to it."
    ),
    "savings": (
        "The cost compared with full history on the same script and settings. "
        "A window sends fewer tokens but moves its start every turn, so little can be read from the cache: it often costs more."
    ),
    "kept": (
        "How many of the facts still stand, word for word or in a summary, in the last request that was sent. "
        "We measure this ourselves in the text, so it is exact and needs no model."
    ),
    "recall": (
        "How many recall questions were answered right from the memory each strategy has left. "
        "In a simulated replay the pretend model answers, so this is no evidence about a real model; look at *kept* beside it."
    ),
    "wait": (
        "What the user waits for in a turn: the reply, and any summary that has to be made first. "
        "Work that runs beside the conversation is not wait; p50 is the usual turn, p95 a slow one."
    ),
    "compactions": (
        "How often a summary was put into use in place of older messages. "
        "Each one costs an extra request and changes the prefix, so the cache starts again behind it."
    ),
    "history check": (
        "Asks the API to refuse a request whose thinking blocks do not stand on the history they were signed over. "
        "With it off, the mismatch is only reported as an event, and the request goes through."
    ),
    "naive": (
        "A naive strategy cuts old messages and sends the remaining thinking blocks along as they are. "
        "A current Claude model signs every thinking block over all that came before it, so under the check this is a 400."
    ),
    "pace": (
        "How long the user thinks before each message, in seconds. "
        "It decides whether a cache entry is still alive when the next request comes; a pause in the script beats it."
    ),
    "cache": (
        "How long a cache entry can be read after its last use: five minutes, or one hour for a dearer write. "
        "Off asks for no caching at all, and every token is paid at the input price."
    ),
    "cache marks": (
        "Where the request says that its prefix may be cached: at its last block, or also at the end of the fixed part. "
        "A second mark keeps tools and system prompt readable when the messages after them have changed."
    ),
    "warm": (
        "Cold prices the first use of the fixed part as a write, as for the first conversation of the day. "
        "Warm prices it as a read, because other conversations have already written it; this needs the second cache mark."
    ),
    "repeats": (
        "How often each replay is run, each time with other replies. "
        "All strategies get the same replies in the same repeat, so differences between them are their own."
    ),
    "estimate": (
        "Rehearsed in the simulator before anything runs, with the cache modelled; that spends no money. "
        "The real figures depend on how long the replies turn out to be."
    ),
    "budget": (
        "The run stops before the next request that could take it past this amount. "
        "What was measured by then is kept, and labelled as partial."
    ),
}
"""Two sentences for each thing a newcomer may ask about."""

_PUNCTUATION = re.compile(r"([!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~])")
_SEEN_LATER = re.compile(
    r":(?=[A-Za-z0-9_+\-/]+:)"  # an icon or emoji short code
    r"|:(?=//)|\bwww(?=\.)|\w(?=@\w)"  # an address
    r"|-(?=[->])|<(?=-)"  # typography
)
_JOINER = "\u2060"


def plain(text: str) -> str:
    """Return ``text`` so that a Streamlit label or Markdown shows exactly these characters.

    Backslashes take the meaning from every mark of punctuation. Icons, emoji short codes, addresses and arrows are looked for
    after that, in the finished text: a character of no width keeps them from being found. Line ends become spaces, and what would
    turn the direction of our own words behind the text is left out. Not for ``st.selectbox``, ``st.multiselect`` and inputs,
    which show their options as they are.
    """
    broken = _SEEN_LATER.sub(rf"\g<0>{_JOINER}", " ".join(one_line(text).split()))
    return _PUNCTUATION.sub(r"\\\1", broken)


Colour = Literal["red", "orange", "blue", "green", "violet", "gray"]


def badge(text: str, icon: str, color: Colour) -> None:
    """Draw a badge with ``text`` as it is; ``st.badge`` escapes square brackets itself."""
    st.badge(plain(text).replace("\\[", "[").replace("\\]", "]"), icon=icon, color=color)


def clip(text: str, length: int) -> str:
    """Return ``text`` on one line, cut to ``length`` characters with an ellipsis."""
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1].rstrip() + "…"


def problem(error: MemdashError | str, title: str = "That did not work") -> None:
    """Show what went wrong and what to do, as text."""
    st.error(plain(words(error)), title=title, icon=":material/error:")


def words(error: MemdashError | str) -> str:
    """Return what an error says on a page, where it may be read by others than the owner of the database's folder."""
    return error.problem if isinstance(error, NotStored) else str(error)


def empty(title: str, what_next: str, icon: str = ":material/inbox:") -> None:
    """Say that there is nothing here yet and what to do next; both texts are ours."""
    with st.container(border=True, horizontal_alignment="center", gap="small"):
        st.space("small")
        st.markdown(f"#### {icon} {title}", text_alignment="center")
        st.caption(what_next, text_alignment="center")
        st.space("small")


def theme() -> Theme:
    """Return which theme the person looks at."""
    return "dark" if st.context.theme.type == "dark" else "light"


def moment(when: datetime) -> str:
    """Spell a time for people, in the time zone of the person who looks."""
    local = (when if when.tzinfo else when.replace(tzinfo=UTC)).astimezone(_zone())
    today = datetime.now(local.tzinfo).date()
    day = {today: "today", today - timedelta(days=1): "yesterday"}.get(local.date(), f"{local:%-d %b %Y}")
    return f"{day}, {local:%H:%M}"


def _zone() -> tzinfo:
    try:
        return ZoneInfo(st.context.timezone or "UTC")
    except (ZoneInfoNotFoundError, ValueError):
        return UTC

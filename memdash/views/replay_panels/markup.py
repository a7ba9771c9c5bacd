"""The blocks of a request as one piece of HTML: folded where they are long, and every text escaped.

One element with folds of the browser's own is sent and opened many times faster than hundreds of elements of the page. Texts
come from scripts, models and tools: they are escaped here, and what a browser would act on without showing it (commands that
turn the direction of text, control characters) is spelled out.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import streamlit as st

from memdash.inspection.buckets import Bucket
from memdash.inspection.differences import Change, Word
from memdash.palette import ORANGE, ROSE, TEAL, Hue, Theme
from memdash.views.components import clip

BUCKET_HUES: Final = {Bucket.READ: TEAL, Bucket.WRITTEN: ORANGE, Bucket.UNCACHED: ROSE}
"""The hues that the charts give them."""

_LONG: Final = 1_200
"""Characters from which on a text is folded; its beginning is shown."""
_EXCERPT: Final = 150
_MOST_SHOWN: Final = 30_000
"""Characters of one text that are sent to the browser."""

_STYLE: Final = """
<style>
.block-list { display: flex; flex-direction: column; gap: 6px; font-size: 0.93rem; }
.block-list > div, .block-list > details { border: 1px solid color-mix(in srgb, currentColor 16%, transparent);
  border-left-width: 4px; border-radius: 6px; padding: 5px 10px; }
.block-list summary { cursor: pointer; list-style-position: inside; }
.block-list .about { display: flex; flex-wrap: wrap; gap: 3px 12px; align-items: baseline; }
.block-list summary .about { display: inline-flex; width: calc(100% - 1.5em); }
.block-list .quiet { opacity: 0.74; font-size: 0.86rem; }
.block-list .path { margin-left: auto; font-family: monospace; }
.block-list .excerpt { opacity: 0.74; display: block; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.block-list details[open] > summary .excerpt { display: none; }
.block-list pre { margin: 5px 0 2px; padding: 0; background: none; border: 0; color: inherit; white-space: pre-wrap;
  overflow-wrap: anywhere; unicode-bidi: plaintext; max-height: 420px; overflow-y: auto; font: inherit; }
.block-list pre.code { font-family: monospace; font-size: 0.86rem; }
.block-list bdi { unicode-bidi: isolate; }
.block-list .unseen { border: 1px solid; border-radius: 3px; padding: 0 2px; font-size: 0.75em; }
.block-list ins { text-decoration: underline; text-decoration-thickness: 2px;
  background: color-mix(in srgb, #15904f 20%, transparent); }
.block-list del { background: color-mix(in srgb, #e0565b 20%, transparent); }
.share-bar { display: flex; height: 12px; border-radius: 4px; overflow: hidden; gap: 2px; }
.plain-table { border-collapse: collapse; font-size: 0.9rem; width: 100%; }
.plain-table th { text-align: left; font-weight: 600; opacity: 0.74; }
.plain-table th, .plain-table td { padding: 3px 10px 3px 0; vertical-align: top; overflow-wrap: anywhere;
  border-bottom: 1px solid color-mix(in srgb, currentColor 14%, transparent); }
.plain-table .number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
</style>
"""


class Shown(NamedTuple):
    """One block as it is drawn: its ``name`` in bold, ``facts`` about it, its ``path``, and its text or the words of its change.

    ``hue`` colours its edge; what that says stands among the facts too. ``fold`` is whether a long text is folded, ``code``
    whether its characters stand in columns.
    """

    name: str
    facts: Sequence[str]
    path: str
    text: str | Sequence[Word]
    hue: Hue | None = None
    fold: bool = True
    code: bool = False


def block_list(blocks: Iterable[Shown], theme: Theme, *, alt: str) -> None:
    """Draw blocks one below the other; ``alt`` says what they are."""
    drawn = "".join(_block(one, theme) for one in blocks)
    st.html(f'{_STYLE}<div class="block-list" role="group" aria-label="{_attribute(alt)}">{drawn}</div>')


def share_bar(shares: Sequence[tuple[Bucket, int]], theme: Theme, *, alt: str) -> None:
    """Draw the buckets of a prompt as a bar."""
    whole = sum(tokens for _, tokens in shares)
    parts = "".join(
        f'<span style="flex: {tokens}; min-width: 2px; background: {_colour(BUCKET_HUES[bucket], theme)}"></span>'
        for bucket, tokens in shares
        if tokens > 0
    )
    if whole > 0:
        st.html(f'{_STYLE}<div class="share-bar" role="img" aria-label="{_attribute(alt)}">{parts}</div>')


def plain_table(
    headings: Sequence[str], rows: Iterable[Sequence[str]], *, numbers_from: int, alt: str
) -> None:
    """Draw a small table of texts; columns from ``numbers_from`` on hold numbers."""

    def cells(tag: str, texts: Sequence[str]) -> str:
        return "".join(
            f'<{tag} class="number">{escaped(text)}</{tag}>'
            if at >= numbers_from
            else f"<{tag}><bdi>{escaped(text)}</bdi></{tag}>"
            for at, text in enumerate(texts)
        )

    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    head = f"<tr>{cells('th', headings)}</tr>"
    st.html(f'{_STYLE}<table class="plain-table" aria-label="{_attribute(alt)}">{head}{body}</table>')


def escaped(text: str) -> str:
    """Return ``text`` as HTML that shows exactly its characters, and the code of those that show nothing of their own."""
    return _UNSEEN.sub(_code, html.escape(text))


def _block(block: Shown, theme: Theme) -> str:
    edge = f"border-left-color: {_colour(block.hue, theme)}" if block.hue is not None else ""
    facts = "".join(f'<span class="quiet"><bdi>{escaped(one)}</bdi></span>' for one in block.facts)
    about = f"<b>{escaped(block.name)}</b>{facts}"
    path = f'<span class="quiet path">{escaped(block.path)}</span>'
    text = block.text if isinstance(block.text, str) else "".join(word.text for word in block.text)
    if not text:
        return f'<div style="{edge}"><div class="about">{about}{path}</div></div>'
    style = "code" if block.code else "prose"
    words = f'<pre class="{style}">{_words(block.text)}</pre>'
    if len(text) < _LONG or not block.fold:
        return f'<div style="{edge}"><div class="about">{about}{path}</div>{words}</div>'
    about += f'<span class="quiet">{len(text):,} characters</span>'
    excerpt = f'<span class="excerpt"><bdi>{escaped(clip(text[: 4 * _EXCERPT], _EXCERPT))}</bdi></span>'
    return f'<details style="{edge}"><summary><span class="about">{about}{path}</span>{excerpt}</summary>{words}</details>'


def _words(text: str | Sequence[Word]) -> str:
    words = [Word(Change.SAME, text)] if isinstance(text, str) else text
    drawn, left = [], _MOST_SHOWN
    for word in words:
        piece = escaped(word.text[:left])
        tag = _TAGS.get(word.change)
        drawn.append(f"<{tag}>{piece}</{tag}>" if tag else piece)
        left -= len(word.text)
        if left < 0:
            drawn.append(
                f'<span class="quiet">… and {-left:,} characters more in this piece; the raw request has them all</span>'
            )
            break
    return "".join(drawn)


def _colour(hue: Hue, theme: Theme) -> str:
    return hue.light if theme == "light" else hue.dark


def _attribute(text: str) -> str:
    return html.escape(_UNSEEN.sub(" ", text))


_TAGS: Final = {Change.ADDED: "ins", Change.REMOVED: "del"}
_UNSEEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]"
)


def _code(found: re.Match[str]) -> str:
    return f'<span class="unseen">U+{ord(found.group()):04X}</span>'

"""A report as one HTML file that needs nothing else: no network, no other file, no server.

It holds its text and tables as markup, its figures and the chart library compressed. A content security policy lets run only the
page's own script and that library, each by its hash, and lets nothing be loaded or sent. All text is escaped; what users and
models wrote stands in elements of its own, so that no mark of direction turns the words around it.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from html import escape
from importlib import resources
from typing import TYPE_CHECKING, NamedTuple

from memdash.charts.swatch import swatch_svg
from memdash.report.blocks import Block, Cards, Charts, Listed, Report, Section, Table, Told
from memdash.report.figures import Drawn, Sketch, drawn, template
from memdash.tables.lines import one_line

if TYPE_CHECKING:
    from memdash.metrics import Headline
    from memdash.palette import Style

_BOLD = b"font-weight:bold"
"""The style of bold words within the text of a chart, to the letter."""
_LIBRARY_STYLES = '<style id="plotly.js-style-global"></style>'
"""Where the chart library puts its style rules; an element that it made itself would break the policy."""


def to_html(report: Report) -> bytes:
    """Return the report as an HTML file in UTF-8."""
    charts = [drawn(one) for one in report.charts]
    styles = _file("page.css") + _heights(charts)
    script = _file("page.js")
    library = _library() if charts else _NO_LIBRARY
    body = "\n".join(_body(report, charts))
    carried = "\n".join(_carried(charts, library)) if charts else ""
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_policy(script, styles, library)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="memdash">
<title>{escape(one_line(report.title))}</title>
<style>{styles}</style>
{_LIBRARY_STYLES}
</head>
<body>
{body}
{carried}
<script>{script}</script>
</body>
</html>
""".encode()


# -- head ----------------------------------------------------------------------------------------------------------------


class _Library(NamedTuple):
    """The chart library: its hash for the policy, its text compressed, and the ids of elements that it looks for."""

    hash: str
    packed: str
    ids: tuple[str, ...]


_NO_LIBRARY = _Library("", "", ())
_STYLES_OF_MAPS = re.compile(rb'if\(!document\.getElementById\("([0-9a-f]{64})"\)\)')
"""How the library's maps, of which we draw none, look whether their styles are there; they are added where they are not."""


@cache
def _library() -> _Library:
    """Plotly's own script, as it comes with the Python package; compressing it takes a third of a second."""
    text = resources.files("plotly").joinpath("package_data", "plotly.min.js").read_bytes()
    ids = tuple(one.decode() for one in _STYLES_OF_MAPS.findall(text))
    return _Library(_hash(text), _packed(text), ids)


def _policy(script: str, styles: str, library: _Library) -> str:
    """Nothing but our own script, the chart library and our own styles; nothing is loaded from elsewhere, or sent.

    The library draws grids as pictures, which it hands to the page as data addresses, and writes bold words as elements with
    just that style; "unsafe-hashes" lets the styles of elements through that are named by their hash, and no others.
    """
    scripts = " ".join(one for one in (_hash(script.encode()), library.hash) if one)
    return (
        f"default-src 'none'; script-src {scripts}; img-src data:; "
        f"style-src {_hash(styles.encode())} {_hash(b'')} 'unsafe-hashes' {_hash(_BOLD)}; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(content: bytes) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content).digest()).decode()}'"


def _packed(content: bytes) -> str:
    return base64.b64encode(gzip.compress(content, 9, mtime=0)).decode()


def _heights(charts: Sequence[Drawn]) -> str:
    """The space of each chart before it is drawn: nothing may jump when it is."""
    return "".join(
        f".h{height} {{ height: {height}px; }}\n" for height in sorted({one.height for one in charts})
    )


@cache
def _file(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text("utf-8")


def _carried(charts: Sequence[Drawn], library: _Library) -> list[str]:
    figures = [{"figure": one.figure, "dark": one.dark} for one in charts]
    told = json.dumps({"template": template(), "figures": figures}, separators=(",", ":"), allow_nan=False)
    return [
        *(f'<template id="{one}"></template>' for one in library.ids),
        f'<script type="text/plain" id="figures">{_packed(told.encode())}</script>',
        f'<script type="text/plain" id="library">{library.packed}</script>',
    ]


# -- body ----------------------------------------------------------------------------------------------------------------


def _body(report: Report, charts: Sequence[Drawn]) -> Iterable[str]:
    places = enumerate(charts)
    scripts = {title: place for place, title in enumerate(report.scripts)}
    yield "<header>"
    yield f"<h1><bdi>{_line(report.title)}</bdi></h1>"  # our own words stand beside those of scripts in it
    yield f'<p class="about">{" · ".join(_line(one) for one in report.about)}</p>'
    yield "".join(f'<span class="badge">{_line(one)}</span>' for one in report.badges)
    yield f'<p class="quiet">{_line(report.basis)}.</p>'
    if scripts:
        options = "".join(
            f'<option value="{place}">{_line(title)}</option>' for title, place in scripts.items()
        )
        yield f'<label class="choice" hidden>Script <select id="script">{options}</select></label>'
    yield "</header>\n<main>"
    for section in report.sections:
        yield from _section(section, None if section.script is None else scripts[section.script], places)
    yield "</main>"
    yield (
        f"<footer>Comparison <code>{_line(report.id)}</code>, made with memdash. "
        f"Again: <code>memdash show {_line(report.id)}</code></footer>"
    )


def _section(section: Section, script: int | None, places: Iterator[tuple[int, Drawn]]) -> Iterable[str]:
    about = "" if section.script is None else _line(section.script)
    content = [part for block in section.blocks for part in _block(block, places)]
    if section.folded:
        yield f"<details><summary>{_line(section.title)}</summary>"
        yield from content
        yield "</details>"
        return
    yield "<section>" if script is None else f'<section data-script="{script}">'
    if section.title:
        yield f"<h2>{_line(section.title)}{f' <small><bdi>{about}</bdi></small>' if about else ''}</h2>"
    elif about:
        yield f"<h2><bdi>{about}</bdi></h2>"
    yield from content
    yield "</section>"


def _block(block: Block, places: Iterator[tuple[int, Drawn]]) -> Iterable[str]:
    match block:
        case Told(lines, quiet):
            kind = ' class="quiet"' if quiet else ""
            yield from (f"<p{kind}>{_line(one)}</p>" for one in lines)
        case Listed(entries):
            yield f"<dl>{''.join(f'<dt>{_line(name)}</dt><dd><bdi>{_text(value)}</bdi></dd>' for name, value in entries)}</dl>"
        case Cards(headlines):
            yield f'<div class="cards">{"".join(map(_card, headlines))}</div>'
        case Table():
            yield from _table(block)
        case Charts(sketches):
            figures = "".join(_chart(one, *next(places)) for one in sketches)
            yield f'<div class="charts">{figures}</div>'


def _card(one: Headline) -> str:
    note = one.note[:1].upper() + one.note[1:]
    return (
        f'<div class="card"><b>{_line(one.value)}</b><p class="quiet">{_line(one.title)}</p>'
        f'<strong>{_line(one.whose or "–")}</strong><p class="quiet">{_line(note)}</p></div>'
    )


def _chart(one: Sketch, place: int, chart: Drawn) -> str:
    note = f'<p class="quiet">{_line(chart.note)}</p>' if chart.note else ""
    return (
        f"<figure><h3>{_line(one.title)}</h3>{note}"
        f'<div class="chart h{chart.height}" data-figure="{place}" aria-hidden="true"></div>'
        f"<figcaption>{_line(one.alt)}</figcaption></figure>"
    )


def _table(block: Table) -> Iterable[str]:
    grid = block.grid
    numeric = [name in grid.numeric for name in grid.columns]
    cell = {True: ' class="number"', False: ""}
    look = "<th></th>" if block.looks else ""
    heads = "".join(
        f"<th{cell[number]}>{'<br>'.join(map(_line, name.splitlines()))}</th>"
        for name, number in zip(grid.columns, numeric, strict=True)
    )
    yield f'<div class="scroll"><table><thead><tr>{look}{heads}</tr></thead><tbody>'
    for place, row in enumerate(grid.rows):
        swatch = f'<td class="swatch">{_swatch(block.looks[place])}</td>' if block.looks else ""
        cells = "".join(
            f"<td{cell[number]}><bdi>{_text(value)}</bdi></td>"
            for value, number in zip(row, numeric, strict=True)
        )
        yield f"<tr>{swatch}{cells}</tr>"
    yield "</tbody></table></div>"
    for place, notes in grid.notes.items():
        whose = _text(grid.rows[place][0])
        yield from (f'<p class="quiet"><bdi>{whose}</bdi>: <bdi>{_text(note)}</bdi></p>' for note in notes)


def _swatch(style: Style) -> str:
    light, dark = swatch_svg(style, "light"), swatch_svg(style, "dark")
    return f'<span class="light">{light}</span><span class="dark">{dark}</span>'


# -- text ----------------------------------------------------------------------------------------------------------------


def _line(text: str) -> str:
    """Text within our own words: on one line, and without what would turn their direction."""
    return escape(one_line(text))


def _text(text: str) -> str:
    """Text in an element of its own, whole; characters that no HTML file can hold are shown as unknown."""
    return escape("".join("\ufffd" if _is_unfit(one) else one for one in text))


def _is_unfit(char: str) -> bool:
    return char not in "\n\t" and unicodedata.category(char) in ("Cc", "Cs")

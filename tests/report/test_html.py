"""The report as a file: its text is text, its policy lets run only what it should, and it needs nothing else."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser

import plotly.graph_objects as go
import pytest

from memdash.metrics import Headline
from memdash.palette import assign
from memdash.report.blocks import Block, Cards, Charts, Listed, Report, Section, Table, Told
from memdash.report.figures import Sketch
from memdash.report.html import to_html
from memdash.report.telling import tell
from memdash.store import Store
from memdash.tables.grid import Grid
from tests.report.told import MARK, a_comparison, a_script, figures_of, stored

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)> \"q\" 's' &amp; \u202egnp.exe"
SKETCH = Sketch(lambda _theme: go.Figure({"data": [], "layout": {"height": 321}}), HOSTILE, HOSTILE)


def a_report(text: str = HOSTILE, *blocks: Block) -> Report:
    grid = Grid((text, "n"), [(text, "1")], numeric=frozenset("n"), notes={0: [text]})
    look = assign([("one", "window")])["one"]
    every = (
        Told([text]),
        Listed([(text, text)]),
        Cards([Headline(text, text, (text,), text)]),
        Table(grid, [look]),
        Charts([SKETCH]),
    )
    sections = [Section(text, blocks or every, script=text), Section(text, [Told([text])], folded=True)]
    return Report("cmp_1", text, [text], [text], text, sections)


class Page(HTMLParser):
    """The elements of a page with their attributes, and its text without scripts and styles."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.raw: list[tuple[str, str]] = []
        self._inside = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._inside = tag if tag in ("script", "style") else ""
        if self._inside:
            self.raw.append((tag, ""))

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside:
            tag, before = self.raw[-1]
            self.raw[-1] = (tag, before + data)
        elif data.strip():
            self.text.append(data)

    @property
    def tags(self) -> set[str]:
        return {tag for tag, _ in self.elements}

    @property
    def policy(self) -> str:
        (found,) = [
            attributes["content"]
            for tag, attributes in self.elements
            if attributes.get("http-equiv") == "Content-Security-Policy"
        ]
        return found or ""


@pytest.fixture(scope="module")
def hostile() -> Page:
    return Page(to_html(a_report()).decode())


def hash_of(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


def test_no_text_becomes_an_element_or_an_attribute(hostile: Page) -> None:
    assert "img" not in hostile.tags
    assert [tag for tag, _ in hostile.elements].count("script") == 3
    assert not any(name.startswith("on") for _, attributes in hostile.elements for name in attributes)


def test_a_text_that_stands_alone_is_whole_and_no_mark_turns_our_own_words(hostile: Page) -> None:
    assert HOSTILE in hostile.text
    within = HOSTILE.replace("\u202e", "")
    assert f"{within}." in hostile.text  # the basis, a sentence of ours
    isolated = [one for one in hostile.text if "\u202e" in one]
    html = to_html(a_report()).decode()
    assert html.count("\u202e") == len(isolated) == len(re.findall("<bdi>[^<]*\u202e[^<]*</bdi>", html))


def test_characters_that_no_file_can_hold_are_shown_as_unknown() -> None:
    page = Page(to_html(a_report("a\ud800b\x00c")).decode())
    assert "a\ufffdb\ufffdc" in page.text


def test_the_title_is_a_line_of_ours_in_which_no_text_turns_the_direction() -> None:
    page = Page(to_html(a_report("3 strategies: \u202eolleH\n!", Told([]))).decode())
    assert "3 strategies: olleH !" in page.text


def test_the_policy_names_the_scripts_and_styles_that_are_there_and_nothing_else(hostile: Page) -> None:
    html = to_html(a_report()).decode()
    own = next(content for tag, content in hostile.raw if tag == "script" and '"use strict"' in content)
    packed = re.search(r'id="library">([^<]+)<', html)
    assert packed
    library = gzip.decompress(base64.b64decode(packed[1])).decode()
    styles = [content for tag, content in hostile.raw if tag == "style"]
    assert hostile.policy == (
        f"default-src 'none'; script-src {hash_of(own)} {hash_of(library)}; img-src data:; "
        f"style-src {' '.join(map(hash_of, styles))} 'unsafe-hashes' {hash_of('font-weight:bold')}; "
        "base-uri 'none'; form-action 'none'"
    )
    assert "Plotly" in library


def test_nothing_is_asked_of_anybody_else(hostile: Page) -> None:
    reaching = {"src", "href", "action", "data", "poster", "srcset"}
    assert not {name for _, attributes in hostile.elements for name in attributes} & reaching
    assert not hostile.tags & {"link", "iframe", "object", "embed", "base", "form"}
    for tag, content in hostile.raw:
        assert not re.search(r"https?://|@import|url\(", content), tag


def test_the_page_keeps_the_space_of_a_chart_before_it_is_drawn(hostile: Page) -> None:
    assert any(".h321 { height: 321px; }" in content for tag, content in hostile.raw if tag == "style")
    assert ("div", {"class": "chart h321", "data-figure": "0", "aria-hidden": "true"}) in hostile.elements


def test_a_report_without_charts_carries_no_library() -> None:
    content = to_html(a_report("plain", Told(["words"])))
    assert len(content) < 30_000
    assert b"library" not in re.findall(rb'id="(\w+)"', content)


@pytest.fixture
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with Store.open(tmp_path_factory.mktemp("report") / "lab.duckdb") as one:
        yield one


def test_each_script_has_its_findings_and_charts_and_a_reader_chooses_one(store: Store) -> None:
    one = stored(store, a_comparison(a_script("first"), a_script("second")))
    html = to_html(tell(store, one)).decode()
    page = Page(html)
    assert [a["value"] for tag, a in page.elements if tag == "option"] == ["0", "1"]
    assert f"{MARK} title (first)" in page.text  # titles alike are told apart
    assert [a["data-script"] for tag, a in page.elements if "data-script" in a] == ["0", "1", "0", "1"]
    charts = [a["data-figure"] for tag, a in page.elements if "data-figure" in a]
    assert charts == [str(place) for place in range(12)]
    assert len(json.loads(figures_of(html))["figures"]) == 12

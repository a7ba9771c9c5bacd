"""What differs between a turn's request and the one before it, or that of another replay at the same turn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import streamlit as st

from memdash import numbers
from memdash.collecting import uncollected
from memdash.errors import MemdashError
from memdash.inspection.differences import (
    Change,
    Differences,
    Line,
    Setting,
    Side,
    Word,
    details_changed,
    differences,
    side_kind,
    side_text,
    words_changed,
)
from memdash.inspection.requests import opening_request, request_before
from memdash.palette import AMBER, GREEN, VERMILION
from memdash.records import RequestRecord
from memdash.replay_log import ReplayLog
from memdash.views.components import plain, problem, theme
from memdash.views.replay_panels import Opened
from memdash.views.replay_panels.inspected import texts
from memdash.views.replay_panels.markup import Shown, block_list, plain_table

_PAGE: Final = 20
"""Rows that are shown at once."""
_CONTEXT: Final = 160
"""Characters of what is the same that are shown before and after a change."""
_HUES: Final = {Change.ADDED: GREEN, Change.REMOVED: VERMILION, Change.CHANGED: AMBER}
_SIGNS: Final = {Change.ADDED: "+ ", Change.REMOVED: "− ", Change.CHANGED: "~ ", Change.SAME: ""}
_ABOUT: Final = (
    "A turn's first request is compared, since what is sent is decided there: against the conversation's last request before it, "
    "or against the first request of the same turn in another replay. Blocks are the same where they hold the same to the letter."
)


class _Row(NamedTuple):
    """A line that is drawn, or ``same`` blocks in a row that are only counted."""

    line: Line | None
    same: int


class _Texts(NamedTuple):
    """The recorded texts of a page's rows, by id, of either side."""

    before: Mapping[str, str]
    now: Mapping[str, str]


def differences_panel(opened: Opened, turn: int, other: Opened | None) -> None:
    """Draw what differs; ``other`` None compares with the turn before."""
    now = opening_request(opened.log, turn)
    if now is None:
        st.caption("No request of the conversation was made in this turn.")
        return
    if other is None:
        before, before_log = request_before(opened.log, now), opened.log
        if before is None:
            st.caption("This is the first request: nothing comes before it.")
            return
        against = f"turn {before.turn}, its last request"
    else:
        before, before_log = opening_request(other.log, turn), other.log
        against = f"{other.log.spec.label} at the same turn"
        if before is None:
            st.caption(plain(f"{other.log.spec.label} has no request in turn {turn}."))
            return
    try:
        _show(opened, (before_log, before), (opened.log, now), against)
    except MemdashError as error:
        problem(error, "The texts of these requests cannot be read")


def _show(
    opened: Opened,
    before: tuple[ReplayLog, RequestRecord],
    now: tuple[ReplayLog, RequestRecord],
    against: str,
) -> None:
    found = _found(before[0].spec.id, before[1].number, now[0].spec.id, now[1].number, before, now)
    key = f"differences.{opened.log.spec.id}.{now[1].number}.{before[0].spec.id}.{before[1].number}"
    with st.container(border=True, gap="small"):
        title, toggle = st.columns([3, 1], vertical_alignment="center")
        title.markdown(f"**Turn {now[1].turn} against {plain(against)}: {_headline(found)}**", help=_ABOUT)
        only = toggle.toggle("Only what changed", value=True, key="differences.only_changed")
        sizes = (before[1].usage.prompt_tokens, now[1].usage.prompt_tokens)
        st.caption(plain(f"Prompt tokens: {numbers.tokens(sizes[0])} → {numbers.tokens(sizes[1])}"))
        if found.settings:
            _settings(found.settings)
        rows = list(_rows(found.lines, only))
        pages = -(-len(rows) // _PAGE)
        page = st.pagination(pages, key=f"{key}.{only}") if pages > 1 else 1
        shown = rows[(page - 1) * _PAGE : page * _PAGE]
        read = _texts(before[0].spec.id, now[0].spec.id, shown)
        drawn = [_drawn(row, read) for row in shown]
        if drawn:
            block_list(drawn, theme(), alt=f"{_headline(found)}; {numbers.count(len(drawn), 'row')} shown")


@st.cache_resource(max_entries=16, show_spinner=False)
@uncollected()
def _found(
    one: str,
    one_number: int,
    other: str,
    other_number: int,
    _before: tuple[ReplayLog, RequestRecord],
    _now: tuple[ReplayLog, RequestRecord],
) -> Differences:
    """A recorded request never changes, so its replay and number are all that tells two comparisons apart."""
    return differences(_before, _now)


def _headline(found: Differences) -> str:
    if found.none:
        return "nothing differs"
    counts = [
        f"{numbers.count(found.count(change), 'block')} {change}"
        for change in (Change.ADDED, Change.REMOVED, Change.CHANGED)
        if found.count(change)
    ]
    if found.settings:
        counts.append(numbers.count(len(found.settings), "setting"))
    same = found.count(Change.SAME)
    return f"{', '.join(counts)}; {numbers.count(same, 'block')} the same"


def _settings(settings: Sequence[Setting]) -> None:
    rows = [(one.name, *(numbers.NOTHING if side is None else side for side in one[1:])) for one in settings]
    plain_table(("Setting", "Before", "Now"), rows, numbers_from=3, alt="Settings that differ")


def _rows(lines: Sequence[Line], only_changed: bool) -> Iterator[_Row]:
    same = 0
    for line in lines:
        if only_changed and line.change is Change.SAME:
            same += 1
            continue
        if same:
            yield _Row(None, same)
            same = 0
        yield _Row(line, 0)
    if same:
        yield _Row(None, same)


def _texts(before: str, now: str, rows: Sequence[_Row]) -> _Texts:
    lines = [row.line for row in rows if row.line is not None]
    return _Texts(
        texts(before, [line.before.block for line in lines if line.before is not None]),
        texts(now, [line.now.block for line in lines if line.now is not None]),
    )


def _drawn(row: _Row, read: _Texts) -> Shown:
    line = row.line
    if line is None:
        return Shown(f"{numbers.count(row.same, 'block')} the same", (), "", "")
    side = line.now or line.before
    assert side is not None, "a line stands in one of the two requests"
    text = (read.before if line.now is None else read.now)[side.block]
    name = (
        side_kind(side, text) if side.role in ("tools", "system") else f"{side.role}: {side_kind(side, text)}"
    )
    title = f"{_SIGNS[line.change]}{name}"
    if line.change is not Change.CHANGED or line.before is None or line.now is None:
        fold = line.change in (Change.SAME, Change.REMOVED)
        return Shown(
            title, (str(line.change),), side.path, side_text(side, text), _HUES.get(line.change), fold
        )
    return _changed(title, line.before, line.now, read)


def _changed(title: str, before: Side, now: Side, read: _Texts) -> Shown:
    old, new = read.before[before.block], read.now[now.block]
    words = words_changed(side_text(before, old), side_text(now, new))
    path = now.path if now.path == before.path else f"{before.path} → {now.path}"
    facts = [str(Change.CHANGED)]
    if all(word.change is Change.SAME for word in words):
        fields = [one.name for one in details_changed(old, new)]
        facts.append(f"the same words, another {numbers.listing(fields)}" if fields else "the same words")
    return Shown(title, facts, path, [_shortened(word) for word in words], _HUES[Change.CHANGED], fold=False)


def _shortened(word: Word) -> Word:
    """Leave out the middle of a long piece that is the same: what is looked for is what changed."""
    if word.change is not Change.SAME or len(word.text) <= 3 * _CONTEXT:
        return word
    left_out = len(word.text) - 2 * _CONTEXT
    return Word(
        word.change, f"{word.text[:_CONTEXT]} … {left_out:,} characters the same … {word.text[-_CONTEXT:]}"
    )

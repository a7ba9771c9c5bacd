"""What changed between two comparisons as people read it in a terminal or in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from memdash import numbers
from memdash.tables.grid import Grid
from memdash.tables.lines import one_line
from memdash.tables.markdown import escaped, paragraph

if TYPE_CHECKING:
    from memdash.metrics.changes import Changes, Difference, GroupChange, Number, NumberChange, Value

MOST_ROWS = 200
"""Rows of a table; what is beyond is counted, and all of it is in the JSON."""
_LONGEST = 200
"""Characters of an answer or a message that are shown."""


def changes_parts(changes: Changes, *, markdown: bool) -> list[str]:
    """Return the paragraphs that say what changed, what was lost first."""
    from memdash.metrics.changes import headline

    parts = [
        _heading(changes, markdown),
        paragraph(headline(changes)) if markdown else one_line(headline(changes)),
        _facts(changes.groups, markdown),
        _numbers(changes.groups, markdown),
        _lines(
            [*_outcomes(changes.groups), *_alone(changes), *_different(changes), *changes.notes], markdown
        ),
    ]
    return [part for part in parts if part]


def _heading(changes: Changes, markdown: bool) -> str:
    before = changes.before
    words = f"What changed since {before.title} ({before.comparison}, {before.created_at[:10]})"
    return f"### {escaped(words)}" if markdown else one_line(words)


def _facts(groups: Sequence[GroupChange], markdown: bool) -> str:
    """The facts that are kept or answered otherwise than before, lost ones first."""
    found = [(group, fact) for group in groups for fact in group.facts]
    found.sort(key=lambda one: not one[1].lost)
    simulated = any(group.recall_simulated for group in groups)
    right = "answered right\n(simulated)" if simulated else "answered right"
    columns = ("fact", "setting", "asked after", "kept", right, "answer")
    rows = [
        (
            f"{fact.fact}{' (lost)' if fact.lost else ''}",
            _where(group, groups),
            f"turn {fact.asked_after}",
            _then_now(fact.kept_before.words, fact.kept_after.words),
            _then_now(fact.right_before.words, fact.right_after.words),
            numbers.NOTHING if fact.answer is None else _shortened(fact.answer),
        )
        for group, fact in found
    ]
    return _grid(Grid(columns, rows[:MOST_ROWS]), len(rows), "fact", markdown)


def _numbers(groups: Sequence[GroupChange], markdown: bool) -> str:
    """The numbers that differ; token buckets, of which prompt tokens are the sum, are in the JSON alone."""
    rows = [
        (
            _where(group, groups),
            _name(change.number, group),
            _value(change.number, change.before),
            _value(change.number, change.after),
            _change(change),
            change.verdict.words,
        )
        for group in groups
        for change in group.changed
        if change.number in _shown()
    ]
    columns = ("setting", "number", "before", "now", "change", "verdict")
    grid = Grid(columns, rows[:MOST_ROWS], numeric=frozenset(columns[2:5]))
    return _grid(grid, len(rows), "number", markdown)


def _shown() -> frozenset[Number]:
    from memdash.metrics.changes import Number

    hidden = {Number.INPUT, Number.WRITES, Number.READS, Number.FIRST_TEXT_P50, Number.FIRST_TEXT_P95}
    return frozenset(Number) - hidden


def _grid(grid: Grid, rows: int, noun: str, markdown: bool) -> str:
    if not grid.rows:
        return ""
    shown = grid.markdown() if markdown else grid.plain()
    more = rows - len(grid.rows)
    return shown if not more else f"{shown}\n\n… and {numbers.count(more, noun)} more, in --format json"


def _outcomes(groups: Sequence[GroupChange]) -> Iterable[str]:
    for group in groups:
        where = _where(group, groups)
        if group.not_alike:
            yield f"{where}: not comparable, {group.not_alike}"
        elif group.outcome:
            yield f"{where}: before {group.outcome.before}, now {group.outcome.after}"
        yield from (f"{where}: {_shortened(error)}" for error in group.errors)


def _alone(changes: Changes) -> Iterable[str]:
    several = len({one.script for one in (*changes.missing, *changes.new)}) > 1
    for settings, words in ((changes.missing, "only before"), (changes.new, "only now")):
        named = [f"{one.label} on {one.script}" if several else one.label for one in settings]
        if named:
            yield f"{words}: {numbers.listing(named, limit=12)}"


def _different(changes: Changes) -> Iterable[str]:
    yield from map(_told, (*((changes.recommendation,) if changes.recommendation else ()), *changes.settings))
    yield from map(_told, changes.versions)
    for price in changes.prices or ():
        tier = f" above {numbers.tokens(price.above)} tokens" if price.above else ""
        prices = [_price(one) for one in (price.before, price.after)]
        yield f"price of {price.model}, {price.name}{tier}: {_then_now(*prices)} per million tokens"


def _told(one: Difference) -> str:
    return f"{one.name}: {_then_now(_shortened(one.before), _shortened(one.after))}"


def _price(dollars: float | None) -> str:
    return "none" if dollars is None else numbers.usd(dollars)


def _lines(lines: Sequence[str], markdown: bool) -> str:
    if markdown:
        return "\n".join(f"- {escaped(line)}" for line in lines[:MOST_ROWS])
    return "\n".join(one_line(line) for line in lines[:MOST_ROWS])


def _where(group: GroupChange, groups: Sequence[GroupChange]) -> str:
    several = len({one.script for one in groups}) > 1
    return f"{group.name} on {group.script}" if several else group.name


def _name(number: Number, group: GroupChange) -> str:
    return f"{number.words} (simulated)" if number == "recall" and group.recall_simulated else number.words


def _value(number: Number, value: Value) -> str:
    told = number.spelled(value.mean)
    if value.low is None or value.high is None or value.low == value.high:
        return told
    return f"{told} ({numbers.span(value.low, value.high, number.spelled)})"


def _change(change: NumberChange) -> str:
    """A relative change where there is one; shares differ by points."""
    if change.number.is_share or change.relative is None:
        return change.number.spelled_difference(change.difference)
    relative = numbers.change(change.relative)
    if change.relative and relative.startswith("±"):
        return f"{change.relative * 100:+.2g} %".replace("-", "−")
    return relative


def _then_now(before: str, now: str) -> str:
    return before if before == now else f"{before} → {now}"


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"

"""What changed between two comparisons, drawn: the finding, what was lost, the numbers, and what was told otherwise."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import streamlit as st

from memdash import numbers
from memdash.metrics.changes import (
    Changes,
    Difference,
    GroupChange,
    Number,
    NumberChange,
    Value,
    Verdict,
    headline,
)
from memdash.views.components import clip, plain

NUMBERS_OF: Final = "of"
"""What a link calls the setting whose numbers are all shown."""

_IN_THE_TABLE: Final = (
    Number.COST,
    Number.PROMPT,
    Number.CACHE_SHARE,
    Number.KEPT,
    Number.RECALL,
    Number.WAIT_P95,
)
_MARKS: Final[Mapping[Verdict, str]] = {
    Verdict.BETTER: "▲ better",
    Verdict.WORSE: "▼ worse",
    Verdict.OTHER: "changed",
    Verdict.SAME: "same",
    Verdict.WITHIN: "within the intervals",
    Verdict.UNKNOWN: "not comparable",
}
_ROW_HEIGHT: Final = 36
_MANY_ROWS: Final = 16
_LONGEST: Final = 300
"""Characters of an answer or a message that are shown."""


def show_changes(found: Changes, key: str) -> None:
    """Draw everything; ``key`` tells one pair of comparisons from another."""
    st.markdown(f"#### {plain(headline(found))}")
    st.caption(plain(_sides(found)))
    if found.notes:
        st.warning(
            "\n".join(f"- {plain(one[:1].upper() + one[1:])}." for one in found.notes),
            icon=":material/warning:",
            title="The two are not alike in everything, so a difference need not be a setting's",
        )
    if found.is_nothing:
        st.caption("Settings, versions, prices and every number are the same on both sides.")
        return
    _facts(found, key)
    _outcomes(found)
    _groups(found, key)
    _every_number(found, key)
    with st.grid(2, min_column_width=430, gap="small"):
        _differences("Settings", found.settings, key)
        _differences("Versions", found.versions, key)
        _prices(found, key)
        _alone(found)


def _sides(found: Changes) -> str:
    told = []
    for words, side in (("Before", found.before), ("Now", found.after)):
        kind = "live" if side.live else "simulated"
        told.append(f"{words}: {clip(side.title, 80)} ({kind}, {side.created_at[:10]}, {side.basis})")
    return ". ".join(told) + "."


# -- what was lost and won -----------------------------------------------------------------------------------------------


def _facts(found: Changes, key: str) -> None:
    rows = [(group, fact) for group in found.groups for fact in group.facts]
    rows.sort(key=lambda one: not one[1].lost)
    if not rows:
        return
    lost = sum(fact.lost for _, fact in rows)
    simulated = any(group.recall_simulated for group, _ in rows)
    with st.container(border=True, gap="small"):
        st.markdown(f"**{_counted(lost, len(rows) - lost)}**")
        _draw(
            {
                "Fact": [fact.fact for _, fact in rows],
                "Verdict": [
                    _MARKS[Verdict.WORSE]
                    if fact.lost
                    else _MARKS[Verdict.BETTER]
                    if Verdict.BETTER in (fact.kept, fact.right)
                    else _MARKS[fact.kept]
                    for _, fact in rows
                ],
                "Setting": [_where(group, found) for group, _ in rows],
                "Asked after": [f"turn {fact.asked_after}" for _, fact in rows],
                "Kept": [_arrow(fact.kept_before.words, fact.kept_after.words) for _, fact in rows],
                "Simulated recall" if simulated else "Recall": [
                    _arrow(fact.right_before.words, fact.right_after.words) for _, fact in rows
                ],
                "Question": [fact.question for _, fact in rows],
                "Answer now": [clip(fact.answer or numbers.NOTHING, _LONGEST) for _, fact in rows],
            },
            f"changes.facts.{key}",
            f"{numbers.count(len(rows), 'fact')} kept or answered otherwise than before, {lost} of them lost",
        )


def _counted(lost: int, others: int) -> str:
    parts = [
        numbers.count(lost, "fact") + " lost" if lost else "",
        numbers.count(others, "fact") + " kept or answered otherwise, and not lost" if others else "",
    ]
    return ", ".join(part for part in parts if part)


def _outcomes(found: Changes) -> None:
    """How replays ended otherwise, and errors that are new."""
    told = []
    for group in found.groups:
        where = _where(group, found)
        if group.not_alike:
            told.append(f"{where}: not comparable, {group.not_alike}")
        elif group.outcome:
            told.append(f"{where}: before {group.outcome.before}, now {group.outcome.after}")
        told += [f"{where}: {clip(error, _LONGEST)}" for error in group.errors]
    if found.recommendation:
        told.append(
            f"the recommendation went from {found.recommendation.before} to {found.recommendation.after}"
        )
    if told:
        with st.container(border=True, gap="small"):
            st.markdown("**How it ended**")
            st.markdown("\n".join(f"- {plain(one)}" for one in told))


# -- numbers -------------------------------------------------------------------------------------------------------------


def _groups(found: Changes, key: str) -> None:
    if not found.groups:
        return
    rows = found.groups
    columns: dict[str, Sequence[Any]] = {"Setting": [_where(one, found) for one in rows]}
    for number in _IN_THE_TABLE:
        columns[_head(number, rows)] = [_cell(one.number(number)) for one in rows]
    with st.container(border=True, gap="small"):
        st.markdown("**Numbers, before → now**")
        _draw(
            columns,
            f"changes.groups.{key}",
            f"{numbers.count(len(rows), 'setting')}, each with cost, tokens, cache share, kept, recall and wait, before and now",
        )


def _every_number(found: Changes, key: str) -> None:
    """All numbers of one setting, which stands in the address."""
    names = {_where(one, found): one for one in found.groups}
    if not names:
        return
    wanted = st.query_params.get(NUMBERS_OF)
    if wanted is not None and wanted not in names:
        st.caption(
            f":orange[:material/link_off: There is no setting {plain(repr(clip(wanted, 60)))} on both sides.]"
        )
    with st.container(border=True, gap="small"):
        chosen = st.selectbox(
            "Every number of",
            list(names),
            index=list(names).index(wanted) if wanted in names else 0,
            key=f"changes.of.{key}",
        )
        if chosen != (wanted or next(iter(names))):
            st.query_params[NUMBERS_OF] = chosen
        group = names[chosen]
        _draw(
            {
                "Number": [_head(one.number, [group]) for one in group.numbers],
                "Before": [_value(one.number, one.before) for one in group.numbers],
                "Now": [_value(one.number, one.after) for one in group.numbers],
                "Difference": [one.number.spelled_difference(one.difference) for one in group.numbers],
                "Change": [numbers.change(one.relative) for one in group.numbers],
                "Verdict": [_MARKS[one.verdict] for one in group.numbers],
            },
            f"changes.numbers.{key}",
            f"Every number of {chosen}, before and now",
        )
        st.caption(plain(_over(group)))


def _over(group: GroupChange) -> str:
    before, now = (numbers.count(one, "replay") for one in (group.replays_before, group.replays_after))
    how = "by their 95 % intervals" if group.live else "exactly, repeat by repeat"
    return f"Over {before} before and {now} now, compared {how}."


def _head(number: Number, groups: Iterable[GroupChange]) -> str:
    simulated = number is Number.RECALL and any(one.recall_simulated for one in groups)
    words = "simulated recall" if simulated else number.words
    return words[:1].upper() + words[1:]


def _cell(change: NumberChange) -> str:
    """Before and now in one cell, with the change and its verdict where there is one."""
    spell = change.number.spelled
    before, now = spell(change.before.mean), spell(change.after.mean)
    if not change.changed:
        return now
    relative = "" if change.number.is_share or change.relative is None else numbers.change(change.relative)
    told = ", ".join(part for part in (relative, _MARKS[change.verdict]) if part)
    return f"{_arrow(before, now)} ({told})"


def _value(number: Number, value: Value) -> str:
    told = number.spelled(value.mean)
    if value.low is None or value.high is None or value.low == value.high:
        return told
    return f"{told} ({numbers.span(value.low, value.high, number.spelled)})"


# -- what was told otherwise ---------------------------------------------------------------------------------------------


def _differences(title: str, found: Sequence[Difference], key: str) -> None:
    with st.container(border=True, gap="small"):
        st.markdown(f"**{title}**")
        if not found:
            st.caption("The same on both sides.")
            return
        _draw(
            {
                "": [one.name for one in found],
                "Before": [clip(one.before, _LONGEST) for one in found],
                "Now": [clip(one.after, _LONGEST) for one in found],
            },
            f"changes.{title}.{key}",
            f"{title} that differ: {numbers.listing([one.name for one in found], limit=8)}",
        )


def _prices(found: Changes, key: str) -> None:
    with st.container(border=True, gap="small"):
        st.markdown("**Prices, $ per million tokens**")
        if found.prices is None:
            st.caption("One of the two does not say its prices.")
            return
        if not found.prices:
            st.caption("The same on both sides.")
            return
        _draw(
            {
                "Model": [one.model for one in found.prices],
                "Price": [one.name.replace("_", " ") for one in found.prices],
                "From tokens": [f"{one.above:,}" for one in found.prices],
                "Before": [_price(one.before) for one in found.prices],
                "Now": [_price(one.after) for one in found.prices],
            },
            f"changes.prices.{key}",
            f"{numbers.count(len(found.prices), 'price')} changed",
        )


def _price(dollars: float | None) -> str:
    return "none" if dollars is None else f"{dollars:.10g}"


def _alone(found: Changes) -> None:
    """What only one side has."""
    with st.container(border=True, gap="small"):
        st.markdown("**Only on one side**")
        for settings, words in ((found.missing, "Only before"), (found.new, "Only now")):
            if settings:
                named = [f"{one.label} on {one.script}" for one in settings]
                st.markdown(f"{words}: {plain(numbers.listing(named, limit=12))}")
        if not found.missing and not found.new:
            st.caption("Every setting is on both sides.")


# -- shared --------------------------------------------------------------------------------------------------------------


def _draw(columns: Mapping[str, Sequence[Any]], key: str, alt: str) -> None:
    rows = len(next(iter(columns.values())))
    st.dataframe(
        dict(columns),
        hide_index=True,
        row_height=_ROW_HEIGHT,
        height="content" if rows <= _MANY_ROWS else _ROW_HEIGHT * (_MANY_ROWS + 1),
        key=key,
        alt=alt,
    )


def _where(group: GroupChange, found: Changes) -> str:
    several = len({one.script for one in found.groups}) > 1
    return f"{group.name} on {group.script}" if several else group.name


def _arrow(before: str, now: str) -> str:
    return now if before == now else f"{before} → {now}"

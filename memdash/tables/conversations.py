"""Your conversations and the floor as people read them in a terminal or in Markdown, from the object of the JSON contract."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

from memdash import numbers
from memdash.metrics.summary import BASELINE
from memdash.tables.grid import Grid

Entry = Mapping[str, Any]

_MOST_ROWS = 20
_COLUMNS = (
    "strategy", "mean", "p50", "p95", "p99", "per 1,000", "a month", "peak tokens\na minute", "of limit", "×\nfloor",
    "break-even with\nfull history",
)  # fmt: skip


def conversation_parts(told: Entry, *, markdown: bool) -> list[str]:
    """Return the paragraphs about your conversations, the floor among them; none where nothing was said of them.

    ``told`` holds the keys ``conversations``, ``break_even``, ``floor`` and ``token_counter`` of the JSON contract.
    """
    found = told["conversations"]
    if found is None:
        return []
    grid = _grid(told, found)
    lines = [*found["findings"], *found["notes"], *_rest(found)]
    return [
        _head(found),
        grid.markdown() if markdown else grid.plain(),
        *([_joined(lines, markdown)] if lines else []),
        *floor_parts(told, markdown=markdown),
    ]


def floor_parts(told: Entry, *, markdown: bool) -> list[str]:
    """Return the paragraph about the floor; none where there is no floor.

    ``told`` holds the keys ``floor`` and ``token_counter`` of the JSON contract.
    """
    if told["floor"] is None:
        return []
    lines = [*_floor_lines(told["floor"]), *_counted_otherwise(told)]
    return [_joined(lines, markdown)]


def _joined(lines: Sequence[str], markdown: bool) -> str:
    return ("\n\n" if markdown else "\n").join(lines)


def _head(found: Entry) -> str:
    lengths = found["lengths"]
    day = found["conversations_per_day"]
    often = "" if day is None else f", {day:,.10g} a day"
    return (
        f"Your conversations: {lengths['source']} (mean {lengths['mean_turns']:.1f} turns, p95 {lengths['p95_turns']}){often}. "
        "What one costs, by setting:"
    )


def _grid(told: Entry, found: Entry) -> Grid:
    """The cheapest settings first; a column that nothing is known for is left out."""
    floor = told["floor"] or {"settings": ()}
    multiples = {one["label"]: one["multiple"] for one in floor["settings"]}
    baselines = {one["label"] for one in found["settings"] if one["strategy"] == BASELINE}
    crossings = _crossings(told["break_even"], baselines)
    rows = []
    for one in _shown(found):
        peak = one["peak_tokens_per_minute"]
        multiple = multiples.get(one["label"])
        rows.append(
            (
                one["label"] + (" (simulator only)" if one["simulator_only"] else ""),
                *(
                    numbers.usd(one[name])
                    for name in ("mean_usd", "p50_usd", "p95_usd", "p99_usd", "per_1000_usd")
                ),
                numbers.NOTHING if one["per_month_usd"] is None else numbers.usd(one["per_month_usd"]),
                numbers.NOTHING if peak is None else numbers.tokens(peak),
                numbers.NOTHING if one["of_limit"] is None else numbers.percent(one["of_limit"]),
                numbers.NOTHING if multiple is None else f"{multiple:.2f}",
                crossings.get(one["label"], numbers.NOTHING),
            )
        )
    kept = [
        place
        for place, name in enumerate(_COLUMNS)
        if place < 6 or any(row[place] != numbers.NOTHING for row in rows)
    ]
    columns = tuple(_COLUMNS[place] for place in kept)
    return Grid(
        columns, [tuple(row[place] for place in kept) for row in rows], numeric=frozenset(columns[1:])
    )


def _shown(found: Entry) -> list[Entry]:
    """The cheapest settings, and full history wherever it stands."""
    ranked = sorted(found["settings"], key=lambda one: one["mean_usd"])
    return [one for place, one in enumerate(ranked) if place < _MOST_ROWS or one["strategy"] == BASELINE]


def _rest(found: Entry) -> list[str]:
    more = len(found["settings"]) - len(_shown(found))
    return [f"{numbers.count(more, 'dearer setting')} not shown; --format json has all."] if more > 0 else []


def _crossings(pairs: Sequence[Entry], baselines: Set[str]) -> dict[str, str]:
    """By setting, the lengths at which its order with a full history changes, all of them told."""
    crossings = {}
    for pair in pairs:
        ends = (pair["cheaper_when_short"], pair["other"])
        for one, other in (ends, ends[::-1]):
            if other in baselines and one not in baselines:
                crossings[one] = ", ".join(str(turns) for turns in pair["changes"])
    return crossings


def _floor_lines(floor: Entry) -> list[str]:
    several = len({(one["model"], one["cache"], one["cache_marks"]) for one in floor["scripts"]}) > 1
    told = []
    for one in floor["scripts"][:_MOST_FLOORS]:
        where = f"{one['script']} ({one['model']}, {one['cache']})" if several else one["script"]
        told.append(f"{numbers.usd(one['cost_usd'])} on {where}")
    more = len(floor["scripts"]) - _MOST_FLOORS
    told += [f"{more} more"] if more > 0 else []
    known = sorted(
        (one["multiple"], one["label"]) for one in floor["settings"] if one["multiple"] is not None
    )
    line = f"The floor, a perfect memory that sends only the facts needed: {numbers.listing(told, limit=_MOST_FLOORS + 1)}."
    if not known:
        return [line]
    (least, nearest), (most, farthest) = known[0], known[-1]
    if nearest == farthest:
        return [line, f"{nearest} costs {least:.2f} times that."]
    forgets = " (it forgets, or shortens what a turn needs)" if least < 1 else ""
    return [line, f"{nearest} costs {least:.2f} times that{forgets}, {farthest} {most:.2f} times."]


def _counted_otherwise(told: Entry) -> list[str]:
    """The floor is worked out when it is told, by the counter that is there."""
    here, then = told["floor"]["token_counter"], told["token_counter"]
    if here == then:
        return []
    return [f"It was counted by {here}, the replays by {then}: it is off by what the two differ."]


_MOST_FLOORS = 6

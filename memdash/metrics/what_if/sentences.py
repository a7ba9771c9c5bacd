"""What another price, model or cache changes, in words: the same news of several scripts or settings is told once."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from memdash import numbers
from memdash.metrics.what_if.order import Overtaking, Priced

if TYPE_CHECKING:
    from memdash.metrics.what_if.answer import Row

_MOST = 5
"""So many sentences about who becomes cheaper than whom; the others are counted."""
_WHOLE = "of those that kept every fact"


def sentences(lead: str, rows: Sequence[Row], overtaken: Mapping[str, Sequence[Overtaking]]) -> list[str]:
    """Say who becomes the cheapest of those that kept every fact, and who becomes cheaper than whom.

    ``overtaken`` are the changes of order by script, ``lead`` is what each sentence begins with.
    """
    if not any(overtaken.values()):
        compared = sum(row.rank is not None for row in rows)
        return [f"{lead} the order by cost stays as it was."] if compared > 1 else []
    several = len(overtaken) > 1
    by_script = {script: [row for row in rows if row.script == script] for script in overtaken}
    cheapest = (_Cheapest.of(script, some) for script, some in by_script.items())
    news = [
        _Gain.of(script, by_script[script], pairs)
        for script, found in overtaken.items()
        for pairs in _by_cheaper(found)
    ]
    return [
        *(_headline(lead, group, several) for group in _alike(one for one in cheapest if one)),
        *_told(lead, news, several),
    ]


# -- the cheapest that forgot nothing ------------------------------------------------------------------------------------


class _Cheapest(NamedTuple):
    """Who is the cheapest of several settings of a script that kept every fact, and who was."""

    script: str
    now: tuple[Row, ...]
    before: tuple[Row, ...]
    stays: bool

    @classmethod
    def of(cls, script: str, rows: Iterable[Row]) -> _Cheapest | None:
        """None where there are not several of them."""
        whole = [
            row for row in rows if row.rank is not None and row.facts_total and row.kept == row.facts_total
        ]
        if len(whole) < 2:
            return None
        before = [row for row in whole if row.rank == min(one.rank or 0 for one in whole)]
        after = [row for row in whole if row.what_if_rank == min(one.what_if_rank or 0 for one in whole)]
        still = [row for row in after if row in before]
        return cls(script, tuple(still or after), tuple(before), bool(still))

    @property
    def key(self) -> Hashable:
        """What makes two of them the same news."""
        return _names(self.now), None if self.stays else _names(self.before)


def _headline(lead: str, group: Sequence[_Cheapest], several: bool) -> str:
    one = group[0]
    where = _on([each.script for each in group]) if several else ""
    cost = _span(row.what_if_usd for each in group for row in each.now)
    plural = len(one.now) > 1
    if one.stays:
        verb = "stay" if plural else "stays"
        return f"{lead} {_names(one.now)} {verb} the cheapest {_WHOLE}{where}, at {cost}."
    verb, was = "become" if plural else "becomes", "they were" if len(one.before) > 1 else "it was"
    charged = _span(row.charged_usd for each in group for row in each.before)
    return (
        f"{lead} {_names(one.now)} {verb} the cheapest {_WHOLE}{where}, at {cost}; "
        f"as charged {was} {_names(one.before)}, at {charged}."
    )


def _names(rows: Iterable[Row]) -> str:
    return numbers.listing([row.series for row in rows])


# -- who becomes cheaper than whom ---------------------------------------------------------------------------------------


class _Gain(NamedTuple):
    """A setting that becomes cheaper than others on a script; ``kept`` of ``facts`` is None where that is not known."""

    script: str
    cheaper: Priced
    dearer: tuple[Priced, ...]
    kept: int | None
    facts: int

    @classmethod
    def of(cls, script: str, rows: Iterable[Row], pairs: Sequence[Overtaking]) -> _Gain:
        """Put together what one setting of a script overtakes."""
        cheaper = pairs[0].cheaper
        row = next(one for one in rows if one.series == cheaper.name)
        return cls(script, cheaper, tuple(pair.dearer for pair in pairs), row.kept, row.facts_total)


class _News(NamedTuple):
    """What is told in one sentence: settings that become cheaper than the same others on the same scripts.

    ``names`` are those others; ``more`` says that each becomes cheaper than further ones on some of the scripts.
    """

    gains: tuple[_Gain, ...]
    names: tuple[str, ...]
    more: bool

    @classmethod
    def of(cls, gains: Sequence[_Gain]) -> _News:
        """Put together what one setting overtakes on several scripts that have an overtaken setting in common."""
        common = set.intersection(*({one.name for one in gain.dearer} for gain in gains))
        names = tuple(one.name for one in gains[0].dearer if one.name in common)
        return cls(tuple(gains), names, any(len(gain.dearer) > len(names) for gain in gains))

    @property
    def scripts(self) -> tuple[str, ...]:
        """Where it is so."""
        return tuple(dict.fromkeys(gain.script for gain in self.gains))

    @property
    def settings(self) -> tuple[str, ...]:
        """Who becomes cheaper."""
        return tuple(dict.fromkeys(gain.cheaper.name for gain in self.gains))

    @property
    def forgets(self) -> bool:
        """Whether it is the news of a setting that forgot something: cheaper it may be for that alone."""
        return any(gain.kept is not None and gain.kept < gain.facts for gain in self.gains)

    @property
    def key(self) -> Hashable:
        """What makes two of them the same news; what one forgot is its own."""
        return self.scripts, frozenset(self.names), self.settings if self.forgets else ()


def _told(lead: str, gains: Sequence[_Gain], several: bool) -> list[str]:
    by_setting: dict[str, list[list[_Gain]]] = {}
    for gain in gains:
        groups = by_setting.setdefault(gain.cheaper.name, [])
        for group in groups:
            if _News.of([*group, gain]).names:
                group.append(gain)
                break
        else:
            groups.append([gain])
    by_place = {gain: place for place, gain in enumerate(gains)}
    told = sorted(
        (_News.of(group) for groups in by_setting.values() for group in groups),
        key=lambda one: by_place[one.gains[0]],
    )
    merged = [
        _News(
            tuple(gain for one in group for gain in one.gains), group[0].names, any(one.more for one in group)
        )
        for group in _alike(told)
    ]
    # Being cheaper for having forgotten is the lesser news.
    ordered = sorted(merged, key=lambda one: one.forgets)
    found = [_sentence(lead, one, several) for one in ordered[:_MOST]]
    if left := sum(len(one.settings) for one in ordered[_MOST:]):
        verb = "becomes" if left == 1 else "become"
        found.append(f"{numbers.count(left, 'more setting')} {verb} cheaper than others that were cheaper.")
    return found


def _sentence(lead: str, news: _News, several: bool) -> str:
    """Say whom settings become cheaper than, with the costs after and before."""
    verb = "becomes" if len(news.settings) == 1 else "become"
    where = _on(news.scripts) if several else ""
    more = " (and than others on some of them)" if news.more and len(news.scripts) > 1 else ""
    dearer = [one for gain in news.gains for one in gain.dearer if one.name in news.names]
    cheaper = [gain.cheaper for gain in news.gains]
    return (
        f"{lead} {numbers.listing(list(news.settings))}{_kept(news)} {verb} cheaper than {numbers.listing(list(news.names))}"
        f"{where}{more}: {_span(one.after for one in cheaper)} against {_span(one.after for one in dearer)}, "
        f"as charged {_span(one.before for one in cheaper)} against {_span(one.before for one in dearer)}."
    )


def _kept(news: _News) -> str:
    if not news.forgets or any(gain.kept is None for gain in news.gains):
        return ""
    kept, facts = sum(gain.kept or 0 for gain in news.gains), sum(gain.facts for gain in news.gains)
    return f", which kept {kept} of {numbers.count(facts, 'fact')},"


def _by_cheaper(pairs: Iterable[Overtaking]) -> list[list[Overtaking]]:
    found: dict[Priced, list[Overtaking]] = {}
    for pair in pairs:
        found.setdefault(pair.cheaper, []).append(pair)
    return list(found.values())


Told = TypeVar("Told", _Cheapest, _News)


# -- pieces --------------------------------------------------------------------------------------------------------------


def _alike(several: Iterable[Told]) -> list[list[Told]]:
    """Put what is the same news together, in the order it first appears."""
    groups: dict[Hashable, list[Told]] = {}
    for one in several:
        groups.setdefault(one.key, []).append(one)
    return list(groups.values())


def _on(scripts: Sequence[str]) -> str:
    return f" on {numbers.listing(list(scripts))}"


def _span(costs: Iterable[float | None]) -> str:
    known = [cost for cost in costs if cost is not None]
    low, high = numbers.usd(min(known)), numbers.usd(max(known))
    return low if low == high else f"{low} to {high}"

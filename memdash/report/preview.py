"""What a file will tell of the conversations of a comparison, before it is made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from memdash import numbers
from memdash.report.redaction import LEFT_OUT, Redaction, is_open, words_of

if TYPE_CHECKING:
    from memdash.metrics import ReplayResult
    from memdash.store import StoredComparison
    from memdash.store.protocol import AnyStore

_LOOKED_AT = 4
"""Replays that examples of answers, messages and summaries are looked for in."""


class Shared(NamedTuple):
    """A kind of text, an example of it as it will be shared, and the kinds of files it stands in."""

    what: str
    text: str
    files: str


def preview(store: AnyStore, comparison_id: str, *, redact: bool) -> tuple[Shared, ...]:
    """Return what of the conversations will be shared, word for word.

    Raises :class:`~memdash.errors.StoreError` where the comparison is not there or cannot be read.
    """
    from memdash.metrics import Controls, measure

    stored = store.comparison(comparison_id)
    some = [one.id for one in stored.replays[:_LOOKED_AT]]
    results = [measure(one, stored.prices, Controls(())) for one in store.replay_outlines(stored.id, some)]
    whole = tuple(_shared(stored, results))
    if not redact:
        return whole
    hide = Redaction(stored)
    told = {one.what: one for one in _shared(hide.comparison, [hide.result(one) for one in results])}
    return tuple(told.get(one.what, one._replace(text=LEFT_OUT)) for one in whole)


def _shared(stored: StoredComparison, results: Sequence[ReplayResult]) -> Iterator[Shared]:
    in_words = "JSON" if stored.spec.sweep else "HTML, Markdown, JSON"
    yield Shared("Title", stored.title or stored.id, "all")
    yield Shared("Scripts", numbers.listing([one.title for one in stored.spec.scripts]), "all")
    facts = list(dict.fromkeys(fact.id for one in stored.spec.scripts for fact in one.facts))
    if facts:
        yield Shared("Facts", numbers.listing(facts), "HTML, Markdown, JSON")
    written = list(dict.fromkeys(_texts(stored)))
    if written:
        yield Shared("Texts given to strategies", numbers.listing(written), "all")
    for what, texts, files in (
        ("Questions", (probe.question for one in results for probe in one.probes), in_words),
        ("Answers", (probe.answer for one in results for probe in one.probes), in_words),
        ("Messages of the API", (error for one in results for error in one.errors), in_words),
        ("What events quote", _quoted(results), "JSON"),
    ):
        example = next(iter(texts), None)
        if example is not None:
            yield Shared(what, example, files)


def _texts(stored: StoredComparison) -> Iterable[str]:
    """The parameters that are texts; numbers, switches and a strategy's own words tell nothing of a conversation."""
    for one in stored.replays:
        own = words_of(one.strategy, one.strategy_file)
        yield from (value for name, value in one.params.items() if isinstance(value, str) and name not in own)


def _quoted(results: Iterable[ReplayResult]) -> Iterator[str]:
    """The longest text of each event: the summary that was made, in most."""
    for one in results:
        for turn in one.turns:
            for event in turn.events:
                texts = [
                    value for value in event.data.values() if isinstance(value, str) and not is_open(value)
                ]
                if texts:
                    yield max(texts, key=len)

"""A stored comparison as it is printed: a sweep a row a setting, any other a row a replay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memdash import report
from memdash.cli.table import footer, rendered
from memdash.tables.confirmation import confirmation_parts
from memdash.tables.conversations import conversation_parts, floor_parts
from memdash.tables.lines import one_line
from memdash.tables.notes import note_parts
from memdash.tables.sweep import SweepFindings, sweep_parts

if TYPE_CHECKING:
    from memdash.metrics.conversations import Traffic
    from memdash.store.protocol import AnyStore


def shown(store: AnyStore, comparison_id: str, form: str, traffic: Traffic | None = None) -> str:
    """Return a stored comparison in one of :data:`memdash.cli.table.FORMATS`; where people read it, with their notes.

    ``traffic`` is what the user's own conversations are like, where that is to be priced as well.
    Raises :class:`~memdash.errors.StoreError` where it is not there or cannot be read.
    """
    if form not in ("table", "markdown"):
        return rendered(report.read(store, comparison_id, traffic), form)
    stored = store.comparison(comparison_id)
    text = (
        rendered(report.read(store, comparison_id, traffic), form)
        if stored.spec.sweep is None
        else shown_sweep(store, SweepFindings.read(store, comparison_id, traffic), form, traffic)
    )
    return "\n\n".join([text, *note_parts(stored.notes, markdown=form == "markdown")])


def shown_sweep(store: AnyStore, found: SweepFindings, form: str, traffic: Traffic | None = None) -> str:
    """Return a sweep that has been read; its turns, of which there are very many, are read only where the format has them."""
    if form not in ("table", "markdown"):
        return rendered(report.read(store, found.stored.id, traffic), form)
    markdown = form == "markdown"
    from memdash.evidence import evidence_for
    from memdash.metrics.confirmation import confirmation_json
    from memdash.metrics.conversations import conversation_keys

    stored = found.stored
    evidence = evidence_for(store, stored)
    about = {
        "comparison": stored.id,
        "versions": {"rules": report.basis(stored, evidence)},
        "token_counter": report.token_counter(stored),
        **conversation_keys(found.outcomes, stored.replays, stored.prices, traffic),
    }
    confirmation = confirmation_json(evidence.confirmation) if evidence and evidence.own else None
    title, end = one_line(stored.title), footer(about)
    return "\n\n".join(
        [
            f"## {title}" if markdown else title,
            *sweep_parts(found, markdown=markdown),
            *(conversation_parts(about, markdown=markdown) or floor_parts(about, markdown=markdown)),
            *confirmation_parts(confirmation, markdown=markdown),
            *(end if markdown else ["\n".join(end)]),
        ]
    )

"""A stored comparison as a report, to be written as HTML or Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memdash.report.about import about_lines, badges, closing_sections
from memdash.report.basis import basis
from memdash.report.blocks import Block, Report, Section, Table, Told
from memdash.report.reading import measured
from memdash.report.redaction import Redaction

if TYPE_CHECKING:
    from memdash.evidence import Evidence
    from memdash.store import StoredComparison
    from memdash.store.protocol import AnyStore


def tell(store: AnyStore, comparison_id: str, *, redact: bool = False) -> Report:
    """Read a comparison and say what it says; ``redact`` leaves out all conversation text.

    Raises :class:`~memdash.errors.StoreError` where it is not there or cannot be read.
    """
    from memdash.evidence import evidence_for

    stored = store.comparison(comparison_id)
    evidence = evidence_for(store, stored)
    hide = Redaction(stored) if redact else None
    sections = _comparison(store, stored, hide) if stored.spec.sweep is None else _sweep(store, stored, hide)
    if hide is not None:
        stored, evidence = hide.comparison, hide.evidence(evidence)
    told = basis(stored, evidence)
    return Report(
        id=stored.id,
        title=stored.title or stored.id,
        about=about_lines(stored),
        badges=badges(stored, redacted=redact),
        basis=told,
        sections=[*sections, *_confirmed(evidence), *closing_sections(stored, told)],
    )


def _comparison(store: AnyStore, stored: StoredComparison, hide: Redaction | None) -> list[Section]:
    from memdash.report.comparison import comparison_sections

    with store.at_hand(stored.id) as near:
        results = list(measured(near, stored))
    if hide is None:
        return comparison_sections(stored, results, with_text=True)
    return comparison_sections(hide.comparison, [hide.result(one) for one in results], with_text=False)


def _sweep(store: AnyStore, stored: StoredComparison, hide: Redaction | None) -> list[Section]:
    from memdash.outcomes import read_outcomes
    from memdash.report.sweep import sweep_sections
    from memdash.tables.sweep import SweepFindings

    outcomes = read_outcomes(store, stored.id).outcomes
    if hide is not None:
        stored, outcomes = hide.comparison, [hide.outcome(one) for one in outcomes]
    families = stored.spec.sweep.families if stored.spec.sweep else ()
    return sweep_sections(SweepFindings.of(stored, outcomes), families)


def _confirmed(evidence: Evidence | None) -> list[Section]:
    """How far the simulator was off, where these very numbers were checked against a live server."""
    from memdash.metrics.confirmation import confirmation_json
    from memdash.tables.confirmation import confirmation_grid, confirmation_lines, confirmation_sentence

    if evidence is None or not evidence.own:
        return []
    told = confirmation_json(evidence.confirmation)
    blocks: list[Block] = [Told([confirmation_sentence(told)])]
    if told["numbers"]:
        blocks.append(Table(confirmation_grid(told)))
    return [Section("Against the live API", [*blocks, Told(confirmation_lines(told), quiet=True)])]

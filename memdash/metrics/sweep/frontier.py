"""The Pareto front: settings that no other setting beats both in cost and in what is kept."""

from __future__ import annotations

from dataclasses import dataclass

from memdash.metrics.sweep.settings import Setting


@dataclass(frozen=True, slots=True)
class FrontPoint:
    """A ranked setting against all others of its model.

    ``dominated`` says that another one costs no more and loses no more, and is better in one of the two; it is about what the
    comparison is ranked on. ``dominated_on_kept`` and ``dominated_on_recall`` say it of each measure, None where it is not known.
    """

    setting: Setting
    dominated: bool
    dominated_on_kept: bool | None
    dominated_on_recall: bool | None

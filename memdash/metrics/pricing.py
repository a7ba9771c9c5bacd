"""The seam to money: what the metrics need of a price table (:mod:`memdash.prices` is where it is computed)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from memdash.records import Purpose, Usage
from memdash.replay_log import AnyRequest

if TYPE_CHECKING:
    from memdash.prices import ModelPrice


class Prices(Protocol):
    """What requests cost in US dollars."""

    def price(self, model: str) -> ModelPrice | None:
        """Return the price of a model; None where it is not known."""

    def cost(self, usage: Usage, model: str) -> float | None:
        """Return the cost of one answer's tokens; None where a price or a token count is not known."""

    def cost_by_purpose(self, request: AnyRequest) -> Mapping[Purpose, float] | None:
        """Return the cost of a request by purpose; None where a price or a token count is not known.

        Compaction that the API did inside the request stands under ``summary``, the rest under the request's own purpose.
        """

"""The budget of a comparison: checked before every request, over all its replays, probes included."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

from memdash.errors import BudgetExceeded, InputError
from memdash.prices import PriceTable
from memdash.records import RequestRecord
from memdash.spec import ComparisonSpec

if TYPE_CHECKING:
    from memdash.replay import PlannedRequest


class Budget:
    """Dollars that the requests of one comparison may cost together; safe to use from the threads of its replays.

    A request is let through only if what is spent, what the requests under way can cost at most and what it can cost itself at
    most stay within the limit. So the limit holds whatever the answers turn out to be.

    Of a comparison that goes on, ``spent`` are the requests it made before, and ``set_aside`` what the ledger says of it: more
    than they cost where an answer never came, or came without saying what it cost.
    """

    def __init__(
        self,
        limit: float,
        prices: PriceTable,
        spent: Iterable[RequestRecord] = (),
        set_aside: float = 0.0,
    ) -> None:
        self._limit = limit
        self._prices = prices
        self._lock = Lock()
        self._spent = max(sum(prices.request_cost(request) or 0.0 for request in spent), set_aside)
        self._reserved: dict[str, list[tuple[PlannedRequest, float]]] = {}

    @property
    def spent(self) -> float:
        """Dollars spent so far."""
        return self._spent

    def reserve(self, replay_id: str, planned: PlannedRequest) -> None:
        """Set aside what a request of a replay can cost at most.

        Raises :class:`BudgetExceeded` where that does not fit, or where its model has no price.
        """
        worst = self._prices.worst_case(planned.model, planned.prompt_tokens, planned.max_tokens)
        if worst is None:
            raise BudgetExceeded(
                f"no price is known for the model {planned.model!r}, so the budget cannot be kept"
            )
        with self._lock:
            under_way = sum(dollars for held in self._reserved.values() for _planned, dollars in held)
            if self._spent + under_way + worst > self._limit:
                raise BudgetExceeded(
                    f"the next request could cost ${worst:.4f} and pass the budget of ${self._limit:.4f}: ${self._spent:.4f} "
                    f"is spent and ${under_way:.4f} is set aside for requests under way"
                )
            self._reserved.setdefault(replay_id, []).append((planned, worst))

    def settle(self, replay_id: str, request: RequestRecord) -> None:
        """Take an answered request's cost for what was set aside; where nobody knows it, what was set aside is spent."""
        with self._lock:
            dollars = self._release(replay_id, request)
            cost = self._prices.request_cost(request)
            self._spent += dollars if cost is None or is_unanswered(request, cost) else cost

    def release(self, replay_id: str) -> None:
        """A replay has ended: nothing of it is under way any more."""
        with self._lock:
            self._reserved.pop(replay_id, None)

    def _release(self, replay_id: str, request: RequestRecord) -> float:
        held = self._reserved.get(replay_id, [])
        for index, (planned, dollars) in enumerate(held):
            if (planned.model, planned.purpose) == (request.model, request.purpose):
                del held[index]
                return dollars
        return 0.0


@dataclass(frozen=True, slots=True)
class BudgetGuard:
    """A budget as one replay meets it."""

    budget: Budget
    replay_id: str

    def reserve(self, planned: PlannedRequest) -> None:
        """See :meth:`Budget.reserve`."""
        self.budget.reserve(self.replay_id, planned)

    def settle(self, request: RequestRecord) -> None:
        """See :meth:`Budget.settle`."""
        self.budget.settle(self.replay_id, request)


def is_unanswered(request: RequestRecord, cost: float | None) -> bool:
    """Whether a request of this ``cost`` has no answer, or one that broke off, though it may have been billed.

    A refusal cost nothing. Of an answer that broke off only the prompt's tokens are told, not those that were written by then.
    """
    return request.error_message is not None and cost != 0.0


def check_models(spec: ComparisonSpec, prices: PriceTable, *, day_budget: bool = False) -> None:
    """Raise :class:`InputError` where a comparison has a budget, its own or the day's, and a model without a price."""
    models = [*spec.models, *(choice.params.get("summary_model") for choice in spec.strategies)]
    unknown = sorted({model for model in models if model and prices.price(model) is None})
    if (spec.budget is not None or day_budget) and unknown:
        raise InputError(
            f"no price is known for {', '.join(unknown)}, so a budget cannot be kept; run it without a limit, or give the "
            "price in a file of your own that MEMDASH_PRICES names"
        )

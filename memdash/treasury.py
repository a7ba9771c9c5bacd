"""What stands between all live requests of this process and the money: the ledger, and the budget of a day.

One treasury serves every comparison of a worker, so two people who start at once share one account: a request is let through only
after the most it can cost has been written down, and whatever is written down counts, also after a restart.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from threading import Lock
from typing import TYPE_CHECKING, Final

from memdash import numbers
from memdash.budget import is_unanswered
from memdash.errors import DayBudgetSpent
from memdash.launch import Launch
from memdash.prices import PriceTable
from memdash.records import RequestRecord
from memdash.spending import Entry, EntryKind
from memdash.store.protocol import AnyStore

if TYPE_CHECKING:
    from memdash.replay import PlannedRequest


GOES_ON: Final = "it can go on once the day is over"
"""How the reason ends for which a replay was interrupted by the day's budget: it is shown with the results."""


@dataclass(frozen=True, slots=True)
class DayBudget:
    """Dollars that all live requests of one day (UTC) may cost together; ``spent_on`` says what a day's have come to so far."""

    limit: float
    spent_on: Callable[[date], float]


def utc_now() -> datetime:
    """Return the present moment in UTC."""
    return datetime.now(UTC)


class Treasury:
    """Writes down what live requests may cost and did cost, and lets none through that could pass the day's budget.

    Safe to use from several threads. Without a ``budget`` everything is let through, and written down all the same.
    """

    def __init__(
        self,
        store: AnyStore,
        prices: PriceTable,
        budget: DayBudget | None = None,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self.prices = prices
        self._store = store
        self._budget = budget
        self._now = now
        self._lock = Lock()

    def note_start(self, comparison_id: str, launch: Launch) -> None:
        """Write down who starts a live run or lets it go on."""
        self._store.note_entries([self._entry(EntryKind.STARTED, comparison_id, launch)])

    def guard(self, comparison_id: str, launch: Launch, *, limited: bool = False) -> TreasuryGuard:
        """Return what stands between one replay and the money; ``limited`` says that its comparison has a budget of its own."""
        return TreasuryGuard(self, comparison_id, launch, limited)

    def reserve(
        self, comparison_id: str, launch: Launch, model: str, worst: float | None, *, limited: bool = False
    ) -> Entry:
        """Set aside the most that a request can cost, and return what says so; where a budget rests on it, it is in the file.

        Raises :class:`DayBudgetSpent` where that does not fit into what is left of the day, or where the model has no price.
        """
        with self._lock:
            entry = self._entry(EntryKind.SET_ASIDE, comparison_id, launch, model, worst)
            if self._budget is not None:
                self._check(self._budget, entry)
            self._store.note_entries([entry])
        if limited or self._budget is not None:
            self._store.flush()  # before the request is sent: a process that is killed now has spent it
        return entry

    def settle(self, entry: Entry) -> None:
        """Write down what became of a request."""
        self._store.note_entries([entry])

    @staticmethod
    def _check(budget: DayBudget, entry: Entry) -> None:
        if entry.usd is None:
            raise DayBudgetSpent(
                f"no price is known for the model {entry.model!r}, so the day's budget cannot be kept; give its price in a file "
                "of your own that MEMDASH_PRICES names"
            )
        spent = budget.spent_on(entry.day)
        if spent + entry.usd > budget.limit:
            raise DayBudgetSpent(
                f"the next request could cost {numbers.usd(entry.usd)} and pass the {numbers.usd(budget.limit)} that all live "
                f"runs here may cost on {entry.day:%-d %B %Y} (UTC): {numbers.usd(spent)} is spent or set aside; "
                + GOES_ON
            )

    def _entry(
        self,
        kind: EntryKind,
        comparison_id: str,
        launch: Launch,
        model: str | None = None,
        usd: float | None = None,
    ) -> Entry:
        return Entry(
            kind, self._now(), comparison_id, launch.person, launch.key is not None, model=model, usd=usd
        )


class TreasuryGuard:
    """The treasury as one replay meets it; what a replay leaves unanswered stays set aside, since nobody knows what it cost."""

    def __init__(self, treasury: Treasury, comparison_id: str, launch: Launch, limited: bool) -> None:
        self._treasury = treasury
        self._comparison_id = comparison_id
        self._launch = launch
        self._limited = limited
        self._held: list[tuple[PlannedRequest, Entry]] = []

    def reserve(self, planned: PlannedRequest) -> None:
        """See :meth:`Treasury.reserve`."""
        worst = self._treasury.prices.worst_case(planned.model, planned.prompt_tokens, planned.max_tokens)
        entry = self._treasury.reserve(
            self._comparison_id, self._launch, planned.model, worst, limited=self._limited
        )
        self._held.append((planned, entry))

    def settle(self, request: RequestRecord) -> None:
        """Write down what an answered request cost; where the server does not say, what was set aside is spent."""
        for place, (planned, entry) in enumerate(self._held):
            if (planned.model, planned.purpose) == (request.model, request.purpose):
                del self._held[place]
                if request.modelled:
                    self._treasury.settle(entry.answered(EntryKind.UNSENT, None))
                    return
                cost = self._treasury.prices.request_cost(request)
                if is_unanswered(request, cost):
                    return  # it stays set aside
                self._treasury.settle(entry.answered(EntryKind.PAID, entry.usd if cost is None else cost))
                return

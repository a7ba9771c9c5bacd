"""``--confirm-live``: the settings that matter played once more against the live API, within a budget."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from memdash import numbers
from memdash.answerer import check_key
from memdash.cli.output import complain
from memdash.cli.playing import announce, watch
from memdash.cli.values import Finite
from memdash.confirmation import check_confirmable, confirmation_spec, default_settings
from memdash.errors import InputError
from memdash.records import Status
from memdash.spec import ComparisonSpec

if TYPE_CHECKING:
    from memdash.store.protocol import AnyStore
    from memdash.worker import Worker

F = TypeVar("F", bound=Callable[..., Any])


class Confirmed(NamedTuple):
    """How a confirmation ended: where each of its live replays stands, and whether the user interrupted it."""

    statuses: tuple[Status, ...]
    interrupted: bool


def confirm_option(command: F) -> F:
    """Add ``--confirm-live`` to a command."""
    return click.option(
        "--confirm-live",
        "confirm_budget",
        type=_Dollars(),
        metavar="USD",
        help="Then play the recommended setting and full history (where full history is recommended, the runner-up beside it; "
        "without a recommendation, full history and the first others) against the live API for at most this much, and show the "
        "simulator's error in every number. Needs ANTHROPIC_API_KEY.",
    )(command)


class _Dollars(Finite):
    """US dollars above 0: there is no confirmation without a limit."""

    name = "USD"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the dollars."""
        dollars = super().convert(value, param, ctx)
        if dollars <= 0:
            self.fail(f"{value} is not a budget: give US dollars above 0", param, ctx)
        return dollars


def check_confirm(spec: ComparisonSpec, budget: float | None) -> None:
    """Refuse, before anything runs, a confirmation that could not be played; does nothing where none is asked for.

    Raises :class:`InputError`.
    """
    if budget is None:
        return
    from memdash.budget import check_models
    from memdash.prices import PriceTable

    check_confirmable(spec)
    check_key("--confirm-live")
    check_models(replace(spec, budget=budget), PriceTable.load())


def confirm_live(
    store: AnyStore,
    worker: Worker,
    comparison_id: str,
    budget: float,
    *,
    done: Collection[str],
    wanted: Collection[str],
    quiet: bool,
) -> Confirmed:
    """Play the settings that matter of a simulated comparison live, and watch it to its end.

    ``done`` are the ids of its replays that finished, ``wanted`` the labels of the settings that matter most. Where nothing
    finished, that is said, and counts as a failure.
    """
    stored = store.comparison(comparison_id)
    try:
        settings = default_settings(stored.replays, done, wanted)
    except InputError as error:
        complain(str(error))
        return Confirmed((Status.FAILED,), interrupted=False)
    spec = confirmation_spec(stored, settings, budget)
    if not quiet:
        complain(f"playing {numbers.listing(settings)} live")
        announce(spec, worker)
    worker.submit(spec)
    interrupted = watch(worker, spec.id, quiet=quiet)
    statuses = tuple(one.status for one in worker.progress(spec.id))
    store.flush()
    return Confirmed(statuses, interrupted)

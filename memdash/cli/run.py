"""``memdash run``: replay, compare, assert."""

from __future__ import annotations

from collections.abc import Sequence, Set
from pathlib import Path
from typing import Any

import click

from memdash import report
from memdash.assertions import Assertion, check_labels, failures, parse_assertion
from memdash.cli.confirm import check_confirm, confirm_live, confirm_option
from memdash.cli.database import database_option, opened_to_add
from memdash.cli.exits import FAILED, INTERRUPTED, OK, OUT_OF_BUDGET
from memdash.cli.output import complain, say
from memdash.cli.playing import announce, watch
from memdash.cli.setup import Setup, setup_options
from memdash.cli.table import FORMATS, rendered
from memdash.records import Status
from memdash.spec import Provider, ReplaySpec


@click.command()
@setup_options
@click.option(
    "--assert",
    "asserted",
    multiple=True,
    metavar="EXPR",
    help='FIELD OP VALUE over every replay, or "LABEL: FIELD OP VALUE", for instance recall>=1; also over its repeats on each '
    "script, for instance loss_high<=0.05. Repeatable; exit code 1 where one does not hold.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="table",
    show_default=True,
    help="What is printed.",
)
@click.option("--quiet", is_flag=True, help="No progress and no estimate on standard error.")
@confirm_option
@database_option
def run(
    asserted: tuple[str, ...],
    form: str,
    quiet: bool,
    confirm_budget: float | None,
    db: Path | None,
    **typed: Any,
) -> int:
    """Replay scripts through strategies, store what happens and show it side by side.

    Without arguments: the trip-planning script through full history, a window of 4, the naive window of 4 and compaction at
    2000 tokens, in the simulator.
    """
    spec = Setup(**typed).spec()
    replays = spec.replays()
    assertions = read_assertions(asserted, replays)
    from memdash.budget import check_models
    from memdash.prices import PriceTable
    from memdash.worker import Worker

    check_models(spec, PriceTable.load())
    check_confirm(spec, confirm_budget)
    live: tuple[Status, ...] = ()
    with opened_to_add(db) as store, Worker(store) as worker:
        if spec.provider is Provider.ANTHROPIC and not quiet:
            announce(spec, worker)
        worker.submit(spec)
        interrupted = watch(worker, spec.id, quiet=quiet)
        store.flush()
        comparison = report.read(store, spec.id)
        if confirm_budget is not None and not interrupted:
            live, interrupted = confirm_live(
                store,
                worker,
                spec.id,
                confirm_budget,
                done={one["id"] for one in comparison["replays"] if one["status"] == Status.DONE},
                wanted=(),
                quiet=quiet,
            )
            comparison = report.read(store, spec.id)
    say(rendered(comparison, form))
    failed = failures(assertions, comparison, {replay.id: replay.series for replay in replays})
    for failure in failed:
        complain(failure)
    statuses = {*live, *(Status(replay["status"]) for replay in comparison["replays"])}
    return exit_code(statuses, interrupted=interrupted, failed=bool(failed))


def read_assertions(texts: Sequence[str], replays: Sequence[ReplaySpec]) -> list[Assertion]:
    """Read the assertions before anything runs: a slip must not cost a run."""
    params = dict.fromkeys(name for replay in replays for name in replay.params)
    assertions = [parse_assertion(text, params) for text in texts]
    check_labels(assertions, [one.label for one in replays], [one.series for one in replays])
    return assertions


def exit_code(statuses: Set[Status], *, interrupted: bool, failed: bool) -> int:
    """A rejected replay is a result; a run cut short by user or budget says so whatever its assertions say of the rest."""
    if interrupted or Status.CANCELLED in statuses:
        return INTERRUPTED
    if Status.STOPPED_BY_BUDGET in statuses:
        return OUT_OF_BUDGET
    if failed or statuses & {Status.FAILED, Status.INTERRUPTED}:
        return FAILED
    return OK

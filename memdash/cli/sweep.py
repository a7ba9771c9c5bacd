"""``memdash sweep``: play ranges of thresholds, and say which setting to ship."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from memdash import report
from memdash.assertions import Assertion, failures
from memdash.cli.confirm import check_confirm, confirm_live, confirm_option
from memdash.cli.conversations import conversation_options
from memdash.cli.database import database_option, opened_to_add
from memdash.cli.output import complain, say
from memdash.cli.playing import announce, watch
from memdash.cli.run import check_absolute, exit_code, read_assertions
from memdash.cli.setup import Setup, sweep_setup_options
from memdash.cli.showing import shown_sweep
from memdash.cli.table import FORMATS
from memdash.cli.values import Finite
from memdash.records import Status
from memdash.spec import DEFAULT_LIMIT, DEFAULT_MAX_LOSS, ComparisonSpec, Provider
from memdash.tables.sweep import SweepFindings, left_out_lines

if TYPE_CHECKING:
    from memdash.metrics.conversations import Traffic
    from memdash.store.protocol import AnyStore
    from memdash.worker import Worker


@click.command()
@sweep_setup_options
@click.option(
    "--max-loss",
    type=Finite(0, 1),
    default=DEFAULT_MAX_LOSS,
    metavar="SHARE",
    show_default=True,
    help="The largest share of the facts kept by full history that a recommended setting may lose.",
)
@click.option(
    "--refine",
    is_flag=True,
    help="Then play more settings, around the best one and where most changes, until the answer stops moving.",
)
@click.option(
    "--limit",
    type=click.IntRange(1),
    default=DEFAULT_LIMIT,
    metavar="N",
    show_default=True,
    help="With --refine: no further settings once there are so many replays.",
)
@click.option(
    "--assert",
    "asserted",
    multiple=True,
    metavar="EXPR",
    help="As for `memdash run`: over every replay, or over the repeats of a setting on a script, for instance loss_high<=0.05. "
    "Repeatable; exit code 1 where one does not hold.",
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
@conversation_options
@database_option
def sweep(
    max_loss: float,
    refine: bool,
    limit: int,
    asserted: tuple[str, ...],
    form: str,
    quiet: bool,
    confirm_budget: float | None,
    traffic: Traffic | None,
    db: Path | None,
    **typed: Any,
) -> int:
    """Play strategies over ranges of their parameters, and say which setting to ship and how sure that is.

    Without arguments: the trip-planning script through compaction at 500 to 8000 tokens, windows of 2 to 24 exchanges and
    windows that are trimmed in steps, in the simulator.
    """
    spec, left_out = Setup(**typed).sweep(max_loss=max_loss, refine=refine, limit=limit)
    assertions = read_assertions(asserted, spec.replays())
    check_absolute(assertions, "a sweep has none: play its settings with `memdash run`")
    from memdash.budget import check_models
    from memdash.prices import PriceTable
    from memdash.worker import Worker

    check_models(spec, PriceTable.load())
    check_confirm(spec, confirm_budget)
    for line in () if quiet else left_out_lines(left_out):
        complain(line)
    live: Sequence[Status] = ()
    with opened_to_add(db) as store, Worker(store) as worker:
        interrupted = _play(worker, spec, quiet=quiet)
        store.flush()
        found = SweepFindings.read(store, spec.id, traffic)
        if confirm_budget is not None and not interrupted:
            live, interrupted = confirm_live(
                store,
                worker,
                spec.id,
                confirm_budget,
                done={one.id for one in found.outcomes if one.done},
                wanted=found.to_confirm,
                quiet=quiet,
            )
        text = shown_sweep(store, found, form, traffic)
        failed = _failures(store, spec.id, assertions)
    say(text)
    for failure in failed:
        complain(failure)
    return exit_code(found.statuses | set(live), interrupted=interrupted, failed=bool(failed))


def _play(worker: Worker, spec: ComparisonSpec, *, quiet: bool) -> bool:
    """Play a sweep and its refinement to the end; returns whether the user interrupted it."""
    if spec.provider is Provider.ANTHROPIC and not quiet:
        announce(spec, worker)
    worker.submit(spec)
    return watch(worker, spec.id, quiet=quiet, together=True)


def _failures(store: AnyStore, comparison_id: str, assertions: Sequence[Assertion]) -> list[str]:
    """What does not hold; the whole comparison, turn by turn, is read only where something was asserted."""
    if not assertions:
        return []
    series = {one.id: one.series for one in store.comparison(comparison_id).replays}
    return failures(assertions, report.read(store, comparison_id), series)

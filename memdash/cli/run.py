"""``memdash run``: replay, compare, assert."""

from __future__ import annotations

from collections.abc import Sequence, Set
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from memdash import numbers, report
from memdash.assertions import (
    Assertion,
    Baseline,
    Checked,
    check,
    check_comparable,
    check_labels,
    parse_assertion,
)
from memdash.cli.confirm import check_confirm, confirm_live, confirm_option
from memdash.cli.database import database_option, opened_to_add
from memdash.cli.exits import FAILED, INTERRUPTED, OK, OUT_OF_BUDGET
from memdash.cli.files import check_writable, write_text
from memdash.cli.output import complain, say
from memdash.cli.playing import announce, watch
from memdash.cli.run_file import ASSERT, RunFile, read_run_file
from memdash.cli.setup import Setup, check_model, check_strategy, setup_options, token_counter
from memdash.cli.table import FORMATS, rendered
from memdash.errors import InputError
from memdash.records import Status
from memdash.spec import ComparisonSpec, Provider, ReplaySpec

if TYPE_CHECKING:
    from memdash.against import Against

_FILE = click.Path(path_type=Path)
_NONE = Path("none")
"""``--baseline none``."""


def _settled(context: click.Context, _parameter: click.Parameter, path: Path | None) -> RunFile | None:
    """Read the file before any option, whose defaults it gives."""
    if path is None or context.resilient_parsing:
        return None
    found = read_run_file(path, context.command.params, context)
    context.default_map = {**(context.default_map or {}), **found.settings}
    return found


@click.command()
@click.argument("file", required=False, type=_FILE, is_eager=True, callback=_settled)
@setup_options
@click.option(
    "--assert",
    "asserted",
    multiple=True,
    metavar="EXPR",
    help='FIELD OP VALUE over every replay, or "LABEL: FIELD OP VALUE", for instance recall>=1; also over its repeats on each '
    "script, for instance loss_high<=0.05; with --baseline also cost_usd<=1.05*baseline. Repeatable; exit code 1 where one does "
    "not hold.",
)
@click.option(
    "--baseline",
    type=_FILE,
    metavar="FILE.json",
    help="An earlier comparison, as --format json printed it: what assertions call baseline, and what changes are told from; "
    "`none` leaves those assertions out, to make the first one.",
)
@click.option(
    "--junit",
    type=_FILE,
    metavar="FILE.xml",
    help="Also write JUnit XML: one case a replay, and one an assertion and what it speaks of.",
)
@click.option(
    "--summary",
    type=_FILE,
    metavar="FILE.md",
    help="Also write a summary in Markdown, for instance to $GITHUB_STEP_SUMMARY.",
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
    file: RunFile | None,
    asserted: tuple[str, ...],
    baseline: Path | None,
    junit: Path | None,
    summary: Path | None,
    form: str,
    quiet: bool,
    confirm_budget: float | None,
    db: Path | None,
    **typed: Any,
) -> int:
    """Replay scripts through strategies, store what happens and show it side by side.

    FILE is a YAML file with the same settings by the names of the options, and with what is asserted; options go before it.

    Without arguments: the trip-planning script through full history, a window of 4, the naive window of 4 and compaction at
    2000 tokens, in the simulator.
    """
    spec = _spec(file, typed)
    replays = spec.replays()
    assertions = _assertions(file, asserted, replays)
    if baseline == _NONE:
        assertions = _absolute(assertions)
    before = None if baseline == _NONE else _baseline(baseline, assertions, spec)
    check_writable(junit, "--junit")
    check_writable(summary, "--summary")
    from memdash.against import held_against
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
        against = None if before is None else held_against(store, comparison, before)
    say(_printed(comparison, against, form))
    checked = _checked(assertions, comparison, replays, against)
    failed = [one.failure for one in checked if one.failure is not None]
    for failure in failed:
        complain(failure)
    statuses = {*live, *(Status(replay["status"]) for replay in comparison["replays"])}
    code = exit_code(statuses, interrupted=interrupted, failed=bool(failed))
    if junit is not None:
        from memdash.cli.junit import junit_xml

        write_text(junit, junit_xml(comparison, checked))
    if summary is not None:
        from memdash.cli.summary import summary_markdown

        write_text(summary, summary_markdown(comparison, checked, against and against.changes, code))
    return code


def _spec(file: RunFile | None, typed: dict[str, Any]) -> ComparisonSpec:
    """Return what was asked for; what the file has wrong is told with its line."""
    setup = Setup(**typed)
    try:
        return setup.spec()
    except InputError:
        if file is not None:
            _check_file(file, setup)
        raise


def _check_file(file: RunFile, setup: Setup) -> None:
    """Raise :class:`InputError` for a value that the file gave and that alone cannot be used."""
    from memdash.scripts import find_scripts

    def gave(name: str) -> bool:
        return click.get_current_context().get_parameter_source(name) is ParameterSource.DEFAULT_MAP

    if gave("script"):
        file.check("script", find_scripts)
    if gave("model") and Provider(setup.provider) is Provider.SIMULATOR:
        file.check("model", check_model)
    if gave("strategy"):
        file.check("strategy", lambda text: check_strategy(text, setup.models))


def _assertions(
    file: RunFile | None, asserted: Sequence[str], replays: Sequence[ReplaySpec]
) -> list[Assertion]:
    """Return what the file asserts and what the command line adds to it."""
    if file is None:
        return read_assertions(asserted, replays)
    file.check(ASSERT, lambda text: read_assertions([text], replays))
    return read_assertions([*file.assertions, *asserted], replays)


def _baseline(
    path: Path | None, assertions: Sequence[Assertion], spec: ComparisonSpec
) -> dict[str, Any] | None:
    """Read the baseline before anything runs, and refuse assertions that could not hold against it."""
    if path is None:
        check_absolute(
            assertions, "there is none: give --baseline FILE.json, or --baseline none to leave it out"
        )
        return None
    from memdash.baseline import read_baseline

    before = read_baseline(path)
    live = spec.provider is Provider.ANTHROPIC
    check_comparable(
        str(path), before, assertions, live=live, repeats=spec.repeats, token_counter=token_counter(spec)
    )
    return before


def _absolute(assertions: Sequence[Assertion]) -> list[Assertion]:
    """The assertions that need no baseline; says how many others there are."""
    kept = [one for one in assertions if not one.is_relative]
    left_out = len(assertions) - len(kept)
    if left_out:
        complain(f"{numbers.count(left_out, 'assertion')} about a baseline not checked: there is none")
    return kept


def _checked(
    assertions: Sequence[Assertion],
    comparison: dict[str, Any],
    replays: Sequence[ReplaySpec],
    against: Against | None,
) -> list[Checked]:
    series = {replay.id: replay.series for replay in replays}
    if against is None:
        return check(assertions, comparison, series)
    held = Baseline(against.before, against.after, repriced=against.changes.repriced)
    return check(assertions, comparison, series, held)


def _printed(comparison: dict[str, Any], against: Against | None, form: str) -> str:
    """The result in its format; what changed follows where people read it."""
    text = rendered(comparison, form)
    if against is None or form not in ("table", "markdown"):
        return text
    from memdash.tables.changes import changes_parts

    return "\n\n".join([text, *changes_parts(against.changes, markdown=form == "markdown")])


def read_assertions(texts: Sequence[str], replays: Sequence[ReplaySpec]) -> list[Assertion]:
    """Read the assertions before anything runs: a slip must not cost a run."""
    params = dict.fromkeys(name for replay in replays for name in replay.params)
    assertions = [parse_assertion(text, params) for text in texts]
    check_labels(assertions, [one.label for one in replays], [one.series for one in replays])
    return assertions


def check_absolute(assertions: Sequence[Assertion], why: str) -> None:
    """Raise :class:`InputError` for an assertion that compares with a baseline where there is none."""
    for one in assertions:
        if one.is_relative:
            raise InputError(f"--assert {one.source!r}: compares with a baseline, and {why}")


def exit_code(statuses: Set[Status], *, interrupted: bool, failed: bool) -> int:
    """A rejected replay is a result; a run cut short by user or budget says so whatever its assertions say of the rest."""
    if interrupted or Status.CANCELLED in statuses:
        return INTERRUPTED
    if Status.STOPPED_BY_BUDGET in statuses:
        return OUT_OF_BUDGET
    if failed or statuses & {Status.FAILED, Status.INTERRUPTED}:
        return FAILED
    return OK

"""``memdash check``: whether the requests in a log kept their histories as they were."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from memdash import numbers
from memdash.assertions import Assertion, parse_assertion
from memdash.cli.exits import FAILED, OK
from memdash.cli.output import complain, say, say_json
from memdash.errors import InputError
from memdash.tables.grid import Grid
from memdash.tables.lines import one_line

if TYPE_CHECKING:
    from memdash.integrity import Conversation, Edit, LogCheck

FIELDS = ("requests", "conversations", "edits", "tokens_lost", "cost_lost_usd", "thinking_lost", "errors")
"""What ``--assert`` can speak of."""

_COLUMNS = (
    "conversation",
    "model",
    "requests",
    "edits",
    "tokens lost",
    "cost lost",
    "dead thinking",
    "errors",
)
_FATES = {
    "refused": "the API refuses the request",
    "dropped": "the API drops them",
    "refused_for_new_accounts": "the API refuses the request for accounts from 2026-08-31 on",
}


@click.command()
@click.argument("log", type=click.Path(path_type=Path), metavar="FILE.jsonl")
@click.option(
    "--assert",
    "expressions",
    multiple=True,
    metavar="EXPR",
    help=f"An expectation such as edits==0, over {', '.join(FIELDS)}; repeatable. Exit code 1 where one fails.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(("table", "json")),
    default="table",
    show_default=True,
    help="What is printed.",
)
def check(log: Path, expressions: Sequence[str], form: str) -> int:
    """Find edited histories in a log of requests: FILE.jsonl, one {"body": …, "response": …} a line.

    Reads what `memdash simulate --record` writes, or a log of your own. Requests are grouped into conversations; for each request
    that does not simply continue the one before it, the first block that changed is named, with the cache reads that were lost
    and the signed thinking blocks that no longer fit.
    """
    from memdash.integrity import as_json, check_log

    assertions = [_assertion(text) for text in expressions]
    checked = check_log(log)
    printed = as_json(log, checked)
    if form == "json":
        say_json(printed)
    else:
        say(_table(checked))
    failures = [one.failure({**printed, "label": one_line(str(log))}) for one in assertions]
    for failure in failures:
        if failure is not None:
            complain(failure)
    return FAILED if any(failures) else OK


def _assertion(text: str) -> Assertion:
    assertion = parse_assertion(text, numbers=FIELDS)
    if assertion.label is not None:
        raise InputError(f"--assert {text!r}: a log has no labels; write {text.rpartition(':')[2].strip()!r}")
    return assertion


def _table(checked: LogCheck) -> str:
    rows = [
        (
            str(one.number),
            one.model,
            numbers.tokens(one.totals.requests),
            numbers.tokens(one.totals.edits),
            numbers.tokens(one.totals.tokens_lost),
            numbers.usd(one.totals.cost_lost_usd),
            "unknown" if one.totals.thinking_lost is None else str(one.totals.thinking_lost),
            str(one.totals.errors),
        )
        for one in checked.conversations
    ]
    notes: dict[int, Sequence[str]] = {index: _notes(one) for index, one in enumerate(checked.conversations)}
    total = checked.totals
    summary = ", ".join(
        (
            numbers.count(total.requests, "request"),
            numbers.count(len(checked.conversations), "conversation"),
            numbers.count(total.edits, "edited history", "edited histories"),
        )
    )
    return f"{Grid(_COLUMNS, rows, numeric=frozenset(_COLUMNS[2:]), notes=notes).plain()}\n\n{summary}"


def _notes(conversation: Conversation) -> list[str]:
    notes = [line for edit in conversation.edits for line in _told(edit)]
    return notes + [f"line {line}: the API refused: {message}" for line, message in conversation.errors]


def _told(edit: Edit) -> list[str]:
    """An edit in lines: where and what, before and after, what it cost."""
    what = edit.difference
    path = what.path_before or what.path_after
    moved = (
        ""
        if None in (what.path_before, what.path_after) or what.path_before == what.path_after
        else (f" (now {what.path_after})")
    )
    blocks = "" if what.blocks == 1 else f" with {numbers.count(what.blocks - 1, 'block')} after it"
    part = " in the latest answer" if what.part == "answer" else ""
    lines = [f"line {edit.line}, after line {edit.previous_line}: {path}{moved} {what.change}{blocks}{part}"]
    if what.before is not None:
        lines.append(f"  before: {what.before}")
    if what.after is not None:
        lines.append(f"  after:  {what.after}")
    cost = f"  lost: {numbers.tokens(edit.tokens_lost)}"
    if edit.tokens_lost is not None:
        cost += f" tokens of cache reads, {numbers.usd(edit.cost_lost_usd)}"
    lines.append(cost)
    if edit.thinking_path is not None:
        count = (
            ""
            if edit.thinking_lost is None
            else f"{numbers.count(edit.thinking_lost, 'signed thinking block')}, "
        )
        fate = _FATES.get(edit.thinking_fate or "", "")
        doubt = "" if edit.thinking_lost is not None else " (if this model checks them)"
        lines.append(f"  dead thinking: {count}first {edit.thinking_path}{doubt}: {fate}")
    return lines

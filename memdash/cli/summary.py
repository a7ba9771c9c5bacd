"""What a run came to as a page of Markdown, for people who look at a CI job or a pull request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from memdash import numbers
from memdash.assertions import Checked
from memdash.cli.exits import FAILED, INTERRUPTED, OK, OUT_OF_BUDGET
from memdash.cli.table import rendered
from memdash.tables.changes import changes_parts
from memdash.tables.markdown import escaped

if TYPE_CHECKING:
    from memdash.metrics.changes import Changes

MAX_BYTES = 1_000_000
"""A job summary of GitHub holds at most 1 MiB a step."""
_MOST_FAILURES = 100
_VERDICTS = {
    OK: "Passed",
    FAILED: "Failed",
    OUT_OF_BUDGET: "Stopped by the budget",
    INTERRUPTED: "Interrupted",
}


def summary_markdown(
    comparison: Mapping[str, Any], checked: Sequence[Checked], changes: Changes | None, code: int
) -> str:
    """Return the summary of a comparison of the JSON contract: what it came to, what failed, what changed, and the table.

    ``code`` is the command's exit code; ``changes`` is None without a baseline.
    """
    failed = [one.failure.removeprefix("assertion failed: ") for one in checked if one.failure is not None]
    title, _, table = rendered(comparison, "markdown").partition("\n\n")
    parts = [
        title,
        _verdict(comparison, checked, len(failed), code),
        "\n".join(f"- {escaped(one)}" for one in failed[:_MOST_FAILURES]),
        f"… and {len(failed) - _MOST_FAILURES} more" if len(failed) > _MOST_FAILURES else "",
        *(() if changes is None else changes_parts(changes, markdown=True)),
        "### All replays",
        table,
    ]
    return _bounded("\n\n".join(part for part in parts if part) + "\n")


def _verdict(comparison: Mapping[str, Any], checked: Sequence[Checked], failed: int, code: int) -> str:
    statuses = [one["status"] for one in comparison["replays"]]
    replays = numbers.count(len(statuses), "replay")
    ended = ", ".join(
        f"{statuses.count(one)} {escaped(one.replace('_', ' '))}" for one in dict.fromkeys(statuses)
    )
    if not checked:
        told = "nothing was asserted"
    elif failed:
        told = f"{failed} of {numbers.count(len(checked), 'check')} did not hold"
    else:
        told = "1 check held" if len(checked) == 1 else f"all {len(checked)} checks held"
    return f"**{_VERDICTS[code]}**: {told}; {replays} ({ended})."


def _bounded(text: str) -> str:
    """Cut what is too long at the end of a line, and say so."""
    if len(text.encode(errors="replace")) <= MAX_BYTES:
        return text
    note = "\n\n… cut here: a summary holds one megabyte. The whole result is in --format json.\n"
    room = MAX_BYTES - len(note.encode())
    kept = text.encode(errors="replace")[:room].decode(errors="ignore")
    return kept[: kept.rfind("\n")] + note

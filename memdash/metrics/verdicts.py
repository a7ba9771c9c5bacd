"""Whether the records of each replay keep to the rules that the lab promises of every request."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from memdash.records import EventKind
from memdash.replay_log import AnyLog


class Violation(NamedTuple):
    """One broken rule: the number of the request, the rule's name and what is wrong."""

    request: int
    rule: str
    text: str


@dataclass(frozen=True, slots=True)
class ReplayVerdict:
    """The verdict over one replay: ``violated`` counts all violations, ``violations`` holds the first of them."""

    replay: str
    label: str
    requests: int
    violated: int
    violations: tuple[Violation, ...]

    @property
    def ok(self) -> bool:
        """Whether every rule was kept."""
        return self.violated == 0


def verdicts(logs: Iterable[AnyLog]) -> tuple[ReplayVerdict, ...]:
    """Return the latest verdict of every replay that has one; a replay is judged when it ends."""
    found = []
    for log in logs:
        data = next((event.data for event in reversed(log.events) if event.event is EventKind.VERDICT), None)
        if data is not None:
            told = tuple(Violation(one["request"], one["rule"], one["text"]) for one in data["violations"])
            found.append(ReplayVerdict(log.spec.id, log.spec.label, data["requests"], data["violated"], told))
    return tuple(found)

"""What changed, in one sentence."""

from __future__ import annotations

from collections.abc import Sequence

from memdash import numbers
from memdash.metrics.changes.model import Changes, GroupChange, Verdict
from memdash.metrics.changes.numbers import Number


def headline(changes: Changes) -> str:
    """Say what matters most: facts lost and won, then cost, then how the replays ended; or that nothing changed.

    What cannot be compared is told, too: of it nobody knows whether it changed.
    """
    if not changes.groups:
        return "The two comparisons have no setting in common."
    parts = [*_facts(changes.groups), *_cost(changes.groups), *_rest(changes), *_unknown(changes.groups)]
    settings = numbers.count(len(changes.groups), "setting")
    if not parts:
        different = any(not one.is_same for one in changes.groups)
        told = "no fact was lost and no cost changed" if different else "nothing changed"
        sure = ", as far as the intervals tell" if changes.live and different else ""
        return f"Of {settings} on both sides, {told}{sure}."
    return f"Of {settings} on both sides, {'; '.join(parts)}."


def _facts(groups: Sequence[GroupChange]) -> list[str]:
    lost = [one for one in groups if one.lost]
    won = [
        fact
        for one in groups
        for fact in one.facts
        if not fact.lost and Verdict.BETTER in (fact.kept, fact.right)
    ]
    parts = []
    if lost:
        parts.append(
            f"{_facts_were(sum(len(one.lost) for one in lost))} lost ({_named([one.label for one in lost])})"
        )
    less = [one.label for one in groups if not one.lost and one.number(Number.KEPT).verdict is Verdict.WORSE]
    if less:
        parts.append(f"less is kept in {len(less)} ({_named(less)})")
    if won:
        parts.append(f"{_facts_were(len(won))} won back")
    return parts


def _facts_were(count: int) -> str:
    return "1 fact was" if count == 1 else f"{count} facts were"


def _cost(groups: Sequence[GroupChange]) -> list[str]:
    parts = []
    for verdict, words in ((Verdict.WORSE, "rose"), (Verdict.BETTER, "fell")):
        found = [(one, one.number(Number.COST)) for one in groups]
        moved = [(one, change) for one, change in found if change.verdict is verdict]
        if moved:
            most = max(moved, key=lambda pair: abs(pair[1].relative or 0.0))
            by = numbers.change(most[1].relative)
            parts.append(f"cost {words} in {len(moved)} (most by {by}, {most[0].label})")
    return parts


def _rest(changes: Changes) -> list[str]:
    parts = []
    ended = [one.label for one in changes.groups if one.outcome]
    if ended:
        parts.append(f"{len(ended)} ended otherwise ({_named(ended)})")
    if changes.recommendation:
        parts.append(
            f"the recommendation went from {changes.recommendation.before} to {changes.recommendation.after}"
        )
    return parts


def _unknown(groups: Sequence[GroupChange]) -> list[str]:
    """What was not held against each other, but for what ended otherwise, which is told already."""
    unlike = [one.label for one in groups if one.not_alike and not one.outcome]
    alike = [one for one in groups if not one.not_alike]
    costs = [one.label for one in alike if one.number(Number.COST).verdict is Verdict.UNKNOWN]
    facts = [one.label for one in alike if _has_unknown_facts(one)]
    if len(unlike) == len(groups):
        return ["none can be compared"]
    return [
        f"{what}{_named(labels)} cannot be compared"
        for what, labels in (("", unlike), ("the facts of ", facts), ("the cost of ", costs))
        if labels
    ]


def _has_unknown_facts(group: GroupChange) -> bool:
    verdicts = [group.number(Number.KEPT).verdict, *(one.kept for one in group.facts)]
    return Verdict.UNKNOWN in (*verdicts, *(one.right for one in group.facts))


def _named(labels: Sequence[str]) -> str:
    return numbers.listing(list(dict.fromkeys(labels)))

"""Which setting of one comparison is which of another: ids are always new, and labels name only what differs within one."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

Comparison = Mapping[str, Any]
"""The object of the JSON contract."""
Replay = Mapping[str, Any]

SETTINGS = ("model", "cache", "cache_marks")
"""Settings that a comparison may have several values of."""


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """The repeats of one setting on one script; ``label`` is the series, ``varied`` the settings that tell groups apart."""

    label: str
    strategy: str
    params: Mapping[str, Any]
    script: str
    varied: tuple[str, ...]
    replays: tuple[Replay, ...]

    @property
    def live(self) -> bool:
        """Whether a live API answered, so that no two runs are alike."""
        return bool(self.replays[0]["provider"] == "anthropic")


class Pairs(NamedTuple):
    """Groups that are the same setting on both sides, and those that only one side has."""

    both: tuple[tuple[Group, Group], ...]
    missing: tuple[Group, ...]
    new: tuple[Group, ...]


def pair(before: Comparison, after: Comparison) -> Pairs:
    """Return which group is which, in the order of ``after``.

    A setting that has one value on either side (the model, say) is a change of settings and keeps no groups apart. Groups pair by
    their parameters; then by those that both sides know, since another version may have more of them; then by label; and at last
    where the strategy has a single setting left on either side: its threshold was changed.
    """
    varied = tuple(
        name for name in SETTINGS if len(_values(before, name)) > 1 or len(_values(after, name)) > 1
    )
    earlier, later = groups(before, varied), groups(after, varied)
    found: dict[Group, Group] = {}
    for key in (_by_params, _by_known(earlier, later), _by_label, _by_strategy):
        taken = set(found.values())
        candidates = _unique([one for one in earlier if one not in taken], key)
        for name, group in _unique([one for one in later if one not in found], key).items():
            if name in candidates:
                found[group] = candidates[name]
    taken = set(found.values())
    return Pairs(
        tuple((found[one], one) for one in later if one in found),
        tuple(one for one in earlier if one not in taken),
        tuple(one for one in later if one not in found),
    )


def groups(comparison: Comparison, varied: Sequence[str] = SETTINGS) -> list[Group]:
    """Return the groups of a comparison in the order they first appear; ``varied`` settings tell them apart."""
    found: dict[tuple[Hashable, ...], list[Replay]] = {}
    for replay in comparison["replays"]:
        found.setdefault((series_of(replay), replay["script"]), []).append(replay)
    return [
        Group(
            label=str(label),
            strategy=replays[0]["strategy"],
            params=replays[0]["params"],
            script=replays[0]["script"],
            varied=tuple(str(replays[0][name]) for name in varied),
            replays=tuple(replays),
        )
        for (label, _script), replays in found.items()
    ]


def series_of(replay: Replay) -> str:
    """Return a replay's label without its repeat and its script: the label of its group."""
    label: str = replay["label"]
    return label.removesuffix(f" · repeat {replay['repeat']}").removesuffix(f" · {replay['script']}")


Key = Callable[[Group], Hashable]


def _unique(groups: Iterable[Group], key: Key) -> dict[Hashable, Group]:
    """The groups by their key, those left out whose key is not theirs alone."""
    found: dict[Hashable, list[Group]] = {}
    for group in groups:
        found.setdefault(key(group), []).append(group)
    return {name: several[0] for name, several in found.items() if len(several) == 1}


def _values(comparison: Comparison, name: str) -> set[str]:
    return {str(replay[name]) for replay in comparison["replays"]}


def _spelled(params: Mapping[str, Any]) -> str:
    return json.dumps(params, sort_keys=True, default=str)


def _by_params(group: Group) -> Hashable:
    return group.script, group.strategy, group.varied, _spelled(group.params)


def _by_known(earlier: Iterable[Group], later: Iterable[Group]) -> Key:
    """By the parameters that the strategy has on both sides."""
    known = [{(one.strategy, name) for one in side for name in one.params} for side in (earlier, later)]
    shared = known[0] & known[1]

    def key(group: Group) -> Hashable:
        params = {name: value for name, value in group.params.items() if (group.strategy, name) in shared}
        return group.script, group.strategy, group.varied, _spelled(params)

    return key


def _by_label(group: Group) -> Hashable:
    return group.script, group.strategy, group.varied, group.label


def _by_strategy(group: Group) -> Hashable:
    return group.script, group.strategy, group.varied

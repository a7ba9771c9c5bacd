"""Playing chosen settings of a simulated comparison live, to see how good the simulator is.

What comes of it is read by :mod:`memdash.evidence` and computed by :mod:`memdash.metrics.confirmation`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING

from memdash.errors import InputError
from memdash.spec import ComparisonSpec, Provider, ReplaySpec, Replies, new_id
from memdash.strategies import StrategyChoice

if TYPE_CHECKING:
    from memdash.store import StoredComparison

MOST_SETTINGS = 4
"""How many settings are confirmed where nobody chose them."""
_BASELINE = "full_history"


def check_confirmable(spec: ComparisonSpec) -> None:
    """Raise :class:`InputError` where a comparison cannot be confirmed: it is live, or ran under limits the API does not have."""
    if spec.provider is not Provider.SIMULATOR:
        raise InputError("this comparison is live already; only a simulated one can be confirmed")
    if spec.relax_limits:
        raise InputError(
            "this comparison relaxed the API's limits, so the live API would refuse it; run it without relaxed limits"
        )


def confirmation_spec(stored: StoredComparison, labels: Iterable[str], budget: float) -> ComparisonSpec:
    """Return the live comparison that plays the settings named by ``labels`` as the simulated comparison ``stored`` did.

    Scripts, turns, repeats, models, caches, marks and thresholds are the same. Replies are the model's own, and think time is
    what was typed (the simulator's default of 30 s would only make a live run longer). Where the chosen settings differ in
    model, cache and marks at once, the smallest grid that holds them is played. ``budget`` is in US dollars; there is no
    confirmation without one. Raises :class:`InputError` where it cannot be played.
    """
    check_confirmable(stored.spec)
    if not (math.isfinite(budget) and budget > 0):
        raise InputError(f"a confirmation needs a budget in US dollars above 0, not {budget}")
    chosen = _chosen(stored.replays, labels)
    models = [one for one in stored.spec.models if one in {replay.model for replay in chosen}]
    strategies: list[StrategyChoice] = []
    for choice in (*stored.spec.strategies, *stored.spec.refined):
        of_choice = {replay.model for replay in chosen if _plays(replay, choice)}
        if of_choice and of_choice == set(models):
            strategies.append(choice)
        else:
            strategies += [replace(choice, model=model) for model in models if model in of_choice]
    return replace(
        stored.spec,
        id=new_id("cmp"),
        title=f"{stored.title}, confirmed live" if stored.title else "",
        strategies=tuple(strategies),
        refined=(),
        sweep=None,
        models=tuple(models),
        caches=tuple(one for one in stored.spec.caches if one in {replay.cache for replay in chosen}),
        cache_marks=tuple(
            one for one in stored.spec.cache_marks if one in {replay.cache_marks for replay in chosen}
        ),
        provider=Provider.ANTHROPIC,
        replies=Replies.FRESH,
        budget=budget,
        confirms=stored.id,
    )


def confirmable(replays: Sequence[ReplaySpec], done: Collection[str]) -> tuple[str, ...]:
    """Return the settings of which every replay is among ``done`` (by id), in order: the others leave nothing to compare."""
    lacking = {replay.series for replay in replays if replay.id not in done}
    return tuple(series for series in dict.fromkeys(one.series for one in replays) if series not in lacking)


def default_settings(
    replays: Sequence[ReplaySpec], done: Collection[str], wanted: Collection[str] = ()
) -> tuple[str, ...]:
    """Return the settings to confirm where nobody chose: those ``wanted``, and the full history they are measured against.

    Without any it is full history and the first others, a few in all. ``done`` are the ids of the replays that finished,
    ``wanted`` are labels of settings. Raises :class:`InputError` where no setting finished.
    """
    settings = confirmable(replays, done)
    if not settings:
        raise InputError("no setting of this comparison finished, so there is nothing to confirm")
    finished = [replay for replay in replays if replay.series in settings]
    picked = [one for label in wanted for one in finished if label in (one.series, one.label)]
    wholes = [one for one in finished if one.strategy == _BASELINE]
    if not picked:
        others = [one for one in settings if one not in {whole.series for whole in wholes}]
        first = [whole.series for whole in wholes[:1]]
        return tuple([*first, *others][:MOST_SETTINGS])
    alike = [one for one in wholes if _conditions(one) == _conditions(picked[0])]
    return tuple(dict.fromkeys(one.series for one in (*(alike or wholes)[:1], *picked)))


def _chosen(replays: Sequence[ReplaySpec], labels: Iterable[str]) -> list[ReplaySpec]:
    """The replays of the settings that ``labels`` name; raises :class:`InputError` for one that names none."""
    known = dict.fromkeys(replay.series for replay in replays)
    wanted = list(dict.fromkeys(labels))
    if not wanted:
        raise InputError("choose at least one setting to confirm")
    for label in wanted:
        if label not in known:
            near = get_close_matches(label, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
            raise InputError(f"there is no setting {label!r} in this comparison; {hint}")
    return [replay for replay in replays if replay.series in wanted]


def _plays(replay: ReplaySpec, choice: StrategyChoice) -> bool:
    alike = replay.strategy == choice.name and dict(replay.params) == dict(choice.params)
    return alike and choice.model in (None, replay.model)


def _conditions(replay: ReplaySpec) -> tuple[str, str, str]:
    return replay.model, replay.cache, replay.cache_marks

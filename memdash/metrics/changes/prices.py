"""What the models of two comparisons cost when each ran."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from memdash.metrics.changes.model import PriceChange
from memdash.metrics.changes.pairing import Comparison, Replay

_NAMES = ("input", "write_5m", "write_1h", "read", "output")

_Prices = Mapping[tuple[str, int, str], float]


def price_changes(before: Comparison, after: Comparison) -> tuple[PriceChange, ...] | None:
    """Return the prices that differ, of the models that both sides use; None where a side does not say its prices."""
    then, now = before.get("prices"), after.get("prices")
    if then is None or now is None:
        return None
    models = [one["model"] for one in then if one["model"] in {other["model"] for other in now}]
    old, new = _table(then), _table(now)
    return tuple(
        PriceChange(model, name, above, old.get((model, above, name)), new.get((model, above, name)))
        for model, above, name in sorted({*old, *new}, key=lambda key: (key[0], key[1], _NAMES.index(key[2])))
        if model in models and old.get((model, above, name)) != new.get((model, above, name))
    )


def priced_alike(before: Comparison, after: Comparison, replays: Iterable[Replay]) -> bool:
    """Whether the money of these replays is counted at the same prices on both sides, as far as they say their prices."""
    changed = {one.model for one in price_changes(before, after) or ()}
    return not any(model in changed for replay in replays for model in models_of(replay))


def models_of(replay: Replay) -> tuple[str, ...]:
    """Return the models that answer a replay's requests: its own, and the one that writes its summaries."""
    other = replay["params"].get("summary_model")
    return (replay["model"],) if other is None else (replay["model"], other)


def _table(prices: Iterable[Mapping[str, Any]]) -> _Prices:
    return {
        (price["model"], tier["above"], name): tier[name]
        for price in prices
        for tier in price["tiers"]
        for name in _NAMES
    }

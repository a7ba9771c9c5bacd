"""What a report says of how a comparison came about: in a line at its head, and in full at its end."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC
from typing import TYPE_CHECKING, Any

from memdash import numbers
from memdash.report.basis import token_counter
from memdash.report.blocks import Listed, Section, Table, Told
from memdash.spec import Provider, Replies
from memdash.tables.grid import Grid

if TYPE_CHECKING:
    from memdash.prices import ModelPrice
    from memdash.store import StoredComparison

_SIMULATED = (
    "Simulated: the answers, the token counts, what the prompt cache held and how long answers took. Costs are those token "
    "counts at the prices below; nothing was spent.",
    "Kept is measured by us in the text that would have been sent. Recall is a pretend model's and no evidence about a real one.",
)
_RECORDED = (
    "Replies were taken from the script. The tokens, cache and waits of the turns are modelled by the simulator; summaries and "
    "recall questions were answered live, and what they took is as reported.",
)
_LIVE = (
    "Answered live: tokens, cache use, waits and answers are as the server reported them. Costs are those tokens at the prices "
    "below, as of when it ran. Kept is measured by us in the text that was sent.",
)


def about_lines(stored: StoredComparison) -> list[str]:
    """Say in a few words each with what it was run, and when."""
    spec = stored.spec
    counted = "the API" if spec.provider is Provider.ANTHROPIC else token_counter(stored)
    return [
        numbers.listing(spec.models, limit=3),
        numbers.count(len(spec.scripts), "script"),
        *([numbers.count(spec.repeats, "repeat")] if spec.repeats > 1 else []),
        f"tokens counted by {counted}",
        stored.created_at.replace(tzinfo=stored.created_at.tzinfo or UTC)
        .astimezone(UTC)
        .strftime("%Y-%m-%d %H:%M UTC"),
    ]


def badges(stored: StoredComparison, *, redacted: bool) -> list[str]:
    """Say in a word or two what a reader must not overlook."""
    spec = stored.spec
    if spec.provider is Provider.SIMULATOR:
        source = "simulated"
    else:
        source = "recorded replies" if spec.replies is Replies.RECORDED else "live"
    return [
        source,
        *(["simulator only"] if spec.relax_limits else []),
        *(["text left out"] if redacted else []),
    ]


def closing_sections(stored: StoredComparison, basis: str) -> list[Section]:
    """Return what was simulated, the settings, the prices and the versions."""
    return [
        Section("What is simulated", [Told([f"{basis}.", *_source(stored)])], folded=True),
        Section("Settings", [Listed(_settings(stored))], folded=True),
        Section("Prices", [_prices(stored)], folded=True),
        Section("Versions", [Listed(_versions(stored, basis))], folded=True),
    ]


def _source(stored: StoredComparison) -> Sequence[str]:
    if stored.spec.provider is Provider.SIMULATOR:
        return _SIMULATED
    return _RECORDED if stored.spec.replies is Replies.RECORDED else _LIVE


def _settings(stored: StoredComparison) -> list[tuple[str, str]]:
    spec = stored.spec
    scripts = [
        one.id if one.title.lower() == one.id.lower() else f"{one.title} ({one.id})" for one in spec.scripts
    ]
    found: list[tuple[str, Any]] = [
        ("scripts", ", ".join(scripts)),
        ("strategies", ", ".join(dict.fromkeys(one.series for one in stored.replays))),
        ("models", ", ".join(spec.models)),
        ("provider", spec.provider.value),
        ("turns", "all" if spec.turns is None else f"the first {spec.turns:,}"),
        ("repeats", spec.repeats),
        ("cache lifetime", ", ".join(one.value for one in spec.caches)),
        ("cache marks", ", ".join(one.value for one in spec.cache_marks)),
        ("fixed part", "warm" if spec.warm else "cold"),
        ("history check", "on" if spec.check else "off"),
        ("think time between turns", f"{stored.replays[0].pace:g} s" if stored.replays else numbers.NOTHING),
        ("replies", spec.replies.value),
        (
            "longest answer",
            "as the script says" if spec.max_tokens is None else f"{spec.max_tokens:,} tokens",
        ),
        ("effort", spec.effort or "as the script says"),
        ("budget", "none" if spec.budget is None else numbers.usd(spec.budget)),
        ("limits of the API", "relaxed" if spec.relax_limits else "kept"),
        ("tokens counted by", token_counter(stored)),
        ("seed", spec.seed),
    ]
    if spec.sweep is not None:
        found += [
            ("ranges", ", ".join(map(str, spec.sweep.families))),
            ("largest loss allowed", numbers.percent(spec.sweep.max_loss)),
            ("refined", "yes" if spec.sweep.refine else "no"),
        ]
    if spec.confirms is not None:
        found.append(("checks the simulated comparison", spec.confirms))
    return [(name, str(value)) for name, value in found]


_PRICE_COLUMNS = (
    "model", "prompts above", "input", "write, 5 min", "write, 1 h", "read", "output", "since", "source",
)  # fmt: skip


def _prices(stored: StoredComparison) -> Table | Told:
    """The prices of the models that answered, in dollars per million tokens."""
    summaries = [one.params.get("summary_model") for one in stored.replays]
    used = dict.fromkeys([*stored.spec.models, *(one for one in summaries if isinstance(one, str))])
    prices = {model: stored.prices.price(model) for model in used}
    rows = [row for price in prices.values() if price is not None for row in _price_rows(price)]
    unknown = [model for model, price in prices.items() if price is None]
    if not rows:
        return Told([f"No price is known for {numbers.listing(unknown)}, so no cost is."])
    rows += [(model, *[numbers.NOT_AVAILABLE] * 6, numbers.NOTHING, numbers.NOTHING) for model in unknown]
    return Table(Grid(_PRICE_COLUMNS, rows, numeric=frozenset(_PRICE_COLUMNS[1:7])))


def _price_rows(price: ModelPrice) -> list[tuple[str, ...]]:
    since = numbers.NOTHING if price.since is None else price.since.isoformat()
    return [
        (
            price.model,
            f"{tier.above:,}",
            *(
                f"${getattr(tier, name):,.10g}"
                for name in ("input", "write_5m", "write_1h", "read", "output")
            ),
            since,
            f"{price.source} (own price)" if price.own else price.source,
        )
        for tier in price.tiers
    ]


def _versions(stored: StoredComparison, basis: str) -> list[tuple[str, str]]:
    return [*((name, str(version)) for name, version in stored.versions.items()), ("rules", basis)]

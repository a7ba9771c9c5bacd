"""Comparisons, replays and prices as rows, and rows as them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from memdash import codec
from memdash.prices import ModelPrice, PriceTable, Tier
from memdash.scripts.model import Script
from memdash.spec import CacheLifetime, CacheMarks, ComparisonSpec, Provider, ReplaySpec, Replies
from memdash.store.notes import Note, note_row
from memdash.store.rows import Row, Rows

if TYPE_CHECKING:
    from memdash.metrics.sweep.refinement import Proposal


@dataclass(frozen=True, slots=True)
class StoredComparison:
    """A comparison as it was launched: its settings, its replays, what ran it and what its models cost then.

    ``refinements`` are the rounds in which a sweep went on after its coarse grid; what they added is in ``spec`` and ``replays``.
    ``notes`` are what people wrote about it, the oldest first.
    """

    spec: ComparisonSpec
    title: str
    created_at: datetime
    versions: Mapping[str, str]
    prices: PriceTable
    replays: tuple[ReplaySpec, ...]
    refinements: tuple[Proposal, ...] = ()
    notes: tuple[Note, ...] = ()

    @property
    def launched(self) -> ComparisonSpec:
        """What was asked for at first, without what a refinement added."""
        added = sum(len(one.settings) for one in self.refinements)
        return replace(self.spec, refined=self.spec.refined[: len(self.spec.refined) - added])

    def extended(self, proposal: Proposal) -> StoredComparison:
        """Return it with what one more round of refinement asks for."""
        spec = self.spec.with_refined(proposal.choices)
        new = spec.replays()[len(self.replays) :]
        return replace(
            self, spec=spec, replays=(*self.replays, *new), refinements=(*self.refinements, proposal)
        )

    @property
    def id(self) -> str:
        """The comparison's id, the last part of its permalink."""
        return self.spec.id


def timestamp(moment: datetime) -> datetime:
    """UTC without saying so, as the tables hold it."""
    return moment.astimezone(UTC).replace(tzinfo=None)


def comparison_rows(comparison: StoredComparison, scripts: Mapping[str, codec.StoredScript]) -> Rows:
    """Return the rows of a comparison, but for its replays; ``scripts`` are by id."""
    spec = comparison.spec
    hashes = [scripts[script.id].hash for script in spec.scripts]
    settings = json.dumps({"spec": codec.dump_settings(comparison.launched), "scripts": hashes})
    created, versions = timestamp(comparison.created_at), json.dumps(dict(comparison.versions))
    return {
        "comparison": [(spec.id, created, comparison.title, spec.provider.value, settings, versions)],
        "comparison_change": [
            *(refinement_row(spec.id, one) for one in comparison.refinements),
            *(note_row(spec.id, one) for one in comparison.notes),
        ],
        "script": [(scripts[one.id].hash, one.id, one.title, scripts[one.id].body) for one in spec.scripts],
        "price": [
            (
                spec.id,
                price.model,
                tier.above,
                tier.input,
                tier.write_5m,
                tier.write_1h,
                tier.read,
                tier.output,
                price.since,
                price.source,
            )
            for price in comparison.prices.models.values()
            for tier in price.tiers
        ],
    }


def refinement_row(comparison_id: str, proposal: Proposal) -> Row:
    """Return the row of a round of refinement."""
    return comparison_id, timestamp(datetime.now(UTC)), "refinement", codec.dump_proposal(proposal)


def replay_row(number: int, replay: ReplaySpec, script_hash: str) -> Row:
    """Return the row of a replay: its number, and every field of its specification."""
    return (
        number,
        replay.id,
        replay.comparison_id,
        script_hash,
        replay.script.id,
        replay.strategy,
        json.dumps(dict(replay.params)),
        replay.label,
        replay.series,
        replay.model,
        replay.effort,
        replay.max_tokens,
        replay.provider.value,
        replay.cache.value,
        replay.cache_marks.value,
        replay.warm,
        replay.check,
        replay.pace,
        replay.replies.value,
        replay.turns,
        replay.repeat,
        replay.seed,
        replay.salt,
        replay.token_counter,
        replay.relax_limits,
        replay.controls,
        replay.strategy_file,
    )


def read_prices(rows: Iterable[Row]) -> PriceTable:
    """Read rows of ``price`` of one comparison, in their order."""
    models: dict[str, ModelPrice] = {}
    for model, above, entry, write_5m, write_1h, read, output, since, source in rows:
        earlier = models[model].tiers if model in models else ()
        tier = Tier(above, entry, write_5m, write_1h, read, output)
        models[model] = ModelPrice(model, (*earlier, tier), source, since)
    return PriceTable(models)


def read_replay(row: Row, script: Script) -> ReplaySpec:
    """Read a row of ``replay``."""
    (
        _number, replay_id, comparison_id, _hash, strategy, params, label, series, model, effort, max_tokens, provider, cache,
        cache_marks, warm, check, pace, replies, turns, repeat, seed, salt, token_counter, relax_limits, controls,
        strategy_file,
    ) = row  # fmt: skip
    return ReplaySpec(
        id=replay_id,
        comparison_id=comparison_id,
        script=script,
        strategy=strategy,
        params=json.loads(params),
        label=label,
        series=series,
        model=model,
        effort=effort,
        max_tokens=max_tokens,
        provider=Provider(provider),
        cache=CacheLifetime(cache),
        cache_marks=CacheMarks(cache_marks),
        warm=warm,
        check=check,
        pace=pace,
        replies=Replies(replies),
        turns=turns,
        repeat=repeat,
        seed=seed,
        salt=salt,
        token_counter=token_counter,
        relax_limits=relax_limits,
        controls=controls,
        strategy_file=strategy_file,
    )

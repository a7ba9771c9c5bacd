"""Another cache for a replay that ran: with its own lifetime what was recorded comes out, so with another it can be believed."""

from __future__ import annotations

import dataclasses

import pytest

from memdash import tokens
from memdash.claude import connect
from memdash.records import Iteration, Purpose, Record, RequestRecord, Usage
from memdash.replay import replay
from memdash.replay.recaching import CannotRecache, recache, uncached
from memdash.scripts import list_scripts
from memdash.spec import CacheLifetime, CacheMarks, ComparisonSpec, Provider, ReplaySpec
from memdash.strategies import parse, strategies
from tests.replay.scripts import chat, spec

FIVE, HOUR, OFF = CacheLifetime.FIVE_MINUTES, CacheLifetime.ONE_HOUR, CacheLifetime.OFF
SCRIPTS = {entry.script.id: entry.script for entry in list_scripts() if entry.script}
STRATEGIES = [
    "full_history",
    "window:2",
    "window:keep=2,trim_at=4,thinking=drop_block",
    "window:keep=2,thinking=keep",
    "truncate:900",
    "compaction:1200",
    "compaction:trigger=1200,live_prefix=true",
    "compaction:trigger=1200,when=cold,ceiling=2500",
    "running_brief:3000",
    "blocking_compaction:3000",
    "instant_compaction:context_limit=3000,first_summary_at=1500,update_every=400",
    "server_compaction:1500",
    "server_compaction:trigger=1500,pause=true",
    "compact_on_demand:1500",
    "compact_on_demand:trigger=1500,tail=1,background=true",
    "context_editing:trigger=1500,keep=1",
    "cap_results:100",
]


def played(one: ReplaySpec) -> list[Record]:
    client, clock = connect(one)
    return list(replay(one, client, clock))


def requests(records: list[Record]) -> tuple[RequestRecord, ...]:
    made = [one for one in records if isinstance(one, RequestRecord)]
    return tuple(one for one in made if one.purpose is not Purpose.PROBE)


def usages(made: tuple[RequestRecord, ...]) -> list[tuple[Usage, tuple[Iteration, ...]]]:
    return [(one.usage, one.iterations) for one in made]


def of_script(script: str, strategy: str, **settings: object) -> ReplaySpec:
    (one,) = ComparisonSpec(
        (SCRIPTS[script],),
        (parse(strategy),),
        turns=7,
        relax_limits=True,
        token_counter="estimate",
        **settings,  # type: ignore[arg-type]
    ).replays()
    return dataclasses.replace(one, controls=False)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("script", SCRIPTS)
def test_with_the_lifetime_it_ran_with_exactly_the_recorded_buckets_come_out(
    script: str, strategy: str
) -> None:
    one = of_script(script, strategy)
    records = played(one)
    found = recache(one, records, FIVE)
    assert usages(found.requests) == usages(requests(records))
    assert found.resized == 0


def test_a_counter_that_is_not_installed_here_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    one = of_script("trip-planning", "full_history")
    records = played(one)
    monkeypatch.setattr(tokens, "_has_ctok", lambda: False)
    found = recache(dataclasses.replace(one, token_counter="ctok"), records, FIVE)
    assert usages(found.requests) == usages(requests(records))


def test_every_strategy_is_among_those_that_are_checked() -> None:
    built_in = {cls.name for cls in strategies() if cls.__module__.startswith("memdash.")}
    assert {parse(one).name for one in STRATEGIES} == built_in


@pytest.mark.parametrize("strategy", STRATEGIES[::3])
@pytest.mark.parametrize(
    ("settings", "lifetime"),
    [
        ({"caches": (FIVE,)}, HOUR),
        ({"caches": (HOUR,)}, FIVE),
        ({"caches": (OFF,)}, FIVE),
        ({"caches": (OFF,), "cache_marks": (CacheMarks.FIXED_AND_AUTO,)}, HOUR),
        ({"caches": (HOUR,), "cache_marks": (CacheMarks.FIXED_AND_AUTO,), "warm": True}, FIVE),
        ({"caches": (FIVE,), "models": ("claude-haiku-4-5",)}, HOUR),
        ({"caches": (FIVE,)}, OFF),
    ],
)
def test_with_another_lifetime_what_a_run_with_it_records_comes_out(
    strategy: str, settings: dict[str, object], lifetime: CacheLifetime
) -> None:
    """The simulator's replies do not depend on the cache, so a run with the other lifetime is the answer but for its times.

    A background job may be ready a turn earlier or later for it, which is another conversation and proves nothing.
    """
    one = of_script("trip-planning", strategy, pace=100.0, **settings)
    other = dataclasses.replace(one, cache=lifetime)
    records, expected = played(one), requests(played(other))
    found = recache(one, records, lifetime).requests
    if [(r.purpose, r.entries) for r in requests(records)] == [(r.purpose, r.entries) for r in expected]:
        assert usages(found) == usages(expected)
    else:
        assert "background" in strategy or "instant" in strategy or "cold" in strategy


def test_a_pause_longer_than_five_minutes_is_what_the_hour_pays_for() -> None:
    one = spec(chat(3, system="word " * 600), pace=400.0)
    records = played(one)
    first, second, third = requests(records)
    sizes = [request.usage.prompt_tokens or 0 for request in (first, second, third)]
    assert [request.usage.cache_read_input_tokens for request in (first, second, third)] == [0, 0, 0]
    found = recache(one, records, HOUR).requests
    assert [request.usage.cache_read_input_tokens for request in found] == [0, sizes[0] - 3, sizes[1] - 3]
    assert found[2].usage == dataclasses.replace(
        third.usage,
        input_tokens=3,
        cache_creation_input_tokens=sizes[2] - sizes[1],
        ephemeral_5m_input_tokens=0,
        ephemeral_1h_input_tokens=sizes[2] - sizes[1],
        cache_read_input_tokens=sizes[1] - 3,
    )


def test_a_model_that_caches_longer_prefixes_only_reads_and_writes_less() -> None:
    one = spec(chat(3, system="word " * 600))
    records = played(one)
    sizes = [request.usage.prompt_tokens for request in requests(records)]
    found = recache(one, records, FIVE, {"claude-opus-5-5": 4_096}).requests
    assert [request.usage.input_tokens for request in found] == sizes
    assert {request.usage.cache_creation_input_tokens for request in found} == {0}


def test_without_caching_every_prompt_token_is_plain_input() -> None:
    records = played(spec(chat(2, system="word " * 600)))
    for before, after in zip(requests(records), uncached(requests(records)).requests, strict=True):
        assert after.usage.input_tokens == before.usage.prompt_tokens == after.usage.prompt_tokens
        assert after.usage.cache_read_input_tokens == after.usage.cache_creation_input_tokens == 0
        assert after.usage.output_tokens == before.usage.output_tokens


def test_what_a_server_did_not_report_stays_unknown_without_caching() -> None:
    (request, *_) = requests(played(spec(chat(1))))
    plain = Usage(input_tokens=50, output_tokens=5)
    assert uncached([dataclasses.replace(request, usage=plain)]).requests[0].usage == plain


# -- live ------------------------------------------------------------------------------------------------------------------


def as_if_live(one: ReplaySpec, factor: int = 1) -> tuple[ReplaySpec, list[Record]]:
    """A replay as a live server would have left it: signatures that we cannot read, and tokens counted its own way."""

    def foreign(record: Record) -> Record:
        if not isinstance(record, RequestRecord):
            return record
        blocks = {
            name: text.replace('"signature":"', '"signature":"theirs') for name, text in record.blocks.items()
        }
        counted = {
            name: value * factor
            for name in dataclasses.asdict(record.usage)
            if (value := getattr(record.usage, name)) is not None
        }
        return dataclasses.replace(record, modelled=False, blocks=blocks, usage=Usage(**counted))

    return dataclasses.replace(one, provider=Provider.ANTHROPIC), [foreign(record) for record in played(one)]


def test_a_live_replay_is_read_again_in_the_sizes_its_server_counted() -> None:
    one, records = as_if_live(spec(chat(4, system="word " * 600), pace=400.0), factor=2)
    found = recache(one, records, HOUR)
    assert found.resized == 4
    for before, after in zip(requests(records), found.requests, strict=True):
        assert after.usage.prompt_tokens == before.usage.prompt_tokens
    reads = [request.usage.cache_read_input_tokens or 0 for request in found.requests]
    assert reads[0] == 0
    for read, before in zip(reads[1:], requests(records), strict=False):
        assert read == pytest.approx(before.usage.prompt_tokens, rel=0.05)


def test_what_a_live_server_compacted_itself_cannot_be_known() -> None:
    one, records = as_if_live(spec(chat(2)))
    parts = (Iteration("compaction", Usage(input_tokens=1)), Iteration("message", Usage(input_tokens=1)))
    records = [
        dataclasses.replace(record, iterations=parts) if isinstance(record, RequestRecord) else record
        for record in records
    ]
    with pytest.raises(CannotRecache, match="compacted this conversation itself"):
        recache(one, records, HOUR)


def test_a_server_that_reports_no_cache_says_nothing_about_another_lifetime() -> None:
    one, records = as_if_live(spec(chat(2)))
    records = [
        dataclasses.replace(record, usage=Usage(input_tokens=50, output_tokens=5))
        if isinstance(record, RequestRecord)
        else record
        for record in records
    ]
    with pytest.raises(CannotRecache, match="does not report what it caches"):
        recache(one, records, HOUR)


def test_what_the_simulator_cannot_read_is_said_with_its_turn() -> None:
    one = spec(chat(1))
    records = [
        dataclasses.replace(record, options={**record.options, "model": "llama-9"})
        if isinstance(record, RequestRecord)
        else record
        for record in played(one)
    ]
    with pytest.raises(
        CannotRecache, match=r"request 1 \(turn 1\) cannot be read again here: model: llama-9"
    ):
        recache(one, records, HOUR)


def test_a_live_replay_that_was_refused_at_once_has_nothing_to_work_out() -> None:
    one, records = as_if_live(spec(chat(1)))
    records = [
        dataclasses.replace(record, usage=Usage(), error_status=400, error_message="no")
        if isinstance(record, RequestRecord)
        else record
        for record in records
    ]
    assert [request.usage for request in recache(one, records, HOUR).requests] == [Usage()]

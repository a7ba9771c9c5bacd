"""Every question that is asked of the database, one named query each.

Deletes are honoured by reading through ``present_comparison`` and ``present_replay``; queries by replay number come after one of
those.
"""

from __future__ import annotations

from memdash.store.rows import REQUEST_COLUMNS, USAGE_COLUMNS

# Which comparisons are there, the newest first?
COMPARISONS = """
select
    comparison.id,
    comparison.title,
    comparison.created_at,
    comparison.provider,
    json_extract_string(json_extract_string(comparison.settings, '$.spec'), '$.confirms') as confirms,
    list(distinct replay.script_id order by replay.script_id) as scripts,
    list(distinct replay.model order by replay.model) as models,
    list(replay.series order by replay.number) as series,
    list(coalesce(state.status, 'queued') order by replay.number) as statuses
from present_comparison as comparison
join replay on replay.comparison = comparison.id
left join (
    select replay, max_by(status, rowid) as status from replay_state group by replay
) as state on state.replay = replay.number
group by all
order by comparison.created_at desc, comparison.id
"""

# Which comparison is this?
COMPARISON = "select id, title, created_at, settings, versions from present_comparison where id = ?"

# Is this id taken, be it by a comparison that was deleted?
TAKEN = "select 1 from comparison where id = ?"

# Which ids are there (to name one that comes near)?
COMPARISON_IDS = "select id from present_comparison"

# At which prices did this comparison run?
PRICES = """
select model, above, input, write_5m, write_1h, read, output, since, source
from price
where comparison = ?
order by rowid
"""

# Which replays does this comparison have?
REPLAYS = """
select
    number, id, comparison, script_hash, strategy, params, label, series, model, effort, max_tokens, provider, cache, cache_marks,
    warm, "check", pace, replies, turns, repeat, seed, salt, token_counter, relax_limits, controls, strategy_file
from present_replay
where comparison = ?
order by number
"""

# Which comparison and number does this replay have?
REPLAY_KEY = "select number, comparison from present_replay where id = ?"

# What is the highest replay number given so far?
LAST_REPLAY = "select coalesce(max(number), 0) from replay"

# What is the text of these scripts?
SCRIPTS = "select hash, any_value(body) from script where hash in (select unnest(?)) group by hash"

# Which of these scripts are stored?
KNOWN_SCRIPTS = "select distinct hash from script where hash in (select unnest(?))"

# Which blocks does a comparison already have?
KNOWN_BLOCKS = "select id from block_text where comparison = ?"

# What do these blocks of a comparison say?
BLOCKS = "select id, body from block_text where comparison = ? and id in (select unnest(?))"

# Which blocks did each request of a replay bring?
BLOCKS_OF_REPLAY = """
select block.replay, block.seq, block.id, any_value(block_text.body)
from block
join block_text on block_text.id = block.id and block_text.comparison = ?
where block.replay between ? and ?
group by block.replay, block.seq, block.id, block.rowid
order by block.rowid
"""

# What happened in the replays of these numbers, in order?
REQUESTS = f"""
select
    replay, {", ".join(REQUEST_COLUMNS)}, {", ".join(USAGE_COLUMNS)},
    iterations, options, transformations, applied_edits, diagnosis
from request
where replay between ? and ?
order by replay, seq
"""
ITERATIONS = "select * from usage_iteration where replay between ? and ? order by replay, seq, place"
STATES = "select * from replay_state where replay between ? and ? order by rowid"
FLAT = {
    table: f"select * from {table} where replay between ? and ? order by replay, seq"
    for table in ("event", "turn", "job", "probe", "fact")
}

_PLACE = """
select
    number,
    comparison,
    (select count(*) from turn where turn.replay = chosen.number) as turns,
    coalesce((select max(finished_ms) from request where request.replay = chosen.number), 0.0) as at_ms
from chosen
order by number
"""

# How far did this replay come?
PLACE = f"with chosen as (select number, comparison from present_replay where id = ?) {_PLACE}"

# Which replays (of a comparison, or of all where it is null) have no end, and how far did they come?
UNFINISHED = f"""
with chosen as (
    select replay.number, replay.comparison
    from present_replay as replay
    left join (
        select replay, max_by(status, rowid) as status from replay_state group by replay
    ) as state on state.replay = replay.number
    where coalesce(state.status, 'queued') in ('queued', 'running') and (? is null or replay.comparison = ?)
)
{_PLACE}
"""

# Is this row, of which the first two columns are given, in the file?
ROW_IS_THERE = {
    "comparison": "select 1 from comparison where id = ? and created_at = ?",
    **{
        table: f"select 1 from {table} where replay = ? and seq = ?"
        for table in ("request", "event", "turn", "job", "probe", "fact")
    },
}

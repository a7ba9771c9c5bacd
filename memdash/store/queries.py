"""Every question that is asked of the database, one named query each.

Deletes are honoured by reading through ``present_comparison`` and ``present_replay``; queries by replay number come after one of
those.
"""

from __future__ import annotations

from collections.abc import Iterable

from memdash.replay_columns import EVENT_KINDS, PURPOSES
from memdash.store.rows import REQUEST_COLUMNS, USAGE_COLUMNS

_SUMMARIES = """
with state as (
    select replay, max_by(status, rowid) as status from replay_state {of_replays} group by replay
),
played as (
    select
        replay.comparison,
        list(distinct replay.script_id order by replay.script_id) as scripts,
        list(distinct replay.model order by replay.model) as models,
        list(replay.series order by replay.number) as series,
        list(coalesce(state.status, 'queued') order by replay.number) as statuses
    from replay
    left join state on state.replay = replay.number
    {of_comparisons}
    group by replay.comparison
)
select
    comparison.id,
    comparison.title,
    comparison.created_at,
    comparison.provider,
    json_extract_string(json_extract_string(comparison.settings, '$.spec'), '$.confirms') as confirms,
    json_extract_string(json_extract_string(comparison.settings, '$.spec'), '$.sweep') is not null as sweep,
    played.scripts,
    played.models,
    played.series,
    played.statuses
from present_comparison as comparison
join played on played.comparison = comparison.id
"""
_AMONG = "comparison in (select unnest($ids::varchar[]))"

# Which comparisons are there? Replays are gathered before anything is joined to their comparison, whose settings may be long.
COMPARISONS = _SUMMARIES.format(of_replays="", of_comparisons="")

# Which of these comparisons are there?
COMPARISONS_AMONG = _SUMMARIES.format(
    of_replays=f"where replay in (select number from replay where {_AMONG})",
    of_comparisons=f"where replay.{_AMONG}",
)

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

# What did the refinement of this comparison add, round by round?
REFINEMENTS = """
select value
from comparison_change
where comparison = ? and kind = 'refinement'
order by rowid
"""

# Which notes were added to comparisons, and which of them was made the baseline?
ADDITIONS = """
select comparison, changed_at, kind, value
from comparison_change
where kind in ('note', 'baseline')
order by rowid
"""

# Which notes were added to these, and was one of them made the baseline?
ADDITIONS_AMONG = """
select comparison, changed_at, kind, value
from comparison_change
where kind in ('note', 'baseline') and comparison in (select unnest($ids::varchar[]))
order by rowid
"""

# Which comparisons were deleted and not purged?
DELETED = "select distinct comparison from tombstone"

# Which replays does this comparison have?
REPLAYS = """
select
    number, id, comparison, script_hash, strategy, params, label, series, model, effort, max_tokens, provider, cache, cache_marks,
    warm, "check", pace, replies, turns, repeat, seed, salt, token_counter, relax_limits, controls, strategy_file
from present_replay
where comparison = ?
order by number
"""

# Which numbers and ids do the replays of this comparison have?
REPLAY_NUMBERS = "select number, id from present_replay where comparison = ? order by number"

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

_AS_TEXT = {
    "betas": "to_json(betas)",
    "entries": "array_to_string(entries, ' ')",
    "reply_blocks": "array_to_string(reply_blocks, ' ')",
}
"""Lists come as texts: as lists of Python they would take as long as everything else of a request together."""

# What happened in the replays of these numbers? Rows come as they were written, those of one replay in its order: to sort
# rows that hold texts would take more memory than a database is given.
REQUESTS = f"""
select
    replay, {", ".join(_AS_TEXT.get(column, column) for column in REQUEST_COLUMNS)}, {", ".join(USAGE_COLUMNS)},
    iterations, options, transformations, applied_edits, diagnosis
from request
where replay between ? and ?
"""

# What are the numbers of the requests of these replays made of?
REQUEST_OUTLINES = f"""
select
    replay, seq, number, purpose, turn, model, {", ".join(USAGE_COLUMNS)}, iterations, miss_reason, error_status, error_type,
    error_message
from request
where replay between ? and ?
"""
ITERATIONS = "select * from usage_iteration where replay between ? and ? order by replay, seq, place"
STATES = "select * from replay_state where replay between ? and ? order by rowid"
FLAT = {
    table: f"select * from {table} where replay between ? and ?"
    for table in ("event", "turn", "job", "probe", "fact")
}

# -- the same, of many replays, as columns of numbers ----------------------------------------------------------------------
# `place` is a replay's place among the given numbers, which rise; a text is its place in a list. The bounds beside the exact
# condition let the database pass over the parts of a table in which none of them can be.

_CHOSEN = """
with chosen as materialized (
    select number, row_number() over (order by number) - 1 as place
    from (select unnest($numbers::integer[]) as number)
)
"""
_OF_CHOSEN = """
join chosen on chosen.number = replay
where replay between list_min($numbers::integer[]) and list_max($numbers::integer[])
"""


def _place_in(names: Iterable[str], column: str) -> str:
    """SQL for the place of a text in a list of plain words."""
    quoted = ", ".join(f"'{name}'" for name in names)
    return f"list_position([{quoted}], {column}) - 1"


_BUCKETS = """
    input_tokens, cache_creation_input_tokens, ephemeral_5m_input_tokens, ephemeral_1h_input_tokens, cache_read_input_tokens,
    output_tokens
"""

# Which models were paid?
MODELS_PAID = f"""
{_CHOSEN}
select distinct model from request {_OF_CHOSEN}
union
select distinct model from usage_iteration {_OF_CHOSEN} and nullif(model, '') is not null
"""

# What was asked for in each request, and what did it take?
REQUEST_COLUMNS_OF = f"""
{_CHOSEN}
select
    place, seq, turn, {_place_in(PURPOSES, "purpose")} as purpose, list_position($models::varchar[], model) - 1 as model,
    error_status is not null or error_type is not null as failed, iterations > 0 as split, {_BUCKETS}
from request {_OF_CHOSEN}
order by place, seq
"""

# What did each iteration of a request take?
ITERATION_COLUMNS_OF = f"""
{_CHOSEN}
select
    chosen.place, seq, type = 'compaction' as compaction,
    coalesce(list_position($models::varchar[], nullif(model, '')), 0) - 1 as model, {_BUCKETS}
from usage_iteration {_OF_CHOSEN}
order by chosen.place, seq, usage_iteration.place
"""

# What did the user wait in each turn?
WAIT_COLUMNS_OF = f"{_CHOSEN} select place, turn, wait_ms from turn {_OF_CHOSEN} order by place, seq"

# Which events were there, and did those that put a summary into use do so?
EVENT_COLUMNS_OF = f"""
{_CHOSEN}
select
    place, turn, {_place_in(EVENT_KINDS, "event")} as kind,
    case
        when event in ('compaction', 'swap') then coalesce(json_extract(data, '$.used') <> 'false'::json, true)
        else true
    end as used
from event {_OF_CHOSEN}
order by place, seq
"""

# Which recall questions and controls were asked, and with what result?
PROBE_ROWS_OF = f"""
{_CHOSEN}
select place, fact, asked_after, control, passed, stale, visible from probe {_OF_CHOSEN} order by place, seq
"""

# Where are the facts in the last contexts?
FACT_ROWS_OF = f"{_CHOSEN} select place, fact, survival from fact {_OF_CHOSEN} order by place, seq"

# What is the latest state of each?
STATES_OF = f"""
{_CHOSEN}
select place, max_by(status, replay_state.rowid), max_by(turns_completed, replay_state.rowid)
from replay_state {_OF_CHOSEN}
group by place
"""

_PLACE = """
select
    number,
    comparison,
    (select count(*) from turn where turn.replay = chosen.number) as turns,
    coalesce((select max(finished_ms) from request where request.replay = chosen.number), 0.0) as at_ms
from chosen
order by number
"""

# How far did these replays come?
PLACES = f"""
with chosen as (select number, comparison from present_replay where id in (select unnest(?)))
{_PLACE}
"""

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

# Does the ledger say anything?
HAS_LEDGER = "select 1 from ledger limit 1"

# What does the ledger say from this moment on?
LEDGER_SINCE = "select ticket, moment, kind, person, comparison, own_key, model, usd from ledger where moment >= ? order by rowid"

# What did each person spend in each comparison on each day, with which kind of key?
# A request without an answer counts at its most.
EXPENSES = """
with paid as (
    select
        ticket,
        min(moment)::date as day,
        any_value(person) as person,
        any_value(comparison) as comparison,
        bool_or(own_key) as own_key,
        bool_or(kind = 'paid') as answered,
        case
            when bool_or(kind = 'paid') then max(usd) filter (kind = 'paid')
            else max(usd) filter (kind = 'set_aside')
        end as usd
    from ledger
    where kind <> 'started'
    group by ticket
    having not bool_or(kind = 'unsent')
)
select
    day,
    person,
    comparison,
    own_key,
    count(*),
    coalesce(sum(usd), 0.0),
    count(*) filter (not answered),
    count(*) filter (usd is null)
from paid
group by day, person, comparison, own_key
order by day, person nulls first, comparison, own_key
"""

# Who started which live runs?
STARTED = "select moment, person, comparison, own_key from ledger where kind = 'started' order by rowid"

# -- a comparison as it travels in a bundle -----------------------------------------------------------------------------
# The columns are those of the table but for `comparison`; of a replay's rows `replay` comes first.

# Which columns does a table have, and in which may a value lack?
COLUMNS_OF = """
select column_name, is_nullable
from information_schema.columns
where table_name = ? and column_name <> 'comparison' and table_schema = 'main' and table_catalog = current_catalog()
order by ordinal_position
"""

# What was launched, with which scripts and prices, and what was changed since?
BUNDLED = {
    "comparison": "select {columns} from comparison where id = ?",
    "script": """
        select distinct {columns} from script
        where hash in (select script_hash from replay where comparison = ?)
        order by hash
    """,
    "price": "select {columns} from price where comparison = ? order by rowid",
    "replay": "select {columns} from replay where comparison = ? order by number",
    "comparison_change": "select {columns} from comparison_change where comparison = ? order by rowid",
}

# What happened in the replays of these numbers, and what do their blocks say? Rows come in the order they were written.
BUNDLED_RECORDS = "select {columns} from {table} where replay between $first and $last"
BUNDLED_TEXTS = "select {columns} from block_text where comparison = $comparison"

# What is a comparison called now?
TITLE = "select title from present_comparison where id = ?"

# Did a block of this comparison come without its text?
BLOCK_WITHOUT_TEXT = """
select block.id
from block
where block.replay in (select number from replay where comparison = $comparison)
    and block.id not in (select id from block_text where comparison = $comparison)
limit 1
"""

# Does a request of this comparison put a text where JSON of another kind stands: an object for a block of a message, a list (or a
# text) for a system prompt, a list for tools?
MISPLACED_BLOCK = """
with named as (
    select unnest(list_transform(entries, lambda one: split_part(ltrim(one, '+'), ':', -1)) || reply_blocks) as id, '{' as starts
    from request
    where replay in (select number from replay where comparison = $comparison)
    union all
    select system_block, '["'
    from request
    where replay in (select number from replay where comparison = $comparison)
    union all
    select tools_block, '['
    from request
    where replay in (select number from replay where comparison = $comparison)
)
select named.id
from (select distinct id, starts from named) as named
join block_text on block_text.id = named.id and block_text.comparison = $comparison
where not contains(named.starts, left(ltrim(block_text.body), 1))
limit 1
"""

# Which comparisons are the baseline now? The latest row of each says so.
BASELINES = """
select comparison
from comparison_change
where kind = 'baseline' and comparison in (select id from present_comparison)
group by comparison
having max_by(value, rowid) = 'pinned'
"""

# Is this row, of which the first two columns are given, in the file?
ROW_IS_THERE = {
    "comparison": "select 1 from comparison where id = ? and created_at = ?",
    "replay": "select 1 from replay where number = ? and id = ?",
    **{
        table: f"select 1 from {table} where replay = ? and seq = ?"
        for table in ("request", "event", "turn", "job", "probe", "fact")
    },
}

-- The store's tables, version 3. Rows are only ever inserted; what holds now is the latest row, and a delete is a row in `tombstone`.
-- There are no secondary indexes: tables stay in the order of insertion, which keeps the rows of one comparison together.
-- `replay` in the tables of records is replay.number, a small integer.

create table schema_version (
    version integer not null,
    memdash varchar not null,
    created_at timestamp not null
);

-- A script's text, once by content.
create table script (
    hash varchar not null,
    id varchar not null,
    title varchar not null,
    body varchar not null
);

-- `settings` is the ComparisonSpec as JSON, with scripts by hash; `versions` says what software ran it.
create table comparison (
    id varchar not null,
    created_at timestamp not null,
    title varchar not null,
    provider varchar not null,
    settings varchar not null,
    versions varchar not null
);

-- The prices that were valid when a comparison ran, in dollars per million tokens.
create table price (
    comparison varchar not null,
    model varchar not null,
    above bigint not null,
    input double not null,
    write_5m double not null,
    write_1h double not null,
    read double not null,
    output double not null,
    since date,
    source varchar not null
);

-- Every field of a ReplaySpec.
create table replay (
    number integer not null,
    id varchar not null,
    comparison varchar not null,
    script_hash varchar not null,
    script_id varchar not null,
    strategy varchar not null,
    params varchar not null,
    label varchar not null,
    series varchar not null,
    model varchar not null,
    effort varchar,
    max_tokens bigint not null,
    provider varchar not null,
    cache varchar not null,
    cache_marks varchar not null,
    warm boolean not null,
    "check" boolean not null,
    pace double not null,
    replies varchar not null,
    turns integer not null,
    repeat integer not null,
    seed bigint not null,
    salt varchar not null,
    token_counter varchar not null,
    relax_limits boolean not null,
    controls boolean not null,
    strategy_file varchar
);

-- Every state a replay went through, in order of insertion. Those that the replay itself did not yield (interrupted, cancelled, a
-- crash) take no place in its sequence: their seq is -1.
create table replay_state (
    replay integer not null,
    seq integer not null,
    status varchar not null,
    turns_completed integer not null,
    at_ms double not null,
    message varchar
);

-- One call to the API. `iterations` is the number of its rows in usage_iteration; contexts are lists of block ids; options,
-- transformations, applied edits and the cache diagnosis are JSON.
create table request (
    replay integer not null,
    seq integer not null,
    number integer not null,
    purpose varchar not null,
    turn integer not null,
    step integer not null,
    model varchar not null,
    betas varchar[] not null,
    system_block varchar,
    tools_block varchar,
    base_request integer,
    shared integer not null,
    entries varchar[] not null,
    started_ms double not null,
    first_event_ms double,
    first_text_ms double,
    finished_ms double not null,
    reply_blocks varchar[] not null,
    stop_reason varchar,
    request_id varchar,
    message_id varchar,
    retries integer not null,
    job integer,
    modelled boolean not null,
    control varchar,
    miss_reason varchar,
    missed_tokens bigint,
    error_status integer,
    error_type varchar,
    error_message varchar,
    input_tokens bigint,
    cache_creation_input_tokens bigint,
    ephemeral_5m_input_tokens bigint,
    ephemeral_1h_input_tokens bigint,
    cache_read_input_tokens bigint,
    output_tokens bigint,
    thinking_tokens bigint,
    iterations integer not null,
    options varchar not null,
    transformations varchar,
    applied_edits varchar,
    diagnosis varchar
);

create table usage_iteration (
    replay integer not null,
    seq integer not null,
    place integer not null,
    type varchar not null,
    model varchar,
    input_tokens bigint,
    cache_creation_input_tokens bigint,
    ephemeral_5m_input_tokens bigint,
    ephemeral_1h_input_tokens bigint,
    cache_read_input_tokens bigint,
    output_tokens bigint,
    thinking_tokens bigint
);

-- Which request of a replay brought which block, and each block's text once in a comparison.
create table block (
    replay integer not null,
    seq integer not null,
    id varchar not null
);

create table block_text (
    comparison varchar not null,
    id varchar not null,
    body varchar not null
);

create table event (
    replay integer not null,
    seq integer not null,
    event varchar not null,
    turn integer not null,
    at_ms double not null,
    data varchar not null
);

create table turn (
    replay integer not null,
    seq integer not null,
    turn integer not null,
    started_ms double not null,
    answered_ms double not null,
    wait_ms double not null,
    first_text_ms double
);

create table job (
    replay integer not null,
    seq integer not null,
    job integer not null,
    request integer not null,
    started_ms double not null,
    finished_ms double not null
);

create table probe (
    replay integer not null,
    seq integer not null,
    fact varchar not null,
    asked_after integer not null,
    control varchar not null,
    question varchar not null,
    answer varchar not null,
    passed boolean not null,
    stale boolean not null,
    visible boolean not null,
    survival varchar not null,
    grading varchar not null,
    request integer not null
);

create table fact (
    replay integer not null,
    seq integer not null,
    fact varchar not null,
    survival varchar not null
);

-- What was changed of a comparison, by kind. Of `title` and `baseline` (`pinned` or `unpinned`) the latest row counts; of `note`
-- (JSON: who wrote it, and its text) and `refinement` (JSON: what a round of a sweep added, and why) every row does.
create table comparison_change (
    comparison varchar not null,
    changed_at timestamp not null,
    kind varchar not null,
    value varchar not null
);

-- What live requests may cost and did cost, and who started the runs that made them. Rows about one request share its ticket; all stand
-- at the moment (UTC) at which it was let through. They are never deleted and never purged, and hold no text of a conversation.
create table ledger (
    ticket varchar not null,
    moment timestamp not null,
    kind varchar not null,
    person varchar,
    comparison varchar not null,
    own_key boolean not null,
    model varchar,
    usd double
);

create table tombstone (
    comparison varchar not null,
    deleted_at timestamp not null
);

-- Every comparison that has not been deleted, with its present title. All other queries go through here.
create view present_comparison as
select
    comparison.id,
    comparison.created_at,
    coalesce(latest.title, comparison.title) as title,
    comparison.provider,
    comparison.settings,
    comparison.versions
from comparison
left join (
    select comparison, max_by(value, rowid) as title
    from comparison_change
    where kind = 'title'
    group by comparison
) as latest on latest.comparison = comparison.id
where comparison.id not in (select comparison from tombstone);

-- Every replay of a comparison that has not been deleted.
create view present_replay as
select replay.*
from replay
where replay.comparison in (select id from present_comparison);

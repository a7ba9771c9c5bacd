"""Where one bucket of a prompt ends and the next begins, on requests made by hand."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memdash.inspection.buckets import Boundary, Bucket, Part, prompt_usage, split
from memdash.records import RequestRecord, Usage
from memdash.spec import CacheMarks
from tests.builders import replay_log, request, spec, usage

PARTS = [Part(100, True), Part(400, True), Part(300, True), Part(200, True)]
"""A system prompt and three blocks of messages."""


def asked(*entries: str, base: int | None = None, shared: int = 0, **more: object) -> RequestRecord:
    return request(entries=entries, base_request=base, shared=shared, system_block="s", **more)


def of(*records: RequestRecord, parts: list[Part] | None = None, **changes: object):
    """The split of the last of ``records``."""
    log = replay_log(spec(**changes), *records)
    return split(log, log.requests[-1], parts or PARTS, 1)


FIRST = asked("user:a", of=usage(input=3, write=500))
SECOND = asked(
    "assistant:b", "user:c", base=0, shared=1, of=usage(input=3, write=500, read=500), modelled=True
)


def test_what_an_earlier_request_left_ends_where_it_ended() -> None:
    found = of(FIRST, SECOND)
    assert (found.read, found.written) == (Boundary(2, False), Boundary(4, False))
    assert [found.bucket(at) for at in range(4)] == [Bucket.READ, Bucket.READ, Bucket.WRITTEN, Bucket.WRITTEN]
    assert [(one.reported, one.counted, one.around) for one in found.shares] == [
        (500, 500, 0),
        (500, 500, 0),
        (3, 0, 3),
    ]


def test_a_read_that_no_earlier_request_explains_is_estimated() -> None:
    odd = asked(
        "assistant:b", "user:c", base=0, shared=1, of=usage(input=3, write=180, read=820), modelled=True
    )
    found = of(FIRST, odd)
    assert (found.read, found.estimated) == (Boundary(3, True), True)


def test_the_api_may_count_a_requests_opening_now_here_now_there_and_the_simulator_may_not() -> None:
    near = usage(input=3, write=480, read=520)
    live = asked("assistant:b", "user:c", base=0, shared=1, of=near)
    assert of(FIRST, live).read == Boundary(2, False)
    modelled = asked("assistant:b", "user:c", base=0, shared=1, of=near, modelled=True)
    assert of(FIRST, modelled).read.estimated


def test_an_edited_prompt_is_read_up_to_the_end_of_its_fixed_part_where_that_is_marked() -> None:
    edited = asked(
        "user:x", "assistant:b", "user:c", base=0, of=usage(input=3, write=900, read=103), modelled=True
    )
    assert of(FIRST, edited, cache_marks=CacheMarks.FIXED_AND_AUTO).read == Boundary(1, False)
    assert of(FIRST, edited).read == Boundary(1, True)


def test_another_model_or_fixed_part_left_nothing_for_this_one() -> None:
    for other in (
        asked("user:a", of=usage(write=500), model="claude-haiku-5-5"),
        request(entries=("user:a",), of=usage(write=500)),
    ):
        assert of(other, SECOND).read.estimated


def test_no_mark_stands_on_thinking() -> None:
    parts = [*PARTS[:3], Part(200, False)]
    assert of(FIRST, SECOND, parts=parts).written == Boundary(3, False)


def test_much_plain_input_after_the_last_mark_is_estimated() -> None:
    late = asked(
        "assistant:b", "user:c", base=0, shared=1, of=usage(input=210, write=300, read=500), modelled=True
    )
    assert of(FIRST, late).written == Boundary(3, True)


def test_what_is_not_reported_is_not_split() -> None:
    assert of(asked("user:a", of=Usage(input_tokens=10))) is None
    assert of(asked("user:a", error="no")) is None


def test_a_prompt_that_was_compacted_on_the_way_is_billed_as_it_was_first_read() -> None:
    twice = request(
        iterations=[("compaction", usage(read=900)), ("message", usage(read=90))], of=usage(read=90)
    )
    assert prompt_usage(twice).cache_read_input_tokens == 900
    assert prompt_usage(request(of=usage(read=90))).cache_read_input_tokens == 90


def test_a_compaction_adds_its_own_instruction_behind_the_last_mark() -> None:
    compacting = usage(input=69, write=500, read=500)
    summary = asked(
        "assistant:b",
        "user:c",
        base=0,
        shared=1,
        of=usage(),
        iterations=[("compaction", compacting)],
        modelled=True,
    )
    found = of(FIRST, summary, parts=[*PARTS[:3], Part(60, True)])
    assert found is not None
    assert (found.read, found.written) == (Boundary(2, False), Boundary(4, False))
    assert found.shares[-1].around == 69


@given(
    st.lists(st.tuples(st.integers(0, 500), st.booleans()), min_size=3, max_size=8),
    st.integers(0, 2000),
    st.integers(0, 2000),
    st.integers(0, 2000),
    st.booleans(),
)
def test_whatever_is_reported_every_block_has_one_bucket_and_the_sums_hold(
    sizes: list[tuple[int, bool]], read: int, write: int, plain: int, fixed: bool
) -> None:
    parts = [Part(*one) for one in sizes]
    record = asked(*(f"user:{n}" for n in range(len(parts) - 1)), of=usage(plain, write, read))
    marks = CacheMarks.FIXED_AND_AUTO if fixed else CacheMarks.AUTO
    found = of(record, parts=parts, cache_marks=marks)
    buckets = [found.bucket(at) for at in range(len(parts))]
    assert buckets == sorted(buckets, key=list(Bucket).index)
    for share in found.shares:
        counted = sum(
            part.tokens for part, bucket in zip(parts, buckets, strict=True) if bucket is share.bucket
        )
        assert (share.counted, share.around) == (counted, share.reported - counted)
    assert [one.reported for one in found.shares] == [read, write, plain]

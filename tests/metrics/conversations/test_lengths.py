"""A distribution of conversation lengths, from quantiles and from files."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdash.errors import InputError
from memdash.metrics.conversations import Lengths, from_csv, from_quantiles, read_lengths


def shares(lengths: Lengths) -> dict[int, float]:
    return dict(zip(lengths.turns.tolist(), lengths.shares.tolist(), strict=True))


def test_a_length_has_the_share_of_the_line_that_rounds_to_it() -> None:
    lengths = from_quantiles("p100=4")  # from one turn on, in a straight line
    assert shares(lengths) == pytest.approx({1: 1 / 6, 2: 1 / 3, 3: 1 / 3, 4: 1 / 6})
    assert lengths.mean == pytest.approx(2.5)
    assert lengths.share_above(2) == pytest.approx(1 / 2)


def test_equal_quantiles_are_a_step() -> None:
    lengths = from_quantiles("p0=10, p50=10, p100=20")
    assert shares(lengths)[10] == pytest.approx(0.5 + 0.5 * 0.05)
    assert shares(lengths)[15] == pytest.approx(0.05)
    assert shares(lengths)[20] == pytest.approx(0.025)
    assert shares(from_quantiles("p0=30,p100=30")) == {30: 1.0}


def test_the_quantiles_of_the_distribution_are_those_that_were_given() -> None:
    lengths = from_quantiles("p50=12,p90=40,p100=120")
    assert [lengths.quantile(share) for share in (0.5, 0.9, 1.0)] == [12, 40, 120]
    assert lengths.longest == 120
    assert lengths.source == "p50=12,p90=40,p100=120"


@given(st.lists(st.integers(1, 300), min_size=1, max_size=5).map(sorted))
def test_any_quantiles_make_shares_of_one_and_come_back(turns: list[int]) -> None:
    levels = [round(100 * (place + 1) / len(turns), 3) for place in range(len(turns))]
    levels[-1] = 100
    lengths = from_quantiles(
        ",".join(f"p{level:g}={turn}" for level, turn in zip(levels, turns, strict=True))
    )
    assert lengths.shares.sum() == pytest.approx(1.0)
    assert (lengths.shares > 0).all()
    for level, turn in zip(levels, turns, strict=True):
        assert abs(lengths.quantile(level / 100) - turn) <= (0 if level == 100 else 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("p50=12", "lengths: say how long the longest conversation is (p100), for instance p50=12,p90=40,p100=120"),
        ("p50=40,p100=12", "lengths: p100=12 is below p50=40; a higher quantile is never shorter"),
        ("p0=5,p0=6,p100=9", "lengths: p0 stands twice"),
        ("p101=5,p100=9", "lengths: p101 is above p100, which is the longest conversation"),
        ("p0=0,p100=9", "lengths: p0: a conversation has 1 to 100,000 turns, not 0"),
        ("p100=100001", "lengths: p100: a conversation has 1 to 100,000 turns, not 100,001"),
        ("p50=1.5,p100=9", "lengths: 'p50=1.5' is no quantile; write them as p90=40 (whole turns), for instance"),
        ("p100=9,", "lengths: '' is no quantile; write them as p90=40 (whole turns), for instance"),
    ],
)  # fmt: skip
def test_quantiles_that_make_no_sense_are_refused(text: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        read_lengths(text)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    "content",
    [
        b"3\n5\n5\n8\n",
        b"turns\r\n3\r\n5\r\n5\r\n8\r\n",
        b"\xef\xbb\xbfTurns,Count\n5,2\n8,1\n\n3,1\n30,0\n",
    ],
)
def test_a_file_has_a_length_a_line_or_lengths_with_counts(content: bytes) -> None:
    lengths = from_csv(content, "lengths.csv")
    assert shares(lengths) == {3: 0.25, 5: 0.5, 8: 0.25}
    assert lengths.source == "lengths.csv"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "l.csv: holds no conversation"),
        (b"turns,count\n3,0\n", "l.csv: holds no conversation"),
        (b"3\nfive\n", "l.csv:2: 'five' is not a number of turns: a whole number up to 100,000"),
        (b"3\n-5\n", "l.csv:2: '-5' is not a number of turns: a whole number up to 100,000"),
        (b"3\n0\n", "l.csv:2: a conversation has 1 to 100,000 turns, not 0"),
        (b"3\n200000\n", "l.csv:2: 200,000 is more than 100,000"),
        (b"3,2\n4\n", "l.csv:2: 1 column; write one length a line, or turns,count"),
        (b"1,2,3\n", "l.csv:1: 3 columns; write one length a line, or turns,count"),
        (b"3,many\n", "l.csv:1: 'many' is not a count of conversations: a whole number up to 1,000,000,000"),
        (b"\xff\xfe3", "l.csv: is not UTF-8 text (byte 0)"),
        (b"1\n" * 3_000_000, "l.csv: larger than 5 MB; give turns,count rows instead"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_with_its_line(content: bytes, message: str) -> None:
    with pytest.raises(InputError) as error:
        from_csv(content, "l.csv")
    assert str(error.value) == message


def test_a_path_is_read_and_one_that_is_not_there_says_what_could_be_given(tmp_path: Path) -> None:
    path = tmp_path / "lengths.csv"
    path.write_text("7\n")
    assert shares(read_lengths(str(path))) == {7: 1.0}
    odd = tmp_path / "of p50=12, and more.csv"
    odd.write_text("8\n")
    assert shares(read_lengths(str(odd))) == {8: 1.0}
    with pytest.raises(
        InputError, match=r"'30' is neither quantiles such as p50=12,p90=40,p100=120 nor a CSV file"
    ):
        read_lengths("30")

from __future__ import annotations

from pathlib import Path

import pytest

from memdash import report
from memdash.errors import InputError


@pytest.mark.parametrize("name", ["run.xlsx", "run", "run.htm"])
def test_an_unknown_ending_is_refused_with_the_known_ones(name: str) -> None:
    with pytest.raises(InputError, match=r"\.html, \.md, \.json, \.csv, \.parquet"):
        report.ending_of(Path(name))


def test_an_ending_may_be_written_large() -> None:
    assert report.ending_of(Path("RUN.HTML")) == ".html"


def test_a_file_is_replaced_whole_and_leaves_no_draft_behind(tmp_path: Path) -> None:
    target = tmp_path / "run.json"
    target.write_text("older")
    report.write(b"newer", target)
    assert target.read_bytes() == b"newer"
    assert list(tmp_path.iterdir()) == [target]


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        report.write(b"", tmp_path / "missing" / "run.json")
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(InputError, match="cannot be written"):
        report.write(b"", tmp_path / "folder.json")
    assert [path.name for path in tmp_path.iterdir()] == ["folder.json"]

"""Reading back what ``--format json`` printed, whoever wrote the file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memdash import baseline
from memdash.baseline import baseline_prices, read_baseline
from memdash.errors import InputError
from memdash.metrics.changes import changes_between
from tests.comparisons import PRICE, a_comparison, a_probe, a_replay


def written(tmp_path: Path, value: Any) -> Path:
    path = tmp_path / "baseline.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value), "utf-8")
    return path


def complaint(tmp_path: Path, value: Any) -> str:
    path = written(tmp_path, value)
    with pytest.raises(InputError) as raised:
        read_baseline(path)
    assert "\n" not in str(raised.value)
    return str(raised.value).removeprefix(str(path))


def test_what_is_read_back_is_what_was_written(tmp_path: Path) -> None:
    value = a_comparison(a_replay(probes=[a_probe()]))
    found = read_baseline(written(tmp_path, value))
    assert changes_between(value, found).is_nothing
    assert baseline_prices(found)["claude-opus-5-5"].tiers[0].output == PRICE["tiers"][0]["output"]


def test_an_older_file_may_lack_what_came_later_and_a_newer_one_may_have_more(tmp_path: Path) -> None:
    value = a_comparison(a_replay(probes=[]), of_a_later_version={"x": [1]})
    for name in ("groups", "prices", "recommendation"):
        del value[name]
    for name in ("cost_by_purpose_usd", "ttft_ms", "marks", "probes", "turns", "effort"):
        del value["replays"][0][name]
    value["replays"][0]["of_a_later_version"] = 1
    found = read_baseline(written(tmp_path, value))
    assert (found["groups"], found["prices"]) == ([], None)
    assert baseline_prices(found) == {}
    assert found["replays"][0]["ttft_ms"] == {"p50": None, "p95": None}
    assert changes_between(found, a_comparison()).groups[0].outcome is None


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("", ": the file is empty"),
        ("[1,\n2", ":2: is not JSON"),
        ("[]", ": input should be an object"),
        ("{}", ": comparison: is missing; this is not the JSON of a comparison"),
        ('{"comparison": NaN}', ": NaN is no JSON number"),
        ('{"comparison": ' + "9" * 5000 + "}", ": holds a number of too many digits"),
        ("[" * 100_000, ": is nested too deep"),
        (a_comparison() | {"replays": []}, ": replays: list should have at least 1 item"),
        (a_comparison(a_replay(cost_usd=-1)), ": replays[0].cost_usd: input should be greater than or equal to 0"),
        (a_comparison(a_replay(cost_usd="0.1")), ": replays[0].cost_usd: input should be a valid number"),
        (a_comparison(a_replay(kept=True)), ": replays[0].kept: input should be a valid integer"),
        (a_comparison(a_replay(status="fine")), ": replays[0].status: input should be 'queued'"),
        (a_comparison(a_replay(kept=3)), ": replays[0]: 3 of 2 facts, probes or turns cannot be"),
        (a_comparison(a_replay(probes=[{"fact": 1}])), ": replays[0].probes[0].fact: input should be a valid string"),
    ],
)  # fmt: skip
def test_anything_else_is_refused_in_one_line_with_its_place(tmp_path: Path, value: Any, told: str) -> None:
    assert complaint(tmp_path, value).startswith(told)


def test_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    for path, told in ((tmp_path / "none.json", "there is no such file"), (tmp_path, "this is not a file")):
        with pytest.raises(InputError, match=told):
            read_baseline(path)
    (tmp_path / "latin.json").write_bytes(b'{"title": "\xe9"}')
    with pytest.raises(InputError, match="is not UTF-8 text"):
        read_baseline(tmp_path / "latin.json")


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(baseline, "MAX_BYTES", 10)
    assert "at most 0 MB are read" in complaint(tmp_path, a_comparison())


def test_half_a_surrogate_pair_that_a_model_wrote_does_not_matter(tmp_path: Path) -> None:
    value = a_comparison(a_replay(probes=[a_probe(answer="caf\ud83d")]))
    assert "\\ud83d" in json.dumps(value)
    found = read_baseline(written(tmp_path, value))
    assert found["replays"][0]["probes"][0]["answer"] == "caf?"

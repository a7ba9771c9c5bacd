"""JUnit XML and the Markdown summary, from comparisons that hold what XML and Markdown cannot."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdash.assertions import Checked, parse_assertion
from memdash.cli import summary
from memdash.cli.exits import FAILED, OK, OUT_OF_BUDGET
from memdash.cli.junit import junit_xml
from memdash.cli.summary import summary_markdown
from memdash.metrics.changes import changes_between
from tests.comparisons import a_comparison, a_probe, a_replay

HELD = Checked(parse_assertion("recall>=1"), "window of 4", "trip", None)
BROKEN = Checked(parse_assertion("kept>=2"), "a|b", "trip", "assertion failed: kept>=2: a|b: kept is 1")


def test_every_way_to_end_has_its_place_in_junit() -> None:
    replays = [
        a_replay(status, status=status, errors=["why"] if status != "done" else [])
        for status in ("done", "rejected", "failed", "stopped_by_budget", "cancelled", "interrupted")
    ]
    root = ET.fromstring(junit_xml(a_comparison(*replays), []))
    found = {case.get("name"): [one.tag for one in case] for case in root.iter("testcase")}
    assert found == {
        "done": [],
        "rejected": ["system-out"],  # a result; an assertion may fail it
        "failed": ["failure"],
        "stopped_by_budget": ["error"],
        "cancelled": ["error"],
        "interrupted": ["error"],
    }
    counts = [(one.get("tests"), one.get("failures"), one.get("errors")) for one in root.iter("testsuite")]
    assert counts == [("6", "1", "3")]


def test_assertions_are_a_suite_of_their_own_and_the_whole_counts_both() -> None:
    root = ET.fromstring(junit_xml(a_comparison(), [HELD, BROKEN]))
    assert [suite.get("name") for suite in root] == ["A trip: replays", "A trip: assertions"]
    assert (root.get("tests"), root.get("failures")) == ("3", "1")
    failure = root.find(".//failure")
    assert failure is not None
    assert (failure.get("type"), failure.text) == ("assertion", BROKEN.failure)


@given(st.text(st.characters(exclude_categories=()), max_size=40))
def test_any_text_of_a_script_or_a_model_makes_valid_xml(text: str) -> None:
    replay = a_replay(f"w{text}", script=f"s{text}", status="failed", errors=[text or "-"])
    written = junit_xml(a_comparison(replay, title=f"t{text}"), [HELD._replace(label=text, failure=text)])
    root = ET.fromstring(written.encode())  # no character that XML or UTF-8 does not have
    assert len(list(root.iter("testcase"))) == 2


def test_markup_stays_text_in_xml_and_in_the_summary() -> None:
    label = "<script>alert(1)</script> | **bold** ]]> \x1b[31m"
    comparison = a_comparison(a_replay(label, probes=[a_probe()]))
    root = ET.fromstring(junit_xml(comparison, []))
    case = root.find(".//testcase")
    assert case is not None
    assert case.get("name") == label.replace("\x1b", " ")
    after = a_comparison(
        a_replay(label, probes=[a_probe(passed=False, answer="<img src=x> @everyone")]), title="<b>"
    )
    told = summary_markdown(
        after,
        [HELD._replace(failure=f"assertion failed: {label}")],
        changes_between(comparison, after),
        FAILED,
    )
    assert "<script>" not in told.replace("\\<script", "")
    assert "<img" not in told.replace("\\<img", "")
    assert "\x1b" not in told
    assert "@everyone" not in told  # a mention would send a message


def test_the_summary_begins_with_what_matters() -> None:
    told = summary_markdown(a_comparison(), [HELD, BROKEN], None, FAILED)
    assert told.startswith(
        "## A trip\n\n**Failed**: 1 of 2 checks did not hold; 1 replay (1 done).\n\n- kept\\>=2: a\\|b: kept is 1\n"
    )
    assert "**Passed**: 1 check held" in summary_markdown(a_comparison(), [HELD], None, OK)
    assert "**Stopped by the budget**: nothing was asserted" in summary_markdown(
        a_comparison(), [], None, OUT_OF_BUDGET
    )


def test_a_summary_is_cut_before_it_is_too_long_for_github(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summary, "MAX_BYTES", 3000)
    replays = [a_replay(f"größe {number}", params={"keep": number}) for number in range(200)]
    told = summary_markdown(a_comparison(*replays), [], None, OK)
    assert len(told.encode()) <= 3000
    assert told.rstrip().endswith("The whole result is in --format json.")

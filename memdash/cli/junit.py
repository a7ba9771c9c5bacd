"""What a run came to as JUnit XML, which CI systems show case by case: one a replay, one an assertion and what it speaks of."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree import ElementTree as ET

from memdash.assertions import Checked
from memdash.records import Status
from memdash.tables.lines import one_line

_ENDED = frozenset((Status.DONE, Status.REJECTED))
"""A rejected replay is a result, and fails nothing by itself."""
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that no XML document may hold, not even escaped (XML 1.0, production Char)."""


def junit_xml(comparison: Mapping[str, Any], checked: Sequence[Checked]) -> str:
    """Return the document for a comparison of the JSON contract and its assertions."""
    root = ET.Element("testsuites", name="memdash")
    _suite(
        root, f"{comparison['title']}: replays", comparison, [_replay(one) for one in comparison["replays"]]
    )
    if checked:
        _suite(root, f"{comparison['title']}: assertions", comparison, [_assertion(one) for one in checked])
    _count(root, list(root.iter("testcase")))
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _suite(root: ET.Element, name: str, comparison: Mapping[str, Any], cases: Sequence[ET.Element]) -> None:
    suite = ET.SubElement(root, "testsuite", name=_attribute(name))
    suite.set("timestamp", _attribute(comparison["created_at"].removesuffix("Z")))
    _count(suite, cases)
    properties = ET.SubElement(suite, "properties")
    for key in ("comparison", "token_counter"):
        ET.SubElement(properties, "property", name=key, value=_attribute(comparison[key]))
    ET.SubElement(
        properties, "property", name="basis", value=_attribute(comparison["versions"].get("rules", ""))
    )
    suite.extend(cases)


def _replay(replay: Mapping[str, Any]) -> ET.Element:
    case = _case(replay["script"], replay["label"])
    status = Status(replay["status"])
    told = "; ".join(replay["errors"]) or status.value.replace("_", " ")
    if status is Status.FAILED:
        _problem(case, "failure", status, told)
    elif status not in _ENDED:
        _problem(case, "error", status, told)
    elif status is Status.REJECTED:
        ET.SubElement(case, "system-out").text = _text(f"rejected: {told}")
    return case


def _assertion(checked: Checked) -> ET.Element:
    case = _case(checked.script, f"{checked.assertion.source}: {checked.label}")
    if checked.failure is not None:
        _problem(case, "failure", "assertion", checked.failure)
    return case


def _case(script: str, name: str) -> ET.Element:
    return ET.Element("testcase", classname=_attribute(f"memdash.{script}"), name=_attribute(name))


def _problem(case: ET.Element, tag: str, kind: str, told: str) -> None:
    problem = ET.SubElement(case, tag, type=str(kind), message=_attribute(told))
    problem.text = _text(told)


def _count(element: ET.Element, cases: Sequence[ET.Element]) -> None:
    element.set("tests", str(len(cases)))
    for name, tag in (("failures", "failure"), ("errors", "error")):
        element.set(name, str(sum(case.find(tag) is not None for case in cases)))
    element.set("skipped", "0")


def _attribute(text: str) -> str:
    return _text(one_line(text))


def _text(text: str) -> str:
    return _NOT_IN_XML.sub("\ufffd", text)

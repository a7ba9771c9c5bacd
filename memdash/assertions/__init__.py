"""Assertions over the replays of a comparison: ``recall>=1``, ``window of 4: wait_ms.p95<=9000``, ``cost_usd<=1.05*baseline``.

An assertion names one field of a replay as ``--format json`` prints it, or of a group of repeats (``loss_high`` is its ``loss``'s
``high``), compares it with a value and holds for every replay or group, or for those of one label. A field that is null (no
probes, an unknown price, something the server does not report) fails: what was not measured has not been shown to hold. In place
of a value may stand what the same replay or group came to in a baseline, another comparison.
"""

from memdash.assertions.baseline import Baseline, check_comparable
from memdash.assertions.checking import Checked, check, check_labels, failures
from memdash.assertions.expression import Assertion, Relative, parse_assertion
from memdash.assertions.fields import GROUP_FIELDS

__all__ = [
    "GROUP_FIELDS",
    "Assertion",
    "Baseline",
    "Checked",
    "Relative",
    "check",
    "check_comparable",
    "check_labels",
    "failures",
    "parse_assertion",
]

"""That the benchmark of the first start runs: a fresh server and a fresh database come to a first chart."""

from __future__ import annotations

import re
import subprocess
import sys

from tests.browser.conftest import ROOT


def test_the_first_start_is_measured_against_a_bare_page() -> None:
    # A process of its own: a second Playwright does not start beside that of the other tests.
    command = [sys.executable, "-m", "tests.benchmarks.first_start", "--rounds", "1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=170, check=False)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^ratio: \d+\.\d\d ", done.stdout, re.M), done.stdout

"""The examples of docs/ci.md, run as they stand there: the client that edits its history fails, the mended one passes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml

from tests.simulator.test_typescript import installed

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[1]
EDITS, ADDS = "edits its history", "only adds to its history"


def example(name: str, document: str = "docs/ci.md") -> str:
    """The code block after ``<!-- name -->``."""
    text = (ROOT / document).read_text("utf-8")
    found = re.search(rf"<!-- {re.escape(name)} -->\n```\w+\n(.*?)```", text, re.DOTALL)
    assert found, f"{document} has no code block after <!-- {name} -->"
    return found[1]


@pytest.mark.parametrize("name", ["conftest.py", "test_history.py", "simulator.ts", "history.test.ts"])
def test_the_readme_shows_the_suites_that_are_run_here(name: str) -> None:
    assert example(name, "README.md") == example(name)


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment with a ``memdash`` command on its path, as an installed package has."""
    command = tmp_path_factory.mktemp("bin") / "memdash"
    command.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m memdash "$@"\n', "utf-8")
    command.chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    return kept | {"PATH": f"{command.parent}{os.pathsep}{os.environ['PATH']}"}


def run_pytest(folder: Path, environment: dict[str, str], assistant: str) -> subprocess.CompletedProcess[str]:
    suite = folder / "suite"
    suite.mkdir()
    (suite / "assistant.py").write_text(assistant, "utf-8")
    for name in ("conftest.py", "test_history.py"):
        (suite / name).write_text(example(name), "utf-8")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(suite),
        str(suite),
    ]
    return subprocess.run(
        command, cwd=suite, env=environment, capture_output=True, text=True, timeout=120, check=False
    )


def test_with_pytest_the_client_that_edits_its_history_fails(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    done = run_pytest(tmp_path, environment, example(f"assistant.py, {EDITS}"))
    assert done.returncode == 1, done.stdout + done.stderr
    assert "The block is bound to a different conversation" in done.stdout
    assert "The system prompt has changed since the block was created" in done.stdout


def test_with_pytest_the_mended_client_passes(tmp_path: Path, environment: dict[str, str]) -> None:
    done = run_pytest(tmp_path, environment, example(f"assistant.py, {ADDS}"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


def test_without_thinking_to_be_refused_the_check_still_finds_the_edit(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    """The assistant that keeps the answer's text alone, of which the text under the examples speaks."""
    assistant = example(f"assistant.py, {EDITS}")
    kept = '{"role": "assistant", "content": answer.content}'
    assert kept in assistant
    texts = '[block for block in answer.content if block.type == "text"]'
    assistant = assistant.replace(kept, f'{{"role": "assistant", "content": {texts}}}')
    done = run_pytest(tmp_path, environment, assistant)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "bound to a different conversation" not in done.stdout
    assert "line 2, after line 1: system.0 changed" in done.stdout
    assert re.search(r"before: You plan trips\. It is [\d:.]+", done.stdout)


# -- the workflow that compares with a baseline -----------------------------------------------------------------------------

WORKFLOW = ".github/workflows/memory.yml"


@pytest.fixture(scope="module")
def committed(tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str]) -> Path:
    """What lies in the repository: the run, the strategy and the baseline."""
    folder = tmp_path_factory.mktemp("committed")
    (folder / "memdash.yaml").write_text(example("memdash.yaml"), "utf-8")
    (folder / "memory.py").write_text(example("example strategy", "README.md"), "utf-8")
    made = run_steps(folder, environment, [example("make the baseline")])
    assert made.returncode == 0, made.stderr
    (folder / "ci.duckdb").unlink()
    return folder


@pytest.fixture
def repository(tmp_path: Path, committed: Path) -> Path:
    """A checkout of it."""
    return Path(shutil.copytree(committed, tmp_path / "repository"))


def run_steps(
    folder: Path, environment: dict[str, str], steps: list[str]
) -> subprocess.CompletedProcess[str]:
    """Run shell steps as GitHub does, with a summary and a database of their own."""
    own = {"GITHUB_STEP_SUMMARY": str(folder / "summary.md"), "MEMDASH_DB": str(folder / "ci.duckdb")}
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", "\n".join(steps)],
        cwd=folder,
        env=environment | own,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def run_workflow(folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run the workflow's own steps; memdash is installed already."""
    workflow = yaml.safe_load(example(WORKFLOW))
    steps = [step["run"] for step in workflow["jobs"]["compare"]["steps"] if "run" in step]
    assert steps[0] == "pip install memdash"
    return run_steps(folder, environment, steps[1:])


def told(failure: str) -> None:
    assert failure in (ROOT / "docs/ci.md").read_text("utf-8"), failure


def test_the_workflow_passes_a_pull_request_that_changes_nothing(
    repository: Path, environment: dict[str, str]
) -> None:
    done = run_workflow(repository, environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert "**Passed**: all 8 checks held" in (repository / "summary.md").read_text("utf-8")
    assert ET.parse(repository / "memdash.xml").getroot().get("failures") == "0"


def test_the_workflow_fails_a_pull_request_that_loses_facts(
    repository: Path, environment: dict[str, str]
) -> None:
    strategy = repository / "memory.py"
    strategy.write_text(strategy.read_text("utf-8").replace("pop(1)", "pop(0)"), "utf-8")
    done = run_workflow(repository, environment)
    assert done.returncode == 1
    told(done.stderr)
    assert "1 fact was lost (bookends)" in (repository / "summary.md").read_text("utf-8")
    assert ET.parse(repository / "memdash.xml").getroot().get("failures") == "2"


def test_the_workflow_fails_a_pull_request_that_costs_more(
    repository: Path, environment: dict[str, str]
) -> None:
    run = repository / "memdash.yaml"
    run.write_text(run.read_text("utf-8").replace("last=3", "last=8"), "utf-8")
    done = run_workflow(repository, environment)
    assert done.returncode == 1
    told(done.stderr)
    assert "cost rose in 1 (most by +21 %, bookends, last 8)" in (repository / "summary.md").read_text(
        "utf-8"
    )


def run_vitest(
    folder: Path, environment: dict[str, str], assistant: str, packages: Path
) -> subprocess.CompletedProcess[str]:
    suite = folder / "suite"
    suite.mkdir()
    shutil.copy(packages / "package.json", suite)
    (suite / "node_modules").symlink_to(packages / "node_modules", target_is_directory=True)
    (suite / "assistant.ts").write_text(assistant, "utf-8")
    for name in ("simulator.ts", "history.test.ts"):
        (suite / name).write_text(example(name), "utf-8")
    return subprocess.run(
        ["node", "node_modules/vitest/vitest.mjs", "run", "--no-color"],
        cwd=suite,
        env=environment,
        capture_output=True,
        text=True,
        timeout=150,
        check=False,
    )


@pytest.fixture
def packages(pytestconfig: pytest.Config) -> Path:
    """The folder with the TypeScript SDK and vitest."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip("node and npm are not installed")
    assert pytestconfig.cache is not None
    return installed(Path(pytestconfig.cache.mkdir("memdash-typescript")))


@pytest.mark.node
def test_with_vitest_the_client_that_edits_its_history_fails(
    tmp_path: Path, environment: dict[str, str], packages: Path
) -> None:
    done = run_vitest(tmp_path, environment, example(f"assistant.ts, {EDITS}"), packages)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "The block is bound to a different conversation" in done.stdout + done.stderr


@pytest.mark.node
def test_with_vitest_the_mended_client_passes(
    tmp_path: Path, environment: dict[str, str], packages: Path
) -> None:
    done = run_vitest(tmp_path, environment, example(f"assistant.ts, {ADDS}"), packages)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"Tests\s+1 passed", done.stdout), done.stdout

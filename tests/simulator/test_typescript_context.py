"""Compaction, context editing and cache diagnostics with the official TypeScript SDK over HTTP."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.simulator.test_typescript import HERE, installed

pytestmark = pytest.mark.node


@pytest.fixture(scope="module")
def seen(simulator_server: str, pytestconfig: pytest.Config) -> dict[str, Any]:
    """Run the calls of ``typescript/context.mjs`` and return what came back."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip("node and npm are not installed")
    assert pytestconfig.cache is not None
    folder = installed(Path(pytestconfig.cache.mkdir("memdash-typescript")))
    shutil.copy(HERE / "context.mjs", folder)
    done = subprocess.run(
        ["node", "context.mjs", simulator_server],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def kinds(message: dict[str, Any]) -> list[str]:
    return [block["type"] for block in message["content"]]


def iterations(message: dict[str, Any]) -> list[str]:
    return [one["type"] for one in message["usage"]["iterations"]]


@pytest.mark.parametrize("way", ["threshold", "thresholdStreamed"])
def test_a_threshold_compaction(seen: dict[str, Any], way: str) -> None:
    message = seen[way]
    assert kinds(message) == ["compaction", "thinking", "text"]
    assert iterations(message) == ["compaction", "message"]
    assert "7,300" in message["content"][0]["content"]
    assert message["usage"]["input_tokens"] < 5_000 < message["usage"]["iterations"][0]["input_tokens"]
    assert message["context_management"] == {"applied_edits": []}


def test_the_block_goes_back_as_it_came(seen: dict[str, Any]) -> None:
    assert iterations(seen["after"]) == ["message"]
    assert seen["after"]["usage"]["input_tokens"] < 5_000


@pytest.mark.parametrize("way", ["onDemand", "onDemandStreamed"])
def test_a_compaction_on_demand(seen: dict[str, Any], way: str) -> None:
    message = seen[way]
    assert (kinds(message), message["stop_reason"]) == (["compaction"], "compaction")
    assert message["content"][0]["signature"]
    assert iterations(message) == ["compaction"]
    assert message["usage"]["output_tokens"] == 0


def test_its_block_replaces_the_conversation_and_may_not_be_altered(seen: dict[str, Any]) -> None:
    assert "7,300" in seen["resumed"]["content"][-1]["text"]
    assert seen["altered"] == {"status": 400, "details": {"error_code": "compaction_content_mismatch"}}


@pytest.mark.parametrize("way", ["cleared", "clearedStreamed"])
def test_what_was_cleared_is_reported(seen: dict[str, Any], way: str) -> None:
    (edit,) = seen[way]["context_management"]["applied_edits"]
    assert (edit["type"], edit["cleared_tool_uses"]) == ("clear_tool_uses_20250919", 3)
    counted = seen["counted"]
    assert counted["input_tokens"] == seen[way]["usage"]["input_tokens"]
    original = counted["context_management"]["original_input_tokens"]
    assert original == counted["input_tokens"] + edit["cleared_input_tokens"]


def test_a_diagnosis(seen: dict[str, Any]) -> None:
    assert seen["firstDiagnosis"] is None
    reason = seen["diagnosis"]["cache_miss_reason"]
    assert reason == {"type": "system_changed", "cache_missed_input_tokens": 0}

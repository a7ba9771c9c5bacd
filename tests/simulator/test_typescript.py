"""The official TypeScript SDK against the simulator over HTTP."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.node

HERE = Path(__file__).with_name("typescript")


@pytest.fixture(scope="module")
def seen(simulator_server: str, pytestconfig: pytest.Config) -> dict[str, Any]:
    """Run the calls of ``typescript/calls.mjs`` and return what came back."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip("node and npm are not installed")
    assert pytestconfig.cache is not None
    folder = installed(Path(pytestconfig.cache.mkdir("memdash-typescript")))
    shutil.copy(HERE / "calls.mjs", folder)
    done = subprocess.run(
        ["node", "calls.mjs", simulator_server],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def installed(cache: Path) -> Path:
    """Return a folder with the locked packages, installed once per lock file."""
    lock = (HERE / "package-lock.json").read_bytes()
    folder = cache / hashlib.sha256(lock).hexdigest()[:16]
    if folder.is_dir():
        return folder
    with tempfile.TemporaryDirectory(dir=cache) as scratch:
        fresh = Path(scratch) / "fresh"
        fresh.mkdir()
        for name in ("package.json", "package-lock.json"):
            shutil.copy(HERE / name, fresh)
        install = ["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"]
        done = subprocess.run(install, cwd=fresh, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode != 0 and "CI" not in os.environ:
            pytest.skip(f"npm could not install the TypeScript SDK: {done.stderr.strip()[-300:]}")
        assert done.returncode == 0, done.stderr
        try:
            fresh.rename(folder)
        except OSError:  # another test process was faster
            assert folder.is_dir()
    return folder


def test_a_message(seen: dict[str, Any]) -> None:
    assert seen["message"]["stop_reason"] == "end_turn"
    assert seen["message"]["content"][-1]["type"] == "text"
    assert seen["message"]["usage"]["input_tokens"] > 0


def test_a_stream_builds_the_same_message(seen: dict[str, Any]) -> None:
    assert seen["streamed"]["content"] == seen["message"]["content"]
    assert seen["streamed"]["stop_reason"] == "end_turn"
    assert seen["streamed"]["usage"]["output_tokens"] == seen["message"]["usage"]["output_tokens"]
    assert seen["kinds"][0] == "message_start"
    assert seen["kinds"][-2:] == ["message_delta", "message_stop"]


def test_a_tool_call(seen: dict[str, Any]) -> None:
    call = seen["toolUse"]["content"][-1]
    assert seen["toolUse"]["stop_reason"] == "tool_use"
    assert (call["name"], call["input"]) == ("look_up", {"word": "spring \N{TULIP}"})


def test_tokens_are_counted_as_they_are_billed(seen: dict[str, Any]) -> None:
    assert seen["counted"]["input_tokens"] == seen["message"]["usage"]["input_tokens"]


def test_models(seen: dict[str, Any]) -> None:
    assert "claude-opus-5-5" in seen["models"]
    assert len(set(seen["models"])) == len(seen["models"]) > 2
    assert (seen["model"]["id"], seen["model"]["max_input_tokens"]) == ("claude-opus-5-5", 1_000_000)


def test_a_refusal(seen: dict[str, Any]) -> None:
    refusal = seen["refusal"]
    assert refusal["isBadRequest"]
    assert (refusal["status"], refusal["type"]) == (400, "invalid_request_error")
    assert refusal["requestId"].startswith("req_")
    assert "message" in refusal["message"]


def test_beta_fields(seen: dict[str, Any]) -> None:
    assert seen["inputTransformations"] == []

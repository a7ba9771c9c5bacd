"""A person's own key: used for the run it was given for, and written down nowhere."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest

from memdash.children import Children
from memdash.errors import InputError
from memdash.launch import Key, Launch
from memdash.records import Status
from memdash.spec import Provider
from memdash.store import Store
from memdash.worker import Worker
from tests.claude.test_live import TEXT, Server, stream
from tests.store.samples import a_comparison, a_script

PATIENCE = 60.0
OF_THE_SERVER, OF_ANN = "sk-ant-of-the-server", "sk-ant-of-ann-7Hx2"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    answering = Server()
    monkeypatch.setenv("ANTHROPIC_BASE_URL", answering.url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", OF_THE_SERVER)
    yield answering
    answering.close()


def test_a_key_shows_itself_to_nobody() -> None:
    key = Key(f"  {OF_ANN}\n")
    assert key.reveal() == OF_ANN
    for shown in (repr(key), str(key), f"{key}", repr(Launch("ann", key)), str([key])):
        assert OF_ANN not in shown
    for write in (pickle.dumps, copy.deepcopy, json.dumps):
        with pytest.raises(TypeError):
            write(key)  # type: ignore[operator]


@pytest.mark.parametrize(
    "text", ["", "short", "two words", "line\nbreak-line", 'quo"ted-key', "schlüssel-42", "x" * 401]
)
def test_what_cannot_be_a_key_is_refused_without_being_repeated(text: str) -> None:
    with pytest.raises(InputError, match="that is no API key") as refused:
        Key(text)
    assert text == "" or text not in str(refused.value)


def test_a_run_with_a_key_of_ones_own_is_made_with_it_and_with_no_other(
    server: Server, tmp_path: Path
) -> None:
    server.says(stream(TEXT, usage={"input_tokens": 100}, delta_usage={"output_tokens": 20}))
    path = tmp_path / "memdash.duckdb"
    own = a_comparison("full_history", turns=2, provider=Provider.ANTHROPIC)
    with Store.open(path) as store, Worker(store, children=Children(1)) as worker:
        worker.submit(own, Launch("ann", Key(OF_ANN)))
        assert worker.wait(own.id, PATIENCE)
        assert [one.status for one in worker.progress(own.id)] == [Status.DONE]
        assert server.headers
        assert all(OF_ANN in str(one) and OF_THE_SERVER not in str(one) for one in server.headers)
        server.headers.clear()
        other = a_comparison("full_history", turns=2, provider=Provider.ANTHROPIC)
        worker.submit(other)
        assert worker.wait(other.id, PATIENCE)
        assert server.headers
        assert all(OF_THE_SERVER in str(one) and OF_ANN not in str(one) for one in server.headers)
    assert not [file for file in tmp_path.iterdir() if OF_ANN.encode() in file.read_bytes()]


def test_a_server_that_repeats_the_key_does_not_get_it_written_down(
    server: Server, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    said = {
        "type": "error",
        "error": {"type": "authentication_error", "message": f"invalid key {OF_ANN} given"},
    }
    server.says(json.dumps(said).encode(), status=401, kind="application/json")
    path, spec = (
        tmp_path / "memdash.duckdb",
        a_comparison("full_history", scripts=(a_script(),), provider=Provider.ANTHROPIC),
    )
    with Store.open(path) as store, Worker(store, children=Children(1)) as worker:
        worker.submit(spec, Launch("ann", Key(OF_ANN)))
        assert worker.wait(spec.id, PATIENCE)
        (end,) = worker.progress(spec.id)
        assert "invalid key [key] given" in (end.message or "")
        assert OF_ANN not in str(store.replay_logs(spec.id))
    assert not [file for file in tmp_path.iterdir() if OF_ANN.encode() in file.read_bytes()]
    assert OF_ANN not in caplog.text


def test_a_fault_of_our_own_does_not_log_the_key(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def play(spec: object, journal: object, gate: object, key: Key) -> Iterator[object]:
        raise RuntimeError(f"no luck with {key.reveal()}")
        yield

    spec = a_comparison("full_history", provider=Provider.ANTHROPIC)
    with (
        Store.open(tmp_path / "db.duckdb") as store,
        Worker(store, children=Children(1), play=play) as worker,
    ):  # type: ignore[arg-type]
        worker.submit(spec, Launch(None, Key(OF_ANN)))
        assert worker.wait(spec.id, PATIENCE)
        (end,) = worker.progress(spec.id)
    assert (end.status, end.message) == (Status.FAILED, "RuntimeError: no luck with [key]")
    assert "no luck with [key]" in caplog.text
    assert OF_ANN not in caplog.text

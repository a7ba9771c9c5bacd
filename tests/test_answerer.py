"""Who answers a live replay, told without its address."""

from __future__ import annotations

import pytest

from memdash.answerer import (
    VERSION_KEY,
    Answerer,
    check_answerer,
    check_key,
    has_key,
    present_answerer,
    recorded_answerer,
)
from memdash.errors import InputError
from memdash.records import Status
from memdash.spec import ComparisonSpec, Provider
from memdash.store import Store
from memdash.store.store import MEMORY, as_launched_now
from memdash.strategies import choose
from memdash.worker import Worker
from tests.builders import script

SECRET = "https://user:s3cret@gateway.example/t0ken"


@pytest.mark.parametrize(
    ("address", "answerer"),
    [
        (None, Answerer.LIVE_API),
        ("https://api.anthropic.com", Answerer.LIVE_API),
        ("https://api.anthropic.com/", Answerer.LIVE_API),
        ("http://127.0.0.1:8787", Answerer.COMPATIBLE),
        ("http://api.anthropic.com", Answerer.COMPATIBLE),
        ("https://api.anthropic.com.example", Answerer.COMPATIBLE),
        ("https://example/api.anthropic.com", Answerer.COMPATIBLE),
        (SECRET, Answerer.COMPATIBLE),
        ("http://[::1", Answerer.COMPATIBLE),
    ],
)
def test_only_the_apis_own_address_is_the_live_api(
    address: str | None, answerer: Answerer, monkeypatch: pytest.MonkeyPatch
) -> None:
    if address is not None:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", address)
    assert present_answerer() is answerer


def test_a_live_comparison_keeps_the_kind_of_server_and_nothing_of_its_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", SECRET)
    spec = ComparisonSpec((script(),), (choose("full_history"),))
    assert VERSION_KEY not in as_launched_now(spec).versions
    live = as_launched_now(
        ComparisonSpec(spec.scripts, spec.strategies, provider=Provider.ANTHROPIC, budget=1)
    )
    assert recorded_answerer(live.versions) is Answerer.COMPATIBLE
    assert "s3cret" not in str(live)
    assert "t0ken" not in str(live)
    assert "gateway" not in str(live)


def test_what_was_kept_before_is_not_recorded() -> None:
    assert recorded_answerer({"memdash": "0.1.0"}) is Answerer.NOT_RECORDED
    assert recorded_answerer({VERSION_KEY: "something else"}) is Answerer.NOT_RECORDED


def test_a_comparison_does_not_go_on_with_another_kind_of_server(monkeypatch: pytest.MonkeyPatch) -> None:
    check_answerer({VERSION_KEY: Answerer.LIVE_API.value})
    check_answerer({})
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:8787")
    check_answerer({VERSION_KEY: Answerer.COMPATIBLE.value})
    with pytest.raises(InputError, match="begun with the live API, and now a compatible server would answer"):
        check_answerer({VERSION_KEY: Answerer.LIVE_API.value})


def test_a_key_is_asked_for_by_name_and_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not has_key()
    with pytest.raises(InputError, match="a confirmation needs a key: set ANTHROPIC_API_KEY"):
        check_key("a confirmation")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    check_key("a confirmation")
    assert has_key()


def test_the_worker_refuses_to_resume_with_another_server(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = ComparisonSpec(
        (script(),), (choose("full_history"),), provider=Provider.ANTHROPIC, budget=1.0, repeats=1
    )
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:8787")
    with Store.open(MEMORY) as store, Worker(store) as worker:
        store.save_comparison(spec)
        (replay,) = spec.replays()
        store.append_state(replay.id, Status.CANCELLED)
        monkeypatch.delenv("ANTHROPIC_BASE_URL")
        with pytest.raises(InputError, match="begun with a compatible server"):
            worker.resume(spec.id)
        assert worker.running() == []
        (log,) = store.replay_logs(spec.id)
        assert log.statuses[-1].status is Status.CANCELLED

"""A team's instance in its pages: who sees what, and what is refused where it happens, whatever the page showed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from memdash.access import Access
from memdash.errors import InputError
from memdash.launch import Key, Launch
from memdash.records import Status
from memdash.spec import ComparisonSpec, Provider
from memdash.spending import Entry, EntryKind
from memdash.store import Store
from memdash.views import people
from memdash.views.state import services
from tests.claude.test_live import TEXT, Server, stream
from tests.test_access import AUTH
from tests.views.samples import sample_spec, store_sample
from tests.views.test_pages import texts

VIEWS = Path(people.__file__).parent
ANN = {"is_logged_in": True, "email": "ann@example.com", "email_verified": True}
BEN = {"is_logged_in": True, "email": "ben@example.com", "email_verified": True}
OWN = "sk-ant-of-ann-7Hx2"


def team(**settings: Any) -> dict[str, Any]:
    return {"auth": AUTH, "memdash": {"runners": ["ann@example.com"], **settings}}


def page(
    name: str, user: dict[str, Any] | None, secrets: dict[str, Any] | None = None, **query: str
) -> AppTest:
    at = AppTest.from_file(VIEWS / "main.py", default_timeout=30)
    at.secrets = secrets or team()
    at.user = {"is_logged_in": False} if user is None else user
    for key, value in query.items():
        at.query_params[key] = value
    at.run()
    if name != "compare":
        at.switch_page(f"{name}.py").run()
    assert not at.exception, at.exception
    return at


def live_spec(turns: int = 1) -> ComparisonSpec:
    """Full history of the sample, live."""
    spec = replace(sample_spec(turns=turns), provider=Provider.ANTHROPIC, budget=1.0)
    return replace(spec, strategies=spec.strategies[:1])


def buttons(at: AppTest) -> set[str]:
    return {one.key or "" for one in at.button}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    answering = Server()
    monkeypatch.setenv("ANTHROPIC_BASE_URL", answering.url)
    answering.says(stream(TEXT, usage={"input_tokens": 100}, delta_usage={"output_tokens": 20}))
    yield answering
    answering.close()


# -- signing in ----------------------------------------------------------------------------------------------------------


def test_whoever_has_not_signed_in_sees_nothing_but_the_way_in(store: Store) -> None:
    shown = store_sample(store, sample_spec(title="The secret plan"))
    at = page("compare", None, c=shown)
    assert "Sign in to memdash" in texts(at)
    assert "The secret plan" not in texts(at)
    assert buttons(at) == {"sign_in."}


def test_there_is_a_button_for_each_identity_provider(store: Store) -> None:
    shared = {key: AUTH[key] for key in ("redirect_uri", "cookie_secret")}
    client = {key: AUTH[key] for key in ("client_id", "client_secret", "server_metadata_url")}
    at = page("compare", None, {"auth": {**shared, "google": client, "okta": client}})
    assert buttons(at) == {"sign_in.google", "sign_in.okta"}


def test_without_sign_in_nobody_is_asked_for_anything(store: Store) -> None:
    store_sample(store, sample_spec())
    at = page("library", {}, {"memdash": {}})
    assert "Sign in" not in texts(at)
    assert at.get("button")


def test_the_account_page_says_who_one_is_and_what_that_means(store: Store) -> None:
    at = page("account", ANN)
    assert "ann@example.com" in texts(at)
    assert "Runner. Runners may also start live runs" in texts(at)
    assert "sign_out" in buttons(at)


# -- what only runners may do ----------------------------------------------------------------------------------------------


def acting(user: dict[str, Any] | None, *wanted: tuple[Any, ...]) -> list[str]:
    """Do what somebody asks for whose page shows no button for it; returns what was raised by each act, else ``done``."""

    def script() -> None:
        import streamlit as st

        from memdash.views import acts

        for act, *arguments in st.session_state["wanted"]:
            try:
                getattr(acts, act)(*arguments)
                st.text("done")
            except Exception as error:
                st.text(f"{type(error).__name__}: {error}")

    at = AppTest.from_function(script, default_timeout=30)
    at.secrets, at.user = team(), user or {"is_logged_in": False}
    at.session_state["wanted"] = wanted
    return [str(one.value) for one in at.run().text]


@pytest.mark.parametrize("user", [None, BEN])
def test_what_viewers_may_not_is_refused_where_it_happens(
    store: Store, user: dict[str, Any] | None, monkeypatch: pytest.MonkeyPatch, server: Server
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-of-the-server")
    shown = store_sample(store, sample_spec())
    stopped = store_sample(store, live_spec(turns=3), played=1, end=None)
    store.mark_interrupted()
    live = live_spec()
    told = acting(user, ("delete", shown), ("purge",), ("go_on", stopped), ("start", live))
    assert [one.partition(";")[0] for one in told] == [
        "NotAllowed: only runners may delete comparisons here",
        "NotAllowed: only runners may delete comparisons here",
        "NotAllowed: only runners may start live runs here",
        "NotAllowed: only runners may start live runs here",
    ]
    assert {one.id for one in store.comparisons()} == {shown, stopped}
    assert not server.bodies


def test_runners_may_and_who_started_it_is_kept(
    store: Store, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-of-the-server")
    live = live_spec()
    assert acting(ANN, ("start", live)) == ["done"]
    assert services().worker.wait(live.id, 60)
    store.flush()
    (started,) = store.started()
    assert (started.person, started.comparison_id, started.own_key) == ("ann@example.com", live.id, False)
    assert {one.person for one in store.expenses()} == {"ann@example.com"}
    assert acting(ANN, ("delete", live.id), ("purge",)) == ["done", "done"]
    assert store.comparisons() == []


def test_viewers_run_simulations(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Launch] = []
    monkeypatch.setattr(services().worker, "submit", lambda spec, launch: started.append(launch))
    assert acting(BEN, ("start", sample_spec())) == ["done"]
    assert started == [Launch("ben@example.com")]


def test_what_a_viewer_may_not_is_not_offered_either(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-of-the-server")
    shown = store_sample(store, sample_spec())
    for user, offered in ((ANN, True), (BEN, False)):
        at = page("compare", user, c=shown)
        providers = [one for one in at.get("button_group") if (one.key or "").endswith("provider")]
        assert bool(providers) is offered
        assert ("Live runs are started by runners." in texts(at)) is not offered
        at.session_state["confirm_menu"] = True
        assert ("Only runners may start live runs here" in texts(at.run())) is not offered
        at = page("library", user)
        at.session_state[f"menu.{shown}"] = True
        assert (f"delete.{shown}" in buttons(at.run())) is offered


def test_no_view_acts_but_through_the_module_that_checks() -> None:
    """Starting, resuming, deleting and erasing have one door; ``server.py`` starts the first comparison, for nobody."""
    for file in sorted(VIEWS.rglob("*.py")):
        if file.name in ("acts.py", "server.py"):
            continue
        ways = re.findall(r"(?:worker\.(?:submit|resume)|store\.(?:delete|purge))\b", file.read_text("utf-8"))
        assert ways == [], f"{file.name} does not go through memdash.views.acts"


# -- a key of one's own --------------------------------------------------------------------------------------------------


def key_field(at: AppTest) -> Any:
    (field,) = [one for one in at.text_input if (one.key or "").endswith(".key")]
    return field


def test_a_key_leaves_its_field_at_once_and_stands_nowhere_on_the_page(store: Store, database: Path) -> None:
    store_sample(store, sample_spec())
    at = page("compare", ANN)
    assert not [
        one for one in at.get("button_group") if (one.key or "").endswith("provider")
    ]  # nobody has a key yet
    key_field(at).set_value(OWN).run()
    assert not [one for one in at.text_input if (one.key or "").endswith(".key")]
    assert [one for one in at.get("button_group") if (one.key or "").endswith("provider")]
    assert all(OWN not in shown for shown in (texts(at), str(at.main), str(at.sidebar)))
    assert OWN not in str(at.session_state)  # the key itself shows itself to nobody
    (forget,) = [one for one in at.button if (one.key or "").endswith("forget_key")]
    forget.click().run()
    assert key_field(at).value == ""
    store.flush()
    assert not [file for file in database.parent.iterdir() if OWN.encode() in file.read_bytes()]


def test_a_slip_in_a_key_is_told_without_repeating_it(store: Store) -> None:
    store_sample(store, sample_spec())
    at = page("compare", ANN)
    key_field(at).set_value("not a key").run()
    assert "that is no API key" in texts(at)
    assert "not a key" not in texts(at)
    assert key_field(at).value == ""


def test_another_session_knows_nothing_of_a_key(store: Store) -> None:
    store_sample(store, sample_spec())
    key_field(page("compare", ANN)).set_value(OWN).run()
    other = page("compare", ANN)
    assert key_field(other).value == ""
    assert not [one for one in other.get("button_group") if (one.key or "").endswith("provider")]


def test_a_run_holds_the_key_of_its_session_while_it_runs_and_no_longer(store: Store, server: Server) -> None:
    import gc

    spec = live_spec()
    services().worker.submit(spec, Launch("ann@example.com", Key(OWN)))
    assert services().worker.wait(spec.id, 60)
    assert server.headers
    assert all(OWN in str(one) for one in server.headers)
    services().worker.close()  # its threads are over
    gc.collect()
    assert not [one for one in gc.get_objects() if isinstance(one, Key)]


def test_a_run_that_the_days_budget_stopped_says_so_and_can_be_resumed(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memdash.views.state.access", lambda: Access.read(team(day_budget=0.0)))
    live = live_spec()
    services().worker.submit(live, Launch("ann@example.com", Key(OWN)))
    assert services().worker.wait(live.id, 60)
    at = page("compare", ANN, c=live.id)
    assert "full history: the budget of the day stopped it before turn 1" in texts(at).replace("*", "")
    assert "pass the $0 that all live runs here may cost on" in texts(at)
    assert "resume" in buttons(at)
    looking = page("compare", BEN, c=live.id)
    assert "What was measured is kept, and a runner can let it go on from there." in texts(looking)
    assert "resume" not in buttons(looking)
    assert not server.bodies


def test_a_run_that_goes_on_has_not_got_back_what_was_under_way(store: Store, server: Server) -> None:
    """Its server was killed over a request that may have been billed: that counts against the comparison's own budget."""
    live = live_spec()
    store.save_comparison(live)
    store.append_states([one.id for one in live.replays()], Status.INTERRUPTED, "killed")
    lost = Entry(EntryKind.SET_ASIDE, datetime.now(UTC), live.id, model="claude-opus-5-5", usd=0.999)
    store.note_entries([lost])
    store.flush()
    services().worker.resume(live.id, Launch("ann@example.com", Key(OWN)))
    assert services().worker.wait(live.id, 60)
    assert {one.status for one in services().worker.progress(live.id)} == {Status.STOPPED_BY_BUDGET}
    assert not server.bodies


# -- spending ------------------------------------------------------------------------------------------------------------


def test_the_spending_page_adds_up_by_person_day_and_run(store: Store) -> None:
    shown = store_sample(store, sample_spec(title="Trip"))
    now = datetime.now(UTC)

    def paid(person: str | None, usd: float, comparison: str = shown) -> list[Entry]:
        asked = Entry(EntryKind.SET_ASIDE, now, comparison, person, model="claude-opus-5-5", usd=1.0)
        return [asked, asked.answered(EntryKind.PAID, usd)]

    store.note_entries(
        [Entry(EntryKind.STARTED, now, shown, "ann@example.com"), *paid("ann@example.com", 0.25)]
    )
    store.note_entries([*paid("ann@example.com", 0.5), *paid(None, 0.125, "cmp_gone")])
    store.flush()
    at = page("spending", BEN, team(day_budget=2.0))
    metrics = {one.label.replace("\\", ""): one.value.replace("\\", "") for one in at.metric}
    assert list(metrics.values()) == ["$0.8750 of $2.00", "$1.12", "$0.8750", "$0.8750"]
    assert f"Today, {now:%-d %b} (UTC)" in metrics
    by_person, by_run = at.dataframe[0].value, at.dataframe[1].value
    assert by_person["Person"].tolist() == ["ann@example.com", "not signed in"]
    assert by_person["Today"].tolist() == [0.75, 0.125]
    assert by_run["Comparison"].tolist() == ["Trip", "cmp_gone (deleted)"]
    assert by_run["Started by"].tolist()[0] == "ann@example.com"
    assert by_run["Cost"].sum() == by_person["In all"].sum() == 0.875


def test_before_anything_was_spent_the_page_says_so(store: Store) -> None:
    at = page("spending", ANN)
    assert "Nothing has been spent live" in texts(at)
    assert "No budget of a day is set" in texts(at)


def test_a_file_of_secrets_that_cannot_be_read_lets_nobody_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "secrets.toml"
    broken.write_text("[auth\nclient_id = 1")
    monkeypatch.setattr(st, "get_option", {"secrets.files": [str(broken)]}.__getitem__)
    monkeypatch.setattr(st.secrets, "load_if_toml_exists", lambda: False)
    with pytest.raises(InputError, match=r"secrets\.toml: cannot be read as TOML"):
        people.access()

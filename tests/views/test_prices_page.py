"""The Prices page without a browser: the table with its past and the user's own, and the what-if."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from memdash.store import Store
from tests.views.samples import sample_spec, store_sample
from tests.views.test_pages import page, texts

VIEWS = Path(__file__).resolve().parents[2] / "memdash" / "views"


def prices(**query: str | list[str]) -> AppTest:
    """Open the Prices page by a link."""
    at = AppTest.from_file(VIEWS / "main.py", default_timeout=30).switch_page("prices.py")
    for key, value in query.items():
        at.query_params[key] = value
    at.run()
    assert not at.exception, at.exception
    return at


def answer(at: AppTest) -> list[tuple[str, float, float | None, str]]:
    frame = next(one.value for one in at.dataframe if "what_if" in one.value)
    return list(frame[["setting", "charged", "what_if", "rank"]].itertuples(index=False, name=None))


# -- the table -------------------------------------------------------------------------------------------------------------


def test_a_price_that_was_replaced_stands_under_the_one_in_force_with_its_days() -> None:
    frame = prices().dataframe[0].value
    now, before = (
        frame[frame["Model"] == name].iloc[0] for name in ("claude-sonnet-5-5", "claude-sonnet-5-5, before")
    )
    assert (now["Read"], str(now["Since"])[:10]) == (0.10, "2026-10-07")
    assert (before["Read"], str(before["Since"])[:10], str(before["Until"])[:10]) == (
        0.20,
        "2026-09-28",
        "2026-10-06",
    )


def test_own_prices_are_marked_and_their_file_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = tmp_path / "mine.yaml"
    mine.write_text("models: {claude-opus-5-5: {read: 0.44}}", "utf-8")
    monkeypatch.setenv("MEMDASH_PRICES", str(mine))
    at = prices()
    frame = at.dataframe[0].value
    assert list(frame[frame["Own"]]["Model"]) == ["claude-opus-5-5"]
    assert f"Own prices of 1 model come from {mine} (MEMDASH_PRICES)." in texts(at)


def test_own_prices_that_cannot_be_read_are_said_on_every_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = tmp_path / "mine.yaml"
    mine.write_text("models: {claude-opus-5-5: {read: cheap}}", "utf-8")
    monkeypatch.setenv("MEMDASH_PRICES", str(mine))
    shown = texts(page("compare"))
    assert "models.claude-opus-5-5.read: 'cheap' is not a price in dollars per million tokens" in shown


# -- the what-if -----------------------------------------------------------------------------------------------------------


def test_without_a_comparison_the_page_says_what_to_do_first() -> None:
    assert "There is nothing to price yet" in texts(prices())


def test_nothing_is_answered_before_something_is_asked(store: Store) -> None:
    store_sample(store, sample_spec())
    at = prices()
    assert "Choose what would be different" in texts(at)
    assert len(at.get("plotly_chart")) == 0


def test_the_newest_comparison_is_priced_without_caching(store: Store) -> None:
    store_sample(store, sample_spec(title="An older one"))
    newest = store_sample(store, sample_spec(title="The newest"))
    at = prices()
    assert at.selectbox(key="whatif").value == newest
    at.segmented_control(key="life").set_value("off").run()
    assert not at.exception, at.exception
    rows = answer(at)
    assert [row[0] for row in rows] == [
        "full history",
        "window of 4",
        "window of 4 (naive)",
        "compaction at 2000",
    ]
    full, window, naive, compaction = rows
    assert full[2] is not None
    assert full[2] > full[1], "full history lives on its cache"
    assert (full[3], window[3], compaction[3]) == ("2 → 3", "3 → 1", "1 → 2")
    assert naive[3] == "–", "it was rejected, so it is not ranked"
    shown = texts(at)
    assert "With no caching window of 4, which kept 0 of 4 facts, becomes cheaper than" in shown
    assert "window of 4 (naive): not every turn was played, so it has no rank." in shown
    assert "Simulator rules of 2026-11-30, not yet compared with the live API" in shown
    assert len(at.get("plotly_chart")) == 1


def test_batch_halves_every_cost(store: Store) -> None:
    store_sample(store, sample_spec())
    at = prices()
    at.toggle(key="batch").set_value(True).run()
    assert [what_if for _, _, what_if, _ in answer(at)] == pytest.approx(
        [charged / 2 for _, charged, _, _ in answer(at)]
    )


def test_a_link_shows_the_same_terms(store: Store) -> None:
    old = store_sample(store, sample_spec(title="An older one"))
    store_sample(store, sample_spec(title="The newest"))
    at = prices(
        whatif=old, on="claude-opus-5", batch="1", price=["claude-opus-5:read=2.5", "claude-opus-5:raed=x"]
    )
    assert at.selectbox(key="whatif").value == old
    assert at.selectbox(key="on").value == "claude-opus-5"
    assert "Not used of the link: 'claude-opus-5:raed=x' is no price" in texts(at)
    assert at.query_params["price"] == "claude-opus-5:read=2.5"
    assert answer(at)[0][1] > 0


def test_a_link_to_a_comparison_that_is_gone_says_so(store: Store) -> None:
    store_sample(store, sample_spec())
    assert "Not used of the link: 'cmp_gone' is no comparison that is here" in texts(
        prices(whatif="cmp_gone")
    )


def test_a_model_of_another_tokenizer_can_be_run_instead(store: Store) -> None:
    store_sample(store, sample_spec(title="Ours"))
    at = prices(on="claude-haiku-4-5")
    shown = texts(at)
    assert "claude-haiku-4-5 has to run" in shown
    assert at.button(key="what_if_run").label.replace("\\", "") == "Run it on claude-haiku-4-5"
    at.button(key="what_if_run").click().run()
    newest = store.comparisons()[0]
    assert newest.title == "Ours, on claude-haiku-4-5"
    assert newest.models == ("claude-haiku-4-5",)


def test_a_price_that_is_changed_is_taken_at_once_and_stands_in_the_address(store: Store) -> None:
    store_sample(store, sample_spec())
    at = prices()
    read = next(one for one in at.number_input if one.label == "Read ($)")
    assert read.value == 0.2
    read.set_value(4.0).run()
    assert not at.exception, at.exception
    assert at.query_params["price"] == "claude-opus-5-5:read=4"
    assert answer(at)[0][2] > answer(at)[0][1]
    next(one for one in at.number_input if one.label == "Read ($)").set_value(0.2).run()
    assert "price" not in at.query_params
    assert "Choose what would be different" in texts(at)

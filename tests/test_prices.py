"""Money: worked by hand, in dollars per million tokens."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdash.errors import InputError
from memdash.prices import PriceTable, Tier
from memdash.records import Iteration, Purpose, RequestRecord, Usage

PRICES = PriceTable.load()

PUBLISHED = {
    "claude-opus-5-5": (4, 5, 8, 0.20, 20),
    "claude-sonnet-5-5": (2, 2.50, 4, 0.10, 10),
    "claude-sonnet-5": (2, 2.50, 4, 0.20, 10),
    "claude-haiku-5-5": (0.10, 0.125, 0.20, 0.01, 0.50),
    "claude-opus-5": (5, 6.25, 10, 0.50, 25),
    "claude-opus-4-8": (5, 6.25, 10, 0.50, 25),
    "claude-opus-4-7": (5, 6.25, 10, 0.50, 25),
    "claude-opus-4-6": (5, 6.25, 10, 0.50, 25),
    "claude-opus-4-5": (5, 6.25, 10, 0.50, 25),
    "claude-sonnet-4-6": (3, 3.75, 6, 0.30, 15),
    "claude-sonnet-4-5": (3, 3.75, 6, 0.30, 15),
    "claude-haiku-4-5": (1, 1.25, 2, 0.10, 5),
    "claude-fable-5": (10, 12.50, 20, 1, 50),
    "claude-mythos-5": (10, 12.50, 20, 1, 50),
    "claude-fable-5-1": (10, 12.50, 20, 0.25, 50),
    "claude-mythos-5-1": (10, 12.50, 20, 0.25, 50),
    "claude-fable-5-2": (8, 10, 16, 0.20, 40),
    "claude-mythos-5-2": (8, 10, 16, 0.20, 40),
}


def a_request(**fields: object) -> RequestRecord:
    given = {
        "seq": 1, "number": 0, "purpose": Purpose.TURN, "turn": 1, "step": 0, "model": "claude-opus-5-5", "options": {},
        "betas": (), "system_block": None, "tools_block": None, "base_request": None, "shared": 0, "entries": (),
        "started_ms": 0.0, "first_event_ms": None, "first_text_ms": None, "finished_ms": 1.0, "usage": Usage(),
    }  # fmt: skip
    return RequestRecord(**{**given, **fields})  # type: ignore[arg-type]


@pytest.mark.parametrize(("model", "prices"), PUBLISHED.items())
def test_every_model_has_its_five_published_prices(model: str, prices: tuple[float, ...]) -> None:
    price = PRICES.price(model)
    assert price is not None
    tier = price.tiers[0]
    assert (tier.input, tier.write_5m, tier.write_1h, tier.read, tier.output) == prices
    assert price.source


def test_the_table_holds_no_other_models() -> None:
    assert set(PRICES.models) == set(PUBLISHED)
    assert str(PRICES.checked) == "2026-11-30"


def test_a_request_is_charged_bucket_by_bucket() -> None:
    usage = Usage(
        input_tokens=1_000,
        cache_creation_input_tokens=3_000,
        ephemeral_5m_input_tokens=2_000,
        ephemeral_1h_input_tokens=1_000,
        cache_read_input_tokens=10_000,
        output_tokens=500,
    )
    # 1,000 × $4 + 2,000 × $5 + 1,000 × $8 + 10,000 × $0.20 + 500 × $20 = 34,000 / 10⁶
    assert PRICES.cost(usage, "claude-opus-5-5") == 0.034


def test_writes_without_their_lifetime_are_five_minute_writes() -> None:
    usage = Usage(input_tokens=0, cache_creation_input_tokens=2_000, output_tokens=0)
    assert PRICES.cost(usage, "claude-opus-5-5") == 0.01  # 2,000 × $5 / 10⁶


def test_a_bucket_that_is_not_reported_costs_nothing() -> None:
    assert PRICES.cost(Usage(input_tokens=1_000, output_tokens=None), "claude-opus-5-5") == 0.004


def test_no_usage_at_all_is_not_free() -> None:
    assert PRICES.cost(Usage(), "claude-opus-5-5") is None


def test_a_bill_says_what_each_bucket_costs_and_leaves_empty_ones_out() -> None:
    usage = Usage(100, 3000, 2000, 1000, 50_000, 200)
    bill = PRICES.bill(usage, "claude-opus-5-5")
    assert bill is not None
    assert [(one.field, one.tokens, one.rate) for one in bill] == [
        ("input", 100, 4),
        ("write_5m", 2000, 5),
        ("write_1h", 1000, 8),
        ("read", 50_000, 0.2),
        ("output", 200, 20),
    ]
    assert [one.cost_usd for one in bill] == pytest.approx([0.0004, 0.01, 0.008, 0.01, 0.004])
    assert sum(one.cost_usd for one in bill) == pytest.approx(PRICES.cost(usage, "claude-opus-5-5"))
    assert PRICES.bill(Usage(input_tokens=0, output_tokens=0), "claude-opus-5-5") == ()
    assert PRICES.bill(Usage(), "claude-opus-5-5") is None
    assert PRICES.bill(usage, "nobody-knows-1") is None


def test_an_unknown_model_is_not_free() -> None:
    assert PRICES.price("llama-9") is None
    assert PRICES.cost(Usage(input_tokens=0, output_tokens=0), "llama-9") is None
    assert (
        PRICES.request_cost(a_request(model="llama-9", usage=Usage(input_tokens=5, output_tokens=5))) is None
    )


@pytest.mark.parametrize(
    ("read", "dollars"),
    [
        # 1,000 × $0.10 + 2,000 × $0.125 + 97,000 × $0.01 + 100 × $0.50 = 100 + 250 + 970 + 50
        (97_000, 0.00137),
        # one token more: 1,000 × $0.50 + 2,000 × $0.625 + 97,001 × $0.05 + 100 × $2.50 = 500 + 1,250 + 4,850.05 + 250
        (97_001, 0.00685005),
    ],
)
def test_a_long_prompt_reprices_every_token_of_haiku(read: int, dollars: float) -> None:
    usage = Usage(
        input_tokens=1_000, cache_creation_input_tokens=2_000, cache_read_input_tokens=read, output_tokens=100
    )
    assert PRICES.cost(usage, "claude-haiku-5-5") == dollars


def test_iterations_replace_the_top_level_usage() -> None:
    request = a_request(
        usage=Usage(input_tokens=1_000, output_tokens=100),
        iterations=(
            Iteration("compaction", Usage(input_tokens=50_000, output_tokens=1_000)),
            Iteration("message", Usage(input_tokens=1_000, output_tokens=100)),
        ),
    )
    # compaction 50,000 × $4 + 1,000 × $20 = 220,000; message 1,000 × $4 + 100 × $20 = 6,000
    assert PRICES.cost_by_purpose(request) == {Purpose.SUMMARY: 0.22, Purpose.TURN: 0.006}
    assert PRICES.request_cost(request) == pytest.approx(0.226, abs=1e-12)


def test_an_iteration_has_a_model_and_a_tier_of_its_own() -> None:
    request = a_request(
        iterations=(
            Iteration("compaction", Usage(input_tokens=100_001, output_tokens=0), model="claude-haiku-5-5"),
            Iteration("message", Usage(input_tokens=1_000, output_tokens=0)),
        ),
    )
    # 100,001 × $0.50 and 1,000 × $4
    assert PRICES.cost_by_purpose(request) == {Purpose.SUMMARY: 0.0500005, Purpose.TURN: 0.004}


def test_a_probe_is_all_probe() -> None:
    request = a_request(
        purpose=Purpose.PROBE,
        iterations=(Iteration("compaction", Usage(input_tokens=1_000, output_tokens=0)),),
    )
    assert PRICES.cost_by_purpose(request) == {Purpose.PROBE: 0.004}


def test_a_refused_request_costs_nothing() -> None:
    refused = a_request(error_status=400, error_type="invalid_request_error", error_message="no")
    assert PRICES.request_cost(refused) == 0.0


def test_one_unknown_iteration_makes_the_cost_unknown() -> None:
    request = a_request(
        iterations=(Iteration("message", Usage(input_tokens=1, output_tokens=1), model="llama-9"),)
    )
    assert PRICES.cost_by_purpose(request) is None


def test_the_worst_case_takes_the_dearest_input_price_and_the_longest_answer() -> None:
    # 10,000 × $8 (a one-hour write) + 1,000 × $20
    assert PRICES.worst_case("claude-opus-5-5", 10_000, 1_000) == 0.1
    assert PRICES.worst_case("llama-9", 10_000, 1_000) is None
    # 90,000 tokens by estimate may be more than 100,000: 90,000 × $1 + 1,000 × $2.50
    assert PRICES.worst_case("claude-haiku-5-5", 90_000, 1_000) == 0.0925


@given(
    st.builds(
        Usage,
        input_tokens=st.integers(0, 10**6),
        cache_creation_input_tokens=st.integers(0, 10**6),
        cache_read_input_tokens=st.integers(0, 10**6),
        output_tokens=st.integers(0, 10**5),
    ),
    st.sampled_from(sorted(PUBLISHED)),
)
def test_no_answer_costs_more_than_its_worst_case(usage: Usage, model: str) -> None:
    cost = PRICES.cost(usage, model)
    worst = PRICES.worst_case(model, usage.prompt_tokens or 0, usage.output_tokens or 0)
    assert cost is not None
    assert worst is not None
    assert 0 <= cost <= worst


GOOD = "{input: 1, write_5m: 1, write_1h: 1, read: 1, output: 1, source: here}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1, 2]", "the file: is not a mapping"),
        ("models: {m: " + GOOD.replace("input: 1, ", "") + "}", "models.m.input: None is not a price"),
        ("models: {m: " + GOOD.replace("read: 1", "read: -1") + "}", "models.m.read: -1 is not a price"),
        ("models: {m: " + GOOD.replace("read: 1", "read: .nan") + "}", "models.m.read: nan is not a price"),
        ("models: {m: " + GOOD.replace("read", "reed") + "}", "models.m.reed: unknown; known are"),
        ("models: {m: " + GOOD.replace(", source: here", "") + "}", "models.m.source: say where"),
        (
            "models: {m: " + GOOD[:-1] + ", tiers: [{above: 0}]}}",
            "models.m.tiers[0].above: 0 is not a whole number above 0",
        ),
        ("models: {m: " + GOOD[:-1] + ", tiers: 3}}", "models.m.tiers: is not a list"),
        ("models: {m: " + GOOD[:-1] + ", since: soon}}", "models.m.since: 'soon' is not a date"),
        ("models: &a {m: *a}", "aliases (*name) are not allowed"),
        ("models: {", "is not valid YAML"),
        ("checked: 2026-99-99\nmodels: {}", "is not valid YAML"),
        ("[" * 2000, "is not valid YAML"),
        ("#" * 1_000_001, "larger than 1,000,000 bytes"),
    ],
)
def test_a_bad_table_is_refused_with_file_and_field(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "prices.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as refused:
        PriceTable.load(path)
    assert str(path) in str(refused.value)
    assert message in str(refused.value)


def test_a_table_in_another_encoding_or_missing_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "prices.yaml"
    with pytest.raises(InputError, match="cannot be read"):
        PriceTable.load(path)
    path.write_bytes(b"models: {\xff}")
    with pytest.raises(InputError, match="not UTF-8"):
        PriceTable.load(path)


# -- prices that changed ---------------------------------------------------------------------------------------------------


def read_price(table: PriceTable, model: str = "claude-sonnet-5-5") -> float | None:
    price = table.price(model)
    return None if price is None else price.tiers[0].read


def test_a_price_that_was_lowered_is_still_known_for_the_days_it_held() -> None:
    assert read_price(PRICES) == 0.10
    assert read_price(PRICES.as_of(date(2026, 10, 7))) == 0.10, "the first day of the new price"
    assert read_price(PRICES.as_of(date(2026, 10, 6))) == 0.20
    assert read_price(PRICES.as_of(date(2026, 9, 27))) is None, "the model was not there yet"
    assert read_price(PRICES.as_of(date(2026, 9, 27)), "claude-sonnet-5") == 0.20, "no date known: always"
    assert [str(one.since) for one in PRICES.history["claude-sonnet-5-5"]] == ["2026-09-28", "2026-10-07"]


def table_file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "prices.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_price_that_is_announced_does_not_hold_before_its_day(tmp_path: Path) -> None:
    later = "{input: 9, write_5m: 9, write_1h: 9, read: 9, output: 9, since: 2999-01-01, source: news, earlier: [%s]}"
    table = PriceTable.load(
        table_file(tmp_path, "models: {m: " + later % GOOD + ", new: " + later % "" + "}")
    )
    assert read_price(table, "m") == 1
    assert read_price(table.as_of(date(2999, 1, 1)), "m") == 9
    assert table.price("new") is None
    assert read_price(table.as_of(date(2999, 1, 1)), "new") == 9


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (GOOD[:-1] + f", earlier: [{GOOD}]}}", "models.m.since: None is not a day after the earlier price"),
        (
            GOOD[:-1] + f", since: 2026-01-01, earlier: [{GOOD[:-1]}, since: 2026-01-01}}]}}",
            "models.m.since: 2026-01-01 is not a day after 2026-01-01",
        ),
        (GOOD[:-1] + ", since: 2026-01-01, earlier: [{input: 1}]}", "models.m.earlier[0].source: say where"),
        (GOOD[:-1] + ", earlier: 3}", "models.m.earlier: is not a list"),
    ],
)
def test_earlier_prices_without_order_are_refused(tmp_path: Path, entry: str, message: str) -> None:
    with pytest.raises(InputError) as refused:
        PriceTable.load(table_file(tmp_path, f"models: {{m: {entry}}}"))
    assert message in str(refused.value)


# -- prices of the user's own ----------------------------------------------------------------------------------------------


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], PriceTable]:
    """Loads the table with these prices of the user's own over ours."""

    def load(models: str) -> PriceTable:
        path = table_file(tmp_path, f"models: {models}")
        monkeypatch.setenv("MEMDASH_PRICES", str(path))
        return PriceTable.load()

    return load


def test_own_prices_replace_only_what_they_give(own: Callable[[str], PriceTable], tmp_path: Path) -> None:
    table = own("{claude-opus-5-5: {read: 0.4, source: our contract}}")
    price = table.price("claude-opus-5-5")
    assert price is not None
    assert price.tiers == (Tier(0, 4, 5, 8, 0.4, 20),)
    assert price.own
    assert price.source == "own prices (prices.yaml): our contract; the rest: the vendor's model pages"
    assert table.own == str(tmp_path / "prices.yaml")
    assert set(table.models) == set(PUBLISHED)
    assert table.price("claude-sonnet-5") == PRICES.price("claude-sonnet-5")
    # 10,000 × $0.40 / 10⁶
    assert table.cost(Usage(cache_read_input_tokens=10_000), "claude-opus-5-5") == 0.004


def test_a_model_that_we_do_not_know_gets_a_price(own: Callable[[str], PriceTable]) -> None:
    table = own("{glm-9: {input: 1, write_5m: 1, write_1h: 1, read: 0.5, output: 2}}")
    assert table.cost(Usage(input_tokens=1_000, output_tokens=1_000), "glm-9") == 0.003
    assert table.models["glm-9"].source == "own prices (prices.yaml)"


def test_an_own_price_holds_for_prompts_of_every_size_unless_it_has_tiers(
    own: Callable[[str], PriceTable],
) -> None:
    flat = own("{claude-haiku-5-5: {input: 0.3}}").models["claude-haiku-5-5"]
    assert [(tier.above, tier.input, tier.output) for tier in flat.tiers] == [
        (0, 0.3, 0.5),
        (100_000, 0.3, 2.5),
    ]
    tiers = "[{above: 50000, input: 1, write_5m: 1, write_1h: 1, read: 1, output: 1}]"
    stepped = own(f"{{claude-haiku-5-5: {{input: 0.3, tiers: {tiers}}}}}").models["claude-haiku-5-5"]
    assert stepped.tiers == (Tier(0, 0.3, 0.125, 0.2, 0.01, 0.5), Tier(50_000, 1, 1, 1, 1, 1))


def test_an_own_price_with_a_day_leaves_ours_before_it(own: Callable[[str], PriceTable]) -> None:
    table = own("{claude-sonnet-5-5: {read: 0.05, since: 2026-11-01}}")
    days = (date(2026, 9, 30), date(2026, 10, 31), date(2026, 11, 1))
    assert [read_price(table.as_of(day)) for day in days] == [0.20, 0.10, 0.05]
    assert read_price(own("{claude-sonnet-5-5: {read: 0.05}}").as_of(days[0])) == 0.05, "no day: always"


@pytest.mark.parametrize(
    ("models", "message"),
    [
        ("{glm-9: {input: 1}}", "models.glm-9.write_5m: missing; glm-9 is not in our table"),
        ("{claude-opus-5-5: {read: cheap}}", "models.claude-opus-5-5.read: 'cheap' is not a price"),
        ("{claude-opus-5-5: {reads: 1}}", "models.claude-opus-5-5.reads: unknown; known are"),
        ("{claude-opus-5-5: {source: 3}}", "models.claude-opus-5-5.source: is not a text"),
        ("3", "models: is not a mapping"),
    ],
)
def test_bad_own_prices_are_refused_with_file_and_field(
    own: Callable[[str], PriceTable], tmp_path: Path, models: str, message: str
) -> None:
    with pytest.raises(InputError) as refused:
        own(models)
    assert str(refused.value).startswith(f"{tmp_path / 'prices.yaml'}: {message}")


def test_own_prices_that_are_edited_hold_from_then_on(own: Callable[[str], PriceTable]) -> None:
    assert read_price(own("{claude-sonnet-5-5: {read: 0.5}}")) == 0.5
    assert read_price(own("{claude-sonnet-5-5: {read: 0.7}}")) == 0.7

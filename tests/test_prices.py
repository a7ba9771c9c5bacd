"""Money: worked by hand, in dollars per million tokens."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memdash.errors import InputError
from memdash.prices import PriceTable
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

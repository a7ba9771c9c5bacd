"""``GET /v1/models`` (Messages API, models)."""

from __future__ import annotations

from typing import Any

import pytest
from anthropic.types import ModelInfo

from memdash.models import MODELS
from memdash.simulator.catalogue import get_model, list_models
from memdash.simulator.errors import ApiError


def ids(page: dict[str, Any]) -> list[str]:
    return [model["id"] for model in page["data"]]


def everything() -> list[str]:
    return ids(list_models({"limit": ["1000"]}))


def test_every_known_model_is_listed_newest_first() -> None:
    assert set(everything()) == set(MODELS)
    created = [model["created_at"] for model in list_models({"limit": ["1000"]})["data"]]
    assert created == sorted(created, reverse=True)
    assert everything()[0] == "claude-fable-5-2"


def test_a_model_has_the_sdks_shape_and_no_price() -> None:
    for model_id in MODELS:
        info = get_model(model_id)
        ModelInfo.model_validate(info, strict=False)
        assert set(info) == set(ModelInfo.model_fields)
        assert "price" not in str(info)


def test_a_model_tells_its_limits_and_what_it_accepts() -> None:
    info = get_model("claude-sonnet-5-5")
    assert (info["display_name"], info["line"], info["created_at"]) == (
        "Claude Sonnet 5.5",
        "sonnet",
        "2026-09-28T00:00:00Z",
    )
    assert (info["max_input_tokens"], info["max_tokens"]) == (1_000_000, 128_000)
    assert info["capabilities"]["thinking"]["types"] == {
        "adaptive": {"supported": True},
        "between_tools": {"supported": True},
        "disabled": {"supported": False},
        "enabled": {"supported": False},
    }
    assert info["capabilities"]["effort"]["xhigh"] == {"supported": True}
    assert get_model("claude-haiku-4-5")["capabilities"]["effort"]["supported"] is False


def test_a_deprecated_model_tells_when_it_retires() -> None:
    info = get_model("claude-opus-4-5")
    assert (info["lifecycle"], info["retires_at"]) == ("deprecated", "2027-01-22T00:00:00Z")


def test_a_dated_alias_finds_its_model() -> None:
    assert get_model("claude-haiku-4-5-20251001")["id"] == "claude-haiku-4-5"


def test_an_unknown_model_is_404() -> None:
    with pytest.raises(ApiError, match="model: claude-2") as caught:
        get_model("claude-2")
    assert (caught.value.status, caught.value.type) == (404, "not_found_error")


def test_pages_follow_each_other_in_both_directions() -> None:
    first = list_models({"limit": ["4"]})
    assert (ids(first), first["has_more"]) == (everything()[:4], True)
    assert (first["first_id"], first["last_id"]) == (everything()[0], everything()[3])
    rest = list_models({"after_id": [first["last_id"]]})
    assert (ids(rest), rest["has_more"]) == (everything()[4:], False)
    back = list_models({"limit": ["3"], "before_id": [rest["first_id"]]})
    assert (ids(back), back["has_more"]) == (everything()[1:4], True)


def test_a_page_after_the_last_model_is_empty() -> None:
    page = list_models({"after_id": [everything()[-1]]})
    assert page == {"data": [], "has_more": False, "first_id": None, "last_id": None}


def test_models_can_be_filtered_by_lifecycle() -> None:
    assert set(ids(list_models({"lifecycle[]": ["deprecated"]}))) == {"claude-opus-4-5", "claude-sonnet-4-5"}
    assert ids(list_models({"lifecycle": ["retired"]})) == []


@pytest.mark.parametrize(
    "query",
    [
        {"limit": ["0"]},
        {"limit": ["1001"]},
        {"limit": ["many"]},
        {"limit": ["-1"]},
        {"limit": ["9" * 5000]},
        {"after_id": ["claude-2"]},
        {"before_id": [""]},
        {"after_id": ["claude-opus-5-5"], "before_id": ["claude-opus-5"]},
        {"lifecycle": ["young"]},
    ],
)
def test_what_cannot_be_used_is_400(query: dict[str, list[str]]) -> None:
    with pytest.raises(ApiError) as caught:
        list_models(query)
    assert (caught.value.status, caught.value.type) == (400, "invalid_request_error")

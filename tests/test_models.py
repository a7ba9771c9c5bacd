from __future__ import annotations

import subprocess
import sys

import pytest

from memdash.models import MODELS, ThinkingType, TokenFamily, facts


def test_every_model_of_the_overview_is_known() -> None:
    assert set(MODELS) == {
        *("claude-opus-5-5", "claude-opus-5", "claude-opus-4-8", "claude-opus-4-7", "claude-opus-4-6"),
        *(
            "claude-opus-4-5",
            "claude-sonnet-5-5",
            "claude-sonnet-5",
            "claude-sonnet-4-6",
            "claude-sonnet-4-5",
        ),
        *("claude-haiku-5-5", "claude-haiku-4-5", "claude-fable-5", "claude-fable-5-1", "claude-fable-5-2"),
        *("claude-mythos-5", "claude-mythos-5-1", "claude-mythos-5-2"),
    }
    assert all(id == model.id for id, model in MODELS.items())


def test_a_dated_id_means_the_same_model_and_an_unknown_one_none() -> None:
    assert facts("claude-haiku-4-5-20251001") is MODELS["claude-haiku-4-5"]
    assert facts("gpt-9") is None


@pytest.mark.parametrize(
    ("model", "window", "output", "minimum", "family", "effort"),
    [
        ("claude-opus-5-5", 1_000_000, 128_000, 512, TokenFamily.NEW, "medium"),
        ("claude-sonnet-5-5", 1_000_000, 128_000, 512, TokenFamily.NEW, "high"),
        ("claude-sonnet-5", 1_000_000, 128_000, 1_024, TokenFamily.NEW, "high"),
        ("claude-haiku-5-5", 1_000_000, 128_000, 512, TokenFamily.NEW, "medium"),
        ("claude-opus-4-7", 1_000_000, 128_000, 2_048, TokenFamily.NEW, "high"),
        ("claude-opus-4-6", 1_000_000, 128_000, 4_096, TokenFamily.OLD, "high"),
        ("claude-sonnet-4-6", 1_000_000, 128_000, 1_024, TokenFamily.OLD, "high"),
        ("claude-opus-4-5", 200_000, 64_000, 4_096, TokenFamily.OLD, None),
        ("claude-haiku-4-5", 200_000, 64_000, 4_096, TokenFamily.OLD, None),
    ],
)
def test_limits(
    model: str, window: int, output: int, minimum: int, family: TokenFamily, effort: str | None
) -> None:
    found = MODELS[model]
    assert (found.context_window, found.max_output, found.min_cacheable) == (window, output, minimum)
    assert (found.token_family, found.default_effort) == (family, effort)


def test_the_newest_models_always_think() -> None:
    for model in ("claude-opus-5-5", "claude-fable-5", "claude-mythos-5-2"):
        assert MODELS[model].thinking_types == {ThinkingType.ADAPTIVE}
    assert not MODELS["claude-opus-4-8"].thinks_by_default
    assert MODELS["claude-opus-5"].thinks_by_default


def test_the_4_5_generation_but_for_opus_forgets_earlier_thinking() -> None:
    assert {id for id, model in MODELS.items() if not model.keeps_thinking} == {
        "claude-sonnet-4-5",
        "claude-haiku-4-5",
    }


def test_every_model_reads_its_own_thinking() -> None:
    assert all(id in model.reads_thinking_of for id, model in MODELS.items())


def test_only_fable_and_mythos_read_fable() -> None:
    readers = {id for id, model in MODELS.items() if "claude-fable-5" in model.reads_thinking_of}
    assert readers == {id for id in MODELS if id.split("-")[1] in ("fable", "mythos")}


def test_an_assumed_tool_prompt_is_labelled() -> None:
    assert not MODELS["claude-opus-5"].tool_prompt.estimated
    assert MODELS["claude-opus-5-5"].tool_prompt.estimated


def test_the_facts_load_without_the_libraries_that_start_slowly() -> None:
    code = (
        "import sys, memdash.models, memdash.tokens; "
        "print({'anthropic', 'pandas', 'plotly', 'duckdb', 'streamlit', 'ctok'} & set(sys.modules))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "set()"

"""Comparisons of the JSON contract with made-up numbers: only what a test is about spelled out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

NOT_KNOWN: Mapping[str, None] = {"mean": None, "low": None, "high": None, "worst": None}
PRICE: Mapping[str, Any] = {
    "model": "claude-opus-5-5",
    "since": None,
    "source": "a test",
    "tiers": [{"above": 0, "input": 5.0, "write_5m": 6.25, "write_1h": 10.0, "read": 0.5, "output": 25.0}],
}


def a_probe(fact: str = "name", *, passed: bool = True, **fields: Any) -> dict[str, Any]:
    """A question that was asked after turn 30."""
    return {
        "fact": fact,
        "asked_after": 30,
        "question": f"What is the {fact}?",
        "answer": "Sanna." if passed else "I do not know.",
        "passed": passed,
        "stale": False,
        "visible": passed,
        "is_test": True,
    } | fields


def a_replay(label: str = "window of 4", **fields: Any) -> dict[str, Any]:
    """A finished simulated replay of thirty turns that kept both of its facts."""
    return {
        "id": f"cmp_1_{label}",
        "script": "trip",
        "strategy": "window",
        "params": {"keep": 4},
        "label": label,
        "model": "claude-opus-5-5",
        "effort": None,
        "provider": "simulator",
        "cache": "5m",
        "cache_marks": "auto",
        "repeat": 1,
        "status": "done",
        "simulator_only": False,
        "turns_planned": 30,
        "turns_completed": 30,
        "requests": 30,
        "prompt_tokens": 1000,
        "input_tokens": 100,
        "cache_creation_input_tokens": 400,
        "cache_read_input_tokens": 500,
        "output_tokens": 200,
        "cache_share": 0.5,
        "cost_usd": 0.1,
        "cost_by_purpose_usd": {"turn": 0.1, "tool": 0.0, "summary": 0.0},
        "probe_requests": 0,
        "probe_cost_usd": 0.0,
        "recall": 1.0,
        "recall_passed": 2,
        "recall_total": 2,
        "recall_simulated": True,
        "kept": 2,
        "facts_total": 2,
        "wait_ms": {"p50": 4000.0, "p95": 9000.0, "max": 9500.0, "total": 120000.0},
        "ttft_ms": {"p50": 500.0, "p95": 900.0},
        "compactions": 0,
        "marks": [],
        "errors": [],
        "turns": [],
        "probes": [],
    } | fields


def repeats(costs: Sequence[float], **fields: Any) -> list[dict[str, Any]]:
    """Live repeats of one setting with these costs."""
    live = {"provider": "anthropic", "recall_simulated": False}
    return [
        a_replay(f"window of 4 · repeat {number}", **{"repeat": number, "cost_usd": cost, **live, **fields})
        for number, cost in enumerate(costs, start=1)
    ]


def a_group(**fields: Any) -> dict[str, Any]:
    """The group of one finished window of 4."""
    blank = {
        name: dict(NOT_KNOWN)
        for name in ("cost_usd", "prompt_tokens", "cache_share", "wait_p95_ms", "kept", "recall", "loss")
    }
    about = {
        "label": "window of 4",
        "strategy": "window",
        "params": {"keep": 4},
        "script": "trip",
        "n": 1,
        "unfinished": 0,
    }
    return {**about, **blank, **fields}


def a_comparison(*replays: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A comparison of these replays."""
    return {
        "comparison": "cmp_1",
        "title": "A trip",
        "created_at": "2026-11-30T15:00:00Z",
        "settings": {
            "scripts": ["trip"],
            "strategies": [{"name": "window", "params": {"keep": 4}, "label": "window of 4"}],
            "models": ["claude-opus-5-5"],
            "turns": None,
        },
        "token_counter": "estimate",
        "versions": {
            "memdash": "0.1.0",
            "rules": "Simulator rules of 2026-11-30, not yet compared with the live API",
        },
        "replays": list(replays) or [a_replay()],
        "groups": [a_group()],
        "recommendation": None,
        "conversations": None,
        "break_even": [],
        "floor": None,
        "breakdown": [],
        "confirmation": None,
        "prices": [dict(PRICE)],
    } | fields

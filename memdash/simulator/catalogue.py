"""``GET /v1/models``: the known models in the API's own shape, newest first (Messages API, models)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memdash.models import MODELS, ModelFacts, ThinkingType, facts
from memdash.simulator.errors import ApiError, invalid

_UNKNOWN_DATE = "1970-01-01"
"""The API reports an epoch value where a release date is unknown."""

_RELEASED = {
    "claude-fable-5-2": "2026-11-09",
    "claude-mythos-5-2": "2026-11-09",
    "claude-haiku-5-5": "2026-10-07",
    "claude-sonnet-5-5": "2026-09-28",
    "claude-opus-5-5": "2026-09-22",
    "claude-fable-5-1": "2026-09-01",
    "claude-mythos-5-1": "2026-09-01",
    "claude-opus-5": "2026-07-24",
    "claude-opus-4-5": "2025-11-01",
    "claude-haiku-4-5": "2025-10-01",
    "claude-sonnet-4-5": "2025-09-29",
}
_LIFECYCLES = ("active", "deprecated", "retired")
_MAX_LIMIT = 1000


def get_model(model_id: str) -> dict[str, Any]:
    """Answer ``GET /v1/models/{id}``. Raises ApiError for an unknown id."""
    model = facts(model_id)
    if model is None:
        raise ApiError(404, "not_found_error", f"model: {model_id}")
    return _info(model)


def list_models(query: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Answer ``GET /v1/models`` with its query parameters ``limit``, ``after_id``, ``before_id`` and ``lifecycle``.

    Raises ApiError where one of them cannot be used.
    """
    limit = _limit(query)
    lifecycles = [value for name in ("lifecycle", "lifecycle[]") for value in query.get(name, ())]
    for value in lifecycles:
        if value not in _LIFECYCLES:
            raise invalid(f"lifecycle: Input should be {', '.join(map(repr, _LIFECYCLES))}")
    models = [_info(model) for model in MODELS.values()]
    models.sort(key=lambda info: str(info["created_at"]), reverse=True)
    models = [info for info in models if info["lifecycle"] in (lifecycles or _LIFECYCLES)]
    after, before = _position(models, query, "after_id"), _position(models, query, "before_id")
    if after is not None and before is not None:
        raise invalid("Only one of after_id and before_id may be given")
    if before is not None:
        page, has_more = models[max(0, before - limit) : before], before > limit
    else:
        start = 0 if after is None else after + 1
        page, has_more = models[start : start + limit], start + limit < len(models)
    return {
        "data": page,
        "has_more": has_more,
        "first_id": page[0]["id"] if page else None,
        "last_id": page[-1]["id"] if page else None,
    }


def _limit(query: Mapping[str, Sequence[str]]) -> int:
    value = query.get("limit", ["20"])[-1]
    if not (value.isascii() and value.isdigit() and len(value) <= 9):
        raise invalid("limit: Input should be a valid integer, unable to parse string as an integer")
    if not 1 <= int(value) <= _MAX_LIMIT:
        raise invalid(f"limit: Input should be between 1 and {_MAX_LIMIT}")
    return int(value)


def _position(
    models: Sequence[Mapping[str, Any]], query: Mapping[str, Sequence[str]], name: str
) -> int | None:
    """Return where the model that a cursor names stands in the list."""
    if not query.get(name):
        return None
    model = facts(query[name][-1])
    ids = [info["id"] for info in models]
    if model is None or model.id not in ids:
        raise invalid(f"{name}: no such model: {query[name][-1]}")
    return ids.index(model.id)


def _info(model: ModelFacts) -> dict[str, Any]:
    _, line, *version = model.id.split("-")
    return {
        "type": "model",
        "id": model.id,
        "display_name": f"Claude {line.title()} {'.'.join(version)}",
        "created_at": f"{_RELEASED.get(model.id, _UNKNOWN_DATE)}T00:00:00Z",
        "line": line,
        "lifecycle": "active" if model.retires_on is None else "deprecated",
        "deprecated_at": None,
        "retires_at": None if model.retires_on is None else f"{model.retires_on}T00:00:00Z",
        "max_input_tokens": model.context_window,
        "max_tokens": model.max_output,
        "capabilities": _capabilities(model),
    }


def _capabilities(model: ModelFacts) -> dict[str, Any]:
    """Return what a request to this server may use; what runs on Anthropic's machines only is not supported here."""
    has_effort = model.default_effort is not None
    efforts = {level: _supported(has_effort) for level in ("low", "medium", "high", "xhigh", "max")}
    return {
        "batch": _supported(False),
        "citations": _supported(False),
        "code_execution": _supported(False),
        "compaction": {"supported": model.compaction, "summarize": _supported(model.compaction)},
        "context_management": {
            "supported": True,
            "clear_thinking_20251015": _supported(True),
            "clear_tool_uses_20250919": _supported(True),
            "compact_20260112": _supported(model.compaction),
        },
        "effort": {"supported": has_effort, **efforts},
        "image_input": _supported(True),
        "pdf_input": _supported(True),
        "server_tools": {
            "supported": False,
            "code_execution": _supported(False),
            "web_search": _supported(False),
        },
        "structured_outputs": _supported(False),
        "thinking": {
            "supported": True,
            "types": {kind.value: _supported(kind in model.thinking_types) for kind in ThinkingType},
        },
    }


def _supported(value: bool) -> dict[str, bool]:
    return {"supported": value}

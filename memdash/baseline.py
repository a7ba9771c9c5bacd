"""A comparison read back from a file that ``--format json`` or ``memdash export`` wrote, to hold another one against it.

The file may be of another version: only what comparing needs is asked for, what came later may be missing, and what is not
known here is left aside. It is data from outside, so it is bounded and validated before anything looks at it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from memdash.errors import InputError
from memdash.records import Status

if TYPE_CHECKING:
    from memdash.prices import ModelPrice

MAX_BYTES = 256 * 1024 * 1024
"""Largest file that is read: some thousand replays of hundreds of turns."""
_HOW = "write it with `memdash run --format json` or `memdash export … --to FILE.json`"

_AN_OBJECT = re.compile(r"a valid dictionary or instance of \w+")

_Count = Annotated[int, Field(ge=0)]
_Number = Annotated[float, Field(ge=0, allow_inf_nan=False)]
_Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")


class _Costs(_Part):
    turn: _Number | None = None
    tool: _Number | None = None
    summary: _Number | None = None


class _Ranks(_Part):
    p50: _Number | None = None
    p95: _Number | None = None


class _Waits(_Ranks):
    max: _Number | None = None
    total: _Number | None = None


class _Probe(_Part):
    fact: str
    asked_after: _Count
    question: str = ""
    answer: str = ""
    passed: bool
    visible: bool
    is_test: bool = True


class _Replay(_Part):
    script: str
    strategy: str
    params: dict[str, Any]
    label: str
    model: str
    effort: str | None = None
    provider: str
    cache: str
    cache_marks: str
    repeat: Annotated[int, Field(ge=1)]
    status: Annotated[Status, Field(strict=False)]
    simulator_only: bool = False
    turns_planned: _Count
    turns_completed: _Count
    requests: _Count
    prompt_tokens: _Count | None
    input_tokens: _Count | None
    cache_creation_input_tokens: _Count | None
    cache_read_input_tokens: _Count | None
    output_tokens: _Count | None
    cache_share: _Share | None
    cost_usd: _Number | None
    cost_by_purpose_usd: _Costs = _Costs()
    probe_requests: _Count = 0
    probe_cost_usd: _Number | None = None
    recall: _Share | None
    recall_passed: _Count
    recall_total: _Count
    recall_simulated: bool
    kept: _Count | None
    facts_total: _Count
    wait_ms: _Waits = _Waits()
    ttft_ms: _Ranks = _Ranks()
    compactions: _Count
    marks: list[str] = Field(default_factory=list)
    errors: list[str] = Field(default_factory=list)
    probes: list[_Probe] = Field(default_factory=list)

    @model_validator(mode="after")
    def _parts_are_within_their_wholes(self) -> Self:
        for part, whole in (
            (self.kept, self.facts_total),
            (self.recall_passed, self.recall_total),
            (self.turns_completed, self.turns_planned),
        ):
            if part is not None and part > whole:
                raise ValueError(f"{part} of {whole} facts, probes or turns cannot be")
        return self


class _Estimate(_Part):
    mean: _Number | None = None
    low: float | None = None
    high: _Number | None = None
    worst: _Number | None = None


class _Group(_Part):
    label: str
    script: str
    n: _Count
    unfinished: _Count
    cost_usd: _Estimate = _Estimate()
    prompt_tokens: _Estimate = _Estimate()
    cache_share: _Estimate = _Estimate()
    wait_p95_ms: _Estimate = _Estimate()
    kept: _Estimate = _Estimate()
    recall: _Estimate = _Estimate()
    loss: _Estimate = _Estimate()


class _Tier(_Part):
    above: _Count
    input: _Number
    write_5m: _Number
    write_1h: _Number
    read: _Number
    output: _Number


class _Price(_Part):
    model: str
    source: str = ""
    tiers: Annotated[list[_Tier], Field(min_length=1)]


class _Recommendation(_Part):
    label: str


class _Comparison(_Part):
    comparison: str
    title: str
    created_at: str
    settings: dict[str, Any]
    token_counter: Annotated[str, Field(min_length=1)]
    versions: dict[str, str]
    replays: Annotated[list[_Replay], Field(min_length=1)]
    groups: list[_Group] = Field(default_factory=list)
    recommendation: _Recommendation | None = None
    prices: list[_Price] | None = None


def read_baseline(path: Path) -> dict[str, Any]:
    """Return the comparison in a file, as far as comparing needs it; what its version did not have is None or empty.

    Raises :class:`InputError` with file and field where it is not such a file.
    """
    value = _parsed(path, _text(path))
    try:
        found = _Comparison.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = _place(first["loc"])
        what = (
            "is missing"
            if first["type"] == "missing"
            else _AN_OBJECT.sub("an object", first["msg"].removeprefix("Value error, "))
        )
        where = f"{place}: " if place else ""
        _refuse(path, f"{where}{what[:1].lower()}{what[1:]}; this is not the JSON of a comparison: {_HOW}")
    return found.model_dump()


def baseline_prices(baseline: Mapping[str, Any]) -> dict[str, ModelPrice]:
    """Return the prices that a comparison counted its money at, by model; empty where it does not say them."""
    from memdash.prices import ModelPrice, Tier

    return {
        price["model"]: ModelPrice(
            price["model"], tuple(Tier(**tier) for tier in price["tiers"]), price["source"]
        )
        for price in baseline.get("prices") or ()
    }


def _text(path: Path) -> str:
    try:
        if not path.is_file():
            _refuse(path, "there is no such file" if not path.exists() else "this is not a file")
        size = path.stat().st_size
        if size > MAX_BYTES:
            _refuse(
                path, f"the file has {size / 2**20:,.0f} MB; at most {MAX_BYTES / 2**20:,.0f} MB are read"
            )
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        _refuse(path, f"is not UTF-8 text (byte {error.start}); {_HOW}")
    except (OSError, ValueError) as error:  # ValueError: a NUL byte in the path
        _refuse(path, f"cannot be read: {getattr(error, 'strerror', None) or error}")


def _parsed(path: Path, text: str) -> Any:
    if not text.strip():
        _refuse(path, f"the file is empty; {_HOW}")
    try:
        value = json.loads(
            text, parse_constant=lambda word: _refuse(path, f"{word} is no JSON number; {_HOW}")
        )
    except json.JSONDecodeError as error:
        raise InputError(f"{path}:{error.lineno}: is not JSON ({error.msg}); {_HOW}") from None
    except RecursionError:
        _refuse(path, f"is nested too deep; {_HOW}")
    except ValueError:  # Python reads whole numbers of up to 4,300 digits
        _refuse(path, f"holds a number of too many digits; {_HOW}")
    if "\\ud" not in text.lower():
        return value
    # Half a surrogate pair, which a model may write and no encoding of text has, is read as "?".
    return json.loads(json.dumps(value, ensure_ascii=False).encode(errors="replace"))


def _place(steps: tuple[int | str, ...]) -> str:
    """Write a place as ``replays[0].cost_usd``."""
    return "".join(f"[{one}]" if isinstance(one, int) else f".{one}" for one in steps).removeprefix(".")


def _refuse(path: Path, problem: str) -> NoReturn:
    raise InputError(f"{path}: {problem}")

"""The fixed part of a conversation at each turn, with filler where the script only says how large it is.

It stands apart from :mod:`memdash.claude`, whose import brings the SDK, so that costs can be worked out without it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from memdash.models import TokenFamily, facts
from memdash.scripts.model import Script
from memdash.tokens import counter

_FILLER = "This line stands for a part of the fixed prompt that the script does not give, {number}."


@dataclass(frozen=True, slots=True)
class FixedPart:
    """What every request of a conversation starts with: system prompt and tool definitions."""

    system: str
    tools: tuple[Mapping[str, Any], ...] = ()


def fixed_parts(script: Script, family: TokenFamily, counter_name: str) -> dict[int, FixedPart]:
    """Return the fixed part by turn number; turns without a change share the same object."""
    filler = _filler(script.fixed_tokens, family, counter_name) if script.fixed_tokens else ""
    current = FixedPart(_join(filler, script.system), script.tools)
    parts: dict[int, FixedPart] = {}
    for turn in script.turns:
        if turn.system is not None or turn.tools is not None:
            current = FixedPart(
                current.system if turn.system is None else _join(filler, turn.system),
                current.tools if turn.tools is None else turn.tools,
            )
        parts[turn.number] = current
    return parts


def fixed_part_tokens(part: FixedPart, model: str, counter_name: str) -> int:
    """Estimate a fixed part in tokens: the system prompt, the tools as JSON, and the hidden prompt that any tool adds to them."""
    known = facts(model)
    family = known.token_family if known else TokenFamily.NEW
    tokens = counter(counter_name)
    total = tokens.count(part.system, family)
    if part.tools:
        tools = json.dumps(part.tools, ensure_ascii=False, separators=(",", ":"))
        total += tokens.count(tools, family) + (known.tool_prompt.auto if known else 0)
    return total


@lru_cache(maxsize=16)
def _filler(size: int, family: TokenFamily, counter_name: str) -> str:
    """Return lines of filler of about ``size`` tokens."""
    tokens = counter(counter_name)
    lines: list[str] = []
    total = 0
    while total < size:
        lines.append(_FILLER.format(number=len(lines) + 1))
        total += tokens.count(lines[-1] + "\n", family)
    return "\n".join(lines)


def _join(filler: str, system: str) -> str:
    return "\n\n".join(part for part in (filler, system) if part)

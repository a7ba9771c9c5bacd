"""Which rules a request falls under: its API version and the beta features its header asks for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

BINDING_CONTROLS = "thinking-binding-controls-2026-08-01"
THINKING_UPDATES = "thinking-display-updates-2026-08-18"
OUTPUT_CONFIG_IN_CONVERSATION = "mid-conversation-output-config-2026-07-01"
CONTEXT_EDITING = "context-management-2025-06-27"
THRESHOLD_COMPACTION = "compact-2026-01-12"
COMPACTION_ON_DEMAND = "compact-2026-09-04"
CACHE_DIAGNOSTICS = "cache-diagnosis-2026-04-07"

_NEW_RULES_SINCE = "2026-10-21"
_BETAS_THAT_MATTER = frozenset(
    {
        BINDING_CONTROLS,
        THINKING_UPDATES,
        OUTPUT_CONFIG_IN_CONVERSATION,
        CONTEXT_EDITING,
        THRESHOLD_COMPACTION,
        COMPACTION_ON_DEMAND,
        CACHE_DIAGNOSTICS,
    }
)
_BETAS_OF_CONTENT = frozenset({OUTPUT_CONFIG_IN_CONVERSATION, THRESHOLD_COMPACTION, COMPACTION_ON_DEMAND})


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of one request.

    ``strict`` is API version 2026-10-21 and later: no sampling parameters, no document block in an assistant
    message, no citations on text in a user message (Messages API, versions). ``betas`` holds only beta names
    that change what is allowed.
    """

    strict: bool
    betas: frozenset[str]

    def allows(self, beta: str) -> bool:
        """Whether the request's header names this beta."""
        return beta in self.betas

    @property
    def of_content(self) -> Rules:
        """The part that decides how system prompt, tools and messages are read; requests that agree in it share what was read."""
        return _rules(self.strict, self.betas & _BETAS_OF_CONTENT)


def rules_for(api_version: str, betas: Iterable[str]) -> Rules:
    """Return the rules for these headers; equal headers get the same object."""
    return _rules(api_version >= _NEW_RULES_SINCE, _BETAS_THAT_MATTER.intersection(betas))


@lru_cache(maxsize=64)
def _rules(strict: bool, betas: frozenset[str]) -> Rules:
    return Rules(strict, betas)

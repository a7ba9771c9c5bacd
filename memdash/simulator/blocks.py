"""A content block as the prompt knows it: fingerprints and what it costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from memdash.models import TokenFamily
from memdash.simulator.compaction_block import Seal
from memdash.simulator.digests import as_written, digest, in_any_order, text_bytes
from memdash.simulator.thinking import Thought
from memdash.tokens import TokenCounter

TOOL_USE_TOKENS = 12
"""What the prompt writes around the name and input of a tool call; our assumption, like the other frames here."""
TOOL_RESULT_TOKENS = 10
DOCUMENT_TOKENS = 6
COMPACTION_TOKENS = 8


@dataclass(slots=True, eq=False)
class Block:
    """One content block.

    ``content`` is the fingerprint of what the prompt shows, so the order of keys in a tool input counts;
    ``meaning`` is the one that thinking is bound to, where it does not. Neither depends on ``cache_control``.
    ``texts`` and ``more_tokens`` are what it costs. ``call`` is the id of a tool call, ``answers`` the id a
    tool result answers; ``thought`` and ``seal`` are what a verified signature of thinking and of a
    compaction says.
    """

    kind: str
    content: bytes
    meaning: bytes
    texts: tuple[str, ...] = ()
    more_tokens: int = 0
    call: str | None = None
    answers: str | None = None
    thought: Thought | None = None
    seal: Seal | None = None
    has_image: bool = False
    has_citations: bool = False
    _tokens: dict[TokenFamily, int] = field(default_factory=dict)

    @property
    def is_thinking(self) -> bool:
        """Whether this is a signed thinking block; a redacted one carries nothing that could be checked."""
        return self.kind == "thinking"

    @property
    def is_compaction(self) -> bool:
        """Whether this is a compaction that has content."""
        return self.kind == "compaction" and bool(self.texts)

    @property
    def is_failed_compaction(self) -> bool:
        """Whether this is a compaction without content, which changes nothing."""
        return self.kind == "compaction" and not self.texts

    @property
    def is_cacheable(self) -> bool:
        """Whether the automatic cache mark may stand on it."""
        return self.kind not in _THINKING_KINDS and not self.is_failed_compaction

    def tokens(self, counter: TokenCounter, family: TokenFamily) -> int:
        """Return what the block adds to a prompt."""
        known = self._tokens.get(family)
        if known is None:
            known = self.more_tokens + sum(counter.count(text, family) for text in self.texts)
            self._tokens[family] = known
        return known


_THINKING_KINDS = frozenset({"thinking", "redacted_thinking"})


def text_block(text: str) -> Block:
    """Return the block that a plain string stands for."""
    fingerprint = digest(b"text ", text_bytes(text))
    return Block("text", fingerprint, fingerprint, (text,))


def block_of(
    kind: str,
    value: Mapping[str, Any],
    *,
    texts: tuple[str, ...] = (),
    more_tokens: int = 0,
    call: str | None = None,
    has_image: bool = False,
    has_citations: bool = False,
) -> Block:
    """Return the block of this kind, with the fingerprints of all its fields but the cache mark."""
    shown = without_mark(value)
    meaning = digest(b"block ", text_bytes(in_any_order(shown)))
    content = meaning
    if not all(isinstance(part, str) for part in shown.values()):  # else there is no order within a part
        content = digest(b"block ", text_bytes(as_written({name: shown[name] for name in sorted(shown)})))
    return Block(
        kind,
        content,
        meaning,
        texts,
        more_tokens,
        call=call,
        has_image=has_image,
        has_citations=has_citations,
    )


def without_mark(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a block that its content consists of."""
    return {name: part for name, part in value.items() if name != "cache_control" and part is not None}

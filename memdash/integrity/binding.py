"""Which signed thinking blocks a history no longer fits (Messages API, preserved thinking).

A block is bound to everything before it: tools, system prompt and all blocks but thinking. Of the thinking before it the first
ones or all may be gone, but none from the middle, and none may come back. Where it was made is known from the answer that brought
it, else from the first request that shows it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from memdash.integrity.prompts import Blocks, Prompt


@dataclass(frozen=True, slots=True)
class _Birth:
    """Where a block was made: ``meaning`` is the hash of what it is bound to, ``front`` the compaction block that opened it."""

    meaning: int
    previous: int | None
    count: int
    front: int | None


@dataclass(slots=True)
class Bindings:
    """Follows the signed thinking blocks of a log from where they were made."""

    _blocks: Blocks
    _births: dict[int, _Birth] = field(default_factory=dict)

    def lost(self, prompt: Prompt, reply: Sequence[int], *, drops: bool) -> list[int]:
        """Return the entries of ``prompt`` that hold a block made under another history, and remember those of its ``reply``.

        ``drops``: the request has the API leave such blocks out, so those that follow are not made after them.
        """
        lost: list[int] = []
        meaning = hash(prompt.fixed)
        previous: int | None = None
        count = 0
        dropping = False
        first = prompt.entries[0] if prompt.entries else None
        front = first if first is not None and self._blocks[first].is_compaction else None
        for place, number in enumerate((*prompt.entries, *reply)):
            block = self._blocks[number]
            if not block.is_thinking:
                dropping = False
                meaning = hash((meaning, number))
                if place >= len(prompt.entries) and block.is_compaction:
                    # What the API made after compacting goes with its compaction block.
                    meaning, previous, count, front = hash((hash(prompt.fixed), number)), None, 0, number
                continue
            if not block.is_signed:
                continue
            born = self._births.setdefault(number, _Birth(meaning, previous, count, front))
            # A compaction by the server keeps the thinking after it valid.
            fits = born.front != front or (
                born.meaning == meaning
                and (count == 0 or (born.previous == previous and count <= born.count))
            )
            if dropping or not fits:
                lost.append(place)
                dropping = True
                if drops:
                    continue
            previous, count = number, count + 1
        return lost

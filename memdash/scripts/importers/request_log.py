"""A log of requests -> conversations: each request repeats the whole conversation, so only the last of each tells it all."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memdash.scripts.importers.conversation import Conversation, FixedPart, Message, Notes, Origin


@dataclass(slots=True)
class LoggedRequest:
    """One request of a log with the assistant's ``answer``, if it is known."""

    messages: list[Message]
    answer: Message | None
    fixed: FixedPart
    origin: Origin
    notes: Notes
    max_tokens: int | None = None
    effort: str | None = None
    before: LoggedRequest | None = None
    continued: bool = False

    @property
    def told(self) -> list[Message]:
        """The messages and the answer."""
        return [*self.messages, self.answer] if self.answer else self.messages


def latest_requests(requests: Sequence[LoggedRequest]) -> list[Conversation]:
    """Return one conversation for each of ``requests`` that no later one continues.

    A request continues an earlier one when it begins with all of its messages and its answer, or with its messages alone
    where the answer is not known (a retry) or was not taken over as it came. Thinking and cache marks make no difference.
    """
    by_prefix: dict[bytes, LoggedRequest] = {}
    for request in requests:
        hashes = list(_running_hashes(request.told))
        for shared in range(len(request.messages), 0, -1):
            earlier = by_prefix.get(hashes[shared - 1])
            if earlier and _continues(request, earlier, shared):
                request.before, earlier.continued = earlier, True
                break
        # With its answer and without: a client may take the answer over in another form, or never have received it.
        for length in {len(request.messages), len(request.told)} - {0}:
            by_prefix[hashes[length - 1]] = request
    return [_conversation(request) for request in requests if not request.continued]


def _continues(request: LoggedRequest, earlier: LoggedRequest, shared: int) -> bool:
    if len(request.messages) > len(earlier.messages):
        return True
    # The same request again: a retry if the first had no answer, else a conversation of its own.
    return earlier.answer is None and shared == len(earlier.messages)


def _running_hashes(messages: Iterable[Message]) -> Iterable[bytes]:
    """Yield, for each message, the hash of everything up to it."""
    total = hashlib.sha256()
    for message in messages:
        total.update(json.dumps([message.role, message.content], sort_keys=True).encode())
        yield total.digest()


def _conversation(request: LoggedRequest) -> Conversation:
    """Tell the conversation of ``request`` with the fixed part that each message was first sent with."""
    chain = [request]
    while chain[-1].before:
        chain.append(chain[-1].before)
    chain.reverse()
    changes: dict[int, FixedPart] = {}
    sent = 0
    for number, one in enumerate(chain):
        if number and one.fixed != chain[number - 1].fixed:
            changes[sent] = one.fixed
        sent = len(one.messages)
    return Conversation(
        messages=request.told,
        origin=request.origin,
        notes=request.notes,
        fixed=chain[0].fixed,
        changes=changes,
        max_tokens=request.max_tokens,
        effort=request.effort,
    )

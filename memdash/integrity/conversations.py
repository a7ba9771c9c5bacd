"""Which earlier request each request of a log continues.

Nothing in a log says so, and several conversations may be interleaved. A request that repeats an earlier one with its answer and
adds the next message continues it: that is looked up. One that does not (an edited history) is matched by the answers it holds:
somebody must have got them, so the last answer in it that is known from the log names the request that it continues. A request
with nothing of the kind begins a conversation of its own, be it a probe or a summary of another one's text.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from memdash.integrity.prompts import Blocks, Prompt

_MOST_CANDIDATES = 64
"""How many requests with the same answer are looked at; more have it only where answers are words like "OK"."""

_TELLING_CHARACTERS = 80
"""From this length of its JSON on an answer alone shows whose it is: a tool call with its id, or about ten words of text."""

_ALIKE = 0.5
"""How much of two texts must agree, counted from both ends, for one to be an edit of the other."""

_Key = tuple[str, int]


@dataclass(slots=True, eq=False)
class Request:
    """One request of a log, in its conversation.

    ``reply`` is None where the answer is not known. ``visible`` is its prompt without thinking, ``told`` that and the answer,
    from the latest compaction on. ``parent`` is the request it continues, ``retry_of`` an equal one sent before.
    """

    line: int
    prompt: Prompt
    reply: tuple[int, ...] | None
    failed: bool
    visible: tuple[int, ...]
    told: tuple[int, ...]
    conversation: int = 0
    parent: Request | None = None
    retry_of: Request | None = None
    continued: bool = False


class Conversations:
    """Sorts the requests of a log into conversations as they come."""

    def __init__(self, blocks: Blocks) -> None:
        self.count = 0
        self._blocks = blocks
        self._equal: dict[tuple[str, object, tuple[int, ...]], Request] = {}
        self._by_told: dict[_Key, deque[Request]] = defaultdict(_latest)
        self._by_sent: dict[_Key, deque[Request]] = defaultdict(_latest)
        self._by_stem: dict[_Key, deque[Request]] = defaultdict(_latest)
        self._by_last: dict[int, deque[Request]] = defaultdict(_latest)
        self._by_reply: dict[int, deque[Request]] = defaultdict(_latest)
        self._by_thinking: dict[int, Request] = {}
        self._by_compaction: dict[int, Request] = {}

    def place(self, line: int, prompt: Prompt, reply: tuple[int, ...] | None, *, failed: bool) -> Request:
        """Return the next request of the log, in its conversation."""
        visible = self._blocks.visible(prompt.entries)
        told = (*visible, *self._blocks.visible(reply or ()))
        last = max((at for at, one in enumerate(told) if self._blocks[one].is_compaction), default=0)
        request = Request(line, prompt, reply, failed, visible, told[last:])
        key = (prompt.model, prompt.fixed, prompt.entries)
        before = self._equal.get(key)
        if before is not None and (before.parent is not None or before.reply is None):
            request.retry_of, request.parent = before, before.parent
            request.conversation = before.conversation
        else:
            request.parent = self._continued(request)
            if request.parent is None:
                self.count += 1
                request.conversation = self.count
            else:
                request.parent.continued = True
                request.conversation = request.parent.conversation
        self._equal[key] = request
        if not failed:
            self._remember(request)
        return request

    # -- looking up -------------------------------------------------------------------------------------------------

    def _continued(self, request: Request) -> Request | None:
        return (
            self._appended_to(request)
            or self._edited_from(request)
            or self._compacted_from(request)
            or self._thought_of(request)
        )

    def _appended_to(self, request: Request) -> Request | None:
        """The request that this one repeats whole, with nothing but its answer and the next message after it."""
        visible = request.visible
        hashes = list(_running(visible))
        for length in range(len(visible), 0, -1):
            key = (request.prompt.model, hashes[length - 1])
            runs = self._answers_after(visible, length)
            if runs == 0:
                found = [one for one in self._by_told.get(key, ()) if one.told == visible[:length]]
                if found:
                    return _closest(found, request)
            elif runs == 1 and self._blocks[visible[length]].role == "assistant":
                found = [
                    one
                    for one in self._by_sent.get(key, ())
                    if one.visible == visible[:length] and self._may_be(one, request)
                ]
                if found:
                    return _closest(found, request)
            else:
                return None
        return None

    def _answers_after(self, visible: Sequence[int], start: int) -> int:
        """How many stretches of assistant blocks there are from ``start`` on; more than one is as good as two."""
        runs, inside = 0, False
        for number in visible[start:]:
            answer = self._blocks[number].role == "assistant"
            runs += answer and not inside
            inside = answer
            if runs > 1:
                break
        return runs

    def _edited_from(self, request: Request) -> Request | None:
        """The request that got the last answer in this one that is known, whatever else has changed."""
        held = Counter(request.visible)
        for start, stop in self._answers(request.visible):
            found: dict[int, Request] = {}
            for number in request.visible[start:stop]:
                for one in self._by_reply.get(number, ()):
                    # Where the earlier request held the same words already, they say nothing.
                    if held[number] > one.visible.count(number):
                        found[id(one)] = one
            if start and not found:
                asked = request.visible[start - 1]
                first = start
                while first and self._blocks[request.visible[first - 1]].role != "assistant":
                    first -= 1
                stem = (request.prompt.model, hash_of(request.visible[:first]))
                for one in (*self._by_last.get(asked, ()), *(self._by_stem.get(stem, ()) if first else ())):
                    if one.reply is None and self._may_be(one, request):
                        found[id(one)] = one
            fitting = [one for one in found.values() if self._fits(one, request)]
            if fitting:
                return _closest(fitting, request)
        return None

    def _answers(self, visible: Sequence[int]) -> Iterator[tuple[int, int]]:
        """The stretches of assistant blocks, the last first."""
        stop = len(visible)
        while stop:
            while stop and self._blocks[visible[stop - 1]].role != "assistant":
                stop -= 1
            start = stop
            while start and self._blocks[visible[start - 1]].role == "assistant":
                start -= 1
            if start < stop:
                yield start, stop
            stop = start

    def _fits(self, earlier: Request, request: Request) -> bool:
        """Whether ``request`` may be an edit of ``earlier``: of the same model and compaction, with enough in common."""
        if earlier.prompt.model != request.prompt.model:
            return False
        front = request.visible[0]
        if self._blocks[front].is_compaction and earlier.told[0] != front:
            return False
        shared = set(earlier.told) & set(request.visible)
        if shared - set(earlier.reply or ()):
            return True
        if sum(len(self._blocks[one].json) for one in shared) >= _TELLING_CHARACTERS:
            return True
        return self._may_be(earlier, request) and self._alike(earlier.visible[:1], request.visible[:1])

    def _may_be(self, earlier: Request, request: Request) -> bool:
        """Whether the fixed parts let one continue the other where no answer proves it."""
        return earlier.prompt.system == request.prompt.system or self._alike(
            earlier.prompt.system, request.prompt.system
        )

    def _alike(self, before: Sequence[int], after: Sequence[int]) -> bool:
        one = "\n".join(self._blocks[number].text for number in before)
        other = "\n".join(self._blocks[number].text for number in after)
        start, end = agreement(one, other)
        return start + end >= _ALIKE * max(len(one), len(other))

    def _compacted_from(self, request: Request) -> Request | None:
        """The request whose answer holds the compaction block that this one begins with."""
        return self._by_compaction.get(request.visible[0]) if request.visible else None

    def _thought_of(self, request: Request) -> Request | None:
        """The request that got the last signed thinking in this one: signatures are unique."""
        found = (self._by_thinking.get(number) for number in reversed(request.prompt.entries))
        return next((one for one in found if one is not None), None)

    def _remember(self, request: Request) -> None:
        model = request.prompt.model
        self._by_sent[model, hash_of(request.visible)].append(request)
        if request.visible:
            self._by_last[request.visible[-1]].append(request)
        if request.reply is None:
            stem = next(self._answers(request.visible), (0, 0))[1]
            if stem:
                self._by_stem[model, hash_of(request.visible[:stem])].append(request)
            return
        self._by_told[model, hash_of(request.told)].append(request)
        for number in request.reply:
            block = self._blocks[number]
            if block.is_signed:
                self._by_thinking[number] = request
            elif not block.is_thinking:
                self._by_reply[number].append(request)
            if block.is_compaction:
                self._by_compaction[number] = request


def agreement(one: str, other: str) -> tuple[int, int]:
    """Return how many characters two texts share at their start and, of what is left, at their end."""
    most = min(len(one), len(other))
    start = next((at for at in range(most) if one[at] != other[at]), most)
    most -= start
    end = next((at for at in range(most) if one[-1 - at] != other[-1 - at]), most)
    return start, end


def hash_of(entries: Iterable[int]) -> int:
    """Return the hash of entries; equal ones must still be compared."""
    total = 0
    for total in _running(entries):  # noqa: B007  # the last one is what is wanted
        pass
    return total


def _running(entries: Iterable[int]) -> Iterator[int]:
    """Yield, for each entry, the hash of everything up to it."""
    total = 0
    for number in entries:
        total = hash((total, number))
        yield total


def _latest() -> deque[Request]:
    return deque(maxlen=_MOST_CANDIDATES)


def _closest(found: Sequence[Request], request: Request) -> Request:
    """Of several candidates: the same fixed part, the most in common, the longest start, not yet continued.

    Where all that is equal they are twins, and the earliest that nobody has continued is taken, so that each gets its own.
    """
    held = set(request.visible)

    def rank(one: Request) -> tuple[bool, int, int, bool, int]:
        start = 0
        for mine, other in zip(one.visible, request.visible, strict=False):
            if mine != other:
                break
            start += 1
        return (
            one.prompt.fixed == request.prompt.fixed,
            len(held.intersection(one.told)),
            start,
            not one.continued,
            -one.line if not one.continued else one.line,
        )

    return max(found, key=rank)

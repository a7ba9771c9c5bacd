"""One browser tab without a browser: it speaks Streamlit's websocket protocol to the real server.

It holds what a browser holds (the elements on the page, the state of the inputs, the messages it has cached, the timers of the
fragments that poll) and sends what a browser sends. It draws nothing, so its times are those of the server and the wire.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

PATIENCE_S = 60.0
_SUCCESSES = (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)
_RUNS_A_MESSAGE_IS_CACHED = 2
"""Runs without it after which a browser forgets a message (``global.maxCachedMessageAge``)."""


class NotOnThePage(LookupError):
    """Raised where somebody wants to press what is not on the page."""


@dataclass(frozen=True, slots=True)
class Shown:
    """An element on the page, by the part of it that is an input, and the fragment and run that drew it."""

    kind: str
    body: Any
    fragment: str
    run: str

    @property
    def id(self) -> str:
        """The server's name of an input, empty where it is none."""
        return str(getattr(self.body, "id", ""))

    @property
    def key(self) -> str:
        """The key that the page's author gave it."""
        return self.id.split("-", maxsplit=2)[-1]


@dataclass(eq=False, slots=True)
class _Question:
    """A run that was asked for, until it is answered; an empty ``fragment`` asks for the whole page."""

    fragment: str
    asked_at: float
    answered: asyncio.Future[float]
    begun: bool = False
    maybe_answered_at: float | None = None
    """When its run was said to have ended early; a whole run is said so too where the next one began before that was sent."""

    def is_answered_by(self, fragments: Sequence[str]) -> bool:
        """Whether a run of these fragments (none: of the whole page) shows what was asked for."""
        return not fragments or self.fragment in fragments

    def answer(self, at: float) -> None:
        """Let whoever asked go on."""
        if not self.answered.done():
            self.answered.set_result(at - self.asked_at)


@dataclass(slots=True)
class _Cached:
    message: ForwardMsg
    runs_unused: int = 0


@dataclass(eq=False, slots=True)
class Tab:
    """One tab; enter it to connect. ``on_poll`` gets the seconds that each answer to a polling fragment took.

    ``troubles`` is everything that went wrong: what a person would see as an error, and what the protocol does not allow.
    """

    url: str
    on_poll: Callable[[float], None] = lambda _seconds: None
    troubles: list[str] = field(default_factory=list)
    received: int = 0
    """Bytes."""
    page_hash: str = ""
    query: str = ""
    pages: Mapping[str, str] = field(default_factory=dict)
    """The pages of the navigation: their hashes by their titles."""
    _run: str = ""
    _shown: dict[tuple[int, ...], Shown] = field(default_factory=dict)
    _inputs: dict[str, WidgetState] = field(default_factory=dict)
    _cache: dict[str, _Cached] = field(default_factory=dict)
    _questions: list[_Question] = field(default_factory=list)
    _timers: dict[str, tuple[float, asyncio.Task[None]]] = field(default_factory=dict)
    _socket: ClientConnection | None = None
    _listener: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        """Connect."""
        self._socket = await connect(
            f"{self.url.replace('http', 'ws', 1)}/_stcore/stream",
            origin=self.url,  # type: ignore[arg-type]
            subprotocols=["streamlit"],  # type: ignore[list-item]
            compression=None,
            max_size=None,
            open_timeout=PATIENCE_S,
        )
        self._listener = asyncio.create_task(self._listen(self._socket))
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """Close the tab."""
        self._stop_timers(list(self._timers))
        if self._listener is not None:
            self._listener.cancel()
        if self._socket is not None:
            await self._socket.close()

    # -- what a person does ----------------------------------------------------------------------------------------------

    async def open(self, path: str = "", query: str = "") -> float:
        """Open the page of this path, as from a link; returns the seconds until all of it was there."""
        self.page_hash, self.query = "", query
        return await self._ask(page_name=path)

    async def go(self, title: str) -> float:
        """Press an entry of the navigation."""
        if title not in self.pages:
            raise NotOnThePage(title)
        self._stop_timers(list(self._timers))
        self.page_hash, self.query = self.pages[title], ""
        return await self._ask()

    async def press(self, key: str) -> float:
        """Press a button."""
        found = self.find(key, "button")
        pressed = WidgetState(id=found.id, trigger_value=True)
        return await self._ask(fragment=found.fragment, trigger=pressed)

    async def choose(self, key: str, option: str) -> float:
        """Press an option of a row of buttons."""
        found = self.find(key, "button_group")
        state = WidgetState(id=found.id)
        state.string_array_value.data.append(option)
        return await self._enter(found, state)

    async def type_number(self, key: str, number: float) -> float:
        """Write into a number input."""
        found = self.find(key, "number_input")
        return await self._enter(found, WidgetState(id=found.id, double_value=number))

    async def type_text(self, key: str, text: str) -> float:
        """Write into a text input."""
        found = self.find(key, "text_input")
        return await self._enter(found, WidgetState(id=found.id, string_value=text))

    def find(self, key: str, kind: str) -> Shown:
        """Return the first input of a kind that can be used and whose key begins, or where ``key`` begins with a dot ends, so.

        Raises :class:`NotOnThePage`.
        """
        for one in self._shown.values():
            alike = one.key.endswith(key) if key.startswith(".") else one.key.startswith(key)
            if one.kind == kind and alike and not getattr(one.body, "disabled", False):
                return one
        raise NotOnThePage(f"{kind} {key}")

    def options(self, key: str) -> list[str]:
        """Return what a row of buttons offers."""
        return [option.content for option in self.find(key, "button_group").body.options]

    def texts(self) -> list[str]:
        """Return the words on the page that are no input's."""
        return [
            str(one.body.body) for one in self._shown.values() if one.kind in ("markdown", "text", "heading")
        ]

    @property
    def polled(self) -> list[str]:
        """The fragments that are asked for again and again."""
        return list(self._timers)

    # -- asking ----------------------------------------------------------------------------------------------------------

    async def _enter(self, found: Shown, state: WidgetState) -> float:
        self._inputs[found.id] = state
        return await self._ask(fragment=found.fragment)

    async def _ask(
        self,
        *,
        fragment: str = "",
        page_name: str = "",
        trigger: WidgetState | None = None,
        poll: bool = False,
    ) -> float:
        """Ask for a run, and wait for its answer; returns the seconds from sending to the last message."""
        if self._socket is None:
            raise RuntimeError("the tab is not connected")
        state = ClientState(
            query_string=self.query,
            page_script_hash=self.page_hash,
            page_name=page_name,
            fragment_id=fragment,
            is_auto_rerun=poll,
            cached_message_hashes=list(self._cache),
        )
        state.widget_states.widgets.extend([*self._inputs.values(), *([trigger] if trigger else [])])
        state.context_info.timezone, state.context_info.locale = "Europe/Berlin", "en"
        state.context_info.url, state.context_info.color_scheme = f"{self.url}/", "light"
        question = _Question(fragment, time.perf_counter(), asyncio.get_running_loop().create_future())
        self._questions.append(question)
        try:
            await self._socket.send(BackMsg(rerun_script=state).SerializeToString())
            return await asyncio.wait_for(question.answered, PATIENCE_S)
        except TimeoutError:
            self.troubles.append(f"no answer within {PATIENCE_S:.0f} s")
            return PATIENCE_S
        except ConnectionClosed as error:
            self.troubles.append(f"the connection was closed: {error}")
            return time.perf_counter() - question.asked_at
        finally:
            if question in self._questions:
                self._questions.remove(question)

    async def _poll(self, fragment: str, interval: float) -> None:
        """Ask for a fragment again and again, whether the last answer has come or not: a browser does not wait either."""
        asked: set[asyncio.Task[None]] = set()
        try:
            while True:
                await asyncio.sleep(interval)
                if not asked:  # while one is under way the server takes another one as the same
                    task = asyncio.create_task(self._poll_once(fragment))
                    asked.add(task)
                    task.add_done_callback(asked.discard)
        finally:
            for task in asked:
                task.cancel()

    async def _poll_once(self, fragment: str) -> None:
        self.on_poll(await self._ask(fragment=fragment, poll=True))

    # -- what comes back -------------------------------------------------------------------------------------------------

    async def _listen(self, socket: ClientConnection) -> None:
        try:
            async for data in socket:
                self.received += len(data)
                self._take(ForwardMsg.FromString(data if isinstance(data, bytes) else data.encode()))
        except ConnectionClosed as error:
            self.troubles.append(f"the connection was closed: {error}")
        for question in self._questions:
            question.answer(time.perf_counter())

    def _take(self, message: ForwardMsg) -> None:
        kind = message.WhichOneof("type")
        if kind == "ref_hash":
            message, kind = self._from_cache(message), "delta"
        elif message.metadata.cacheable:
            self._cache[message.hash] = _Cached(message)
        fragments = list(message.metadata.run.fragment_ids)
        if kind == "new_session":
            self._begin(message, fragments)
        elif kind == "delta":
            self._draw(message)
        elif kind == "page_info_changed":
            self.query = message.page_info_changed.query_string
        elif kind == "navigation":
            self.pages = {one.page_name: one.page_script_hash for one in message.navigation.app_pages}
            self.page_hash = message.navigation.page_script_hash
        elif kind == "auto_rerun":
            self._start_timer(message.auto_rerun.fragment_id, message.auto_rerun.interval)
        elif kind == "stop_auto_rerun":
            self._stop_timers(message.stop_auto_rerun.fragment_ids)
        elif kind == "script_finished":
            self._finish(message.script_finished, message.metadata.run.script_run_id, fragments)

    def _from_cache(self, message: ForwardMsg) -> ForwardMsg:
        """The message that is referred to, where the reference places it."""
        whole = ForwardMsg()
        held = self._cache.get(message.ref_hash)
        if held is None:
            self.troubles.append("the server refers to a message that was forgotten")
            return whole
        held.runs_unused = 0
        whole.CopyFrom(held.message)
        whole.metadata.CopyFrom(message.metadata)
        return whole

    def _begin(self, message: ForwardMsg, fragments: list[str]) -> None:
        self._run = message.metadata.run.script_run_id
        if not fragments:
            self._stop_timers(list(self._timers))
            self.page_hash = message.new_session.page_script_hash
        for question in self._questions:
            if question.is_answered_by(fragments):
                question.begun, question.maybe_answered_at = True, None
            elif (
                question.begun
            ):  # no fragment interrupts another run: that was whole, whatever was told of its end
                question.answer(question.maybe_answered_at or time.perf_counter())

    def _draw(self, message: ForwardMsg) -> None:
        if message.delta.WhichOneof("type") != "new_element":
            return
        element = message.delta.new_element
        kind = element.WhichOneof("type") or ""
        body = getattr(element, kind, None)
        path = tuple(message.metadata.delta_path)
        self._shown[path] = Shown(kind, body, message.delta.fragment_id, self._run)
        if kind == "exception":
            self.troubles.append(f"exception: {body.type}: {body.message}")
        elif kind == "alert" and body.format == body.ERROR:
            self.troubles.append(f"error on the page: {body.title} {body.body}")

    def _finish(self, status: int, run: str, fragments: list[str]) -> None:
        if status == ForwardMsg.FINISHED_WITH_COMPILE_ERROR:
            self.troubles.append("the page could not be run")
        answered = [one for one in self._questions if one.begun and one.is_answered_by(fragments)]
        if status not in _SUCCESSES:
            for question in answered:
                question.maybe_answered_at = time.perf_counter()
            return
        self._shown = {
            path: one
            for path, one in self._shown.items()
            if one.run == run or (fragments and one.fragment not in fragments)
        }
        present = {one.id for one in self._shown.values()}
        self._inputs = {name: state for name, state in self._inputs.items() if name in present}
        if not fragments:
            for name, held in list(self._cache.items()):
                held.runs_unused += 1
                if held.runs_unused > _RUNS_A_MESSAGE_IS_CACHED:
                    del self._cache[name]
        for question in answered:
            question.answer(time.perf_counter())

    # -- timers ----------------------------------------------------------------------------------------------------------

    def _start_timer(self, fragment: str, interval: float) -> None:
        if (held := self._timers.get(fragment)) is not None and held[0] == interval:
            return
        self._stop_timers([fragment])
        self._timers[fragment] = (interval, asyncio.create_task(self._poll(fragment, interval)))

    def _stop_timers(self, fragments: Sequence[str]) -> None:
        for fragment in fragments:
            if (held := self._timers.pop(fragment, None)) is not None:
                with suppress(RuntimeError):  # the loop is gone
                    held[1].cancel()

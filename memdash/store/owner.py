"""The owner of a database file and its loopback route, through which other processes of the same user take part.

DuckDB lets one process open a file. The owner listens on a port of its own on 127.0.0.1 and writes where, with a random token,
into ``<db>.owner``, which only its user can read. So the route is there for commands on this machine and for nobody else: not for
the network, and not for a web page in the user's browser, which knows no token.
"""

from __future__ import annotations

import hmac
import io
import json
import logging
import os
import secrets
import shutil
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, Self
from urllib.parse import parse_qs, urlsplit

from memdash.errors import MemdashError, StoreError
from memdash.store.bundle import Arrived
from memdash.store.handover import Adopt, carry_out, comparison_lines, from_lines
from memdash.store.inbox import is_alive, take_in
from memdash.store.reading import ComparisonSummary
from memdash.store.store import Store

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_log = logging.getLogger(__name__)

_MOST_BYTES = 256 * 1024 * 1024
_CHUNK = 1024 * 1024
_PATIENCE_SECONDS = 30


@dataclass(frozen=True, slots=True)
class OwnerFile:
    """What ``<db>.owner`` says: which process owns the database, where it listens and the token it asks for."""

    pid: int
    port: int
    token: str

    @classmethod
    def read(cls, database: Path) -> Self | None:
        """Return what the owner of ``database`` wrote; None where there is nothing, or its process is gone."""
        try:
            data = json.loads(owner_path(database).read_bytes())
            found = cls(int(data["pid"]), int(data["port"]), str(data["token"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return found if is_alive(found.pid) else None

    def write(self, database: Path) -> None:
        """Write it, readable by this user alone, over whatever an earlier owner left."""
        path = owner_path(database)
        fresh = Path(f"{path}.{self.pid}")
        fresh.unlink(missing_ok=True)
        with os.fdopen(
            os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8"
        ) as file:
            json.dump(asdict(self), file)
        fresh.replace(path)


def owner_path(database: Path) -> Path:
    """Return where the owner of ``database`` says that it is."""
    return Path(f"{database}.owner")


class Ownership:
    """Lets other processes of this user read and write through this process, until closed.

    Whoever makes it calls :meth:`care` every few seconds. A store in memory belongs to its process alone, and nothing is opened
    for it.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = Lock()
        self._handing_in: dict[int, set[str]] = {}
        self._server: _Server | None = None
        if store.path is None:
            return
        self._file = OwnerFile(os.getpid(), 0, secrets.token_urlsafe(32))
        self._server = _Server(self, self._file.token)
        self._file = OwnerFile(self._file.pid, self._server.server_port, self._file.token)
        self._thread = Thread(target=self._server.serve_forever, name="memdash-owner", daemon=True)
        self._thread.start()
        try:
            self._file.write(store.path)
        except OSError as error:
            self.close()
            raise StoreError(f"{owner_path(store.path)}: cannot be written: {error.strerror}") from error
        self.care()

    def care(self) -> None:
        """Take in what lies in the inbox, and mark as interrupted what a process that is gone had begun to hand in."""
        take_in(self._store)
        with self._lock:
            gone = {pid: self._handing_in.pop(pid) for pid in list(self._handing_in) if not is_alive(pid)}
        for comparison_id in set().union(*gone.values()):
            with suppress(StoreError):  # deleted meanwhile
                self._store.mark_interrupted(comparison_id)

    def close(self) -> None:
        """Stop listening; nobody finds this process any more."""
        if self._server is None or self._store.path is None:
            return
        if OwnerFile.read(self._store.path) == self._file:
            owner_path(self._store.path).unlink(missing_ok=True)
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        self._server = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- what others ask -------------------------------------------------------------------------------------------------

    def carry_out(self, body: bytes, pid: int) -> None:
        """Do what another process hands in; raises ``ValueError`` where it cannot be read."""
        orders = list(from_lines(body.splitlines()))
        with self._lock:
            begun = {order.comparison.id for order in orders if isinstance(order, Adopt)}
            if begun:
                self._handing_in.setdefault(pid, set()).update(begun)
        carry_out(orders, self._store)

    def back_up(self, target: Path) -> None:
        """Copy the whole database to a file."""
        self._store.back_up(target)

    def take_in(self, file: BinaryIO, name: str) -> bytes:
        """Take in a bundle that another process hands in; returns what became of it as JSON."""
        return arrived_adapter().dump_json(self._store.import_bundle(file, name))

    def write_bundle(self, file: BinaryIO, comparison_ids: Sequence[str] | None) -> None:
        """Write comparisons, or all of them, to a file as a bundle."""
        self._store.export_bundle(file, comparison_ids)

    def summaries(self) -> bytes:
        """Return every comparison as a JSON list."""
        return summaries_adapter().dump_json(self._store.comparisons())

    def comparison(self, comparison_id: str, *, texts: bool) -> bytes:
        """Return a whole comparison as lines."""
        return b"\n".join(comparison_lines(self._store, comparison_id, texts=texts))


@cache
def summaries_adapter() -> TypeAdapter[list[ComparisonSummary]]:
    """Return what writes and reads the list of comparisons."""
    from pydantic import TypeAdapter

    return TypeAdapter(list[ComparisonSummary])


@cache
def arrived_adapter() -> TypeAdapter[tuple[Arrived, ...]]:
    """Return what writes and reads what became of a bundle."""
    from pydantic import TypeAdapter

    return TypeAdapter(tuple[Arrived, ...])


class _Server(ThreadingHTTPServer):
    """One thread a request; closing waits for those that are being answered."""

    daemon_threads = False
    block_on_close = True

    def __init__(self, ownership: Ownership, token: str) -> None:
        self.ownership = ownership
        self.token = token
        super().__init__(("127.0.0.1", 0), _Handler)


class _Handler(BaseHTTPRequestHandler):
    """Answers one request of another process."""

    server: _Server
    timeout: ClassVar[int] = _PATIENCE_SECONDS

    def do_GET(self) -> None:
        """Answer a question."""
        address = urlsplit(self.path)
        query = parse_qs(address.query)
        if address.path == "/bundle":
            with tempfile.TemporaryFile(prefix="memdash-") as file:
                self._answer(lambda: self._write_bundle(file, query.get("id")))
            return
        self._answer(lambda: self._read(address.path, query))

    def do_POST(self) -> None:
        """Take in orders."""
        self._answer(self._take)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: this is no web server."""

    def _read(self, path: str, query: dict[str, list[str]]) -> bytes:
        ownership = self.server.ownership
        if path == "/comparisons":
            return ownership.summaries()
        if path == "/comparison":
            return ownership.comparison(query["id"][0], texts=query.get("texts") == ["1"])
        if path == "/alive":
            return b"memdash"
        raise ValueError(f"nothing at {path}")

    def _write_bundle(self, file: BinaryIO, comparison_ids: list[str] | None) -> BinaryIO:
        self.server.ownership.write_bundle(file, comparison_ids)
        return file

    def _take_bundle(self, name: str) -> bytes:
        with tempfile.TemporaryFile(prefix="memdash-") as file:
            left = int(self.headers.get("Content-Length", "0"))
            while left > 0:
                chunk = self.rfile.read(min(left, _CHUNK))
                if not chunk:
                    raise ValueError("it ends too early")
                file.write(chunk)
                left -= len(chunk)
            return self.server.ownership.take_in(file, name)

    def _take(self) -> bytes:
        address = urlsplit(self.path)
        if address.path == "/bundle":
            return self._take_bundle(parse_qs(address.query)["name"][0])
        size = int(self.headers.get("Content-Length", "0"))
        if not 0 <= size <= _MOST_BYTES:
            raise ValueError(f"{size} bytes are too many")
        body = self.rfile.read(size)
        if address.path == "/backup":
            self.server.ownership.back_up(Path(os.fsdecode(body)))
        else:
            self.server.ownership.carry_out(body, int(self.headers.get("X-Memdash-Pid", "0")))
        return b""

    def _answer(self, ask: Callable[[], bytes | BinaryIO]) -> None:
        if not self._is_one_of_us():
            self._send(403, b"")
            return
        try:
            self._send(200, ask())
        except MemdashError as error:
            self._send(409, str(error).encode())
        except (ValueError, KeyError, TypeError) as error:
            self._send(400, f"that cannot be read: {error}".encode())

    def _is_one_of_us(self) -> bool:
        """Whether it comes from this machine, from no web page, and knows the token."""
        given = self.headers.get("Authorization", "").removeprefix("Bearer ").encode()
        return (
            self.client_address[0] == "127.0.0.1"
            and self.headers.get("Host") == f"127.0.0.1:{self.server.server_port}"
            and self.headers.get("Origin") is None
            and hmac.compare_digest(given, self.server.token.encode())
        )

    def _send(self, status: int, body: bytes | BinaryIO) -> None:
        content = io.BytesIO(body) if isinstance(body, bytes) else body
        self.send_response(status)
        self.send_header("Content-Length", str(content.seek(0, os.SEEK_END)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        content.seek(0)
        shutil.copyfileobj(content, self.wfile)

"""How a command gets at a database that may be in use."""

from __future__ import annotations

from pathlib import Path
from time import monotonic, sleep

from memdash.store.database import StoreLocked
from memdash.store.inbox import InboxStore, take_in
from memdash.store.owner import OwnerFile
from memdash.store.protocol import AnyStore
from memdash.store.remote import Owner, RemoteStore
from memdash.store.store import MEMORY, Store

WAIT_SECONDS = 10.0
_PAUSE_SECONDS = 0.1


def open_for_command(path: Path | str, wait: float = WAIT_SECONDS) -> AnyStore:
    """Open the database at ``path`` for one command, whoever has it open.

    With an owner that takes results in (the app), the store works through it. Without, this process owns the file. Where another
    command has it open, it is waited for up to ``wait`` seconds; after that results are left for the next owner, which for the
    command makes no difference but that it sees no others. Raises :class:`~memdash.errors.StoreError` where the file cannot be
    used.
    """
    if str(path) == MEMORY:
        return Store.open(MEMORY)
    path = Path(path)
    until = monotonic() + wait
    while True:
        try:
            store = Store.open(path)
        except StoreLocked:
            file = OwnerFile.read(path)
            owner = Owner(file) if file else None
            if owner is not None and owner.is_there():
                return RemoteStore(path, owner, lambda: open_for_command(path, wait))
        else:
            take_in(store)
            return store
        if monotonic() >= until:
            return InboxStore(path)
        sleep(_PAUSE_SECONDS)

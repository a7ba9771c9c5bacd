"""The store: one DuckDB file, appended to by one process, and the ways in which other processes take part."""

from memdash.store.bundle import Arrival, Arrived
from memdash.store.command import open_for_command
from memdash.store.database import SCHEMA_VERSION, StoreLocked
from memdash.store.inbox import InboxStore
from memdash.store.notes import Note
from memdash.store.owner import Ownership
from memdash.store.protocol import AnyStore
from memdash.store.reading import ComparisonSummary
from memdash.store.remote import RemoteStore
from memdash.store.settings import StoredComparison
from memdash.store.store import MEMORY, Store, database_path

__all__ = [
    "MEMORY",
    "SCHEMA_VERSION",
    "AnyStore",
    "Arrival",
    "Arrived",
    "ComparisonSummary",
    "InboxStore",
    "Note",
    "Ownership",
    "RemoteStore",
    "Store",
    "StoreLocked",
    "StoredComparison",
    "database_path",
    "open_for_command",
]

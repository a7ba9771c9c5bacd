"""The store: one DuckDB file, appended to by one process, and the ways in which other processes take part."""

from memdash.store.database import SCHEMA_VERSION, StoreLocked
from memdash.store.reading import ComparisonSummary
from memdash.store.settings import StoredComparison
from memdash.store.store import MEMORY, Store, database_path

__all__ = [
    "MEMORY",
    "SCHEMA_VERSION",
    "ComparisonSummary",
    "Store",
    "StoreLocked",
    "StoredComparison",
    "database_path",
]

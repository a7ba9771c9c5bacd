"""Where :mod:`memdash.tables.grid` was; modules on their way still look for it here."""

from memdash.tables.grid import Grid
from memdash.tables.lines import one_line

__all__ = ["Grid", "one_line"]

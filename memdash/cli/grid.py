"""Where :mod:`memdash.tables.grid` was; modules on their way still look for it here."""

from memdash.tables.grid import Grid, one_line

__all__ = ["Grid", "one_line"]

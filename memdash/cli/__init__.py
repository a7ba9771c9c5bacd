"""The command line. Every command is one module here, imported only when it is called, so that all start fast."""

from memdash.cli.entry import main

__all__ = ["main"]

"""Every error memdash raises on purpose.

    MemdashError
    ├── InputError            what a person gave us cannot be used: a script, a specification, an option (exit code 2)
    │   └── ScriptError       a script or a conversation file, with file, line and field
    ├── StoreError            the database cannot be opened or written
    │   └── NotStored         what was asked for is not in it
    ├── CountError            a server does not count tokens
    ├── BudgetExceeded        the next request could pass the budget
    ├── DayBudgetSpent        the next live request could pass what all of them may cost in a day
    └── NotAllowed            the person who asked may not do that

A refusal by the Messages API is not in this tree: it is the SDK's own exception, and a result of the replay.
"""

from __future__ import annotations

from pathlib import Path


class MemdashError(Exception):
    """Base of everything memdash raises on purpose; its text is written for the person who meets it."""


class InputError(MemdashError):
    """Raised when something a person typed or supplied cannot be used; the command line exits with 2."""


class ScriptError(InputError):
    """Raised when a script or a conversation file is not valid.

    The message names the file, the line and the field where they are known: ``trip.yaml:12: facts[0].question: …``.
    """

    def __init__(
        self,
        problem: str,
        *,
        path: Path | str | None = None,
        line: int | None = None,
        field: str | None = None,
    ) -> None:
        self.problem = problem
        self.path = path
        self.line = line
        self.field = field
        where = ":".join(str(part) for part in (path, line) if part is not None)
        super().__init__(": ".join(part for part in (where, field, problem) if part))


class StoreError(MemdashError):
    """Raised when the database cannot be opened, read or written; says which file and what to do."""


class NotStored(StoreError):
    """Raised for an id that the database does not hold.

    The text names the database; ``problem`` leaves that out, for a page that others may read.
    """

    def __init__(self, problem: str, database: str) -> None:
        self.problem = problem
        super().__init__(f"{database}: {problem}")


class BudgetExceeded(MemdashError):
    """Raised before a request that could take a comparison past its budget."""


class DayBudgetSpent(MemdashError):
    """Raised before a live request that could take this instance past its budget of the day; the run can go on another day."""


class NotAllowed(MemdashError):
    """Raised where a person asks for what only others may do; says who may."""


class CountError(MemdashError):
    """Raised when a server does not count the tokens of a request; says what it answered."""

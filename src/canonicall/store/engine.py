"""What a store needs of a database, whichever it is.

A store asks in data: steps, in the SQL that SQLite and PostgreSQL share, with `?` for each value.
An engine runs them on its one connection, from its one thread (`canonicall.store.database`).
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

from canonicall.errors import CanonicallError

Rows: TypeAlias = list[tuple[Any, ...]]


class StoreError(CanonicallError):
    """The store cannot be used."""


class Taken(StoreError):
    """A row cannot be written: one is there already, or what it needs is missing."""


class Lost(StoreError):
    """The database cannot be reached, or went away: what was asked for may be done or not."""


class Tables(NamedTuple):
    """The statements that make an empty database ready for use, in the words of SQLite."""

    name: str
    statements: tuple[str, ...]
    """The tables of the first version; () for those who only look, at any version."""
    changes: tuple[tuple[str, ...], ...] = ()
    """What each later version changes; a database of an earlier one is brought up to date when it
    is opened."""

    @property
    def version(self) -> int:
        """Of the tables, as they are written today."""
        return 1 + len(self.changes)

    def statements_after(self, version: int) -> list[str]:
        """What a database of this version lacks; 0 is an empty one."""
        steps = (self.statements, *self.changes)
        return [statement for step in steps[version:] for statement in step]


class Read(NamedTuple):
    """A question."""

    sql: str
    values: tuple[Any, ...] = ()


class Write(NamedTuple):
    """A change, made once for each row."""

    sql: str
    rows: Sequence[tuple[Any, ...]]
    taken: str = ""
    """What it means that a row is there already, for people."""


Step: TypeAlias = Read | Write


class Engine(Protocol):
    """An open database, used by one thread. The version of its tables is ours."""

    @property
    def name(self) -> str:
        """What it is called in errors; never with a password."""
        ...

    def run(self, steps: Sequence[Step]) -> list[Rows]:
        """The rows of each step, once all are safe. Where one fails, none was done: StoreError."""
        ...

    def close(self) -> None:
        """Let go of it."""
        ...


def newer(name: str, version: int) -> StoreError:
    """Tables that an older canonicall must not touch."""
    return StoreError(f"{name}: it was written by a newer canonicall (version {version}).")

"""What a store needs of a database, whichever it is.

A store asks in data: steps, in the SQL that SQLite and PostgreSQL share, with `?` for each value.
An engine runs them on its one connection, from its one thread (`canonicall.store.database`).
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

from canonicall.errors import CanonicallError

VERSION = 1
"""Of the tables, as they are written today."""
Rows: TypeAlias = list[tuple[Any, ...]]


class StoreError(CanonicallError):
    """The store cannot be used."""


class Taken(StoreError):
    """A row is there already that was to be written for the first time."""


class Lost(StoreError):
    """The database cannot be reached, or went away: what was asked for may be done or not."""


class Tables(NamedTuple):
    """The statements that make an empty database ready for use, in the words of SQLite."""

    name: str
    statements: tuple[str, ...]


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
    """An open database, used by one thread. `VERSION` of its tables is not above ours."""

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

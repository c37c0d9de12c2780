"""A store in one SQLite file."""

import os
import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from canonicall.store.engine import Read, Rows, Step, StoreError, Tables, Taken, newer


class Sqlite:
    """An open file."""

    def __init__(self, path: str, tables: Tables) -> None:
        self.name = path
        self._connection = _opened(path, tables)

    def run(self, steps: Sequence[Step]) -> list[Rows]:
        """The rows of each step, once all are on the disk."""
        try:
            with self._connection:
                return [self._ran(step) for step in steps]
        except sqlite3.Error as error:
            raise StoreError(f"{self.name}: {error}") from None

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def _ran(self, step: Step) -> Rows:
        if isinstance(step, Read):
            return self._connection.execute(step.sql, step.values).fetchall()
        try:
            self._connection.executemany(step.sql, step.rows)
        except sqlite3.IntegrityError as error:
            raise Taken(step.taken or f"{self.name}: {error}") from None
        return []


def _opened(path: str, tables: Tables) -> sqlite3.Connection:
    try:
        if path != ":memory:":
            _make_private(Path(path))
        connection = sqlite3.connect(path, isolation_level="IMMEDIATE")
        connection.execute("PRAGMA busy_timeout=10000")
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        version = _version(connection) if tables.statements else tables.version
        if version < tables.version:
            _bring_up_to_date(connection, tables)
    except (sqlite3.Error, OSError) as error:
        told = f"{path}: it cannot be used as a store: {error}. Give the path of a new file."
        raise StoreError(told) from None
    if version > tables.version:
        connection.close()
        raise newer(path, version)
    return connection


def _make_private(path: Path) -> None:
    """Make the file and its folder for this user alone, if they are not there. SQLite gives the
    permissions of the file to those it puts beside it."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))


def _version(connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


def _bring_up_to_date(connection: sqlite3.Connection, tables: Tables) -> None:
    """All or none, whenever the process ends; once, however many open the file at a time."""
    connection.execute("BEGIN IMMEDIATE")
    with connection:
        version = _version(connection)
        if version < tables.version:
            for statement in tables.statements_after(version):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version={tables.version}")

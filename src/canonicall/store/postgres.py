"""A store in a PostgreSQL database, shared by processes on many machines.

Everything is in a schema of its own, so a database that others use as well will do. A connection
that was lost is opened again, and what was not yet committed is done again; whether something that
was being committed is written, nobody can tell then.
"""

import asyncio
import os
import re
import ssl
from collections.abc import Sequence
from functools import lru_cache
from itertools import count
from typing import Any

import asyncpg

from canonicall.store.engine import (
    Lost,
    Read,
    Rows,
    Step,
    StoreError,
    Tables,
    Taken,
    Write,
    newer,
)

_SCHEMA = "canonicall"
_LOCK = int.from_bytes(b"canonica")
"""Held by whoever makes the tables."""
_CONNECT_SECONDS = 10.0
_ANSWER_SECONDS = 30.0
_WORDS = {
    "BLOB": "BYTEA",
    "INTEGER": "BIGINT",
    "REAL": "DOUBLE PRECISION",
    "TEXT": 'TEXT COLLATE "C"',
    "WITHOUT ROWID": "",
}
"""What the words of SQLite are here; sorted by their bytes, as there."""
_WORD = re.compile(rf"\b({'|'.join(_WORDS)})\b")
_GONE = (
    OSError,
    asyncpg.PostgresConnectionError,
    asyncpg.AdminShutdownError,
    asyncpg.CannotConnectNowError,
    asyncpg.CrashShutdownError,
)
_ERRORS = (OSError, ValueError, asyncpg.PostgresError, asyncpg.InterfaceError)


class Postgres:
    """An open database: one connection, with an event loop for it alone."""

    def __init__(self, url: str, name: str, tables: Tables) -> None:
        self.name = name
        self._url = url
        self._connection: Any = None
        self._runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
        try:
            self._runner.run(self._prepare(tables))
        except BaseException:
            self.close()
            raise

    def run(self, steps: Sequence[Step]) -> list[Rows]:
        """The rows of each step, once all are committed."""
        return self._runner.run(self._run(steps))

    def close(self) -> None:
        """Let go of the connection."""
        self._runner.run(self._let_go())
        self._runner.close()

    async def _run(self, steps: Sequence[Step]) -> list[Rows]:
        while True:
            was_open = await self._connect()
            try:
                return await self._transact(steps)
            except _Interrupted as lost:
                self._drop()
                if not lost.is_certain or not was_open:
                    raise Lost(f"{self.name}: {lost}") from None

    async def _transact(self, steps: Sequence[Step]) -> list[Rows]:
        """All of them or none; questions alone need no transaction."""
        is_committing = False
        try:
            if any(isinstance(step, Write) for step in steps):
                async with self._connection.transaction(isolation="read_committed"):
                    rows = [await self._ran(step) for step in steps]
                    is_committing = True
            else:
                rows = [await self._ran(step) for step in steps]
        except _ERRORS as error:
            if isinstance(error, _GONE) or self._connection.is_closed():
                raise _Interrupted(error, is_committing=is_committing) from None
            raise StoreError(f"{self.name}: {_line(error)}") from None
        return rows

    async def _ran(self, step: Step) -> Rows:
        sql = _numbered(step.sql)
        if isinstance(step, Read):
            return [tuple(row) for row in await self._connection.fetch(sql, *step.values)]
        try:
            await self._connection.executemany(sql, step.rows)
        except asyncpg.IntegrityConstraintViolationError as error:
            raise Taken(step.taken or f"{self.name}: {_line(error)}") from None
        return []

    async def _connect(self) -> bool:
        """Whether it was connected before."""
        if self._connection is not None and not self._connection.is_closed():
            return True
        try:
            self._connection = await asyncpg.connect(
                self._url, timeout=_CONNECT_SECONDS, command_timeout=_ANSWER_SECONDS
            )
            # Not as a parameter of the connection: poolers refuse those they do not know.
            await self._connection.execute(f"SET search_path TO {_SCHEMA}")
        except _ERRORS as error:
            self._drop()
            told = f"{self.name}: it cannot be used as a store: {_line(error)}"
            raise Lost(told) from None
        return False

    async def _prepare(self, tables: Tables) -> None:
        """All tables or none; once, however many open the database at a time."""
        await self._connect()
        try:
            async with self._connection.transaction(isolation="read_committed"):
                await self._connection.fetch("SELECT pg_advisory_xact_lock($1)", _LOCK)
                version = await self._version_of(tables)
        except _ERRORS as error:
            told = f"{self.name}: it cannot be used as a store: {_line(error)}"
            raise StoreError(told) from None
        if version > tables.version:
            raise newer(self.name, version)

    async def _version_of(self, tables: Tables) -> int:
        """The version of the tables, once they are made or brought up to date."""
        fetch, execute = self._connection.fetchval, self._connection.execute
        # Looked for first: to make what is there would need rights that to use it does not.
        if await fetch("SELECT to_regnamespace($1) IS NULL", _SCHEMA):
            await execute(f"CREATE SCHEMA {_SCHEMA}")
        if await fetch("SELECT to_regclass($1) IS NULL", f"{_SCHEMA}.versions"):
            await execute("CREATE TABLE versions (name TEXT PRIMARY KEY, version BIGINT NOT NULL)")
        sql = "SELECT version FROM versions WHERE name = $1"
        version = int(await fetch(sql, tables.name) or 0)
        if version >= tables.version:
            return version
        for statement in tables.statements_after(version):
            await execute(_WORD.sub(lambda word: _WORDS[word[0]], statement))
        keep = "INSERT INTO versions VALUES ($1, $2)"
        keep += " ON CONFLICT (name) DO UPDATE SET version = excluded.version"
        await execute(keep, tables.name, tables.version)
        return tables.version

    async def _let_go(self) -> None:
        if self._connection is None:
            return
        try:
            await self._connection.close(timeout=_CONNECT_SECONDS)
        except _ERRORS:
            self._drop()

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.terminate()
            self._connection = None


class _Interrupted(Exception):
    """The connection was lost on the way."""

    def __init__(self, error: Exception, *, is_committing: bool) -> None:
        told = "the connection was lost"
        if is_committing:
            told += " while it was being written: nobody can tell whether it is"
        super().__init__(f"{told}: {_line(error)}")
        self.is_certain = not is_committing and not isinstance(error, TimeoutError)
        """Whether nothing was done: then it can be done again at once."""


@lru_cache(maxsize=256)
def _numbered(sql: str) -> str:
    """`?` for each value is `$1`, `$2` and so on here; our texts have it nowhere else."""
    numbers = count(1)
    return re.sub(r"\?", lambda _: f"${next(numbers)}", sql)


def _line(error: Exception) -> str:
    """What went wrong, in one line."""
    if isinstance(error, TimeoutError):
        return "the server does not answer"
    if isinstance(error, OSError) and error.errno and not isinstance(error, ssl.SSLError):
        # Those of asyncio tell the address again, and not what it means.
        known = os.strerror(error.errno) if error.errno > 0 else error.strerror
        return f"the server cannot be reached: {known}"
    return " ".join(str(error).split()) or type(error).__name__

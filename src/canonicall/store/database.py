"""One SQLite file, one thread that writes it.

What is asked for is done in the order it was asked for, many at a time in one transaction: whoever
awaits a write hears of it when it is on the disk. So a line that says that a tool starts is safe
before it starts, and never ahead of the conversation that asks for it.
"""

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from canonicall.errors import CanonicallError
from canonicall.store.batches import Waiting

Work: TypeAlias = Callable[[sqlite3.Connection], Any]
_MOST_AT_ONCE = 500
_VERSION = 1
_TABLES = (
    """CREATE TABLE sessions (
        id TEXT PRIMARY KEY, target TEXT NOT NULL, title TEXT NOT NULL,
        parent TEXT NOT NULL, created REAL NOT NULL, changed REAL NOT NULL
    )""",
    """CREATE TABLE entries (
        session TEXT NOT NULL, number INTEGER NOT NULL, line BLOB NOT NULL,
        PRIMARY KEY (session, number)
    ) WITHOUT ROWID""",
    """CREATE TABLE journal (
        session TEXT NOT NULL, call_id TEXT NOT NULL, ended BLOB,
        PRIMARY KEY (session, call_id)
    ) WITHOUT ROWID""",
)


class StoreError(CanonicallError):
    """The file cannot be used."""


class Database:
    """An open file. `close` it; what was awaited is safe without."""

    def __init__(self, path: str | Path, *, tables: Sequence[str] = _TABLES) -> None:
        """`tables`: the statements that make an empty file ready for use."""
        self._path = str(path)
        self._asked: Waiting[_Asked] = Waiting(most_at_once=_MOST_AT_ONCE)
        self._connection = _opened(self._path, tables)
        self._lost: StoreError | None = None
        """The first write that failed with nobody waiting for it."""
        self._thread = threading.Thread(target=self._serve, name="store", daemon=True)
        self._thread.start()

    async def do(self, work: Work) -> Any:
        """What `work` returns, once it is on the disk."""
        return await self._ask(work, is_awaited=True)

    def put(self, work: Work) -> "asyncio.Future[Any]":
        """The same for those who may not wait: it is done, and where it fails, `close` says so.

        Whatever is awaited later comes after it.
        """
        future = self._ask(work, is_awaited=False)
        future.add_done_callback(_take_notice)
        return future

    def _ask(self, work: Work, *, is_awaited: bool) -> "asyncio.Future[Any]":
        loop = asyncio.get_running_loop()
        asked = _Asked(work, loop, loop.create_future(), is_awaited)
        self._asked.put(asked)
        return asked.future

    def close(self) -> None:
        """Write what was asked for, and close the file. Raises what nobody has heard of yet."""
        self._asked.end()
        self._thread.join()
        self._connection.close()
        lost, self._lost = self._lost, None
        if lost is not None:
            raise lost

    def _serve(self) -> None:
        for batch in self._asked.batches():
            self._commit(batch)

    def _commit(self, batch: "list[_Asked]") -> None:
        """All in one transaction; where one fails, each in its own, so that only that one does."""
        try:
            with self._connection:
                done = [asked.work(self._connection) for asked in batch]
        except sqlite3.Error as error:
            if len(batch) == 1:
                problem = StoreError(f"{self._path}: {error}")
                if not batch[0].is_awaited:
                    self._lost = self._lost or problem
                batch[0].failed(problem)
            else:
                for asked in batch:
                    self._commit([asked])
            return
        for asked, result in zip(batch, done, strict=True):
            asked.done(result)


class _Asked:
    """One piece of work, and who waits for it."""

    def __init__(
        self,
        work: Work,
        loop: asyncio.AbstractEventLoop,
        future: "asyncio.Future[Any]",
        is_awaited: bool,
    ) -> None:
        self.work = work
        self.future = future
        self.is_awaited = is_awaited
        """Whether it is certain that somebody hears how it ended."""
        self._loop = loop

    def done(self, result: Any) -> None:
        self._answer(lambda: self.future.set_result(result))

    def failed(self, error: Exception) -> None:
        self._answer(lambda: self.future.set_exception(error))

    def _answer(self, give: Callable[[], None]) -> None:
        def answer() -> None:
            if not self.future.done():
                give()

        try:
            self._loop.call_soon_threadsafe(answer)
        except RuntimeError:
            # The loop was closed: nobody is there any more.
            return


def _take_notice(future: "asyncio.Future[Any]") -> None:
    """Else asyncio would print that nobody looked at the error; `close` raises it."""
    if not future.cancelled():
        future.exception()


def _opened(path: str, tables: Sequence[str]) -> sqlite3.Connection:
    try:
        if path != ":memory:":
            Path(path).parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(path, check_same_thread=False, isolation_level="IMMEDIATE")
        connection.execute("PRAGMA busy_timeout=10000")
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        version = _version(connection)
        if version == 0:
            _create(connection, tables)
    except (sqlite3.Error, OSError) as error:
        told = f"{path}: it cannot be used as a store: {error}. Give the path of a new file."
        raise StoreError(told) from None
    if version > _VERSION:
        connection.close()
        raise StoreError(f"{path}: it was written by a newer canonicall (version {version}).")
    return connection


def _version(connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


def _create(connection: sqlite3.Connection, tables: Sequence[str]) -> None:
    """All tables or none, whenever the process ends; once, however many open the file at a time."""
    connection.execute("BEGIN IMMEDIATE")
    with connection:
        if _version(connection) == 0:
            for statement in tables:
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version={_VERSION}")

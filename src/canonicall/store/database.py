"""One database, one thread that writes it.

What is asked for is done in the order it was asked for, many at a time in one transaction: whoever
awaits a write hears of it when it is safe. So a line that says that a tool starts is safe before it
starts, and never ahead of the conversation that asks for it.
"""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from canonicall.store.batches import Waiting
from canonicall.store.engine import Engine, Lost, Read, Rows, Step, StoreError, Tables
from canonicall.store.places import open_engine

_MOST_AT_ONCE = 500
SESSIONS = Tables(
    "sessions",
    (
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
    ),
)


class Chain:
    """Writes that stand on each other: where one that was put fails, nothing behind it is done."""

    def __init__(self) -> None:
        self.broken: StoreError | None = None


class Database:
    """An open database. `close` it; what was awaited is safe without.

    It belongs to no event loop: any may ask, one after the other or at a time.
    """

    def __init__(self, place: str | Path, *, tables: Tables = SESSIONS) -> None:
        """`place`: the path of an SQLite file, or the `postgresql://` URL of a database."""
        self._asked: Waiting[_Asked] = Waiting(most_at_once=_MOST_AT_ONCE)
        self._lost: StoreError | None = None
        """The first write that failed with nobody waiting for it."""
        opened: Future[None] = Future()
        serve = (opened, str(place), tables)
        self._thread = threading.Thread(target=self._serve, args=serve, name="store", daemon=True)
        self._thread.start()
        opened.result()

    async def read(self, sql: str, *values: Any) -> Rows:
        """The answer of the database, behind all that was asked for before."""
        rows: Rows = await self._ask((Read(sql, values),), None, is_awaited=True)
        return rows

    async def do(self, *steps: Step, chain: Chain | None = None) -> None:
        """Do all of it, or none; it is safe when this returns."""
        await self._ask(steps, chain, is_awaited=True)

    async def ask(self, *steps: Step) -> Rows:
        """Do all of it, or none, and return the rows of the last step."""
        rows: Rows = await self._ask(steps, None, is_awaited=True)
        return rows

    def put(self, *steps: Step, chain: Chain | None = None) -> "asyncio.Future[Any]":
        """The same for those who may not wait: it is done, and where it fails, `close` says so.

        Whatever is awaited later comes after it.
        """
        future = self._ask(steps, chain, is_awaited=False)
        future.add_done_callback(_take_notice)
        return future

    def _ask(
        self, steps: tuple[Step, ...], chain: Chain | None, *, is_awaited: bool
    ) -> "asyncio.Future[Any]":
        asked = _Asked(steps, chain or Chain(), is_awaited)
        self._asked.put(asked)
        return asked.future

    def close(self) -> None:
        """Write what was asked for, and let go. Raises what nobody has heard of yet."""
        self._asked.end()
        self._thread.join()
        lost, self._lost = self._lost, None
        if lost is not None:
            raise lost

    def _serve(self, opened: "Future[None]", place: str, tables: Tables) -> None:
        try:
            engine = open_engine(place, tables)
        except BaseException as error:  # noqa: BLE001  whoever opens it hears of it
            opened.set_exception(error)
            return
        opened.set_result(None)
        for batch in self._asked.batches():
            self._commit(engine, batch)
        engine.close()

    def _commit(self, engine: Engine, batch: "list[_Asked]") -> None:
        """All in one transaction; where one fails, each in its own, so that only that one does."""
        for asked in batch:
            if asked.chain.broken is not None:
                self._fail(asked, StoreError(str(asked.chain.broken)))
        batch = [asked for asked in batch if asked.chain.broken is None]
        try:
            done = iter(engine.run([step for asked in batch for step in asked.steps]))
        except Exception as error:  # noqa: BLE001  a value that no database takes raises anything
            problem = error if isinstance(error, StoreError) else _refused(engine, error)
            if len(batch) == 1 or isinstance(problem, Lost):
                for asked in batch:
                    self._fail(asked, problem)
            else:
                for asked in batch:
                    self._commit(engine, [asked])
            return
        for asked in batch:
            *_, last = [next(done) for _ in asked.steps]
            asked.done(last)

    def _fail(self, asked: "_Asked", problem: StoreError) -> None:
        if not asked.is_awaited:
            asked.chain.broken = problem
            self._lost = self._lost or problem
        asked.failed(problem)


class _Asked:
    """Steps that belong together, and who waits for them."""

    def __init__(self, steps: tuple[Step, ...], chain: Chain, is_awaited: bool) -> None:
        self._loop = asyncio.get_running_loop()
        self.steps = steps
        self.chain = chain
        self.future: asyncio.Future[Any] = self._loop.create_future()
        self.is_awaited = is_awaited
        """Whether it is certain that somebody hears how it ended."""

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


def _refused(engine: Engine, error: Exception) -> StoreError:
    return StoreError(f"{engine.name}: {error}")


def _take_notice(future: "asyncio.Future[Any]") -> None:
    """Else asyncio would print that nobody looked at the error; `close` raises it."""
    if not future.cancelled():
        future.exception()

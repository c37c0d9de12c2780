"""Stored sessions: their conversations line by line, and what is known of their calls."""

import sqlite3
from collections.abc import Awaitable, Iterable
from typing import Any

import msgspec
from msgspec import Struct

from canonicall.agent.inputs import CallEnded
from canonicall.blocks import Entry, ToolCall
from canonicall.errors import UnknownName
from canonicall.persisted import Loaded, dump_entry, dump_header, load
from canonicall.runtime.journal import Begun
from canonicall.store.database import Database

_END = msgspec.json.Decoder(CallEnded)


class Stored(Struct, frozen=True):
    """A session as a list shows it."""

    id: str
    target: str
    title: str = ""
    parent: str = ""
    """The session it was forked from."""
    created: float = 0.0
    changed: float = 0.0
    entries: int = 0


class SessionStore:
    """The sessions in one database."""

    def __init__(self, database: Database) -> None:
        self.database = database

    async def create(self, stored: Stored) -> None:
        """Begin a session under an id that is not taken yet."""
        row = (
            stored.id,
            stored.target,
            stored.title,
            stored.parent,
            stored.created,
            stored.created,
        )
        await self.database.do(lambda db: db.execute(_CREATE, row))

    def append(
        self, id: str, first: int, entries: Iterable[Entry], changed: float
    ) -> Awaitable[object]:
        """Write entries that follow each other; they are safe when this or anything later is.

        It need not be awaited to be done.
        """
        rows = [(id, number, dump_entry(entry)) for number, entry in enumerate(entries, first)]

        def write(db: sqlite3.Connection) -> None:
            db.executemany("INSERT OR REPLACE INTO entries VALUES (?, ?, ?)", rows)
            db.execute("UPDATE sessions SET changed = ? WHERE id = ?", (changed, id))

        return self.database.put(write)

    async def load(self, id: str) -> Loaded:
        """The conversation of a session."""
        return load(await self.export(id), recover=True)

    async def export(self, id: str) -> bytes:
        """The conversation in its stored form, as a file would have it."""
        await self.get(id)
        lines = await self.database.do(
            lambda db: db.execute(
                "SELECT line FROM entries WHERE session = ? ORDER BY number", (id,)
            ).fetchall()
        )
        return dump_header() + b"".join(line for (line,) in lines)

    async def get(self, id: str) -> Stored:
        """What is known of one session."""
        row = await self.database.do(lambda db: db.execute(_ONE, (id,)).fetchone())
        if row is None:
            raise UnknownName("session", id, [one.id for one in await self.list()])
        return Stored(*row)

    async def list(self) -> tuple[Stored, ...]:
        """All sessions, the one that changed last first."""
        rows = await self.database.do(lambda db: db.execute(_LIST).fetchall())
        return tuple(Stored(*row) for row in rows)

    async def fork(self, id: str, into: Stored, *, entries: int | None = None) -> None:
        """Begin another session with the first entries of this one."""
        await self.get(id)
        await self.create(into)
        limit = -1 if entries is None else entries
        await self.database.do(
            lambda db: db.execute(
                "INSERT INTO entries SELECT ?, number, line FROM entries"
                " WHERE session = ? ORDER BY number LIMIT ?",
                (into.id, id, limit),
            )
        )
        taken_over = (await self.load(into.id)).conversation.ledger.open
        rows = [(into.id, id, one.id) for one in taken_over]
        # Of calls that have an end in the fork nothing is taken over: made again, they run again.
        await self.database.do(
            lambda db: db.executemany(
                "INSERT INTO journal SELECT ?, call_id, ended FROM journal"
                " WHERE session = ? AND call_id = ?",
                rows,
            )
        )

    async def retarget(self, id: str, target: str) -> None:
        """Note who is asked from now on."""
        await self.database.do(
            lambda db: db.execute("UPDATE sessions SET target = ? WHERE id = ?", (target, id))
        )

    async def delete(self, id: str) -> None:
        """Forget a session with all that belongs to it."""

        def forget(db: sqlite3.Connection) -> None:
            for table, column in (
                ("entries", "session"),
                ("journal", "session"),
                ("sessions", "id"),
            ):
                db.execute(f"DELETE FROM {table} WHERE {column} = ?", (id,))  # noqa: S608  ours

        await self.get(id)
        await self.database.do(forget)

    def journal(self, id: str) -> "StoredJournal":
        """The execution journal of a session."""
        return StoredJournal(self.database, id)


class StoredJournal:
    """The execution journal in a database.

    Each session has its own: ids are made from what is said, so two sessions with the same words
    have calls with the same ids.
    """

    def __init__(self, database: Database, session: str) -> None:
        self._database = database
        self._session = session

    async def begin(self, call: ToolCall) -> Begun | None:
        """Write that the call starts now; what is known of it where it was started before."""
        row = (self._session, call.id)

        def write(db: sqlite3.Connection) -> Any:
            found = _found(db, row)
            if found is None:
                db.execute("INSERT INTO journal (session, call_id) VALUES (?, ?)", row)
            return found

        return _begun(call.id, await self._database.do(write))

    async def end(self, ended: CallEnded) -> None:
        """Write how the call ended."""
        data = msgspec.json.encode(ended)
        await self._database.do(
            lambda db: db.execute(
                "INSERT INTO journal VALUES (?, ?, ?)"
                " ON CONFLICT (session, call_id) DO UPDATE SET ended = excluded.ended",
                (self._session, ended.call_id, data),
            )
        )

    async def known(self, call_id: str) -> Begun | None:
        """What is known of a call; None where it was never started."""
        row = (self._session, call_id)
        return _begun(call_id, await self._database.do(lambda db: _found(db, row)))


def _found(db: sqlite3.Connection, row: tuple[str, str]) -> Any:
    return db.execute("SELECT ended FROM journal WHERE session = ? AND call_id = ?", row).fetchone()


def _begun(call_id: str, row: Any) -> Begun | None:
    if row is None:
        return None
    return Begun(call_id, None if row[0] is None else _END.decode(row[0]))


_CREATE = "INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?)"
_ROWS = """
SELECT id, target, title, parent, created, changed,
       (SELECT COUNT(*) FROM entries WHERE session = sessions.id)
FROM sessions
"""
_LIST = f"{_ROWS} ORDER BY changed DESC, id"
_ONE = f"{_ROWS} WHERE id = ?"

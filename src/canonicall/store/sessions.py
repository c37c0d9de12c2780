"""Stored sessions: their conversations line by line, and what is known of their calls."""

import sys
from collections.abc import Awaitable, Iterable

import msgspec
from msgspec import Struct

from canonicall.agent.inputs import CallEnded
from canonicall.blocks import Entry, ToolCall
from canonicall.errors import UnknownName
from canonicall.persisted import Loaded, dump_entry, dump_header, load
from canonicall.runtime.journal import Begun
from canonicall.store.database import Chain, Database
from canonicall.store.engine import Rows, Taken, Write

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
        taken = f"there is a session {stored.id!r} already."
        await self.database.do(Write(_CREATE, [row], taken))

    def append(
        self,
        id: str,
        first: int,
        entries: Iterable[Entry],
        changed: float,
        chain: Chain | None = None,
    ) -> Awaitable[object]:
        """Write entries that follow each other; they are safe when this or anything later is.

        It need not be awaited to be done. Entries are written once: where others are in their
        place, somebody else has gone on with the session.
        """
        rows = [(id, number, dump_entry(entry)) for number, entry in enumerate(entries, first)]
        return self.database.put(
            Write("INSERT INTO entries VALUES (?, ?, ?)", rows, _gone_on(id)),
            Write("UPDATE sessions SET changed = ? WHERE id = ?", [(changed, id)]),
            chain=chain,
        )

    async def load(self, id: str) -> Loaded:
        """The conversation of a session."""
        return load(await self.export(id), recover=True)

    async def export(self, id: str) -> bytes:
        """The conversation in its stored form, as a file would have it."""
        await self.get(id)
        lines = await self.database.read(
            "SELECT line FROM entries WHERE session = ? ORDER BY number", id
        )
        return dump_header() + b"".join(line for (line,) in lines)

    async def get(self, id: str) -> Stored:
        """What is known of one session."""
        for row in await self.database.read(_ONE, id):
            return Stored(*row)
        raise UnknownName("session", id, [one.id for one in await self.list()])

    async def list(self) -> tuple[Stored, ...]:
        """All sessions, the one that changed last first."""
        return tuple(Stored(*row) for row in await self.database.read(_LIST))

    async def fork(self, id: str, into: Stored, *, entries: int | None = None) -> None:
        """Begin another session with the first entries of this one."""
        await self.get(id)
        await self.create(into)
        behind = sys.maxsize if entries is None else entries
        await self.database.do(
            Write(
                "INSERT INTO entries SELECT ?, number, line FROM entries"
                " WHERE session = ? AND number < ?",
                [(into.id, id, behind)],
            )
        )
        taken_over = (await self.load(into.id)).conversation.ledger.open
        # Of calls that have an end in the fork nothing is taken over: made again, they run again.
        await self.database.do(
            Write(
                "INSERT INTO journal SELECT ?, call_id, ended FROM journal"
                " WHERE session = ? AND call_id = ?",
                [(into.id, id, one.id) for one in taken_over],
            )
        )

    async def retarget(self, id: str, target: str) -> None:
        """Note who is asked from now on."""
        await self.database.do(Write("UPDATE sessions SET target = ? WHERE id = ?", [(target, id)]))

    async def delete(self, id: str) -> None:
        """Forget a session with all that belongs to it."""
        await self.get(id)
        await self.database.do(
            Write("DELETE FROM entries WHERE session = ?", [(id,)]),
            Write("DELETE FROM journal WHERE session = ?", [(id,)]),
            Write("DELETE FROM sessions WHERE id = ?", [(id,)]),
        )

    def journal(self, id: str, chain: Chain | None = None) -> "StoredJournal":
        """The execution journal of a session; no call is begun behind a `chain` that is broken."""
        return StoredJournal(self.database, id, chain)


class StoredJournal:
    """The execution journal in a database.

    Each session has its own: ids are made from what is said, so two sessions with the same words
    have calls with the same ids.
    """

    def __init__(self, database: Database, session: str, chain: Chain | None = None) -> None:
        self._database = database
        self._session = session
        self._chain = chain

    async def begin(self, call: ToolCall) -> Begun | None:
        """Write that the call starts now; what is known of it where it was started before."""
        return await self._first(call.id, None)

    async def forgo(self, ended: CallEnded) -> Begun | None:
        """Write that the call is never started; what is known of it where it was."""
        return await self._first(ended.call_id, msgspec.json.encode(ended))

    async def _first(self, call_id: str, ended: bytes | None) -> Begun | None:
        """Of all who write the first line of a call, in whichever process, one succeeds."""
        row = (self._session, call_id, ended)
        try:
            await self._database.do(
                Write("INSERT INTO journal VALUES (?, ?, ?)", [row]), chain=self._chain
            )
        except Taken:
            return await self.known(call_id) or Begun(call_id)
        return None

    async def end(self, ended: CallEnded) -> None:
        """Write how the call ended."""
        data = msgspec.json.encode(ended)
        await self._database.do(
            Write(
                "INSERT INTO journal VALUES (?, ?, ?)"
                " ON CONFLICT (session, call_id) DO UPDATE SET ended = excluded.ended",
                [(self._session, ended.call_id, data)],
            )
        )

    async def known(self, call_id: str) -> Begun | None:
        """What is known of a call; None where it was never started."""
        sql = "SELECT ended FROM journal WHERE session = ? AND call_id = ?"
        return _begun(call_id, await self._database.read(sql, self._session, call_id))


def _begun(call_id: str, rows: Rows) -> Begun | None:
    for (ended,) in rows:
        return Begun(call_id, None if ended is None else _END.decode(ended))
    return None


def _gone_on(id: str) -> str:
    return f"somebody else has gone on with session {id!r}: open it again to see what was said."


_CREATE = "INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?)"
_ROWS = """
SELECT id, target, title, parent, created, changed,
       (SELECT COUNT(*) FROM entries WHERE session = sessions.id)
FROM sessions
"""
_LIST = f"{_ROWS} ORDER BY changed DESC, id"
_ONE = f"{_ROWS} WHERE id = ?"

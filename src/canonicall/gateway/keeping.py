"""What outlives a request: stored turns, state of providers, and reports of what was changed.

In SQLite or PostgreSQL, where several workers can share it and a restart loses nothing; what was
used lately is at hand without asking.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Iterable, Mapping
from contextlib import suppress
from typing import Any, TypeAlias

import msgspec

from canonicall.gateway import conversation_store, turn_tree
from canonicall.gateway.conversation_store import ConversationStore
from canonicall.gateway.opaque import Kept
from canonicall.gateway.turn_tree import RESPONSE, TurnTree, owned
from canonicall.store.database import Database
from canonicall.store.engine import StoreError, Tables, Taken, Write
from canonicall.store.places import shown

_LOG = logging.getLogger("canonicall.gateway")
TABLES = Tables(
    "gateway",
    (
        """CREATE TABLE kept (
            kind TEXT NOT NULL, id TEXT NOT NULL, made REAL NOT NULL, data BLOB NOT NULL,
            PRIMARY KEY (kind, id)
        ) WITHOUT ROWID""",
        "CREATE INDEX kept_by_age ON kept (made)",
    ),
    changes=((*turn_tree.TABLES, *conversation_store.TABLES),),
)
_KEEP = (
    "INSERT INTO kept VALUES (?, ?, ?, ?)"
    " ON CONFLICT (kind, id) DO UPDATE SET made = excluded.made, data = excluded.data"
)
_ITEM, _STATE, _REPORT = "item", "state", "report"
_REVOKED = "revoked"
_PROBE, _PROBE_BYTES = "probe", 65_536
_AT_HAND = 2_000
_AT_ONCE = 500
"""As many ids as are looked up in one go: SQLite has a limit."""
_DAY = 86_400.0
_SWEEP_SECONDS = 3_600.0
"""What is too old is forgotten that often."""
_LATER_SECONDS = 0.5
_READ_KEPT = msgspec.msgpack.Decoder(Kept)
Json: TypeAlias = dict[str, Any]


class Keeping:
    """The store of one gateway."""

    def __init__(self, path: str = "", *, days: float = 30.0) -> None:
        """`path`: a file or a URL; empty for memory. What is older than `days` is forgotten."""
        self._place = path or ":memory:"
        self._database = Database(self._place, tables=TABLES)
        self._days = days
        self.is_shared = bool(path)
        """Whether other gateways may use the same one."""
        self._later: list[tuple[str, str, float, bytes]] = []
        """Rows that nobody waits for: written together, as the writer takes turns with us."""
        self.revoked: set[str] = set()
        """The hashes of the keys that were revoked while it ran."""
        self._at_hand: OrderedDict[tuple[str, str], bytes | None] = OrderedDict()
        self._swept = 0.0
        self._problem = ""
        """Why the last write failed."""
        self.turns = TurnTree(self._database)
        self.conversations = ConversationStore(self._database)

    @property
    def database(self) -> Database:
        """Where others keep what outlives a request too."""
        return self._database

    def close(self) -> None:
        """Write what was asked for, and close the file."""
        self._write_later()
        try:
            self._database.close()
        except StoreError as error:
            # Only reports and counts are written without waiting for them.
            _LOG.warning("some reports and counts were not written: %s", error)

    async def check(self) -> str:
        """Why nothing can be written; empty if something can.

        After a write has failed it is tried again here: requests may not come any more.
        """
        try:
            if not self._problem:
                await self._database.read("SELECT 1 FROM kept LIMIT 1")
            else:
                # As much as a usual turn: a few bytes find room on a full disk, too.
                tried = Write(_KEEP, [(_PROBE, "", 0.0, bytes(_PROBE_BYTES))])
                gone = Write("DELETE FROM kept WHERE kind = ?", [(_PROBE,)])
                await self._written(self._database.do(tried, gone))
        except StoreError as error:
            return self._reason(error)
        return ""

    def _reason(self, error: StoreError) -> str:
        """An error for those who need not know where the store is."""
        return str(error).removeprefix(f"{shown(self._place)}: ")

    async def _written(self, writing: Awaitable[None]) -> None:
        """Wait for a write, and note why it failed."""
        try:
            await writing
        except Taken:
            raise
        except StoreError as error:
            if not self._problem:
                _LOG.error("the store cannot be written: %s", error)
            self._problem = self._reason(error)
            raise
        self._problem = ""

    def forget_old(self, now: float) -> None:
        """Forget what is too old."""
        self._swept = now
        before = now - self._days * _DAY
        self._database.put(
            Write("DELETE FROM kept WHERE made < ? AND kind != ?", [(before, _REVOKED)]),
            self.turns.expired(before),
            *self.conversations.expired(before),
        )

    async def keep_state(self, kept: Mapping[str, Kept], now: float) -> None:
        """Keep state of providers, by canonical call id."""
        rows = [(_STATE, id, now, msgspec.msgpack.encode(one)) for id, one in kept.items()]
        for _, id, _, data in rows:
            self._remember((_STATE, id), data)
        # If it cannot be written, it is at hand until this process ends; `check` says so.
        with suppress(StoreError):
            await self._written(self._database.do(Write(_KEEP, rows)))

    async def state(self, ids: Iterable[str]) -> dict[str, Kept]:
        """What is kept for these calls."""
        wanted = {id: (_STATE, id) for id in ids}
        missing = [id for id, key in wanted.items() if key not in self._at_hand]
        fetched = await self._fetch(missing) if missing else {}
        found = {id: self._at_hand.get(key) or fetched.get(id) for id, key in wanted.items()}
        return {id: _READ_KEPT.decode(data) for id, data in found.items() if data is not None}

    def items_of(self, reply: Json, now: float, *, owner: str) -> Write:
        """The step that keeps each item of a response by its id."""
        output = [one for one in reply.get("output", ()) if isinstance(one, dict)]
        rows = [
            (_ITEM, owned(one["id"], owner), now, msgspec.json.encode(one))
            for one in output
            if isinstance(one.get("id"), str)
        ]
        return Write(_KEEP, rows)

    async def write(self, steps: Iterable[Write], now: float) -> None:
        """Do all of it, or none; it is safe when this returns. `Held` where a conversation is added
        to that another request holds."""
        await self._written(self.conversations.write(*steps))
        if now - self._swept > _SWEEP_SECONDS:
            self.forget_old(now)

    async def items(self, ids: Iterable[str], *, owner: str) -> dict[str, Json]:
        """The items of stored responses that have these ids."""
        found = {id: await self._one(_ITEM, owned(id, owner)) for id in dict.fromkeys(ids)}
        return {id: item for id, item in found.items() if item is not None}

    async def forget_response(self, id: str, *, owner: str) -> bool:
        """Forget a response; whether there was one."""
        line = await self.turns.line(RESPONSE, id, owner=owner)
        if line is None:
            return False
        items = [one.get("id") for one in line.last["response"].get("output", ())]
        gone = [(_ITEM, owned(item, owner)) for item in items if isinstance(item, str)]
        also = Write("DELETE FROM kept WHERE kind = ? AND id = ?", gone)
        return await self.turns.forget(RESPONSE, id, owner=owner, also=[also])

    def keep_report(self, id: str, report: Json, now: float, *, lasts: bool) -> None:
        """Keep what is known of a request; for a while only where nothing is to be told."""
        data = msgspec.json.encode(report)
        self._remember((_REPORT, id), data)
        if lasts:
            self._later.append((_REPORT, id, now, data))
            if len(self._later) == 1:
                asyncio.get_running_loop().call_later(_LATER_SECONDS, self._write_later)

    async def report(self, id: str) -> Json | None:
        """What is known of a request."""
        return await self._one(_REPORT, id)

    async def last_reports(self, most: int) -> list[Json]:
        """The reports of the last requests, the newest first."""
        found = [data for (kind, _), data in self._at_hand.items() if kind == _REPORT and data]
        return [msgspec.json.decode(data) for data in reversed(found[-most:])]

    async def revoke(self, hash: str, now: float) -> None:
        """Remember that a key is not to be let in any more."""
        self.revoked.add(hash)
        await self._database.do(Write(_KEEP, [(_REVOKED, hash, now, b"")]))

    async def reread_revoked(self) -> None:
        """Learn what other workers were told."""
        rows = await self._database.read("SELECT id FROM kept WHERE kind = ?", _REVOKED)
        self.revoked |= {hash for (hash,) in rows}

    async def _one(self, kind: str, id: str) -> Json | None:
        data = self._at_hand.get((kind, id))
        if data is None:
            sql = "SELECT data FROM kept WHERE kind = ? AND id = ?"
            data = next((found for (found,) in await self._database.read(sql, kind, id)), None)
        return None if data is None else msgspec.json.decode(data)

    async def _fetch(self, ids: list[str]) -> dict[str, bytes]:
        found: dict[str, bytes] = {}
        for at in range(0, len(ids), _AT_ONCE):
            some = ids[at : at + _AT_ONCE]
            marks = ",".join("?" * len(some))
            sql = f"SELECT id, data FROM kept WHERE kind = ? AND id IN ({marks})"  # noqa: S608  marks
            found.update(await self._database.read(sql, _STATE, *some))
        # What another worker writes may come a moment later: that it is missing is not for good.
        for id in found if self.is_shared else ids:
            self._remember((_STATE, id), found.get(id))
        return found

    def _write_later(self) -> None:
        rows, self._later = self._later, []
        if rows:
            self._database.put(Write(_KEEP, rows))

    def _remember(self, key: tuple[str, str], data: bytes | None) -> None:
        self._at_hand[key] = data
        self._at_hand.move_to_end(key)
        if len(self._at_hand) > _AT_HAND:
            self._at_hand.popitem(last=False)

"""What outlives a request: stored responses, state of providers, and reports of what was changed.

In SQLite, where several workers can share it and a restart loses nothing; what was used lately is
at hand without asking.
"""

import sqlite3
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, TypeAlias

import msgspec

from canonicall.gateway.opaque import Kept
from canonicall.store.database import Database

TABLES = """
CREATE TABLE kept (
    kind TEXT NOT NULL, id TEXT NOT NULL, made REAL NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY (kind, id)
) WITHOUT ROWID;
CREATE INDEX kept_by_age ON kept (made);
"""
_RESPONSE, _ITEM, _STATE, _REPORT = "response", "item", "state", "report"
_AT_HAND = 2_000
_AT_ONCE = 500
"""As many ids as are looked up in one go: SQLite has a limit."""
_DAY = 86_400.0
_READ_KEPT = msgspec.msgpack.Decoder(Kept)
Json: TypeAlias = dict[str, Any]


class Keeping:
    """The store of one gateway."""

    def __init__(self, path: str = "", *, days: float = 30.0) -> None:
        """`path`: a file; empty for memory. What is older than `days` is forgotten."""
        self._database = Database(path or ":memory:", tables=TABLES)
        self._days = days
        self._at_hand: OrderedDict[tuple[str, str], bytes | None] = OrderedDict()

    def close(self) -> None:
        """Write what was asked for, and close the file."""
        self._database.close()

    async def check(self) -> None:
        """Raise where nothing can be written."""
        await self._database.do(lambda db: db.execute("SELECT 1 FROM kept LIMIT 1").fetchone())

    def forget_old(self, now: float) -> None:
        """Forget what is too old."""
        before = now - self._days * _DAY
        self._database.put(lambda db: db.execute("DELETE FROM kept WHERE made < ?", (before,)))

    def keep_state(self, kept: Mapping[str, Kept], now: float) -> None:
        """Keep state of providers, by canonical call id."""
        for id, one in kept.items():
            self._keep(_STATE, id, msgspec.msgpack.encode(one), now)

    async def state(self, ids: Iterable[str]) -> dict[str, Kept]:
        """What is kept for these calls."""
        wanted = [(_STATE, id) for id in ids]
        missing = [id for kind, id in wanted if (kind, id) not in self._at_hand]
        if missing:
            await self._fetch(missing)
        found = {id: self._at_hand.get((kind, id)) for kind, id in wanted}
        return {id: _READ_KEPT.decode(data) for id, data in found.items() if data is not None}

    def keep_response(self, id: str, stored: Json, now: float) -> None:
        """Keep a response with all that was said before it, and each of its items by its id."""
        self._keep(_RESPONSE, id, msgspec.json.encode(stored), now)
        for item in stored["response"].get("output", ()):
            named = item.get("id") if isinstance(item, dict) else None
            if isinstance(named, str):
                self._keep(_ITEM, named, msgspec.json.encode(item), now)

    async def response(self, id: str) -> Json | None:
        """A stored response and its input."""
        return await self._one(_RESPONSE, id)

    async def items(self, ids: Iterable[str]) -> dict[str, Json]:
        """The items of stored responses that have these ids."""
        found = {id: await self._one(_ITEM, id) for id in dict.fromkeys(ids)}
        return {id: item for id, item in found.items() if item is not None}

    async def forget_response(self, id: str) -> bool:
        """Forget a response; whether there was one."""
        stored = await self.response(id)
        if stored is None:
            return False
        items = [one.get("id") for one in stored["response"].get("output", ())]
        gone = [(_RESPONSE, id), *((_ITEM, item) for item in items if isinstance(item, str))]
        for key in gone:
            self._at_hand.pop(key, None)

        def delete(db: sqlite3.Connection) -> None:
            db.executemany("DELETE FROM kept WHERE kind = ? AND id = ?", gone)

        await self._database.do(delete)
        return True

    def keep_report(self, id: str, report: Json, now: float, *, lasts: bool) -> None:
        """Keep what is known of a request; for a while only where nothing is to be told."""
        data = msgspec.json.encode(report)
        if lasts:
            self._keep(_REPORT, id, data, now)
        else:
            self._remember((_REPORT, id), data)

    async def report(self, id: str) -> Json | None:
        """What is known of a request."""
        return await self._one(_REPORT, id)

    async def _one(self, kind: str, id: str) -> Json | None:
        data = self._at_hand.get((kind, id))
        if data is None:
            row = await self._database.do(
                lambda db: db.execute(
                    "SELECT data FROM kept WHERE kind = ? AND id = ?", (kind, id)
                ).fetchone()
            )
            data = None if row is None else row[0]
        return None if data is None else msgspec.json.decode(data)

    async def _fetch(self, ids: list[str]) -> None:
        def read(some: list[str], db: sqlite3.Connection) -> dict[str, bytes]:
            marks = ",".join("?" * len(some))
            sql = f"SELECT id, data FROM kept WHERE kind = ? AND id IN ({marks})"  # noqa: S608  marks
            return dict(db.execute(sql, (_STATE, *some)).fetchall())

        found: dict[str, bytes] = {}
        for at in range(0, len(ids), _AT_ONCE):
            found |= await self._database.do(partial(read, ids[at : at + _AT_ONCE]))
        for id in ids:
            self._remember((_STATE, id), found.get(id))

    def _keep(self, kind: str, id: str, data: bytes, now: float) -> None:
        self._remember((kind, id), data)
        row = (kind, id, now, data)
        self._database.put(
            lambda db: db.execute("INSERT OR REPLACE INTO kept VALUES (?, ?, ?, ?)", row)
        )

    def _remember(self, key: tuple[str, str], data: bytes | None) -> None:
        self._at_hand[key] = data
        self._at_hand.move_to_end(key)
        if len(self._at_hand) > _AT_HAND:
            self._at_hand.popitem(last=False)

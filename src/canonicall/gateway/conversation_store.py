"""Stored conversations: lists of items that grow, and who may add to one at the moment.

A response that continues a conversation holds it until the response ends: a lease with an expiry,
so that a process that was killed holds nothing for long.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

from canonicall.gateway.turn_tree import owned
from canonicall.store.database import Database
from canonicall.store.engine import Read, Step, StoreError, Taken, Write

TABLES = (
    """CREATE TABLE conversations (
        id TEXT PRIMARY KEY, made REAL NOT NULL, changed REAL NOT NULL, metadata BLOB NOT NULL,
        next INTEGER NOT NULL, size INTEGER NOT NULL, holder TEXT NOT NULL, until REAL NOT NULL
    )""",
    """CREATE TABLE conversation_items (
        conversation TEXT NOT NULL, number INTEGER NOT NULL, id TEXT NOT NULL, data BLOB NOT NULL,
        PRIMARY KEY (conversation, number)
    )""",
    "CREATE INDEX conversation_items_by_id ON conversation_items (conversation, id)",
)
LEASE_SECONDS = 6.0
"""How long a conversation is held without a renewal."""
_NEXT = "(SELECT next FROM conversations WHERE id = ? AND (holder = ? OR until < ?)) + ?"
"""NULL, which the table does not take, where somebody else holds it: then nothing is written."""
_ADD = f"INSERT INTO conversation_items VALUES (?, {_NEXT}, ?, ?)"  # noqa: S608  a constant
_GROW = (
    "UPDATE conversations SET next = next + ?, size = size + ?, changed = ?, holder = '', until = 0"
    " WHERE id = ?"
)
"""It is let go of with the same write: the client that gets the reply may go on at once."""
_TAKE = "UPDATE conversations SET holder = ?, until = ? WHERE id = ? AND (holder = ? OR until < ?)"
_RENEW = "UPDATE conversations SET until = ? WHERE id = ? AND holder = ?"
_HEAD = "SELECT made, metadata, next, size, holder, until FROM conversations WHERE id = ?"
Json: TypeAlias = dict[str, Any]


class Head(Struct, frozen=True):
    """What is known of a conversation beside its items."""

    made: float
    metadata: Json
    next: int
    """The number that the next item gets; numbers are never used again."""
    size: int
    """How many bytes were added in all."""
    holder: str
    until: float


class Item(Struct, frozen=True):
    """An item under the id that the conversation has for it."""

    id: str
    data: Json
    """As it was given."""


class Held(StoreError):
    """Another request is adding to the conversation, or it was deleted meanwhile."""


class ConversationStore:
    """The conversations of one store. An id is found only with the owner that made it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def make(
        self, id: str, metadata: Mapping[str, Any], items: Sequence[Item], now: float, *, owner: str
    ) -> None:
        """A new conversation."""
        shown = owned(id, owner)
        row = (shown, now, now, msgspec.json.encode(metadata), 0, 0, "", 0.0)
        made = Write("INSERT INTO conversations VALUES (?, ?, ?, ?, ?, ?, ?, ?)", [row])
        await self._database.do(made, *self.added(id, items, now, owner=owner))

    async def head(self, id: str, *, owner: str) -> Head | None:
        """What is known of a conversation."""
        return _head(await self._database.read(_HEAD, owned(id, owner)))

    async def describe(self, id: str, metadata: Mapping[str, Any], *, owner: str) -> None:
        """Give a conversation other metadata."""
        row = (msgspec.json.encode(metadata), owned(id, owner))
        await self._database.do(Write("UPDATE conversations SET metadata = ? WHERE id = ?", [row]))

    async def forget(self, id: str, *, owner: str) -> None:
        """Forget a conversation and its items."""
        row = [(owned(id, owner),)]
        await self._database.do(
            Write("DELETE FROM conversation_items WHERE conversation = ?", row),
            Write("DELETE FROM conversations WHERE id = ?", row),
        )

    async def items(self, id: str, *, owner: str, before: int | None = None) -> list[Item]:
        """Its items, the first one first; `before`: only those with a lower number."""
        sql = "SELECT id, data FROM conversation_items WHERE conversation = ?"
        values: tuple[Any, ...] = (owned(id, owner),)
        if before is not None:
            sql, values = f"{sql} AND number < ?", (*values, before)
        rows = await self._database.read(f"{sql} ORDER BY number", *values)
        return [Item(name, msgspec.json.decode(data)) for name, data in rows]

    async def forget_item(self, id: str, item: str, *, owner: str) -> None:
        """Take one item out."""
        sql = "DELETE FROM conversation_items WHERE conversation = ? AND id = ?"
        await self._database.do(Write(sql, [(owned(id, owner), item)]))

    async def add(self, id: str, items: Sequence[Item], now: float, *, owner: str) -> None:
        """Add items at the end; `Held` where a response is adding to it."""
        await self.write(*self.added(id, items, now, owner=owner))

    async def write(self, *steps: Step) -> None:
        """Do steps of `added`, and others with them; `Held` where the conversation is not ours."""
        try:
            await self._database.do(*steps)
        except Taken as error:
            raise Held(str(error)) from None

    def added(
        self, id: str, items: Sequence[Item], now: float, *, owner: str, holder: str = ""
    ) -> list[Write]:
        """The steps that add items at the end and let go of it. They fail if another holds it."""
        shown = owned(id, owner)
        encoded = [msgspec.json.encode(item.data) for item in items]
        rows = [
            (shown, shown, holder, now, at, item.id, data)
            for at, (item, data) in enumerate(zip(items, encoded, strict=True))
        ]
        size = sum(map(len, encoded))
        grown = Write(_GROW, [(len(items), size, now, shown)])
        return [Write(_ADD, rows), grown] if rows else []

    async def take(self, id: str, holder: str, now: float, *, owner: str) -> Head | None:
        """Hold a conversation; its head says who holds it then."""
        shown = owned(id, owner)
        row = (holder, now + LEASE_SECONDS, shown, holder, now)
        return _head(await self._database.ask(Write(_TAKE, [row]), Read(_HEAD, (shown,))))

    async def renew(self, id: str, holder: str, now: float, *, owner: str) -> None:
        """Hold a conversation for longer; nothing where it is not held any more."""
        row = (now + LEASE_SECONDS, owned(id, owner), holder)
        await self._database.do(Write(_RENEW, [row]))

    def release(self, id: str, holder: str, *, owner: str) -> None:
        """Let go of it; this waits for nothing."""
        sql = "UPDATE conversations SET holder = '', until = 0 WHERE id = ? AND holder = ?"
        self._database.put(Write(sql, [(owned(id, owner), holder)]))

    def expired(self, before: float) -> list[Write]:
        """The steps that forget conversations to which nothing was added since then."""
        old = "SELECT id FROM conversations WHERE changed < ?"
        return [
            Write(f"DELETE FROM conversation_items WHERE conversation IN ({old})", [(before,)]),  # noqa: S608  a constant
            Write("DELETE FROM conversations WHERE changed < ?", [(before,)]),
        ]


def _head(rows: Sequence[tuple[Any, ...]]) -> Head | None:
    for made, metadata, next, size, holder, until in rows:
        return Head(made, msgspec.json.decode(metadata), next, size, holder, until)
    return None

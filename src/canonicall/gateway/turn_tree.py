"""Stored turns: a tree in which each turn has its own input and its reply, and names its parent.

A turn is written once and never changed. Two continuations of one turn are two children of it. To
continue a turn is to read its ancestors.

A request that continues one is made whole before anything else sees it (`Whole`), and its reply is
stored as another turn (`Storing`).
"""

from collections.abc import Iterable
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

from canonicall.store.database import Database
from canonicall.store.engine import Write

TABLES = (
    """CREATE TABLE turns (
        name TEXT PRIMARY KEY, kind TEXT NOT NULL, id TEXT NOT NULL, root TEXT NOT NULL,
        parent TEXT NOT NULL, number INTEGER NOT NULL, size INTEGER NOT NULL, made REAL NOT NULL,
        data BLOB NOT NULL
    )""",
    "CREATE INDEX turns_by_id ON turns (kind, id)",
    "CREATE INDEX turns_by_root ON turns (root)",
    # Responses that were stored whole are turns without a parent.
    """INSERT INTO turns
        SELECT 'first ' || id, kind, id, 'first ' || id, '', 1, length(data), made, data
        FROM kept WHERE kind = 'response'""",
    "DELETE FROM kept WHERE kind = 'response'",
)
RESPONSE, MESSAGE = "response", "message"
"""The kinds of turns: of OpenAI's Responses, and of Anthropic's Messages."""
_LINE = """WITH RECURSIVE line (name, root, parent, number, size, data) AS (
    SELECT name, root, parent, number, size, data FROM turns WHERE kind = ? AND id = ?
    UNION ALL
    SELECT t.name, t.root, t.parent, t.number, t.size, t.data
    FROM turns t JOIN line ON t.name = line.parent
) SELECT name, root, number, size, data FROM line ORDER BY number"""
_HIDE = "UPDATE turns SET id = '' WHERE kind = ? AND id = ?"
_ADD = "INSERT INTO turns VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
_PRUNE = """DELETE FROM turns WHERE root = ? AND id = '' AND name NOT IN (
    WITH RECURSIVE needed (name, parent) AS (
        SELECT name, parent FROM turns WHERE root = ? AND id <> ''
        UNION
        SELECT t.name, t.parent FROM turns t JOIN needed ON t.name = needed.parent
    ) SELECT name FROM needed)"""
_EXPIRE = """DELETE FROM turns WHERE root IN (
    SELECT root FROM turns GROUP BY root HAVING MAX(made) < ?)"""
Json: TypeAlias = dict[str, Any]


class Line(Struct, frozen=True):
    """A turn with all turns before it."""

    name: str
    root: str
    number: int
    """How many turns there are."""
    size: int
    """How many bytes they have in all."""
    turns: tuple[Json, ...]
    """The first one first."""

    @property
    def last(self) -> Json:
        return self.turns[-1]

    @property
    def first(self) -> Json:
        return self.turns[0]


class Lease(Struct, frozen=True):
    """A conversation that one request holds, to add to it at its end."""

    conversation: str
    holder: str
    owner: str
    before: int
    """The items with a lower number are those that the request continues."""


class Storing(Struct, frozen=True, kw_only=True):
    """What is stored with the reply to a request."""

    kind: str
    input: list[Any]
    """What the request itself says, without the turns before it."""
    after: Line | None = None
    fields: dict[str, Any] = {}
    """What all later turns have in common with the first."""
    lease: Lease | None = None
    is_found: bool = True
    """Whether the reply can be asked for again by its id."""
    is_repeatable: bool = True
    """Whether a provider that stores the request as it got it has what the gateway has."""


class Whole(Struct, frozen=True):
    """A request with all that it refers to."""

    body: dict[str, Any]
    keeper: str = ""
    """The target that has stored all of it itself, under the same ids; empty where none has."""
    storing: Storing | None = None
    is_delta: bool = False
    """Whether it refers to what only its provider has: it is forwarded, or refused."""


class TurnTree:
    """The turns of one store. An id is found only with the owner that stored it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def line(self, kind: str, id: str, *, owner: str) -> Line | None:
        """The turn with this id and its ancestors; None where there is none, or one is missing."""
        rows = await self._database.read(_LINE, kind, owned(id, owner))
        if not rows or len(rows) != rows[-1][2]:
            return None
        name, root, number, size, _ = rows[-1]
        return Line(name, root, number, size, tuple(msgspec.json.decode(row[4]) for row in rows))

    def added(
        self,
        kind: str,
        id: str,
        turn: Json,
        now: float,
        *,
        owner: str,
        name: str,
        after: Line | None,
    ) -> list[Write]:
        """The steps that store a turn. `name` is unique; `id` may have been used before: then it
        names the new turn from now on."""
        data = msgspec.json.encode(turn)
        shown = owned(id, owner)
        root, parent, number, size = name, "", 1, len(data)
        if after is not None:
            root, parent = after.root, after.name
            number, size = after.number + 1, after.size + len(data)
        row = (name, kind, shown, root, parent, number, size, now, data)
        return [Write(_HIDE, [(kind, shown)]), Write(_ADD, [row])]

    async def forget(self, kind: str, id: str, *, owner: str, also: Iterable[Write] = ()) -> bool:
        """Forget a turn; whether there was one. Its bytes stay while a turn after it needs them."""
        shown = owned(id, owner)
        sql = "SELECT root FROM turns WHERE kind = ? AND id = ?"
        roots = [root for (root,) in await self._database.read(sql, kind, shown)]
        if not roots:
            return False
        prune = Write(_PRUNE, [(root, root) for root in roots])
        await self._database.do(Write(_HIDE, [(kind, shown)]), prune, *also)
        return True

    def expired(self, before: float) -> Write:
        """The step that forgets each tree whose newest turn is older than that."""
        return Write(_EXPIRE, [(before,)])


def owned(id: str, owner: str) -> str:
    """The name that something is stored under."""
    return f"{owner}|{id}"

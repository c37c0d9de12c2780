"""The five counters over time: by provider, model, tool and hour, in any store.

In: what a tally has counted since the last time. Out: sums for a period. The table is kept beside
the others of a session store or of a gateway's store, and is the same in both. Rows are added up by
the database, so any number of processes can write to one store.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict, fields

from canonicall.agent.counters import Counters, Place
from canonicall.store.database import Chain, Database
from canonicall.store.engine import StoreError, Write

HOUR = 3600.0
_KEPT_HOURS = 400 * 24
_NAMES = tuple(field.name for field in fields(Counters))
_CREATE = f"""CREATE TABLE IF NOT EXISTS counters (
    hour BIGINT NOT NULL, provider TEXT NOT NULL, model TEXT NOT NULL, tool TEXT NOT NULL,
    {", ".join(f"{name} BIGINT NOT NULL" for name in _NAMES)},
    PRIMARY KEY (hour, provider, model, tool)
)"""
_ADD = (
    f"INSERT INTO counters VALUES (?, ?, ?, ?, {', '.join('?' for _ in _NAMES)})"  # noqa: S608  names
    " ON CONFLICT (hour, provider, model, tool) DO UPDATE SET "
    + ", ".join(f"{name} = counters.{name} + excluded.{name}" for name in _NAMES)
)
_FORGET = "DELETE FROM counters WHERE hour < ?"
_ROWS = f"""SELECT hour, provider, model, tool, {", ".join(_NAMES)} FROM counters
WHERE hour >= ? ORDER BY hour, provider, model, tool"""  # noqa: S608  names


class Counted(Struct, frozen=True):
    """The counts of one hour."""

    hour: int
    """Hours since 1970, UTC."""
    provider: str
    model: str
    tool: str
    """Empty for what concerns no single tool."""
    counters: Counters


class CounterTable:
    """The table in an open database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._is_there = False

    async def prepare(self, now: float | None = None) -> None:
        """Make the table where it is missing. With the time, forget what is older than 400 days."""
        if self._is_there:
            return
        try:
            await self._database.read(_CREATE)
        except StoreError:
            # PostgreSQL: another process has just made it.
            await self._database.read(_CREATE)
        self._is_there = True
        if now is not None:
            oldest = int(now // HOUR) - _KEPT_HOURS
            self._database.put(Write(_FORGET, [(oldest,)]), chain=Chain())

    def add(self, counted: Mapping[Place, Counters], now: float) -> None:
        """Add to the counts of this hour, after `prepare`; written in one transaction with what
        else is asked for."""
        hour = int(now // HOUR)
        rows = [
            (hour, *map(_plain, place), *asdict(counters).values())
            for place, counters in counted.items()
        ]
        if rows:
            self._database.put(Write(_ADD, rows), chain=Chain())

    async def since(self, moment: float, providers: Sequence[str] = ()) -> list[Counted]:
        """The counts of each hour from the one of `moment` on, of all providers or of these."""
        found: list[tuple[Any, ...]] = await self._database.read(_ROWS, int(moment // HOUR))
        rows = (
            Counted(hour, provider, model, tool, Counters(**dict(zip(_NAMES, counts, strict=True))))
            for hour, provider, model, tool, *counts in found
        )
        return [row for row in rows if not providers or row.provider in providers]


def total(rows: Sequence[Counted]) -> Counters:
    """The sum of some counts."""
    sums = {name: sum(getattr(row.counters, name) for row in rows) for name in _NAMES}
    return Counters(**sums)


def _plain(text: str) -> str:
    """A name as every database takes it: models invent them."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()

"""Stored turns: each with its own input only, found by their owner, continued twice, forgotten."""

from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest

from canonicall.gateway.conversation_store import LEASE_SECONDS, Held, Item
from canonicall.gateway.keeping import TABLES, Keeping
from canonicall.gateway.turn_tree import RESPONSE, Line
from canonicall.store.database import Database
from canonicall.store.engine import Tables, Write

DAY = 86_400.0
FIRST = Tables(TABLES.name, TABLES.statements)
"""The tables as the first version made them."""


def turn(*said: str, id: str = "") -> dict[str, Any]:
    return {"response": {"id": id, "output": []}, "input": list(said)}


async def add(
    keeping: Keeping, id: str, *said: str, after: str = "", now: float = 0.0, name: str = ""
) -> None:
    line = await found(keeping, after) if after else None
    steps = keeping.turns.added(
        RESPONSE, id, turn(*said, id=id), now, owner="a", name=name or f"name of {id}", after=line
    )
    await keeping.write(steps, now)


async def found(keeping: Keeping, id: str) -> Line | None:
    return await keeping.turns.line(RESPONSE, id, owner="a")


async def said(keeping: Keeping, id: str) -> list[str] | None:
    line = await found(keeping, id)
    return None if line is None else [text for one in line.turns for text in one["input"]]


@asynccontextmanager
async def kept(place: str) -> Any:
    keeping = Keeping(place, days=1)
    keeping.forget_old(0.0)
    yield keeping
    keeping.close()


async def rows(place: str) -> list[Any]:
    database = Database(place, tables=TABLES)
    try:
        return await database.read("SELECT name, number, size, data FROM turns ORDER BY name")
    finally:
        database.close()


async def test_a_turn_has_its_own_input_only(place: str) -> None:
    async with kept(place) as keeping:
        await add(keeping, "1", "one")
        for at in range(2, 41):
            await add(keeping, str(at), f"said {at}", after=str(at - 1))
        line = await found(keeping, "40")
        assert line is not None
        assert line.number == 40
        assert await said(keeping, "3") == ["one", "said 2", "said 3"]
    stored = await rows(place)
    assert max(len(data) for *_, data in stored) < 100
    assert line.size == sum(len(data) for *_, data in stored)


async def test_two_continuations_of_one_turn_are_a_fork(place: str) -> None:
    async with kept(place) as keeping:
        await add(keeping, "1", "one")
        await add(keeping, "2", "two", after="1")
        await add(keeping, "other", "other", after="1")
        assert await said(keeping, "2") == ["one", "two"]
        assert await said(keeping, "other") == ["one", "other"]


async def test_a_turn_that_is_deleted_stays_for_those_after_it(place: str) -> None:
    async with kept(place) as keeping:
        await add(keeping, "1", "one")
        await add(keeping, "2", "two", after="1")
        await add(keeping, "3", "three", after="2")
        assert await keeping.turns.forget(RESPONSE, "2", owner="a")
        assert not await keeping.turns.forget(RESPONSE, "2", owner="a")
        assert await said(keeping, "2") is None
        assert await said(keeping, "3") == ["one", "two", "three"]
        assert await keeping.turns.forget(RESPONSE, "3", owner="a")
        assert await said(keeping, "1") == ["one"]
    assert [name for name, *_ in await rows(place)] == ["name of 1"]


async def test_an_id_that_is_used_again_names_the_new_turn(place: str) -> None:
    """Ids of forwarded replies are their providers'."""
    async with kept(place) as keeping:
        await add(keeping, "1", "one")
        await add(keeping, "2", "two", after="1")
        await add(keeping, "1", "new", name="another")
        assert await said(keeping, "1") == ["new"]
        assert await said(keeping, "2") == ["one", "two"]


async def test_a_tree_is_forgotten_when_its_newest_turn_is_too_old(place: str) -> None:
    async with kept(place) as keeping:
        await add(keeping, "1", "one", now=0.0)
        await add(keeping, "2", "two", after="1", now=0.9 * DAY)
        await add(keeping, "old", "old", now=0.0)
        keeping.forget_old(1.5 * DAY)
        assert await said(keeping, "2") == ["one", "two"]
        assert await said(keeping, "old") is None
        keeping.forget_old(2.0 * DAY)
        assert await said(keeping, "1") is None


async def test_what_is_too_old_is_forgotten_while_it_runs(place: str) -> None:
    async with kept(place) as keeping:
        await add(keeping, "1", "one", now=0.0)
        await add(keeping, "2", "two", now=3 * DAY)
        assert await said(keeping, "1") is None


async def test_a_line_with_a_missing_turn_is_not_found(place: str) -> None:
    """Never a part of it."""
    async with kept(place) as keeping:
        await add(keeping, "1", "one")
        line = await found(keeping, "1")
        await keeping.turns.forget(RESPONSE, "1", owner="a")
        steps = keeping.turns.added(
            RESPONSE, "2", turn("two"), 0.0, owner="a", name="b", after=line
        )
        await keeping.write(steps, 0.0)
        assert await said(keeping, "2") is None


async def test_responses_that_an_older_version_stored_can_be_continued(place: str) -> None:
    database = Database(place, tables=FIRST)
    data = msgspec.json.encode(turn("one", "two", id="1"))
    row = ("response", "a|1", 5.0, data)
    other = ("revoked", "x", 5.0, b"")
    await database.do(Write("INSERT INTO kept VALUES (?, ?, ?, ?)", [row, other]))
    database.close()
    for _ in range(2):
        async with kept(place) as keeping:
            assert await said(keeping, "1") == ["one", "two"]
            await keeping.reread_revoked()
            assert keeping.revoked == {"x"}
    async with kept(place) as keeping:
        await add(keeping, "2", "three", after="1")
        assert await said(keeping, "2") == ["one", "two", "three"]


async def test_only_the_holder_of_a_conversation_adds_to_it(place: str) -> None:
    async with kept(place) as keeping:
        store = keeping.conversations
        await store.make("c", {"x": "y"}, [Item("1", {"say": "one"})], 0.0, owner="a")
        assert (await store.take("c", "me", 1.0, owner="a")).holder == "me"
        assert (await store.take("c", "you", 2.0, owner="a")).holder == "me"
        assert await store.take("c", "you", 2.0, owner="b") is None
        for holder in ("you", ""):
            steps = store.added("c", [Item("no", {})], 2.0, owner="a", holder=holder)
            with pytest.raises(Held):
                await keeping.write(steps, 2.0)
        steps = store.added("c", [Item("2", {"say": "two"})], 3.0, owner="a", holder="me")
        await keeping.write(steps, 3.0)
        store.release("c", "me", owner="a")
        await store.add("c", [Item("3", {"say": "three"})], 4.0, owner="a")
        assert [one.id for one in await store.items("c", owner="a")] == ["1", "2", "3"]
        assert [one.id for one in await store.items("c", owner="a", before=1)] == ["1"]
        assert await store.items("c", owner="b") == []


async def test_a_holder_that_is_gone_holds_nothing_for_long(place: str) -> None:
    async with kept(place) as keeping:
        store = keeping.conversations
        await store.make("c", {}, [], 0.0, owner="a")
        await store.take("c", "gone", 1.0, owner="a")
        assert (await store.take("c", "me", LEASE_SECONDS, owner="a")).holder == "gone"
        assert (await store.take("c", "me", LEASE_SECONDS + 2, owner="a")).holder == "me"
        late = store.added("c", [Item("late", {})], LEASE_SECONDS + 3, owner="a", holder="gone")
        with pytest.raises(Held):
            await keeping.write(late, LEASE_SECONDS + 3)
        assert await store.items("c", owner="a") == []

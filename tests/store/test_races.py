"""Two who go on with one session: the first to write does, the others are told, no tool runs twice."""

import asyncio
import itertools
import subprocess
import sys
import textwrap
import threading

import pytest

from canonicall.blocks import ToolCall
from canonicall.conversation import Conversation
from canonicall.persisted import dump
from canonicall.runtime.model import LocalModel
from canonicall.store.database import Chain, Database
from canonicall.store.engine import StoreError, Write
from canonicall.store.resuming import open_session, settle
from canonicall.store.sessions import SessionStore, Stored
from canonicall.testing.script import ScriptedModel, call, says
from canonicall.tools.functions import tool
from canonicall.tools.toolset import Toolset

GONE_ON = "somebody else has gone on with session 'a'"


@pytest.fixture
def clock():
    return itertools.count(1.0).__next__


@pytest.fixture
def stores(place):
    """The same store as two processes have it."""
    databases = [Database(place), Database(place)]
    yield [SessionStore(database) for database in databases]
    for database in databases:
        try:
            database.close()
        except StoreError as error:
            assert GONE_ON in str(error)  # noqa: PT017  the one who lost hears it here too


async def opened(store, clock, tools, *replies):
    model = LocalModel(ScriptedModel(replies))
    return await open_session(store, "a", model, "openai", tools, now=clock)


async def said(session, text):
    """What became of it: the reason of its end, or what the store said."""
    try:
        events = [event async for event in session.send(text)]
    except StoreError as error:
        return str(error)
    finally:
        await session.close()
    return events[-1].reason


async def test_of_two_who_go_on_at_a_time_one_does(stores, clock):
    ran = []

    @tool
    async def mark(name: str) -> str:
        """Leaves a mark."""
        ran.append(name)
        return "done"

    await stores[0].create(Stored("a", "openai"))
    sessions = [
        await opened(store, clock, Toolset.of(mark), says(call("mark", name=name)), "Done.")
        for store, name in zip(stores, ("one", "two"), strict=True)
    ]
    ends = await asyncio.gather(said(sessions[0], "One."), said(sessions[1], "Two."))
    assert sorted(end == "answered" for end in ends) == [False, True]
    winner = ends.index("answered")
    assert GONE_ON in ends[1 - winner]
    assert ran == [("one", "two")[winner]]
    for store in stores:
        kept = (await store.load("a")).conversation
        assert dump(kept) == dump(sessions[winner].conversation)


async def test_the_one_who_lost_can_open_it_again(stores, clock):
    first = await opened(stores[0], clock, Toolset(), "One.")
    second = await opened(stores[1], clock, Toolset(), "Two.")
    assert await said(first, "Hello.") == "answered"
    assert GONE_ON in await said(second, "Hello.")
    again = await opened(stores[1], clock, Toolset(), "Three.")
    assert await said(again, "And now?") == "answered"
    kept = (await stores[0].load("a")).conversation
    assert [one.text for one in kept.messages] == ["Hello.", "One.", "And now?", "Three."]


async def test_a_process_that_is_alive_starts_nothing_that_was_settled(stores, clock):
    """It was taken for dead: what it had begun is unknown, what it had not is not run, and stays so."""
    ran, go_on, is_running = [], asyncio.Event(), asyncio.Event()

    @tool(sequential=True)
    async def mark(name: str) -> str:
        """Leaves a mark, and waits."""
        ran.append(name)
        is_running.set()
        await go_on.wait()
        return "done"

    calls = says(call("mark", name="first"), call("mark", name="second"))
    alive = await opened(stores[0], clock, Toolset.of(mark), calls, "Done.")
    saying = asyncio.ensure_future(said(alive, "Go."))
    await is_running.wait()
    other = await opened(stores[1], clock, Toolset.of(mark), "I see.")
    go_on.set()
    assert GONE_ON in await saying
    assert await said(other, "What happened?") == "answered"
    outcomes = [str(one.outcome) for one in other.conversation.ledger.values()]
    assert (outcomes, ran) == (["unknown", "not_run"], ["first"])


async def test_a_call_is_either_begun_or_settled(stores, clock):
    """Whoever writes of it first, whichever process that is."""
    await stores[0].create(Stored("a", "openai"))
    made = Conversation()
    made.user("Go.")
    begun, waiting = made.assistant([call("mark", name="x"), call("mark", name="y")]).calls
    alive = stores[0].journal("a")
    await alive.begin(begun)
    await settle(made, stores[1].journal("a"))
    assert [str(made.ledger[one.id].outcome) for one in (begun, waiting)] == ["unknown", "not_run"]
    known = await alive.begin(waiting)
    assert str(known.ended.outcome) == "not_run"


async def test_a_session_does_nothing_behind_an_entry_that_was_not_written(
    place, clock, monkeypatch
):
    """Also where the model has long answered, and a tool is about to start."""
    ran, may_write, commit = [], threading.Event(), Database._commit

    def commit_later(*given):
        may_write.wait()
        commit(*given)

    @tool
    async def mark() -> str:
        """Leaves a mark."""
        ran.append("mark")
        return "done"

    may_write.set()
    monkeypatch.setattr(Database, "_commit", commit_later)
    database = Database(place)
    store = SessionStore(database)
    session = await opened(store, clock, Toolset.of(mark), says(call("mark")), "Done.")
    somebody_else = Conversation()
    somebody_else.user("I was first.")
    await store.append("a", 0, somebody_else.entries, clock())
    may_write.clear()
    saying = asyncio.ensure_future(said(session, "Go."))
    await asyncio.sleep(0.2)
    may_write.set()
    assert GONE_ON in await saying
    assert ran == []
    assert (await store.load("a")).conversation.entries == somebody_else.entries
    with pytest.raises(StoreError, match=GONE_ON):
        database.close()


async def test_nothing_is_written_behind_what_could_not_be(place, clock):
    """Neither entries, nor that a call starts: it would be ahead of the conversation."""
    database = Database(place)
    store = SessionStore(database)
    await store.create(Stored("a", "openai"))
    made = Conversation()
    made.user("Go.")
    made.user("Go on.")
    store.append("a", 0, made.entries[:1], clock())
    chain = Chain()
    for number, entry in enumerate(made.entries):
        store.append("a", number, [entry], clock(), chain)
    journal = store.journal("a", chain)
    one = ToolCall(id="hist_tool_x", name="mark", args={})
    with pytest.raises(StoreError, match=GONE_ON):
        await journal.begin(one)
    assert await journal.known(one.id) is None
    assert (await store.get("a")).entries == 1
    with pytest.raises(StoreError, match=GONE_ON):
        database.close()


async def test_all_steps_or_none(place):
    database = Database(place)
    store = SessionStore(database)
    row = ("a", "openai", "", "", 0.0, 0.0)
    create = Write("INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?)", [row])
    with pytest.raises(StoreError, match="nowhere"):
        await database.do(create, Write("DELETE FROM nowhere WHERE id = ?", [("a",)]))
    with pytest.raises(StoreError):
        await database.do(create._replace(rows=[row, row]))
    assert await store.list() == ()
    database.close()


WORKER = """
    import asyncio, sys, time
    from canonicall.errors import CanonicallError
    from canonicall.runtime.model import LocalModel
    from canonicall.store.database import Database
    from canonicall.store.resuming import open_session
    from canonicall.store.sessions import SessionStore
    from canonicall.testing.script import ScriptedModel, call, says
    from canonicall.tools.functions import tool
    from canonicall.tools.toolset import Toolset

    place, marks = sys.argv[1:]

    @tool
    async def mark() -> str:
        "Leaves a mark."
        with open(marks, "a") as file:
            file.write("mark\\n")
        return "done"

    class Together(SessionStore):
        async def load(self, id):
            "Goes on when all have read the same."
            loaded = await super().load(id)
            print("ready", flush=True)
            sys.stdin.readline()
            return loaded

    async def main():
        model = LocalModel(ScriptedModel([says(call("mark")), "Done."]))
        store = Together(Database(place))
        session = await open_session(store, "a", model, "openai", Toolset.of(mark), now=time.time)
        async for _ in session.send("Go."):
            pass

    try:
        asyncio.run(main())
    except CanonicallError as error:
        sys.exit(str(error))
"""


@pytest.mark.deep
async def test_of_many_processes_that_resume_one_session_one_does(place, tmp_path, clock):
    """The session was cut off in the midst of two calls; they all have something to settle."""
    database = Database(place)
    store = SessionStore(database)
    await store.create(Stored("a", "openai"))
    made = Conversation()
    made.user("Go.")
    begun, _ = made.assistant([call("mark"), call("mark", again=True)]).calls
    await store.append("a", 0, made.entries, clock())
    await store.journal("a").begin(begun)

    worker = [sys.executable, "-c", textwrap.dedent(WORKER), place, str(tmp_path / "marks")]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    workers = [subprocess.Popen(worker, text=True, **pipes) for _ in range(3)]  # noqa: ASYNC220
    for one in workers:
        assert one.stdout.readline() == "ready\n"
    for one in workers:
        one.stdin.write("go\n")
        one.stdin.flush()
    told = [one.communicate()[1] for one in workers]
    codes = [one.returncode for one in workers]
    assert sorted(codes) == [0, 1, 1], told
    for code, words in zip(codes, told, strict=True):
        assert (GONE_ON in words) == bool(code)
    assert (tmp_path / "marks").read_text() == "mark\n"
    kept = (await store.load("a")).conversation
    database.close()
    outcomes = [str(one.outcome) for one in kept.ledger.values()]
    assert outcomes == ["unknown", "not_run", "completed"]
    assert [one.text for one in kept.messages if one.role == "user"] == ["Go.", "Go."]

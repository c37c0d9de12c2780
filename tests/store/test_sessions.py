"""Stored sessions: what was awaited is there again, whatever happened to the process."""

import asyncio
import itertools
import json
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor

import pytest

from canonicall.agent.inputs import CallEnded
from canonicall.blocks import Text, ToolCall, ToolResult
from canonicall.codec import encode_request
from canonicall.conversation import Conversation
from canonicall.errors import UnknownName
from canonicall.facts.registry import provider_names
from canonicall.persisted import dump
from canonicall.request import Request
from canonicall.runtime.model import LocalModel
from canonicall.store.database import Database
from canonicall.store.engine import StoreError, Taken, Write
from canonicall.store.resuming import open_session
from canonicall.store.sessions import SessionStore, Stored
from canonicall.testing.script import ScriptedModel, call, says
from canonicall.tools.functions import tool
from canonicall.tools.toolset import Toolset
from canonicall.verify import verify


@tool
async def note(text: str) -> str:
    """Notes a text."""
    return f"noted {text}"


@pytest.fixture
def clock():
    return itertools.count(1.0).__next__


@pytest.fixture
def store(place):
    database = Database(place)
    yield SessionStore(database)
    database.close()


async def talk(store, id, *steps, clock, text="Go."):
    model = LocalModel(ScriptedModel(steps))
    session = await open_session(store, id, model, "openai", Toolset.of(note), now=clock)
    async for _ in session.send(text):
        pass
    await session.close()
    return session.conversation


async def test_a_session_is_there_again(store, clock):
    first = await talk(store, "a", says(call("note", text="x")), "Done.", clock=clock)
    assert dump((await store.load("a")).conversation) == dump(first)
    second = await talk(store, "a", "Again.", clock=clock, text="And?")
    assert len(second) > len(first)
    assert dump((await store.load("a")).conversation) == dump(second)


@pytest.mark.parametrize(
    ("option", "help"),
    [
        ({"limit": None}, "Did you mean 'limits'"),
        ({"scheduler": None}, "There are: approve"),
        ({"keep": None}, "There are: approve"),
    ],
)
async def test_an_option_that_does_not_exist_is_refused_before_anything_is_stored(
    store, clock, option, help
):
    """A stored session has its own scheduler and its own keeper, which write to the store."""
    model = LocalModel(ScriptedModel(["Done."]))
    with pytest.raises(
        TypeError, match=f"open_session has no option '{next(iter(option))}'.*{help}"
    ):
        await open_session(store, "a", model, "openai", now=clock, **option)
    assert list(await store.list()) == []


async def test_sessions_are_listed_forked_and_deleted(store, clock):
    await talk(store, "a", "One.", clock=clock)
    await talk(store, "b", "Two.", clock=clock)
    assert [one.id for one in await store.list()] == ["b", "a"]
    await store.fork("a", Stored("c", "anthropic", parent="a", created=99.0), entries=1)
    forked = await store.get("c")
    assert (forked.entries, forked.parent) == (1, "a")
    await store.delete("a")
    assert [one.id for one in await store.list()] == ["c", "b"]
    with pytest.raises(UnknownName, match="session"):
        await store.load("a")


async def test_an_id_that_is_taken_is_an_error(store):
    await store.create(Stored("a", "openai"))
    with pytest.raises(StoreError):
        await store.create(Stored("a", "openai"))


async def test_one_write_that_fails_does_not_take_others_with_it(store):
    """They are in one transaction until one of them fails."""
    wanted = [store.create(Stored(name, "openai")) for name in ("a", "b", "a", "c")]
    done = await asyncio.gather(*wanted, return_exceptions=True)
    assert [type(one) for one in done] == [type(None), type(None), Taken, type(None)]
    assert {one.id for one in await store.list()} == {"a", "b", "c"}


async def test_the_journal_knows_what_was_begun_and_what_ended(store):
    journal = store.journal("a")
    made = ToolCall(id="hist_tool_x", name="note", args={})
    assert await journal.known(made.id) is None
    assert await journal.begin(made) is None
    assert (await journal.begin(made)).ended is None
    ended = CallEnded(made.id, ToolResult(call_id=made.id, content=(Text(text="noted"),)))
    await journal.end(ended)
    assert (await journal.begin(made)).ended == ended


async def test_the_same_words_in_two_sessions_run_their_tools_twice(store, clock):
    """Equal words make equal call ids: each session has a journal of its own."""
    runs = []

    @tool
    async def count() -> str:
        """Counts."""
        runs.append("run")
        return str(len(runs))

    results = []
    for id in ("a", "b"):
        model = LocalModel(ScriptedModel([says(call("count")), "Done."]))
        session = await open_session(store, id, model, "openai", Toolset.of(count), now=clock)
        async for _ in session.send("Go."):
            pass
        await session.close()
        results += [(one.id, one.result.text) for one in session.conversation.ledger.values()]
    (first_id, first), (second_id, second) = results
    assert first_id == second_id
    assert (first, second) == ("1", "2")


async def test_a_fork_knows_of_open_calls_what_was_known(store, clock):
    """A call that had begun when its session was forked is unknown in the fork as well."""
    await store.create(Stored("a", "openai"))
    made = Conversation()
    made.user("Go.")
    begun, waiting = made.assistant([call("note", text="x"), call("note", text="y")]).calls
    store.append("a", 0, made.entries, clock())
    await store.journal("a").begin(begun)
    await store.fork("a", Stored("b", "openai", parent="a"))
    forked = await talk(store, "b", "I see.", clock=clock)
    outcomes = {one.id: str(one.outcome) for one in forked.ledger.values()}
    assert outcomes == {begun.id: "unknown", waiting.id: "not_run"}


async def test_instructions_are_stored_once(store, clock):
    for text in ("One?", "Two?"):
        model = LocalModel(ScriptedModel(["Yes."]))
        session = await open_session(
            store, "a", model, "openai", now=clock, instructions="Be brief."
        )
        async for _ in session.send(text):
            pass
        await session.close()
    stored = (await store.load("a")).conversation
    assert [one.role for one in stored.messages] == ["system", *["user", "assistant"] * 2]


async def test_who_is_asked_is_noted(store):
    await store.create(Stored("a", "openai"))
    await store.retarget("a", "mistral:large")
    assert (await store.get("a")).target == "mistral:large"


async def test_a_write_that_nobody_waited_for_is_not_lost_in_silence(place):
    """The others are written; whoever closes the store hears of it."""
    database = Database(place)
    row = ("a", "openai", "", "", 0, 0)
    database.put(Write("INSERT INTO nowhere VALUES (?)", [(1,)]))
    database.put(Write("INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?)", [row]))
    with pytest.raises(StoreError, match="nowhere"):
        database.close()
    again = Database(place)
    assert [one.id for one in await SessionStore(again).list()] == ["a"]
    again.close()


async def test_a_value_that_no_database_takes_harms_nobody_else(store):
    half = "\ud800"
    wanted = [store.create(Stored(name, "openai")) for name in ("a", half, "b")]
    done = await asyncio.gather(*wanted, return_exceptions=True)
    assert [type(one) for one in done] == [type(None), StoreError, type(None)]
    assert {one.id for one in await store.list()} == {"a", "b"}


async def test_who_listens_hears_that_nothing_can_be_stored(place, clock):
    """Before anything is told that is not on the disk."""
    database = Database(place)
    model = LocalModel(ScriptedModel(["Done."]))
    session = await open_session(SessionStore(database), "a", model, "openai", now=clock)
    await database.do(Write("DROP TABLE entries", [()]))
    with pytest.raises(StoreError, match="entries"):
        await anext(session.send("Go."))
    await session.close()
    with pytest.raises(StoreError, match="entries"):
        database.close()


def test_a_new_store_is_opened_by_many_at_a_time(place, request):
    with ThreadPoolExecutor(8) as threads:
        for database in threads.map(lambda _: Database(place), range(8)):
            database.close()
    if place.startswith("postgresql"):
        server = request.getfixturevalue("postgres")
        versions = server.run("SELECT name, version FROM canonicall.versions", place)
        assert versions == [("sessions", 1)]
    else:
        with sqlite3.connect(place) as read:
            assert read.execute("PRAGMA user_version").fetchone() == (1,)


def test_a_file_that_is_no_database_is_an_error(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("no database\n" * 100)
    with pytest.raises(StoreError, match=r"notes\.txt"):
        Database(path)


def test_a_file_of_a_newer_version_is_left_alone(tmp_path):
    path = tmp_path / "new.db"
    with sqlite3.connect(path) as made:
        made.execute("PRAGMA user_version=99")
    with pytest.raises(StoreError, match="newer"):
        Database(path)


WORKER = """
    import asyncio, os, sys
    from canonicall.runtime.model import LocalModel
    from canonicall.store.database import Database
    from canonicall.store.resuming import open_session
    from canonicall.store.sessions import SessionStore
    from canonicall.testing.script import ScriptedModel, call, says
    from canonicall.tools.functions import tool
    from canonicall.tools.toolset import Toolset

    folder, place = sys.argv[1:]

    @tool(sequential=True)
    async def work(name: str) -> str:
        "Leaves a mark, and hangs where it is told to."
        with open(f"{folder}/marks", "a") as marks:
            marks.write(name + "\\n")
        if name == "hang":
            print("hanging", flush=True)
            await asyncio.sleep(60)
        return f"did {name}"

    async def main():
        store = SessionStore(Database(place))
        batch = says(call("work", name="first"), call("work", name="hang"), call("work", name="last"))
        model = LocalModel(ScriptedModel([batch, "Done."]))
        session = await open_session(
            store, "a", model, "openai", Toolset.of(work), now=lambda: 0.0
        )
        async for _ in session.send("Go."):
            pass

    asyncio.run(main())
"""


@pytest.mark.deep
async def test_after_kill_nine_nothing_runs_twice_and_nothing_is_lost(tmp_path, place, clock):
    """A real process dies in the midst of its tools; the history is fit for every provider."""
    worker = subprocess.Popen(  # noqa: ASYNC220  there is nothing else to wait for
        [sys.executable, "-c", textwrap.dedent(WORKER), str(tmp_path), place],
        stdout=subprocess.PIPE,
    )
    assert worker.stdout.readline() == b"hanging\n"
    os.kill(worker.pid, signal.SIGKILL)
    worker.wait()
    worker.stdout.close()
    store = SessionStore(Database(place))
    conversation = await talk(store, "a", "I see.", clock=clock, text="What happened?")
    store.database.close()
    outcomes = [str(one.outcome) for one in conversation.ledger.values()]
    assert outcomes == ["completed", "unknown", "not_run"]
    assert (tmp_path / "marks").read_text().split() == ["first", "hang"]
    conversation.user("Go on.")
    for name in provider_names():
        encoded = encode_request(Request(conversation, model="m"), name)
        assert list(verify(encoded.body, name)) == []


def test_the_stored_lines_are_those_of_a_file(tmp_path, clock):
    """What is in the database can be read without this library."""
    path = tmp_path / "s.db"

    async def main():
        store = SessionStore(Database(path))
        await talk(store, "a", "One.", clock=clock)
        store.database.close()

    asyncio.run(main())
    with sqlite3.connect(path) as read:
        lines = [json.loads(line) for (line,) in read.execute("SELECT line FROM entries")]
    assert [line["role"] for line in lines] == ["user", "assistant"]

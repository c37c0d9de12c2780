"""A session in a process that kills itself, at every point in turn.

`python crash_worker.py FOLDER STEP [URL]` runs the same two turns in FOLDER/0, FOLDER/1 and so on,
in SQLite or in new databases of the PostgreSQL server at URL. The first
comes to its end and tells which points there are: before every statement that writes and after every
transaction, when a tool starts, takes effect and ends, whenever the user has heard an event.
Each of the others dies by SIGKILL at one of them, at every STEP-th of a kind. Another process goes on and comes to the end; with
every third session it dies as well, and one more has to come. All are forked from one that is warm.

What is left for the test to look at: `sessions.db`; `effects`, what the tools did; `heard`, what
the user was told; `died`, where; `end`, the conversation.
"""

import asyncio
import os
import signal
import sqlite3
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from pathlib import Path

import msgspec

from canonicall.persisted import dump
from canonicall.reply import Reply
from canonicall.request import Request
from canonicall.runtime.model import LocalModel
from canonicall.store.database import Database
from canonicall.store.resuming import open_session
from canonicall.store.sessions import SessionStore
from canonicall.testing.script import call, says
from canonicall.tools.functions import tool
from canonicall.tools.toolset import Toolset

TURNS = {"First.": ("a", "b", "c"), "Second.": ("d", "e")}
"""What the user says, and what is to be done then."""
TOOL_OF = {"a": "mark", "b": "slow", "c": "mark", "d": "pay", "e": "mark"}
ENDS = ("completed", "unknown")
"""What has ended so is not asked for again."""
SECOND_DEATHS = 60
"""The process that goes on dies within so many hooks."""


class Mortal:
    """Counts what happens, and is no more when it has counted far enough."""

    def __init__(self, folder: Path, where: str = "", number: int = 0) -> None:
        """It dies when it comes to this point for the n-th time; at any point, without `where`."""
        self.points: Counter[str] = Counter()
        self._folder = folder
        self._where = where
        self._number = number
        self._lock = threading.Lock()

    def hook(self, where: str) -> None:
        """May be called from any thread."""
        with self._lock:
            self.points[where] += 1
            count = self.points[where] if self._where else self.points.total()
            if count == self._number and self._where in ("", where):
                self.write("died", where)
                os.kill(os.getpid(), signal.SIGKILL)

    def write(self, name: str, line: str) -> None:
        """One line more in a file; in the kernel's hands when this returns."""
        with (self._folder / name).open("ab", buffering=0) as file:
            file.write(line.encode() + b"\n")


def mortal_connections(mortal: Mortal) -> None:
    """Every connection to a database that is opened from now on tells what it does."""
    if "asyncpg" in sys.modules:
        mortal_postgres(mortal)

    class Connection(sqlite3.Connection):
        def __init__(self, *given, **named):
            super().__init__(*given, **named)
            self.set_trace_callback(lambda sql: tell(mortal, sql))

        def __exit__(self, *error):
            result = super().__exit__(*error)
            mortal.hook("sql after the transaction")
            return result

    connect = sqlite3.connect
    sqlite3.connect = lambda *given, **named: connect(*given, factory=Connection, **named)


def mortal_postgres(mortal: Mortal) -> None:
    import asyncpg  # noqa: PLC0415  needed by these alone

    class Connection(asyncpg.Connection):
        async def execute(self, query, *given, **named):
            tell(mortal, query)
            done = await super().execute(query, *given, **named)
            if query.startswith("COMMIT"):
                mortal.hook("sql after the transaction")
            return done

        async def executemany(self, command, *given, **named):
            tell(mortal, command)
            return await super().executemany(command, *given, **named)

    connect = asyncpg.connect
    asyncpg.connect = lambda *given, **named: connect(*given, connection_class=Connection, **named)


def tell(mortal: Mortal, sql: str) -> None:
    verb = sql.split(None, 1)[0].strip(";")
    if verb not in ("SELECT", "PRAGMA"):
        mortal.hook(f"sql {verb}")


def place_in(folder: Path, server: str) -> str:
    """Where the session of a folder is kept: in a file, or in a database of the server."""
    if not server:
        return str(folder / "sessions.db")
    return f"{server.rpartition('/')[0]}/crash_{folder.name}"


async def make_database(server: str, place: str) -> None:
    import asyncpg  # noqa: PLC0415  needed by these alone

    connection = await asyncpg.connect(server)
    await connection.execute(f"CREATE DATABASE {place.rpartition('/')[2]}")
    await connection.close()


def tools_of(mortal: Mortal) -> Toolset:
    """Tools that are seen to have run."""

    def effect(name: str) -> str:
        mortal.hook("tool starts")
        mortal.write("effects", name)
        mortal.hook("tool has taken effect")
        return f"did {name}"

    @tool
    async def mark(name: str) -> str:
        """Leaves a mark."""
        await asyncio.sleep(0)
        done = effect(name)
        await asyncio.sleep(0)
        mortal.hook("tool ends")
        return done

    @tool
    def slow(name: str) -> str:
        """The same in a thread, while the others have ended."""
        time.sleep(0.002)
        done = effect(name)
        time.sleep(0.002)
        mortal.hook("tool ends")
        return done

    @tool(approval="always")
    async def pay(name: str) -> str:
        """The same with approval."""
        done = effect(name)
        mortal.hook("tool ends")
        return done

    return Toolset.of(mark, slow, pay)


def model(request: Request) -> Reply:
    """Has done what the user asked for, and again only what is known not to have been run."""
    said = [message.text for message in request.conversation.messages if message.role == "user"]
    turn = [text for text in TURNS if text in said][-1]
    over = {
        one.call.args["name"]
        for one in request.conversation.ledger.values()
        if str(one.outcome) in ENDS
    }
    wanted = [name for name in TURNS[turn] if name not in over]
    if wanted:
        return says("On it.", *(call(TOOL_OF[name], name=name) for name in wanted))
    return says(f"Answer to {turn}")


async def work(folder: Path, mortal: Mortal, place: str) -> None:
    """Go on where the conversation stands, until both turns have their answer."""
    database = Database(place)
    session = await open_session(
        SessionStore(database),
        "a",
        LocalModel(model),
        "openai",
        tools_of(mortal),
        now=lambda: 0.0,
        instructions="Be brief.",
        approve=lambda _: True,
    )
    for turn in TURNS:
        while f"Answer to {turn}" not in (texts := [m.text for m in session.conversation.messages]):
            async for event in session.send("Go on." if turn in texts else turn):
                mortal.write("heard", msgspec.json.encode(event).decode())
                mortal.hook(f"event {event.__struct_config__.tag}")
    await session.close()
    database.close()
    (folder / "end").write_bytes(dump(session.conversation))


def forked(folder: Path, place: str, where: str = "", number: int = 0) -> None:
    """The work in a process of its own, which may die on the way."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            mortal = Mortal(folder, where, number)
            mortal_connections(mortal)
            asyncio.run(work(folder, mortal, place))
            (folder / "points").write_bytes(msgspec.json.encode(mortal.points))
            status = 0
        except BaseException:  # noqa: BLE001  nothing of the parent may run in the child
            traceback.print_exc()
        os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status not in (0, -signal.SIGKILL):
        sys.exit(f"{folder}: status {status}")


def prepared(folder: Path, server: str) -> str:
    """The place for the session of a new folder."""
    folder.mkdir(exist_ok=True)
    place = place_in(folder, server)
    if server:
        asyncio.run(make_database(server, place))
    return place


def main(root: Path, step: int, server: str = "") -> None:
    with tempfile.TemporaryDirectory() as warming:
        # Once in this process: what is loaded and built by it need not be in every other one.
        folder = Path(warming)
        asyncio.run(work(folder, Mortal(folder), prepared(folder, server)))
    place = prepared(root / "0", server)
    forked(root / "0", place)
    points = msgspec.json.decode((root / "0" / "points").read_bytes())
    deaths = [(where, at) for where in points for at in range(1, points[where] + 1, step)]
    for number, (where, at) in enumerate(deaths, 1):
        folder = root / str(number)
        place = prepared(folder, server)
        forked(folder, place, where, at)
        if number % 3 == 0:
            forked(folder, place, "", 1 + 7 * number % SECOND_DEATHS)
        forked(folder, place)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])

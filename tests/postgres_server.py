"""A PostgreSQL server for the time of the tests, where one is installed."""

import asyncio
import os
import pwd
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from components import component

_STARTS_WITHIN = 30.0
_GUARDED = "host all guarded 127.0.0.1/32 scram-sha-256\n"
"""The one role that needs its password."""


class Server:
    """A running server; `process` is its first process."""

    def __init__(self, process: "subprocess.Popen[bytes]", port: int) -> None:
        self.process = process
        self.port = port
        self._numbers = count()

    def url(self, database: str, who: str = "postgres") -> str:
        return f"postgresql://{who}@127.0.0.1:{self.port}/{database}"

    def new_database(self) -> str:
        """The URL of an empty database that nobody else has."""
        name = f"test_{next(self._numbers)}"
        self.run(f"CREATE DATABASE {name}")
        return self.url(name)

    def run(self, sql: str, url: str = "") -> list[Any]:
        """What the server says to a statement."""
        return asyncio.run(_ran(url or self.url("postgres"), sql))


async def _ran(url: str, sql: str) -> list[Any]:
    import asyncpg  # noqa: PLC0415  tests without it are skipped

    connection = await asyncpg.connect(url)
    try:
        return [tuple(row) for row in await connection.fetch(sql)]
    finally:
        await connection.close()


@contextmanager
def running() -> Iterator[Server]:
    pytest.importorskip("asyncpg", reason="not installed: pip install 'canonicall[postgres]'")
    folder = component("postgres")
    with tempfile.TemporaryDirectory(prefix="pg-") as made:
        place, as_user = Path(made), _not_root(made)
        data = str(place / "data")
        init = [folder / "initdb", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C"]
        subprocess.run(
            [*init, "--username=postgres", "-D", data],
            check=True,
            stdout=subprocess.DEVNULL,
            cwd=made,
            **as_user,
        )
        rules = Path(data, "pg_hba.conf")
        rules.write_text(_GUARDED + rules.read_text())
        port = _free_port()
        serve = [folder / "postgres", "-F", "-k", "", "-h127.0.0.1", f"-p{port}", f"-D{data}"]
        with (place / "log").open("wb") as log:
            process = subprocess.Popen(serve, stderr=log, cwd=made, **as_user)
        try:
            server = Server(process, port)
            _wait_for(server, place / "log")
            yield server
        finally:
            process.send_signal(signal.SIGINT)  # ends all connections, and then itself
            process.wait()


def _not_root(folder: str) -> dict[str, Any]:
    """The server refuses to be run by root: somebody without rights does it then."""
    if os.getuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        try:
            user = pwd.getpwnam(name)
        except KeyError:
            continue
        os.chown(folder, user.pw_uid, user.pw_gid)
        return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    pytest.skip("PostgreSQL is not run by root, and there is nobody else")


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _wait_for(server: Server, log: Path) -> None:
    import asyncpg  # noqa: PLC0415  tests without it are skipped

    until = time.monotonic() + _STARTS_WITHIN
    while True:
        try:
            server.run("SELECT 1")
        except (OSError, asyncpg.PostgresError):
            if server.process.poll() is not None or time.monotonic() > until:
                pytest.fail(f"PostgreSQL does not start: {log.read_text()}")
            time.sleep(0.05)
        else:
            return

"""opencode's database: the sessions in it, each as `opencode export` prints it.

Read in packages/opencode/src/session/session.sql.ts (1.18): the tables `session`, `message` and
`part`. Messages and parts are JSON in the column `data`; their ids are columns of their own. The
database is opened to be read only.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec

from canonicall.cli.files import UnusableFile

_MAGIC = b"SQLite format 3\0"
_SESSIONS = "SELECT id, title, directory, revert FROM session ORDER BY time_created, id"
_MESSAGES = "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id"
_PARTS = "SELECT id, message_id, data FROM part WHERE session_id = ? ORDER BY id"


def is_database(place: Path) -> bool:
    """Whether a file is a database of SQLite."""
    with place.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def exported_sessions(place: Path, only: str = "") -> Iterator[tuple[str, bytes]]:
    """The id of each session and what `opencode export` prints of it; of one alone, if named."""
    try:
        with closing(_opened(place)) as base:
            for id, *about in base.execute(_SESSIONS).fetchall():
                if only in ("", id):
                    yield id, _exported(base, id, *about)
    except sqlite3.Error as error:
        what = f"this is not opencode's database, or it cannot be read: {error}."
        raise UnusableFile(str(place), what) from None


def _opened(place: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{place.resolve().as_uri()}?mode=ro", uri=True)


def _exported(base: sqlite3.Connection, id: str, title: Any, folder: Any, revert: Any) -> bytes:
    parts: dict[str, list[Any]] = {}
    for part, message, data in base.execute(_PARTS, (id,)):
        parts.setdefault(message, []).append({**_value(data), "id": part})
    messages = [
        {"info": {**_value(data), "id": message}, "parts": parts.get(message, [])}
        for message, data in base.execute(_MESSAGES, (id,))
    ]
    info = {"id": id, "title": title, "directory": folder, "revert": _value(revert)}
    return msgspec.json.encode({"info": info, "messages": messages})


def _value(text: Any) -> dict[str, Any]:
    """The object in a column; empty where there is none."""
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, TypeError):
        return {}
    return value if isinstance(value, dict) else {}

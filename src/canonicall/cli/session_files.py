"""The sessions in a folder: a file each, but for opencode, which has a database.

Before that it had many small files; they are put together here into one.
"""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from canonicall.cli.files import UnusableFile
from canonicall.cli.session_database import exported_sessions, is_database
from canonicall.errors import CanonicallError
from canonicall.importing.documents import kind_of
from canonicall.importing.kinds import DocumentKind
from canonicall.importing.sessions import codex, opencode

_SUFFIXES = (".jsonl", ".json")
_DATABASE = ".db"
_PACKED = ".jsonl.zst"
"""Codex packs sessions that are no longer in use (codex-rs/rollout/src/compression.rs)."""
_LARGEST = 512 * 1024 * 1024
"""A file beyond this is no session of a coding agent."""


class FoundSession(msgspec.Struct, frozen=True):
    """A session in a folder."""

    file: str
    data: bytes
    kind: DocumentKind
    id: str = ""
    """Which one it is, where a file holds several."""
    error: str = ""
    """Why it cannot be read, where that is known already."""


def sessions_in(folder: Path) -> Iterator[FoundSession]:
    """Every session below a folder, in the order of the names. What cannot be read is none."""
    for place in sorted(folder.rglob("*")):
        with suppress(OSError):
            yield from _sessions_at(place)


def sessions_in_database(place: Path, only: str = "") -> Iterator[FoundSession]:
    """The sessions in opencode's database; one alone, if named."""
    for id, data in exported_sessions(place, only):
        yield FoundSession(str(place), data, kind_of(data, opencode.NAME), id)


def _sessions_at(place: Path) -> Iterator[FoundSession]:
    if place.suffix == _DATABASE and place.is_file() and is_database(place):
        # Other programs have databases, too.
        with suppress(UnusableFile):
            yield from sessions_in_database(place)
    if place.name.endswith(_PACKED):
        yield FoundSession(str(place), b"", codex.KIND, error="it is packed: unzstd unpacks it.")
    if place.suffix in _SUFFIXES and place.is_file() and place.stat().st_size <= _LARGEST:
        data = stored_session(place)
        kind = _kind(data)
        if kind is not None and kind.is_session:
            yield FoundSession(str(place), data, kind)


def stored_session(place: Path) -> bytes:
    """The bytes of a session file; for one of opencode's, with its messages and their parts.

    storage/session/PROJECT/SESSION.json, storage/message/SESSION/*.json and
    storage/part/MESSAGE/*.json: `Storage` and `Session` in packages/opencode/src of opencode.
    """
    data = place.read_bytes()
    storage = place.parent.parent.parent
    messages = storage / "message" / place.stem
    if place.parent.parent.name != "session" or not messages.is_dir():
        return data
    whole = {
        "info": _value(place),
        "messages": [
            {"info": _value(message), "parts": _parts(storage / "part" / message.stem)}
            for message in sorted(messages.glob("*.json"))
        ],
    }
    return msgspec.json.encode(whole)


def _parts(folder: Path) -> list[Any]:
    return [_value(part) for part in sorted(folder.glob("*.json"))]


def _value(place: Path) -> Any:
    """What is in a JSON file; an empty object where it was cut."""
    try:
        return msgspec.json.decode(place.read_bytes())
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}


def _kind(data: bytes) -> DocumentKind | None:
    try:
        return kind_of(data)
    except CanonicallError:
        return None

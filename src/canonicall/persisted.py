"""The stored form of a conversation: JSON lines, a header and then one line for every entry.

    {"canonicall":"conversation","version":3}
    {"entry":"message","role":"user","blocks":[{"type":"text","text":"Hello"}]}
    {"entry":"call_closed","call_id":"hist_tool_...","outcome":"not_run"}

A line is written whole or not at all that matters: after a crash at most the last line is lost,
and the loader says so. Loading goes through the write boundary, so a stored conversation obeys the
same rules as a live one. Pure: bytes in, bytes out; files belong to the caller.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from canonicall.blocks import Entry
from canonicall.conversation import Conversation
from canonicall.errors import InvalidValue, NewerVersion, UnreadableConversation
from canonicall.findings import Action, Fault, Finding, Report

VERSION = 3

Migration = Callable[[dict[str, Any]], dict[str, Any]]


def _as_it_is(entry: dict[str, Any]) -> dict[str, Any]:
    """Later versions added kinds of entries and fields, and changed none."""
    return entry


MIGRATIONS: Mapping[int, Migration] = {1: _as_it_is, 2: _as_it_is}
"""From each older version, how one entry of it becomes an entry of the next version."""

_ENTRY = msgspec.json.Decoder(Entry)
_RECOVER_HELP = "Load it with recover=True to keep every line that can be read."


class Loaded(Struct, frozen=True):
    """A conversation read from its stored form, and what happened on the way."""

    conversation: Conversation
    report: Report


def dump(conversation: Conversation) -> bytes:
    """The whole conversation in stored form."""
    return dump_header() + b"".join(map(dump_entry, conversation.entries))


def dump_header() -> bytes:
    """The first line of a file."""
    return msgspec.json.encode({"canonicall": "conversation", "version": VERSION}) + b"\n"


def dump_entry(entry: Entry) -> bytes:
    """The line of one entry, for files that grow with the conversation."""
    return msgspec.json.encode(entry) + b"\n"


def load(
    data: bytes | str | Iterable[bytes],
    *,
    recover: bool = False,
    version: int = VERSION,
    migrations: Mapping[int, Migration] = MIGRATIONS,
) -> Loaded:
    """Read a stored conversation, from bytes or line by line.

    A last line that was cut off is left out with a finding. Damage anywhere else raises
    `UnreadableConversation`; with `recover` it is left out with a finding too. A file of a newer
    version is refused: reading it halfway would lose what this version does not know.
    """
    conversation = Conversation()
    findings: list[Finding] = []
    reader = _Reader(version, migrations)
    for number, line, ended in _numbered_lines(data):
        try:
            entry = reader.read(line, number)
            if entry is not None:
                findings += conversation.extend((entry,), stored=True).findings
        except NewerVersion:
            raise
        except (UnreadableConversation, InvalidValue) as error:
            if ended and not recover:
                raise _unreadable(error, number) from None
            findings.append(_left_out(error, number, line, ended=ended))
            reader.assume_current_version()
        else:
            if not ended:
                findings.append(_unended(number))
    return Loaded(conversation, Report(tuple(findings)))


class _Reader:
    """Turns lines into entries of the current version."""

    def __init__(self, version: int, migrations: Mapping[int, Migration]) -> None:
        self._current = version
        self._migrations = migrations
        self._found: int | None = None

    def assume_current_version(self) -> None:
        """Go on without a header, if the header was what could not be read."""
        self._found = self._found or self._current

    def read(self, line: bytes, number: int) -> Entry | None:
        if self._found is None:
            self._found = self._version_of(line, number)
            return None
        try:
            if self._found == self._current:
                entry: Entry = _ENTRY.decode(line)
                return entry
            return self._upgraded(msgspec.json.decode(line, type=dict[str, Any]), number)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise UnreadableConversation(
                f"this is not an entry of a conversation: {error}.",
                line=number,
                help=_RECOVER_HELP,
            ) from None

    def _version_of(self, line: bytes, number: int) -> int:
        try:
            header = msgspec.json.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            header = None
        if not isinstance(header, dict) or header.get("canonicall") != "conversation":
            raise UnreadableConversation(
                "this is not a canonicall conversation: the header line is missing.", line=number
            )
        found = header.get("version")
        if type(found) is not int or found < 1:
            raise UnreadableConversation(
                f"the header names no version ({found!r} is not one).", line=number
            )
        if found > self._current:
            raise NewerVersion(found, self._current, line=number)
        return found

    def _upgraded(self, record: dict[str, Any], number: int) -> Entry:
        for version in range(self._found or 0, self._current):
            migrate = self._migrations.get(version)
            if migrate is None:
                raise UnreadableConversation(
                    f"version {version} cannot be read any more.",
                    line=number,
                    help="Convert the file with the canonicall release that wrote it.",
                )
            record = migrate(record)
        entry: Entry = msgspec.convert(record, Entry)
        return entry


def _numbered_lines(data: bytes | str | Iterable[bytes]) -> Iterator[tuple[int, bytes, bool]]:
    """Each line that is not blank, its number, and whether it ended. Only the last may not."""
    if isinstance(data, str):
        data = data.encode("utf-8", "surrogatepass")
    lines = data.split(b"\n") if isinstance(data, bytes) else data
    held: tuple[int, bytes] | None = None
    ended = True
    for number, line in enumerate(lines, 1):
        if held is not None:
            yield *held, True
        held = (number, line.strip()) if line.strip() else None
        # What `split` leaves behind the last line break is a line that did not end.
        ended = not isinstance(data, bytes) and line.endswith(b"\n")
    if held is not None:
        yield *held, ended


def _unreadable(error: Exception, number: int) -> UnreadableConversation:
    if isinstance(error, UnreadableConversation):
        return error
    return UnreadableConversation(str(error), line=number, help=_RECOVER_HELP)


def _left_out(error: Exception, number: int, line: bytes, *, ended: bool) -> Finding:
    place = f"line {number}"
    if not ended:
        why = f"The last line was cut off after {len(line)} bytes; what it held is lost."
        return Finding("truncated_line", place, Action.DROPPED, why, Fault.INPUT)
    why = f"The line cannot be read: {getattr(error, 'what', error)}"
    return Finding("unreadable_line", place, Action.DROPPED, why, Fault.INPUT)


def _unended(number: int) -> Finding:
    why = "The last line is whole but has no line break; write one before you append to the file."
    return Finding("unended_line", f"line {number}", Action.KEPT, why, Fault.INPUT)

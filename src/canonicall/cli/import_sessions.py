"""`canonicall import`: sessions of coding agents, listed, or read into a stored conversation."""

import shlex
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path
from typing import Any

import click
import msgspec
from rich.console import Console

from canonicall.cli.arguments import from_option, json_option, output_option
from canonicall.cli.files import (
    STANDARD,
    UnusableFile,
    is_same_file,
    read_bytes,
    shown,
    writing,
)
from canonicall.cli.judging import is_broken
from canonicall.cli.overview import FOUND, OK
from canonicall.cli.page import counted, open_console, say, show_findings
from canonicall.cli.session_database import is_database
from canonicall.cli.session_files import (
    FoundSession,
    sessions_in,
    sessions_in_database,
    stored_session,
)
from canonicall.cli.visible import visible
from canonicall.errors import CanonicallError, MalformedBody
from canonicall.importing.documents import read_document
from canonicall.importing.kinds import Document
from canonicall.importing.pieces import pieces
from canonicall.persisted import dump

_SAID = (
    *("messages", "input", "contents", "system", "instructions"),
    *("systemInstruction", "system_instruction"),
)
"""The fields of a body that a conversation is made of."""


@click.command("import")
@click.argument("place", type=click.Path(exists=True, allow_dash=True), metavar="FILE|FOLDER")
@click.option(
    "--session", "id", default="", metavar="ID", help="Which one, of opencode's database."
)
@from_option
@output_option
@json_option
def import_sessions(place: str, id: str, format: str, output: str, as_json: bool) -> int:
    """Read or list the sessions of coding agents.

    FILE is a session of Claude Code, Codex, Gemini CLI, opencode or pi, or anything else that
    `check` reads; - is standard input. It becomes a stored conversation, which every verb reads.
    With a FOLDER, or with opencode's database and no ID, the sessions in it are listed; a session
    that cannot go on as it is is marked as broken. What is not part of the conversation, such as
    messages between sub-agents, is reported on standard error.

    \b
    Examples:
      canonicall import ~/.claude/projects
      canonicall import session.jsonl -o conversation.jsonl
      canonicall import session.jsonl | canonicall check - --as openai
      canonicall import opencode.db --session ID -o conversation.jsonl

    Ends with 3 if a folder holds a session that cannot be read.
    """
    is_folder = place != STANDARD and Path(place).is_dir()
    is_base = place != STANDARD and Path(place).is_file() and is_database(Path(place))
    if id and not is_base:
        raise click.UsageError("--session goes with a FILE that is opencode's database.")
    if is_folder or (is_base and not id):
        if output != STANDARD:
            name = "--session ID" if is_base else "one FILE"
            raise click.UsageError(f"This is only listed; name {name} to write OUT.")
        found = sessions_in(Path(place)) if is_folder else sessions_in_database(Path(place))
        return _list(place, found, as_json=as_json)
    if is_same_file(place, output):
        what = "OUT is FILE itself, and holds more than the conversation. Name another file."
        raise click.UsageError(what)
    try:
        document = read_document(_read(place, id, format), format)
    except CanonicallError as error:
        raise UnusableFile(shown(place), error) from None
    with writing(output) as out:
        out.write(dump(document.request.conversation))
    _tell(place, document, as_json=as_json)
    return OK


def _read(place: str, id: str, format: str) -> bytes:
    """The bytes of a session, wherever it is kept."""
    if not id:
        data = read_bytes(STANDARD) if place == STANDARD else stored_session(Path(place))
        if next(pieces(BytesIO(data), format)).line:
            what = "there is one document a line in it, and one is read. `canonicall convert` and"
            raise MalformedBody(f"{what} `canonicall check` take such a file.")
        return data
    for session in sessions_in_database(Path(place), id):
        return session.data
    raise MalformedBody(f"there is no session {id!r}. `canonicall import FILE` lists them.")


def _tell(place: str, document: Document, *, as_json: bool) -> None:
    if as_json:
        more = {"findings": document.findings, "left_out": _left_out(document)}
        record = {**_row(shown(place), document), **more}
        click.echo(msgspec.json.encode(record), err=True)
        return
    console = open_console(stderr=True)
    told = f"{shown(place)}: {document.format}, {counted(_messages(document), 'message')}"
    say(console, told, style="bold", indent="")
    show_findings(console, document.findings)
    if left := _left_out(document):
        say(console, f"Not part of a conversation, and not in it: {', '.join(left)}.")


def _left_out(document: Document) -> list[str]:
    """The fields of a body that are no part of a conversation."""
    return [name for name in document.body or () if name not in _SAID]


def _row(file: str, document: Document) -> dict[str, Any]:
    conversation = document.request.conversation
    return {
        "file": file,
        "format": document.format,
        "model": document.request.model,
        "messages": _messages(document),
        "calls": len(conversation.ledger),
        "open_calls": len(conversation.ledger.open),
    }


def _messages(document: Document) -> int:
    return sum(1 for _ in document.request.conversation.messages)


def _list(place: str, sessions: Iterable[FoundSession], *, as_json: bool) -> int:
    rows: list[dict[str, Any]] = []
    for session in sessions:
        rows.append(_listed(session))
        if as_json:
            click.echo(msgspec.json.encode(rows[-1]))
    if not as_json:
        _show(open_console(widest=140), place, rows)
    return FOUND if any("error" in row for row in rows) else OK


def _listed(session: FoundSession) -> dict[str, Any]:
    named = {"session": session.id} if session.id else {}
    error = session.error
    try:
        if not error:
            document = session.kind.read(session.data)
            broken = is_broken(session.kind, session.data, document)
            return _row(session.file, document) | {"broken": broken} | named
    except CanonicallError as unreadable:
        error = str(unreadable).removeprefix("$: ")
    return {"file": session.file, "format": session.kind.name, "error": error, **named}


def _show(console: Console, place: str, rows: list[dict[str, Any]]) -> None:
    """Two lines a session: what it holds, and where it is, ready to be copied."""
    if not rows:
        say(console, f"{shown(place)}: no session of a known coding agent is in it.", indent="")
        return
    widest = max(len(row["format"]) for row in rows)
    for row in rows:
        what = row.get("error") or _figures(row)
        mark = "broken: " if row.get("broken") else ""
        style = "bold red" if mark or "error" in row else "bold"
        say(console, f"{row['format']:<{widest}}  {mark}{what}", style=style, indent="")
        option = f" --session {row['session']}" if "session" in row else ""
        console.print(f"  {visible(shlex.quote(row['file']))}{option}", soft_wrap=True)
    broken = sum(bool(row.get("broken")) for row in rows)
    say(console, f"{counted(len(rows), 'session')}. To read one: canonicall import FILE", indent="")
    if broken:
        say(console, f"Broken: {broken:,}. To repair one:", indent="")
        command = "canonicall fix FILE --as PROVIDER --in-place --write-session"
        console.print(f"  {command}", soft_wrap=True)


def _figures(row: dict[str, Any]) -> str:
    told = [counted(row["messages"], "message"), counted(row["calls"], "call")]
    if row["open_calls"]:
        told.append(f"{row['open_calls']:,} without a result")
    return ", ".join([row["model"], *told] if row["model"] else told)

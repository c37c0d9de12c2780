"""`canonicall import`: sessions of coding agents, listed, or read into a stored conversation."""

from pathlib import Path
from typing import Any

import click
import msgspec
from rich.console import Console

from canonicall.cli.arguments import from_option, json_option, output_option
from canonicall.cli.files import STANDARD, UnusableFile, read_bytes, shown, writing
from canonicall.cli.overview import FOUND, OK
from canonicall.cli.page import counted, open_console, say, show_findings, show_table, simple_table
from canonicall.cli.session_files import FoundSession, sessions_in, stored_session
from canonicall.errors import CanonicallError
from canonicall.importing.documents import read_document
from canonicall.importing.kinds import Document
from canonicall.persisted import dump


@click.command("import")
@click.argument("place", type=click.Path(exists=True, allow_dash=True), metavar="FILE|FOLDER")
@from_option
@output_option
@json_option
def import_sessions(place: str, format: str, output: str, as_json: bool) -> int:
    """Read or list the sessions of coding agents.

    FILE is a session of Claude Code, Codex, Gemini CLI, opencode or pi, or anything else that
    `check` reads; - is standard input. It becomes a stored conversation, which every verb reads.
    With a FOLDER, the sessions below it are listed. What is not part of the conversation, such as
    the talk of sub-agents, is told on standard error.

    \b
    Examples:
      canonicall import ~/.claude/projects
      canonicall import session.jsonl -o conversation.jsonl
      canonicall import session.jsonl | canonicall check - --as openai

    Ends with 3 if a folder holds a session that cannot be read.
    """
    if place != STANDARD and Path(place).is_dir():
        if output != STANDARD:
            raise click.UsageError("A folder is listed; name one FILE to write OUT.")
        return _list(Path(place), as_json=as_json)
    data = read_bytes(STANDARD) if place == STANDARD else stored_session(Path(place))
    try:
        document = read_document(data, format)
    except CanonicallError as error:
        raise UnusableFile(shown(place), error) from None
    with writing(output) as out:
        out.write(dump(document.request.conversation))
    _tell(place, document, as_json=as_json)
    return OK


def _tell(place: str, document: Document, *, as_json: bool) -> None:
    if as_json:
        record = {**_row(shown(place), document), "findings": document.findings}
        click.echo(msgspec.json.encode(record), err=True)
        return
    console = open_console(stderr=True)
    told = f"{shown(place)}: {document.format}, {counted(_messages(document), 'message')}"
    say(console, told, style="bold", indent="")
    show_findings(console, document.findings)


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


def _list(folder: Path, *, as_json: bool) -> int:
    rows: list[dict[str, Any]] = []
    for session in sessions_in(folder):
        rows.append(_listed(session))
        if as_json:
            click.echo(msgspec.json.encode(rows[-1]))
    if not as_json:
        _show(open_console(widest=140), folder, rows)
    return FOUND if any("error" in row for row in rows) else OK


def _listed(session: FoundSession) -> dict[str, Any]:
    try:
        return _row(session.file, session.kind.read(session.data))
    except CanonicallError as error:
        return {"file": session.file, "format": session.kind.name, "error": str(error)}


def _show(console: Console, folder: Path, rows: list[dict[str, Any]]) -> None:
    if not rows:
        say(console, f"{folder}: no session of a known coding agent is in it.", indent="")
        return
    table = simple_table("session", "agent", "model", "messages", "calls", "open")
    for row in rows:
        file = str(Path(row["file"]).relative_to(folder))
        if "error" in row:
            table.add_row(file, row["format"], row["error"], "", "", "")
            continue
        numbers = (f"{row[name]:,}" for name in ("messages", "calls", "open_calls"))
        table.add_row(file, row["format"], row["model"], *numbers)
    show_table(console, table)
    say(console, f"{counted(len(rows), 'session')}.", style="bold", indent="")

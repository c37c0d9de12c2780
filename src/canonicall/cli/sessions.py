"""`canonicall sessions`: what is stored of talks, to look at, to take elsewhere, to delete."""

import asyncio
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from typing import Any

import click
import msgspec

from canonicall.blocks import CallClosed, Entry, Message
from canonicall.cli.arguments import json_option
from canonicall.cli.desk import store_path
from canonicall.cli.files import STANDARD, is_same_file, writing
from canonicall.cli.listeners import arguments_of
from canonicall.cli.page import (
    NARROW,
    add_row,
    counted,
    open_console,
    say,
    show_table,
    simple_table,
)
from canonicall.cli.records import in_words
from canonicall.cli.session_options import store_option
from canonicall.store.database import Database
from canonicall.store.sessions import SessionStore, Stored

_ROLES = {"user": "bold", "assistant": "green", "system": "magenta", "tool": "cyan"}


@click.command()
@click.argument("action", type=click.Choice(("list", "show", "export", "delete")), default="list")
@click.argument("id", required=False)
@click.option(
    "-o",
    "--output",
    default=STANDARD,
    type=click.Path(dir_okay=False, allow_dash=True),
    metavar="FILE",
    help="Where an export is written; else to standard output.",
)
@store_option
@json_option
def sessions(action: str, id: str | None, output: str, store: str | None, as_json: bool) -> None:
    """List, show, export or delete stored sessions.

    They are what run and chat keep of every talk. An export has the stored form of a conversation,
    JSON lines: every verb that reads transcripts takes it.

    \b
    Examples:
      canonicall sessions
      canonicall sessions show ID
      canonicall sessions export ID -o talk.jsonl
      canonicall sessions delete ID
    """
    if action != "list" and id is None:
        raise click.UsageError(f"Say which: canonicall sessions {action} ID.")
    if action == "list" and id is not None:
        raise click.UsageError("list takes no ID; to look at one: canonicall sessions show ID.")
    if is_same_file(output, str(store_path(store))):
        raise click.UsageError("--output is the store itself, with all sessions in it.")
    database = Database(store_path(store))
    opened = SessionStore(database)
    try:
        if action == "list":
            _show_list(asyncio.run(_all(opened)), as_json=as_json)
        elif id is not None:
            asyncio.run(_ACTIONS[action](opened, id, output, as_json))
    finally:
        database.close()


async def _all(store: SessionStore) -> tuple[Stored, ...]:
    return await store.list()


def _show_list(found: tuple[Stored, ...], *, as_json: bool) -> None:
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(found), indent=2))
        return
    console = open_console()
    if not found:
        say(console, "No session is stored. canonicall chat begins one.", indent="")
        return
    table = simple_table("session", "changed", "entries", "model", "about")
    for column in table.columns[:4]:
        # A name that is cut in two cannot be copied.
        column.no_wrap = True
    for one in found:
        when = datetime.fromtimestamp(one.changed, UTC).astimezone().strftime("%Y-%m-%d %H:%M")
        if console.width < NARROW:
            say(console, one.id, style="bold", indent="")
            say(console, f"{when}, {one.entries:,} entries, {one.target}: {one.title}")
        add_row(table, one.id, when, str(one.entries), one.target, one.title)
    if console.width >= NARROW:
        show_table(console, table)


async def _show(store: SessionStore, id: str, output: str, as_json: bool) -> None:
    del output
    stored = await store.get(id)
    loaded = await store.load(id)
    entries = loaded.conversation.entries
    if as_json:
        told = {"session": stored, "entries": entries}
        click.echo(msgspec.json.format(msgspec.json.encode(told), indent=2))
        return
    console = open_console()
    say(console, f"{stored.id}  {stored.target}  {stored.title}", style="bold cyan", indent="")
    if stored.parent:
        say(console, f"forked from {stored.parent}", indent="")
    for entry in entries:
        for style, text in _lines(entry):
            say(console, text, style=style)
    calls = counted(len(loaded.conversation.ledger), "tool call")
    say(console, f"{len(entries):,} entries, {calls}", style="dim", indent="")


def _lines(entry: Entry) -> list[tuple[str, str]]:
    """What an entry says, in lines with their style."""
    if isinstance(entry, CallClosed):
        why = f": {entry.why}" if entry.why else ""
        return [("cyan", f"a call ended as {entry.outcome.value}{why}")]
    if not isinstance(entry, Message):
        return [("cyan", in_words(entry))]
    style = _ROLES.get(entry.role, "")
    lines = [(style, f"{entry.role}: {entry.text}")] if entry.text else []
    lines += [(style, f"{entry.role}: {one.name} {arguments_of(one)}") for one in entry.calls]
    lines += [(style, f"{entry.role}: {one.text}") for one in entry.results]
    return lines


async def _export(store: SessionStore, id: str, output: str, as_json: bool) -> None:
    del as_json
    data = await store.export(id)
    with writing(output) as file:
        file.write(data)


async def _delete(store: SessionStore, id: str, output: str, as_json: bool) -> None:
    del output
    await store.delete(id)
    told = msgspec.json.encode({"deleted": id}).decode() if as_json else f"{id} is deleted."
    click.echo(told)


_ACTIONS: dict[str, Callable[[SessionStore, str, str, bool], Coroutine[Any, Any, None]]] = {
    "show": _show,
    "export": _export,
    "delete": _delete,
}

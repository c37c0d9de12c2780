"""`canonicall chat`: a talk with a model that uses tools, stored as it goes on.

In a terminal with editing, history and questions about calls that need approval; from a pipe one
message a line. Ctrl-C stops a turn and keeps what was said; pressed again, it ends the talk.
"""

import asyncio
import sys
from typing import Any

import click

from canonicall.cli.approvals import Approvals
from canonicall.cli.arguments import json_option
from canonicall.cli.chat_commands import COMMANDS, Commands, Room
from canonicall.cli.desk import Desk
from canonicall.cli.listeners import JsonLines, Listener, Screen
from canonicall.cli.overview import INTERRUPTED, OK
from canonicall.cli.reading import Interrupted, Interrupts, PlainReader, Reader
from canonicall.cli.session_options import Wanted, session_options
from canonicall.cli.talking import Talk
from canonicall.errors import CanonicallError

_PROMPT = "> "


@click.command()
@session_options
@json_option
def chat(as_json: bool, **given: Any) -> int:
    """Talk with a model that uses tools.

    Enter sends, a backslash before it begins another line, /help shows the commands: to change the
    model in the middle of a talk, to see figures, to go back to an earlier session. Calls that
    need approval are asked about, those that waited when the program ended as well. Ctrl-C stops
    a turn, Ctrl-D ends the talk. From a pipe every line is a message; with --json every event is
    a line.

    \b
    Examples:
      canonicall chat
      canonicall chat --model openai:gpt-5.2 --tools my_tools.py
    """
    desk = Desk(Wanted(**given))
    listener: Listener = JsonLines() if as_json else Screen(streams=True)
    try:
        return asyncio.run(_chat(desk, listener, is_comfortable=not as_json))
    finally:
        desk.close()


async def _chat(desk: Desk, listener: Listener, *, is_comfortable: bool) -> int:
    interrupts = Interrupts()
    is_terminal = is_comfortable and sys.stdin.isatty() and sys.stdout.isatty()
    with interrupts.heard():
        reader: Reader = _terminal_reader() if is_terminal else PlainReader(interrupts)
        answer = desk.wanted.answer(is_interactive=is_terminal)
        talk = Talk(listener, Approvals(answer, reader if is_terminal else None), interrupts)
        id, target = await desk.first()
        room = Room(desk, talk, id, target)
        for note in desk.notes(target, answer):
            listener.remark(note)
        listener.remark("/help shows what can be done here.")
        try:
            return await _converse(room, reader)
        finally:
            await room.leave()
            await desk.model.close()


def _terminal_reader() -> Reader:
    # Loaded where a person types, and nowhere else.
    from canonicall.cli.terminal_reader import TerminalReader  # noqa: PLC0415

    return TerminalReader(COMMANDS)


async def _converse(room: Room, reader: Reader) -> int:
    """Until somebody leaves; how the talk ended."""
    commands = Commands(room)
    resumed = await room.take_up()
    was_interrupted = resumed is not None and resumed.was_interrupted
    while True:
        try:
            text = await reader.message(_PROMPT)
        except EOFError:
            return OK
        except Interrupted:
            if was_interrupted:
                return INTERRUPTED
            was_interrupted = True
            room.remark("Ctrl-C once more ends the talk.")
            continue
        was_interrupted = False
        if not text.strip():
            continue
        try:
            if commands.is_one(text):
                if not await commands.do(text):
                    return OK
            else:
                was_interrupted = (await room.say(text.strip())).was_interrupted
        except CanonicallError as error:
            room.remark(f"error: {error}")

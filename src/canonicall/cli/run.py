"""`canonicall run`: one prompt, one answer, with tools in between.

The answer goes to standard output, what happens on the way to standard error. However it ends, the
conversation is stored, and fit to go on.
"""

import asyncio
import sys
from typing import Any

import click

from canonicall.cli.approvals import Approvals
from canonicall.cli.arguments import json_option
from canonicall.cli.desk import Desk
from canonicall.cli.files import STANDARD, read_bytes
from canonicall.cli.listeners import JsonLines, Listener, Screen
from canonicall.cli.overview import FAILED, FOUND, INTERRUPTED, OK
from canonicall.cli.reading import Interrupts, PlainReader
from canonicall.cli.session_options import Wanted, session_options
from canonicall.cli.talking import Ended, Talk
from canonicall.runtime.events import StatusEvent

_ENDS = {"answered": OK, "failed": FAILED, "cancelled": INTERRUPTED}
"""Every other end is that of a limit, or of a run that led nowhere."""


@click.command()
@click.argument("prompt", nargs=-1)
@session_options
@click.option("--stats", "with_stats", is_flag=True, help="Print figures at the end.")
@json_option
def run(prompt: tuple[str, ...], with_stats: bool, as_json: bool, **given: Any) -> int:
    """Ask a model once, let it use tools, and print its answer.

    PROMPT is what is asked; "-", or none, reads it from standard input. Calls that need approval
    are asked about in a terminal, and denied elsewhere. With --json every event is one line.
    Ends with 3 if a limit was reached, the run led nowhere, or a call was denied.

    \b
    Examples:
      canonicall run "What time is it?"
      canonicall run --model anthropic:claude-sonnet-4-5 --yes - < task.txt
      canonicall run --model generic:my-model \\
        --base-url http://127.0.0.1:8080/v1 "Hello?"
      canonicall run --resume "And yesterday?"
    """
    text = _prompt(prompt)
    wanted = Wanted(**given)
    listener: Listener = JsonLines() if as_json else Screen(streams=False)
    desk = Desk(wanted)
    try:
        ended = asyncio.run(_run(desk, text, listener, with_stats=with_stats))
    finally:
        desk.close()
    if ended.was_denied and ended.complete.reason == "answered":
        return FOUND
    return _ENDS.get(ended.complete.reason, FOUND)


def _prompt(given: tuple[str, ...]) -> str:
    if given and given != (STANDARD,):
        text = " ".join(given)
    elif sys.stdin.isatty() and not given:
        raise click.UsageError(
            "Say what to ask: canonicall run PROMPT. For a talk: canonicall chat."
        )
    else:
        text = read_bytes(STANDARD).decode("utf-8", "replace")
    if not text.strip():
        raise click.UsageError("The prompt is empty.")
    return text.strip()


async def _run(desk: Desk, text: str, listener: Listener, *, with_stats: bool) -> Ended:
    interrupts = Interrupts()
    with interrupts.heard():
        is_interactive = sys.stdin.isatty() and sys.stderr.isatty()
        answer = desk.wanted.answer(is_interactive=is_interactive)
        reader = PlainReader(interrupts) if answer == "ask" else None
        talk = Talk(listener, Approvals(answer, reader), interrupts)
        id, target = await desk.first()
        for note in desk.notes(target, answer):
            listener.remark(note)
        session = await desk.open(id, target, text, talk.approvals.at_once)
        listener.hear(StatusEvent(kind="session", detail=id))
        if interrupts.was_pressed:
            raise click.Abort
        ended = await talk.say(session, text)
        if with_stats:
            listener.stats(session.stats)
        await session.close()
        await desk.model.close()
    return ended

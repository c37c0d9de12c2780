"""The tool `shell`: a command in the working folder, only where somebody agreed to this very one.

It has a time limit and an output limit, no input, and not the keys of providers: a command has no
business with them, and what it prints goes to a model.
"""

import asyncio
import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from canonicall.facts.registry import get_profile, provider_names
from canonicall.tools.bound import BoundTool
from canonicall.tools.context import ToolContext
from canonicall.tools.functions import tool

_MOST_SECONDS = 300
_MOST_OUTPUT = 20_000
_PIECE = 65_536
_LOOK_EVERY = 0.05
"""Seconds between looks whether somebody wants it to stop."""
_LEAVE_TIME = 1.0
"""Seconds that a command has to end when it was killed."""
_SECRETS = ("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")


def shell_tool(folder: Path) -> BoundTool:
    """`shell` for this folder."""

    @tool(approval="always", timeout=_MOST_SECONDS + 10.0)
    async def shell(
        command: str,
        context: ToolContext,
        seconds: Annotated[int, Meta(ge=1, le=_MOST_SECONDS)] = 30,
    ) -> str:
        """Run a shell command and return what it prints.

        Args:
            command: The command line; it runs in the working folder.
            seconds: After this time it is stopped.
        """
        process = await asyncio.create_subprocess_shell(
            command,
            cwd=folder,
            env=_environment(),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
        output = _Output()
        reading = asyncio.ensure_future(output.read(process))
        try:
            ended = await _ended(reading, context, seconds)
        finally:
            if not reading.done():
                _kill(process)
                # What made itself independent may still hold the pipe.
                await asyncio.wait((reading,), timeout=_LEAVE_TIME)
                reading.cancel()
        how = f"exit code {process.returncode}" if ended == "" else ended
        return f"{how}\n{output.text}".rstrip()

    return shell


async def _ended(reading: "asyncio.Future[None]", context: ToolContext, seconds: float) -> str:
    """Wait for the end; why it was not waited for, where it did not come."""
    loop = asyncio.get_running_loop()
    until = loop.time() + seconds
    while not reading.done():
        if context.cancelled:
            return "stopped, because the user cancelled"
        if loop.time() >= until:
            return f"stopped after {seconds:g} seconds"
        await asyncio.wait((reading,), timeout=_LOOK_EVERY)
    return ""


class _Output:
    """The beginning and the end of what is printed; the middle of a lot is left out."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._tail = bytearray()
        self._left_out = 0

    async def read(self, process: asyncio.subprocess.Process) -> None:
        """To the end. Everything is read, so that the command never waits for a reader."""
        if process.stdout is not None:
            while piece := await process.stdout.read(_PIECE):
                self._add(piece)
        await process.wait()

    @property
    def text(self) -> str:
        note = f"\n[... {self._left_out:,} bytes left out ...]\n" if self._left_out else ""
        return self._head.decode(errors="replace") + note + self._tail.decode(errors="replace")

    def _add(self, piece: bytes) -> None:
        room = _MOST_OUTPUT // 2 - len(self._head)
        self._head += piece[:room]
        self._tail += piece[room:]
        over = max(0, len(self._tail) - _MOST_OUTPUT // 2)
        self._left_out += over
        del self._tail[:over]


def _kill(process: asyncio.subprocess.Process) -> None:
    """The command and all it started; what is left of it may hold the pipe open otherwise."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _environment() -> dict[str, str]:
    keys = {name for one in provider_names() for name in get_profile(one).key_env}
    return {name: value for name, value in os.environ.items() if name not in {*keys, *_SECRETS}}

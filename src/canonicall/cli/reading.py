"""Lines that a person types, or that a program sends: read without stopping the event loop."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Protocol

import click

_PIECE = 65_536
_GO_ON = "\\"
"""At the end of a line: the next line belongs to it."""


class Interrupted(Exception):
    """Ctrl-C was pressed instead of an answer."""


class Reader(Protocol):
    """Where lines come from. `EOFError`: there are no more. `Interrupted`: Ctrl-C."""

    async def line(self, prompt: str, *, default: str = "") -> str:
        """One line; `default` is there already where it can be changed."""
        ...

    async def message(self, prompt: str) -> str:
        """Something to say, of one line or several."""
        ...


class Interrupts:
    """What Ctrl-C does: whatever was asked for last. Never does it end the program by itself."""

    def __init__(self) -> None:
        self.was_pressed = False
        """Whether it was pressed when nothing was asked for."""
        self._presses: list[Callable[[], None]] = [self._remember]

    @contextmanager
    def heard(self) -> Iterator[None]:
        """Listen for Ctrl-C, in the event loop that runs."""
        loop = asyncio.get_running_loop()
        # Where the loop cannot listen for signals, Ctrl-C ends the program as it always does.
        with suppress(NotImplementedError):
            loop.add_signal_handler(signal.SIGINT, self._pressed)
        try:
            yield
        finally:
            with suppress(NotImplementedError):
                loop.remove_signal_handler(signal.SIGINT)

    @contextmanager
    def to(self, press: Callable[[], None]) -> Iterator[None]:
        """What it does in the meantime."""
        self._presses.append(press)
        try:
            yield
        finally:
            self._presses.remove(press)

    def _pressed(self) -> None:
        self._presses[-1]()

    def _remember(self) -> None:
        self.was_pressed = True


class PlainReader:
    """Lines of standard input, from a terminal without any comfort, a pipe or a file."""

    def __init__(self, interrupts: Interrupts) -> None:
        self._interrupts = interrupts
        self._input = sys.stdin.fileno()
        self._waiting = bytearray()
        self._has_ended = False

    async def line(self, prompt: str, *, default: str = "") -> str:
        """One line. An empty one means `default`."""
        if sys.stdin.isatty():
            click.echo(prompt, nl=False, err=True)
        while b"\n" not in self._waiting and not self._has_ended:
            piece = await self._piece()
            self._has_ended = not piece
            self._waiting += piece
        if not self._waiting:
            raise EOFError
        line, _, rest = bytes(self._waiting).partition(b"\n")
        self._waiting[:] = rest
        return line.decode("utf-8", "replace").rstrip("\r") or default

    async def message(self, prompt: str) -> str:
        """Lines up to the first that does not end with a backslash."""
        lines = [await self.line(prompt)]
        while lines[-1].endswith(_GO_ON):
            lines[-1] = lines[-1].removesuffix(_GO_ON)
            lines.append(await self.line("... "))
        return "\n".join(lines)

    async def _piece(self) -> bytes:
        loop = asyncio.get_running_loop()
        ready: asyncio.Future[None] = loop.create_future()

        def is_ready() -> None:
            if not ready.done():
                ready.set_result(None)

        def interrupted() -> None:
            if not ready.done():
                ready.set_exception(Interrupted())

        try:
            loop.add_reader(self._input, is_ready)
        except (PermissionError, NotImplementedError):
            # A file is always ready.
            return os.read(self._input, _PIECE)
        try:
            with self._interrupts.to(interrupted):
                await ready
        finally:
            loop.remove_reader(self._input)
        return os.read(self._input, _PIECE)

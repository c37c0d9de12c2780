"""How far a long conversion is: a bar on standard error, where that is a terminal."""

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as Bar
from rich.text import Text

from canonicall.cli.page import open_console

_BAR_WIDTH = 20
"""What leaves room for long numbers on 80 columns."""


class _Rate(ProgressColumn):
    """Lines a second, over the whole run."""

    def render(self, task: Task) -> Text:
        lines = task.fields["line"] - task.fields["first"]
        rate = f"{lines / task.elapsed:,.0f}" if task.elapsed and lines else "-"
        return Text(f"{task.fields['line']:,} lines, {rate}/s")


class Progress:
    """The bar, or nothing at all into a pipe."""

    def __init__(self, size: int | None, line: int, offset: int, *, shows: bool) -> None:
        console = open_console(stderr=True)
        self._bar: Bar | None = None
        if shows and console.is_terminal:
            done = (BarColumn(_BAR_WIDTH), TextColumn("{task.percentage:>3.0f}%"))
            rest = (DownloadColumn(), _Rate(), TimeRemainingColumn())
            self._bar = Bar(*done, *rest, console=console)
            self._task = self._bar.add_task("", total=size, completed=offset, line=line, first=line)

    @property
    def console(self) -> Console | None:
        """Where lines can be printed above the bar."""
        return self._bar.console if self._bar else None

    def __enter__(self) -> Self:
        if self._bar:
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._bar:
            self._bar.stop()

    def advance(self, line: int, offset: int) -> None:
        """So many lines and bytes of the input are done."""
        if self._bar:
            self._bar.update(self._task, completed=offset, line=line)

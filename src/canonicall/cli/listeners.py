"""What is shown of a run: words and activity for people, or its events as JSON for programs.

Words of the model go to standard output, everything else to standard error. What models and tools
wrote cannot steer the terminal.
"""

from typing import Protocol

import click
import msgspec

from canonicall.blocks import CallClosed, Entry, Message, ToolCall
from canonicall.cli.records import decision_in_words
from canonicall.cli.visible import in_one_line, visible
from canonicall.decisions import CallDecided
from canonicall.findings import Finding, Report
from canonicall.runtime.events import (
    AgentEvent,
    CompleteEvent,
    ErrorEvent,
    StatusEvent,
    TextEvent,
    ToolCallEvent,
)
from canonicall.runtime.stats import SessionStats

_LONGEST = 160
_SILENT = ("asking", "answered", "approval", "external", "written")
"""Kinds of status that are told in another way."""


class Listener(Protocol):
    """Hears everything."""

    def remark(self, text: str) -> None:
        """Something to know."""
        ...

    def hear(self, event: AgentEvent) -> None:
        """What happens in a run."""
        ...

    def stats(self, stats: SessionStats) -> None:
        """The figures."""
        ...


class JsonLines:
    """Events, one JSON line each."""

    def remark(self, text: str) -> None:
        click.echo(text, err=True)

    def hear(self, event: AgentEvent) -> None:
        click.echo(msgspec.json.encode(event))

    def stats(self, stats: SessionStats) -> None:
        click.echo(msgspec.json.encode({"type": "stats", "version": 1, "stats": stats}))


class Screen:
    """Words and activity. `streams`: words as they come; else the answer alone, at the end."""

    def __init__(self, *, streams: bool) -> None:
        self._streams = streams
        self._is_mid_line = False
        self._said = ""
        self._error = ""
        """The last one that was shown."""
        self._names: dict[str, str] = {}
        """The tools of the calls seen so far."""
        self._ended: set[str] = set()
        """The calls that ended without a result."""
        self._repairs: set[Finding] = set()
        """What was shown of changes in requests."""

    def remark(self, text: str) -> None:
        self._end_line()
        click.secho(visible(text), err=True, dim=True)

    def hear(self, event: AgentEvent) -> None:
        if isinstance(event, StatusEvent):
            # Calls that waited since an earlier talk were not seen to be made.
            self._names |= {call.id: call.name for call in event.calls}
        match event:
            case TextEvent(thinking=False):
                self._words(event.text)
            case ToolCallEvent(phase="late"):
                told = "" if event.result is None else event.result.text
                self._act(event.call.name, f"late, it had ended as {event.outcome}: {told}")
            case ToolCallEvent(phase="progress"):
                self._act(event.call.name, str(event.progress))
            case StatusEvent(entry=entry) if entry is not None:
                self._written(entry)
            case StatusEvent(kind="repaired"):
                self._repaired(event)
            case StatusEvent() if event.kind not in _SILENT:
                self.remark(f"{event.kind}: {in_one_line(event.detail)}")
            case ErrorEvent():
                self._end_line()
                self._error = event.message
                # Whole: what to do about it stands at its end.
                click.secho(f"error: {in_one_line(event.message)}", err=True, fg="red")
            case CompleteEvent():
                self._complete(event)
            case _:
                pass

    def stats(self, stats: SessionStats) -> None:
        self._end_line()
        click.echo(visible(stats.table()), err=True)

    def _words(self, text: str) -> None:
        if not self._streams:
            self._said += text
        elif text:
            click.echo(visible(text), nl=False)
            self._is_mid_line = not text.endswith("\n")

    def _written(self, entry: Entry) -> None:
        """The calls of the model and their ends, refused ones among them."""
        if isinstance(entry, CallClosed):
            why = f": {entry.why}" if entry.why else ""
            self._ended.add(entry.call_id)
            self._act(self._names.get(entry.call_id, "?"), f"{entry.outcome.value}{why}")
            return
        if not isinstance(entry, Message):
            if isinstance(entry, CallDecided) and entry.by == "rule":
                # Else whoever decided knows it already.
                self._act(self._names.get(entry.call_id, "?"), decision_in_words(entry))
            return
        for result in entry.results:
            if result.call_id in self._ended:
                # A late one: told already, as what it is.
                continue
            outcome = "failed" if result.error else "done"
            self._act(self._names.get(result.call_id, "?"), f"{outcome}: {result.text}")
        for call in entry.calls:
            self._called(call, entry)

    def _repaired(self, event: StatusEvent) -> None:
        """What was changed, once: most of it is repeated in every request that follows."""
        new = [one for one in event.findings if one not in self._repairs]
        self._repairs.update(new)
        if new:
            many = f"{len(new)} changes ({_codes(new)}), the first at " if new[1:] else ""
            self.remark(f"repaired: {many}{in_one_line(f'{new[0].where}: {new[0].why}')}")

    def _called(self, call: ToolCall, message: Message) -> None:
        if not self._streams and self._said:
            # Words before a call are no answer yet.
            self.remark(message.text)
            self._said = ""
        self._names[call.id] = call.name
        self._act(call.name, arguments_of(call))

    def _complete(self, event: CompleteEvent) -> None:
        if not self._streams and event.text:
            click.echo(visible(event.text))
        self._said = ""
        self._end_line()
        if event.reason != "answered" or event.detail:
            is_told = event.detail in ("", self._error)
            self.remark(f"ended: {event.reason}" + ("" if is_told else f" ({event.detail})"))

    def _act(self, name: str, text: str) -> None:
        self._end_line()
        click.secho(f"  [{in_one_line(name)}] {_short(text)}", err=True, fg="cyan")

    def _end_line(self) -> None:
        if self._is_mid_line:
            click.echo()
            self._is_mid_line = False


def arguments_of(call: ToolCall) -> str:
    """The arguments of a call, as JSON text."""
    return call.raw or "" if call.args is None else msgspec.json.encode(call.args).decode()


def _codes(findings: list[Finding]) -> str:
    counts = Report(tuple(findings)).counts
    return ", ".join(f"{code}={count}" for code, count in counts.items())


def _short(text: str) -> str:
    line = in_one_line(" ".join(text.split()))
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]} ..."

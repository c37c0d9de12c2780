"""Calls that leaked: a structured reply whose words still hold the model's own syntax.

Hosts forget to take their model's markers out of the text. Where tools were offered, the words are
scanned once more and calls of offered tools become calls, marked by a finding: text that was not
meant as a call must not become one unnoticed.
"""

from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from canonicall.blocks import Block, Text, ToolCall
from canonicall.events import (
    ArgumentsAdded,
    BlockEnded,
    BlockStarted,
    Event,
    FinishReported,
    MessageStarted,
    SignatureAdded,
    StreamEnded,
    TextAdded,
    ThinkingAdded,
)
from canonicall.findings import Action, Fault, Finding
from canonicall.reply import STOP, TOOL_CALLS, Reply
from canonicall.request import Tool
from canonicall.syntax.detection import auto_syntax
from canonicall.syntax.scanner import TextScanner


def recover_calls(reply: Reply, tools: Iterable[Tool | dict[str, Any]]) -> Reply:
    """`reply` with the calls that its words hold; the same where there are none."""
    offered = list(tools)
    blocks: list[Block] = []
    findings = list(reply.findings)
    for index, block in enumerate(reply.message.blocks):
        found = _in_words(block, offered)
        blocks += found
        names = [one.name for one in found if isinstance(one, ToolCall) and one is not block]
        if names:
            why = f"The words held calls of {', '.join(names)}; they were read as calls."
            where = f"blocks[{index}]"
            findings.append(Finding("call_recovered", where, Action.CHANGED, why, Fault.INPUT))
    if len(findings) == len(reply.findings):
        return reply
    finish = TOOL_CALLS if reply.finish in ("", STOP) else reply.finish
    message = replace(reply.message, blocks=tuple(blocks), finish=finish)
    return replace(reply, message=message, findings=tuple(findings))


def _in_words(block: Block, tools: list[Tool | dict[str, Any]]) -> tuple[Block, ...]:
    """The blocks that a block of words really is."""
    if not isinstance(block, Text) or block.opaque or not tools:
        return (block,)
    scanner = TextScanner(auto_syntax(with_tools=False), tools=tools)
    scanner.feed(block.text)
    ended = scanner.close()[-1]
    found = ended.reply.message.blocks if isinstance(ended, StreamEnded) else ()
    return found if any(isinstance(one, ToolCall) for one in found) else (block,)


class CallRecovery:
    """The same for a stream: events in, events out, with calls where words held some."""

    def __init__(self, tools: Iterable[Tool | dict[str, Any]]) -> None:
        self._tools = list(tools)
        self._next = 0
        self._numbers: dict[int, int] = {}
        self._scanners: dict[int, TextScanner] = {}
        self._inner: dict[tuple[int, int], int] = {}
        self._found = False

    def feed(self, event: Event) -> list[Event]:
        """The events that take the place of one."""
        match event:
            case BlockStarted(block=Text(text="")) if self._tools:
                self._scanners[event.index] = self._scanner()
                return []
            case TextAdded() if event.index in self._scanners:
                return self._renumbered(event.index, self._scanners[event.index].feed(event.text))
            case BlockEnded() if event.index in self._scanners:
                return self._renumbered(event.index, self._scanners.pop(event.index).close())
            case _:
                return [self._passed_on(event)]

    def _passed_on(self, event: Event) -> Event:
        """An event that is not of words, in its place among the others."""
        match event:
            case BlockStarted():
                self._numbers[event.index] = self._next
                self._next += 1
                return replace(event, index=self._numbers[event.index])
            case TextAdded() | ThinkingAdded() | ArgumentsAdded() | SignatureAdded() | BlockEnded():
                return replace(event, index=self._numbers[event.index])
            case FinishReported() if self._found and event.finish in ("", STOP):
                return FinishReported(TOOL_CALLS)
            case StreamEnded():
                return replace(event, reply=recover_calls(event.reply, self._tools))
            case _:
                return event

    def _scanner(self) -> TextScanner:
        return TextScanner(auto_syntax(with_tools=False), tools=self._tools)

    def _renumbered(self, outer: int, events: list[Event]) -> list[Event]:
        """Events of a scanner as events of the stream it is in."""
        kept: list[Event] = []
        for event in events:
            if isinstance(event, (MessageStarted, StreamEnded, FinishReported)):
                continue
            key = (outer, getattr(event, "index", 0))
            if isinstance(event, BlockStarted):
                self._inner[key] = self._next
                self._next += 1
                self._found |= isinstance(event.block, ToolCall)
            kept.append(replace(event, index=self._inner[key]))
        return kept

"""Calls that leaked: a structured reply whose words still hold the model's own syntax.

Hosts forget to take their model's markers out of the text. Where tools were offered, the words are
scanned once more and calls of offered tools become calls, marked by a finding: text that was not
meant as a call must not become one unnoticed. Only syntaxes with tokens of their own are looked
for; everything else in the words stays as it is.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from msgspec.structs import replace

from canonicall.blocks import Block, Message, Text, ToolCall
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
from canonicall.folding import fold
from canonicall.reply import STOP, TOOL_CALLS, Reply
from canonicall.request import Tool
from canonicall.syntax.detection import leaked_syntax
from canonicall.syntax.scanner import TextScanner, has_markers


def recover_calls(reply: Reply, tools: Iterable[Tool | dict[str, Any]]) -> Reply:
    """`reply` with the calls that its words hold; the same where they hold none."""
    offered = list(tools)
    read = [_read(block, f"blocks[{at}]", offered) for at, block in enumerate(reply.message.blocks)]
    findings = tuple(finding for one in read for finding in one.findings)
    if not findings:
        return reply
    blocks = tuple(block for one in read for block in one.blocks)
    is_found = any(one.code == "call_recovered" for one in findings)
    finish = TOOL_CALLS if is_found and reply.finish in ("", STOP) else reply.finish
    message = replace(reply.message, blocks=blocks, finish=finish)
    return replace(reply, message=message, findings=(*reply.findings, *findings))


class _Read(NamedTuple):
    """What a block really is."""

    blocks: tuple[Block, ...]
    findings: tuple[Finding, ...] = ()


def _read(block: Block, where: str, tools: list[Tool | dict[str, Any]]) -> _Read:
    if not isinstance(block, Text) or not tools:
        return _Read((block,))
    syntax = leaked_syntax()
    if not has_markers(block.text, syntax, tools):
        return _Read((block,))
    scanner = TextScanner(syntax, tools=tools)
    reply = fold([*scanner.feed(block.text), *scanner.close()])
    findings = [replace(one, where=f"{where}.{one.where}") for one in reply.findings]
    found = reply.message.blocks
    if _is_unchanged(found, block):
        return _Read((block,), tuple(findings))
    names = [call.name for call in reply.calls]
    if names:
        why = f"The words held calls of {', '.join(names)}; they were read as calls."
        findings.insert(0, Finding("call_recovered", where, Action.CHANGED, why, Fault.INPUT))
    else:
        why = "The words held markers of a model's own syntax; they were left out."
        findings.insert(0, Finding("markers_removed", where, Action.CHANGED, why, Fault.INPUT))
    if block != Text(text=block.text):
        why = "What was attached to the words as a whole does not belong to a part of them."
        findings.append(Finding("fields_dropped", where, Action.DROPPED, why, Fault.INPUT))
    return _Read(found, tuple(findings))


def _is_unchanged(found: tuple[Block, ...], block: Text) -> bool:
    """Whether the words hold nothing but words."""
    return not block.text.strip() or found == (Text(text=block.text),)


class CallRecovery:
    """The same for a stream: events in, events out, with calls where words held some."""

    def __init__(self, tools: Iterable[Tool | dict[str, Any]]) -> None:
        self._tools = list(tools)
        self._words: dict[int, _Words] = {}
        """The blocks of words that are open."""
        self._numbers: dict[int, int] = {}
        """The new numbers of all other blocks."""
        self._next = 0
        self._is_found = False
        self._is_plain = True
        """Whether all words so far were nothing but words."""
        self._finish: FinishReported | None = None
        """Waits for the end: only then it is certain whether there were calls."""

    def feed(self, event: Event) -> list[Event]:
        """The events that take the place of one."""
        if type(event) is TextAdded and event.index in self._words:
            # Nearly all events are pieces of words.
            return self._scanned(event.index, event.text)
        match event:
            case BlockStarted(block=Text(text=text)) if self._tools:
                self._words[event.index] = _Words(TextScanner(leaked_syntax(), tools=self._tools))
                return self._scanned(event.index, text)
            case SignatureAdded() | BlockEnded() if event.index in self._words:
                return self._of_words(event)
            case FinishReported():
                self._finish = event
                return []
            case StreamEnded():
                return self._end(event)
            case _:
                return [self._passed_on(event)]

    def feed_all(self, events: Iterable[Event]) -> list[Event]:
        """The events that take the place of several."""
        return [one for event in events for one in self.feed(event)]

    def _of_words(self, event: SignatureAdded | BlockEnded) -> list[Event]:
        match event:
            case BlockEnded(block=Text() as block):
                return self._ended(event.index, block)
            case SignatureAdded():
                self._words[event.index].signatures.append(event)
        return []

    def _scanned(self, index: int, text: str) -> list[Event]:
        words = self._words[index]
        return self._renumbered(words, words.scanner.feed(text)) if text else []

    def _ended(self, index: int, block: Text) -> list[Event]:
        """The end of words. Those that held nothing end as they came."""
        words = self._words.pop(index)
        ended = words.scanner.close()
        read = (
            ended[-1].reply if isinstance(ended[-1], StreamEnded) else Reply(Message("assistant"))
        )
        events = self._renumbered(words, ended)
        is_unchanged = _is_unchanged(read.message.blocks, block)
        self._is_plain &= is_unchanged and not read.findings
        if not is_unchanged:
            return events
        if not words.numbers:
            return self._blank(block, words)
        number = words.numbers[0]
        signatures = [replace(one, index=number) for one in words.signatures]
        return [*events[:-1], *signatures, BlockEnded(number, block)]

    def _blank(self, block: Text, words: "_Words") -> list[Event]:
        """A block of white space, or of nothing at all."""
        number = self._new_number()
        pieces: list[Event] = [TextAdded(number, block.text)] if block.text else []
        signatures = [replace(one, index=number) for one in words.signatures]
        started = BlockStarted(number, Text(text=""))
        return [started, *pieces, *signatures, BlockEnded(number, block)]

    def _end(self, event: StreamEnded) -> list[Event]:
        """The end of the stream, and of words that a cut stream left open."""
        events: list[Event] = []
        for words in self._words.values():
            events += self._renumbered(words, words.scanner.close())
        if self._finish is not None:
            is_changed = self._is_found and self._finish.finish in ("", STOP)
            events.append(FinishReported(TOOL_CALLS) if is_changed else self._finish)
        if self._is_plain and not self._words:
            # The reply has the same words, and they have been looked at.
            return [*events, event]
        return [*events, replace(event, reply=recover_calls(event.reply, self._tools))]

    def _passed_on(self, event: Event) -> Event:
        """An event that is not of words, in its place among the others."""
        match event:
            case BlockStarted():
                self._numbers[event.index] = self._new_number()
                return replace(event, index=self._numbers[event.index])
            case TextAdded() | ThinkingAdded() | ArgumentsAdded() | SignatureAdded() | BlockEnded():
                return replace(event, index=self._numbers[event.index])
            case _:
                return event

    def _new_number(self) -> int:
        self._next += 1
        return self._next - 1

    def _renumbered(self, words: "_Words", events: list[Event]) -> list[Event]:
        """Events of a scanner as events of the stream it is in."""
        kept: list[Event] = []
        for event in events:
            if type(event) is TextAdded:
                number = words.numbers[event.index]
                kept.append(event if number == event.index else TextAdded(number, event.text))
                continue
            match event:
                case BlockStarted():
                    words.numbers.append(self._new_number())
                    self._is_found |= isinstance(event.block, ToolCall)
                case MessageStarted() | FinishReported() | StreamEnded():
                    continue
            kept.append(replace(event, index=words.numbers[getattr(event, "index", 0)]))
        return kept


class _Words:
    """A block of words that is being scanned."""

    def __init__(self, scanner: TextScanner) -> None:
        self.scanner = scanner
        self.numbers: list[int] = []
        """The new numbers of the blocks that were found in it."""
        self.signatures: list[SignatureAdded] = []

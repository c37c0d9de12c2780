"""Calls that leaked: a structured reply whose text still holds the model's own syntax.

Hosts fail to take their model's markers out of the text. Such a call is read and becomes a call.
But **text is not a command**: a document that a tool brought in may hold the same markers, and a
model that repeats it must not run it. So a call is read from text only if all of this holds:

1. *Known.* The target is known to print that syntax (`Target.leaks`), and the tool was offered and
   may be chosen. Without a target the caller has chosen to read every marked syntax.
2. *Made, not shown.* It is not in quotation marks, a block quote, code, or an open element
   (`quotation.Surroundings`).
3. *Last.* Calls at the end of a reply form a run: calls, the frames of their syntax, white space.
   Text after a run makes all of it text, unless these models write text after calls
   (`Syntax.text_after_calls`). Structured calls that follow are no text.
4. *Its own.* No call of the run occurs in what the request brought in from others
   (`quotation.Sources`), and none is in the reply as a structured call as well: it would run twice.

A run is one utterance. It becomes calls as a whole, or it stays text as a whole, with the finding
`call_quoted`. Only the end of the reply decides, so a run is held back until then; text before it
is passed on as it comes. If the reply was cut, its calls are marked `truncated` and must not be
run, as what would have followed is unknown. Recovered calls are marked `recovered`, so that
approvals can treat them differently.

Whole replies and streams are read by the same scanner and obey the same rules. A text without a
marker costs one search.
"""

from collections import deque
from collections.abc import Iterable
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from msgspec.structs import replace

from canonicall.blocks import Block, Message, Text, ToolCall
from canonicall.errors import InvalidValue
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
from canonicall.facts.target import Target
from canonicall.findings import Action, Fault, Finding
from canonicall.folding import CUT_SHORT
from canonicall.reply import STOP, TOOL_CALLS, Reply
from canonicall.request import Request, Tool
from canonicall.syntax.detection import leaked_syntax, printed_by
from canonicall.syntax.offered import offered_tools
from canonicall.syntax.quotation import Sources
from canonicall.syntax.runs import FOLLOWED, LeakScanner
from canonicall.syntax.scanner import has_markers

Recover: TypeAlias = Literal["off", "known", "always"]
"""Whether calls are read from text: never, in what the target is known to print, in any syntax."""


def one_of_recover(value: Recover) -> Recover:
    """A setting, if it is one."""
    if value not in get_args(Recover):
        raise InvalidValue(
            f"{value!r} is no such setting.",
            where="recover",
            help=f"Choose from: {', '.join(get_args(Recover))}.",
        )
    return value


def reads_text(recover: Recover, target: Target) -> bool:
    """Whether calls are looked for in the text of a target's replies."""
    return recover == "always" or (recover == "known" and bool(target.leaks))


_ENDS = (FinishReported, StreamEnded)
_REPEATED = "the request has it, in content that the model did not write"
_CALLED = "the reply has the same call as a structured one"
_UNSEEN = "the provider keeps earlier turns, which may have it"


def recover_calls(
    reply: Reply,
    tools: Iterable[Tool | dict[str, Any]],
    *,
    request: Request | None = None,
    target: Target | None = None,
) -> Reply:
    """`reply` with the calls that its text holds; the same if it holds none.

    `tools` are those that were offered: no others are called. `request` is what the reply answers:
    a call that stands in its content is a quotation and stays text. Without it nothing can be
    recognised as one. `target` is who replied: only what it is known to print is read. Without it
    every marked syntax is read.
    """
    return _Rules(tools, request, target).applied_to(reply)


class CallRecovery:
    """The same for a stream: events in, events out, with calls if the text held some."""

    def __init__(
        self,
        tools: Iterable[Tool | dict[str, Any]],
        *,
        request: Request | None = None,
        target: Target | None = None,
    ) -> None:
        """The arguments are those of `recover_calls`."""
        self._rules = _Rules(tools, request, target)
        self._texts: dict[int, _Streamed] = {}
        """The blocks of text that are open."""
        self._runs: list[_Streamed] = []
        """The blocks of text with a run that may become calls."""
        self._held: deque[tuple[_Streamed | None, list[Event] | None]] = deque()
        """What follows such a run, which itself is there as None. Empty if there is none."""
        self._numbers: dict[int, int] = {}
        """The new numbers of all blocks but those of text."""
        self._next = 0
        self._is_found = False
        self._is_plain = True
        """Whether all text so far was nothing but text."""
        self._finish: FinishReported | None = None
        """Waits for the end: only then it is certain whether there were calls."""

    def feed(self, event: Event) -> list[Event]:
        """The events that take the place of one."""
        if type(event) is TextAdded and (text := self._texts.get(event.index)) is not None:
            # Nearly all events are pieces of text, and nearly all of these have no marker.
            if self._held or not text.scanner.passes(event.text):
                return self._scanned(text, event.text)
            number = text.number
            return [event if number == event.index else TextAdded(number, event.text)]
        return self._other(event)

    def _other(self, event: Event) -> list[Event]:
        match event:
            case BlockStarted(block=Text(text=piece)) if self._rules.syntax is not None:
                started = self._texts[event.index] = _Streamed(self._rules.scanner())
                return self._scanned(started, piece)
            case BlockEnded(block=Text() as block) if event.index in self._texts:
                return self._ended(self._texts.pop(event.index), block)
            case StreamEnded():
                return self._end(event)
            case SignatureAdded() if event.index in self._texts:
                self._texts[event.index].signatures.append(event)
            case FinishReported():
                self._finish = event
            case _:
                return self._sent(None, [event])
        return []

    def whole(self, reply: Reply) -> Reply:
        """A reply that came in one piece, with the calls that its text holds."""
        return self._rules.applied_to(reply)

    def feed_all(self, events: Iterable[Event]) -> list[Event]:
        """The events that take the place of several."""
        return [one for event in events for one in self.feed(event)]

    def _scanned(self, text: "_Streamed", piece: str) -> list[Event]:
        if not piece:
            return []
        events = text.scanner.feed(piece)
        if not self._held and not text.scanner.has_run:
            return self._numbered(text, events) if events else events
        return self._watched(text, events)

    def _watched(self, text: "_Streamed", events: list[Event]) -> list[Event]:
        """Events of a text, which may have ended a run or begun one."""
        if not self._held and not text.scanner.has_run:
            return self._numbered(text, events)
        if any(type(event) is TextAdded for event in events):
            self._give_up_runs(before=text)
        if text in self._runs and events:
            # Its run was none: what it says now comes in the place of that.
            self._runs.remove(text)
            self._held[self._held.index((text, None))] = (text, events)
            events = []
        sent = self._sent(text, events)
        if text.scanner.has_run and text not in self._runs:
            self._runs.append(text)
            self._held.append((text, None))
        return sent

    def _give_up_runs(self, before: "_Streamed") -> None:
        """Text makes all runs text that came before it."""
        end = self._runs.index(before) if before in self._runs else len(self._runs)
        for run in self._runs[:end]:
            run.scanner.give_up(FOLLOWED)
            self._held[self._held.index((run, None))] = (run, self._rest(run))
        del self._runs[:end]

    def _rest(self, run: "_Streamed") -> list[Event]:
        """What is left to say of a text whose run is settled."""
        events = run.scanner.take()
        return events if run.block is None else [*events, *self._closing(run)]

    def _ended(self, text: "_Streamed", block: Text) -> list[Event]:
        text.block = block
        sent = self._watched(text, text.scanner.read_rest())
        return sent if text.scanner.has_run else [*sent, *self._sent(text, self._closing(text))]

    def _closing(self, text: "_Streamed") -> list[Event]:
        """The end of a text. One that held nothing ends as it came."""
        ended = text.scanner.close()
        read = (
            ended[-1].reply if isinstance(ended[-1], StreamEnded) else Reply(Message("assistant"))
        )
        events: list[Event] = [one for one in ended if type(one) not in _ENDS]
        block = text.block
        if block is None or not _is_unchanged(read.message.blocks, block):
            self._is_plain = False
            return events
        self._is_plain &= not read.findings
        if not read.message.blocks:
            # White space, or nothing at all.
            pieces: list[Event] = [TextAdded(0, block.text)] if block.text else []
            events = [*events, BlockStarted(0, Text(text="")), *pieces]
        else:
            events = [one for one in events if not isinstance(one, BlockEnded)]
        return [*events, *(replace(one, index=0) for one in text.signatures), BlockEnded(0, block)]

    def _end(self, event: StreamEnded) -> list[Event]:
        """The end of the stream, of a run, and of text that a cut stream left open."""
        events: list[Event] = []
        for text in self._texts.values():
            events += self._watched(text, text.scanner.read_rest())
        cut = [one for one in self._texts.values() if not one.scanner.has_run]
        if self._runs:
            why = self._rules.why_not([one.scanner for one in self._runs], event.reply)
            for run in self._runs:
                run.scanner.settle(why, is_cut=_is_cut(event.reply))
                rest = [*run.scanner.take(), *self._closing(run)]
                self._held[self._held.index((run, None))] = (run, rest)
        for text in cut:
            events += self._sent(text, self._closing(text))
        events += self._released()
        if self._finish is not None:
            is_changed = self._is_found and self._finish.finish in ("", STOP)
            events.append(FinishReported(TOOL_CALLS) if is_changed else self._finish)
        if not self._is_plain:
            event = replace(event, reply=self._rules.applied_to(event.reply))
        return [*events, event]

    def _sent(self, text: "_Streamed | None", events: list[Event]) -> list[Event]:
        """Events in their turn: at once, unless a run is held back before them."""
        if not self._held:
            return self._numbered(text, events)
        if events:
            self._held.append((text, events))
        return self._released()

    def _released(self) -> list[Event]:
        released: list[Event] = []
        while self._held and self._held[0][1] is not None:
            text, events = self._held.popleft()
            released += self._numbered(text, events or [])
        return released

    def _numbered(self, text: "_Streamed | None", events: list[Event]) -> list[Event]:
        """Events of one text, or of what is none, as events of the whole stream."""
        kept: list[Event] = []
        numbers = self._numbers if text is None else text.numbers
        for event in events:
            if type(event) is TextAdded:
                number = numbers[event.index]
                kept.append(event if number == event.index else TextAdded(number, event.text))
                continue
            match event:
                case BlockStarted():
                    numbers[event.index] = self._next
                    if text is not None:
                        text.number = self._next
                        self._is_found |= isinstance(event.block, ToolCall)
                    self._next += 1
                case ThinkingAdded() | ArgumentsAdded() | SignatureAdded() | BlockEnded():
                    pass
                case MessageStarted() if text is not None:
                    continue
                case _:
                    kept.append(event)
                    continue
            kept.append(replace(event, index=numbers[event.index]))
        return kept


class _Streamed:
    """A block of text that is being scanned."""

    def __init__(self, scanner: LeakScanner) -> None:
        self.scanner = scanner
        self.numbers: dict[int, int] = {}
        """The new numbers of the blocks that were found in it."""
        self.number = 0
        """That of the last one."""
        self.signatures: list[SignatureAdded] = []
        self.block: Text | None = None
        """The block as it ended."""


class _Rules:
    """What may be read from the text of one reply."""

    def __init__(
        self,
        tools: Iterable[Tool | dict[str, Any]],
        request: Request | None,
        target: Target | None,
    ) -> None:
        offered = list(offered_tools(tools).values())
        choice = None if request is None else request.tool_choice
        if choice is not None and choice.names:
            offered = [one for one in offered if one.name in choice.names]
        self._tools = offered
        self._request = request
        self._sources = Sources(request, () if target is None else target.text_forms)
        is_off = not self._tools or (choice is not None and choice.mode == "none")
        self.syntax = None if is_off else leaked_syntax() if target is None else printed_by(target)
        """What is read; None if nothing is."""

    def scanner(self) -> LeakScanner:
        assert self.syntax is not None  # noqa: S101  nobody asks for one else
        return LeakScanner(self.syntax, tools=self._tools)

    def applied_to(self, reply: Reply) -> Reply:
        """`reply` with the calls that its text holds."""
        syntax = self.syntax
        scanners: dict[int, LeakScanner] = {}
        runs: list[LeakScanner] = []
        for at, block in enumerate(reply.message.blocks if syntax is not None else ()):
            if not isinstance(block, Text):
                continue
            is_text = bool(block.text.strip())
            if syntax is not None and has_markers(block.text, syntax, self._tools):
                scanner = scanners[at] = self.scanner()
                scanner.feed(block.text)
                scanner.read_rest()
                is_text = scanner.has_said_text
            if is_text:
                for one in runs:
                    one.give_up(FOLLOWED)
                runs.clear()
            if at in scanners and scanners[at].has_run:
                runs.append(scanners[at])
        why = self.why_not(runs, reply) if runs else ""
        for run in runs:
            run.settle(why, is_cut=_is_cut(reply))
        return _with_read(reply, scanners) if scanners else reply

    def why_not(self, runs: list[LeakScanner], reply: Reply) -> str:
        """Why the runs at the end of a reply are no calls; empty if they are."""
        request = self._request
        if request is not None and request.continues is not None:
            return _UNSEEN
        printed = [one for run in runs for one in run.printed]
        structured = [(call.name, call.args) for call in reply.calls]
        if any((call.name, call.args) in structured for call, _ in printed):
            return _CALLED
        sources = self._sources.with_results(reply.message.blocks)
        return _REPEATED if sources.has(printed, self._tools) else ""


def _is_cut(reply: Reply) -> bool:
    return reply.message.partial or reply.finish in CUT_SHORT


def _with_read(reply: Reply, scanners: dict[int, LeakScanner]) -> Reply:
    """A reply in which some texts are what their scanners have read."""
    read = [
        _read(block, f"blocks[{at}]", scanners[at])
        if isinstance(block, Text) and at in scanners
        else _Read((block,))
        for at, block in enumerate(reply.message.blocks)
    ]
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


def _read(block: Text, where: str, scanner: LeakScanner) -> _Read:
    ended = scanner.close()[-1]
    assert isinstance(ended, StreamEnded)  # noqa: S101  as every scanner does
    reply = ended.reply
    findings = [replace(one, where=f"{where}.{one.where}") for one in reply.findings]
    found = reply.message.blocks
    if _is_unchanged(found, block):
        return _Read((block,), tuple(findings))
    names = [call.name for call in reply.calls]
    if names:
        why = f"The text held calls of {', '.join(names)}; they were read as calls."
        findings.insert(0, Finding("call_recovered", where, Action.CHANGED, why, Fault.INPUT))
    else:
        why = "The text held markers of a model's own syntax; they were left out."
        findings.insert(0, Finding("markers_removed", where, Action.CHANGED, why, Fault.INPUT))
    if block != Text(text=block.text):
        why = "What was attached to the text as a whole does not belong to a part of it."
        findings.append(Finding("fields_dropped", where, Action.DROPPED, why, Fault.INPUT))
    return _Read(found, tuple(findings))


def _is_unchanged(found: tuple[Block, ...], block: Text) -> bool:
    """Whether the text holds nothing but text."""
    return not block.text.strip() or found == (Text(text=block.text),)

"""What a scanner has found: words, thoughts and calls, as events."""

from collections.abc import Mapping

from msgspec.structs import replace

from canonicall.arguments import parse_arguments
from canonicall.blocks import Block, Message, Text, Thinking, ToolCall
from canonicall.events import (
    ArgumentsAdded,
    BlockEnded,
    BlockStarted,
    Event,
    FinishReported,
    MessageStarted,
    StreamEnded,
    TextAdded,
    ThinkingAdded,
)
from canonicall.findings import Action, Fault, Finding
from canonicall.reply import STOP, TOOL_CALLS, Reply
from canonicall.request import Tool
from canonicall.syntax.repair import repaired_object

_SHOWN = 80
_QUOTES = "\"'\u201c\u2018\u00ab\u201e"


class Output:
    """Takes what programs find and makes events of it.

    White space around calls means nothing and is left out; all other text is passed on at once.
    """

    def __init__(
        self, tools: Mapping[str, Tool], *, only_offered: bool = False, keeps_blank: bool = False
    ) -> None:
        self.tools = tools
        self._keeps_blank = keeps_blank
        self.only_offered = only_offered
        """Only tools that were offered can be called; other names make no call."""
        self.findings: list[Finding] = []
        self.events: list[Event] = [MessageStarted()]
        self.blocks: list[Block] = []
        self.reading: str | None = None
        """The syntax that is being tried, where it is not known which one it is."""
        self.text_may_follow = False
        """Whether models that print that syntax write text after calls."""
        self.detected: str | None = None
        """The syntax of the first call, where it was not known before."""
        self.started = 0
        """How many blocks have begun: what was told cannot be taken back."""
        self.position = 0
        """Where what is being read now begins."""
        self.unclosed: tuple[str, ...] = ()
        """The markers one of which should have stood behind the last calls, and did not yet."""
        self._open: type[Text | Thinking] | None = None
        self._pieces: list[str] = []
        self._held: list[str] = []
        """White space that counts only if words follow."""
        self._kinds: set[type[Block]] = set()
        """What kinds of blocks there are: nobody has to look at all of them again."""

    @property
    def has_said_nothing(self) -> bool:
        """Whether there were no words and no calls yet; thoughts do not count."""
        return self._open is not Text and self._kinds <= {Thinking}

    @property
    def has_words(self) -> bool:
        """Whether there were words; thoughts and calls do not count."""
        return self._open is Text or Text in self._kinds

    @property
    def has_only_words(self) -> bool:
        """Whether there were no thoughts and no calls yet."""
        return self._open is not Thinking and self._kinds <= {Text}

    @property
    def has_no_thought(self) -> bool:
        """Whether there were no thoughts yet."""
        return self._open is not Thinking and Thinking not in self._kinds

    @property
    def is_saying(self) -> bool:
        """Whether words were the last thing that was told."""
        return self._open is Text

    @property
    def at_line_start(self) -> bool:
        """Whether the last character was the end of a line, or there was none."""
        if self._held:
            return self._held[-1][-1] == "\n"
        return self._open is not Text or self._pieces[-1][-1] == "\n"

    @property
    def is_behind_quote(self) -> bool:
        """Whether the last character of the words is a quotation mark."""
        return self._open is Text and not self._held and self._pieces[-1][-1] in _QUOTES

    def text(self, piece: str) -> None:
        """Words."""
        if not piece:
            return
        if self._open is not Text:
            if piece.isspace():
                if self.blocks or self._keeps_blank:
                    self._held.append(piece)
                return
            piece = "".join((*self._held, piece))
            if not self._keeps_blank and (not self.blocks or self._is_behind_thought):
                piece = piece.lstrip()
            self._held.clear()
            self._start(Text)
        self._pieces.append(piece)
        self.events.append(TextAdded(len(self.blocks), piece))

    def thinking(self, piece: str) -> None:
        """A thought."""
        if self._open is not Thinking:
            if piece.isspace():
                return
            self._start(Thinking)
            piece = piece.lstrip()
        self._pieces.append(piece)
        self.events.append(ThinkingAdded(len(self.blocks), piece))

    def call(self) -> "CallOutput":
        """A call that may be there; nothing is told before its name is known."""
        return CallOutput(self)

    def refuses(self, name: str) -> bool:
        """Whether a name makes no call because no tool of that name was offered; it is noted."""
        if not self.only_offered or name in self.tools:
            return False
        why = f"{name!r} was not offered, so this is no call; it stays text."
        self.note("call_not_offered", Action.KEPT, why)
        return True

    def begin_call(self) -> None:
        """A call begins: its name is known."""

    def end_call(self) -> None:
        """A call has been read."""

    def note(self, code: str, action: Action, why: str) -> None:
        """Say what was remarkable at this place of the text."""
        where = f"text[{self.position}]"
        self.findings.append(Finding(code, where, action, why, Fault.INPUT))

    def left_out(self, what: str, text: str) -> None:
        """Say that a text in a call is no part of it and is not kept."""
        if text.strip():
            why = f"{what} was left out: {shown(text)}"
            self.note("text_in_call", Action.DROPPED, why)

    def take(self) -> list[Event]:
        """The events since the last time."""
        events, self.events = self.events, []
        return events

    def end(self, *, complete: bool = True) -> None:
        """Nothing more comes."""
        self.end_words()
        finish = TOOL_CALLS if ToolCall in self._kinds else STOP
        self.events.append(FinishReported(finish))
        message = Message("assistant", tuple(self.blocks), finish=finish)
        reply = Reply(message, findings=tuple(self.findings))
        self.events.append(StreamEnded(reply, complete))

    def end_words(self) -> None:
        """What was said so far is a block of its own."""
        if self._open is not None:
            said = "".join(self._pieces)
            block = self._open(text=said.rstrip() if self._open is Thinking else said)
            self.events.append(BlockEnded(len(self.blocks), block))
            self.add_block(block)
            self._open = None
            self._pieces = []
        self._held.clear()

    def add_block(self, block: Block) -> None:
        """A block that is whole, or will not be."""
        self.blocks.append(block)
        self._kinds.add(type(block))

    @property
    def _is_behind_thought(self) -> bool:
        return bool(self.blocks) and isinstance(self.blocks[-1], Thinking)

    def _start(self, kind: type[Text | Thinking]) -> None:
        if self._open is not None:
            self.end_words()
        self._open = kind
        self.started += 1
        block = Text(text="") if kind is Text else Thinking()
        self.events.append(BlockStarted(len(self.blocks), block))


def shown(text: str) -> str:
    """A text for a finding: all of it, or how it begins and how much more there is."""
    more = len(text) - _SHOWN
    return repr(text) if more <= 0 else f"{text[:_SHOWN]!r} and {more} more characters"


class CallOutput:
    """One call, as far as its text has been read."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._call: ToolCall | None = None
        self._id = ""
        self._pieces: list[str] = []

    @property
    def tool(self) -> Tool | None:
        """The tool that is called, if it was offered."""
        return None if self._call is None else self._output.tools.get(self._call.name)

    @property
    def is_named(self) -> bool:
        return self._call is not None

    @property
    def tool_name(self) -> str:
        """The name, once it is known."""
        return "" if self._call is None else self._call.name

    def id(self, id: str) -> None:
        """The id that the model gave it."""
        self._id = self._id or id

    def name(self, name: str) -> bool:
        """The name; False where no tool of that name was offered and that makes it no call."""
        output = self._output
        if self._call is not None:
            return True
        if not name or output.refuses(name):
            return False
        output.begin_call()
        if output.tools and name not in output.tools:
            why = f"The model calls {name!r}, which was not offered."
            output.note("tool_unknown", Action.KEPT, why)
        output.detected = output.detected or output.reading
        output.end_words()
        output.started += 1
        self._call = ToolCall(id=self._id, name=name)
        output.events.append(BlockStarted(len(output.blocks), self._call))
        for piece in self._pieces:
            output.events.append(ArgumentsAdded(len(output.blocks), piece))
        return True

    def arguments(self, piece: str) -> None:
        """More of the arguments, as JSON text."""
        self._pieces.append(piece)
        if self._call is not None and piece:
            output = self._output
            output.events.append(ArgumentsAdded(len(output.blocks), piece))

    def end(self, *, truncated: bool = False) -> bool:
        """The call is whole, or the text ended inside it. False if it never had a name."""
        if self._call is None:
            return False
        output = self._output
        raw = "".join(self._pieces)
        args = parse_arguments(raw)
        if args is None:
            args = repaired_object(raw, cut=truncated)
            if args is not None and not truncated:
                why = f"The arguments of {self._call.name} were no JSON; they were mended."
                output.note("arguments_repaired", Action.CHANGED, why)
        call = replace(self._call, id=self._id, args=args, raw=raw, truncated=truncated)
        if not truncated:
            output.events.append(BlockEnded(len(output.blocks), call))
        output.add_block(call)
        output.end_call()
        return True

"""Calls of tools for free text, where the target has functions only.

Such a tool is offered as a function with one text, `input`; what comes back is a call of that
function. Whoever offered the tool hears of the call in the form that they know: its bare text.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from msgspec.structs import replace

from canonicall.blocks import Block, ToolCall
from canonicall.client.unwrapping import Unwrapped, Unwrapping, all_of, unwrapped
from canonicall.events import ArgumentsAdded, BlockEnded, BlockStarted, Event, StreamEnded
from canonicall.findings import Action, Fault, Finding
from canonicall.folding import CUT_SHORT
from canonicall.reply import LENGTH, Reply


@dataclass
class _Open:
    """A call that has begun."""

    started: ToolCall
    unwrapping: Unwrapping = field(default_factory=Unwrapping)
    given: list[str] = field(default_factory=list)


class FreeText:
    """Reads one reply."""

    def __init__(self, names: Collection[str]) -> None:
        """`names`: those of the tools, as the model knows them."""
        self._names = names
        self._open: dict[int, _Open] = {}
        self._told: dict[tuple[str, str], list[Unwrapped]] = {}
        """What the calls of an id and a name said in the events, in order."""

    def feed_all(self, events: Iterable[Event]) -> list[Event]:
        """The events, in which calls have their text; its pieces come as soon as they are certain.

        Together they are the text that the call has at its end, and in the reply.
        """
        made: list[Event] = []
        for event in events:
            match event:
                case BlockStarted(block=ToolCall() as call) if self._is_meant(call):
                    self._open[event.index] = _Open(call)
                    begun = replace(call, kind="custom", args=None, raw=None)
                    made.append(BlockStarted(event.index, begun))
                case ArgumentsAdded() if event.index in self._open:
                    made += self._added(event)
                case BlockEnded(block=ToolCall() as call) if self._is_meant(call):
                    made += self._ended(event.index, call)
                case StreamEnded():
                    for index in list(self._open):
                        made += self._cut(index)
                    made.append(replace(event, reply=self._reply(event.reply)))
                case _:
                    made.append(event)
        return made

    def _added(self, event: ArgumentsAdded) -> list[Event]:
        call = self._open[event.index]
        text = call.unwrapping.feed(event.text)
        if not text:
            return []
        call.given.append(text)
        return [ArgumentsAdded(event.index, text)]

    def _ended(self, index: int, call: ToolCall) -> list[Event]:
        begun = self._open.pop(index, None)
        if begun is None:
            return [BlockEnded(index, _as_text(call, unwrapped(call)))]
        given = "".join(begun.given)
        whole = all_of(call, begun.unwrapping, given)
        self._tell(call, whole)
        rest = whole.text[len(given) :]
        pieces: list[Event] = [ArgumentsAdded(index, rest)] if rest else []
        return [*pieces, BlockEnded(index, _as_text(call, whole))]

    def _cut(self, index: int) -> list[Event]:
        """What is left of a call whose end never came."""
        begun = self._open.pop(index)
        rest = begun.unwrapping.end()
        self._tell(begun.started, rest._replace(text="".join(begun.given) + rest.text))
        return [ArgumentsAdded(index, rest.text)] if rest.text else []

    def _tell(self, call: ToolCall, whole: Unwrapped) -> None:
        self._told.setdefault((call.id, call.name), []).append(whole)

    def _reply(self, reply: Reply) -> Reply:
        blocks: list[Block] = []
        findings = list(reply.findings)
        finish = reply.finish
        for at, block in enumerate(reply.message.blocks):
            made = block
            if isinstance(block, ToolCall) and self._is_meant(block):
                told = self._told.get((block.id, block.name))
                whole = told.pop(0) if told else unwrapped(block)
                made = _as_text(block, whole)
                # Free text need not be an object.
                findings = [one for one in findings if not _is_of_arguments(one, at)]
                if whole.left_out:
                    findings.append(_left_out(block, whole, f"reply.blocks[{at}]"))
                if whole.is_cut and finish not in CUT_SHORT and not reply.message.partial:
                    # Half a text looks like a whole one: only the end tells clients not to run it.
                    finish = LENGTH
                    findings.append(_corrected(block))
            blocks.append(made)
        message = replace(reply.message, blocks=tuple(blocks), finish=finish)
        return replace(reply, message=message, findings=tuple(findings))

    def _is_meant(self, call: ToolCall) -> bool:
        return call.kind == "function" and call.name in self._names


def with_free_text(call: ToolCall) -> ToolCall:
    """The call with its text."""
    return _as_text(call, unwrapped(call))


def _as_text(call: ToolCall, whole: Unwrapped) -> ToolCall:
    is_cut = call.truncated or whole.is_cut
    return replace(call, kind="custom", args=None, raw=whole.text, truncated=is_cut)


def _is_of_arguments(finding: Finding, at: int) -> bool:
    """Whether it was reported that the arguments of a block are not an object."""
    return finding.code == "arguments_unreadable" and finding.where == f"reply.blocks[{at}].raw"


def _left_out(call: ToolCall, whole: Unwrapped, where: str) -> Finding:
    names = ", ".join(f"`{name}`" for name in whole.left_out)
    why = f"{call.name} takes one text, and the call had {names} beside it; only the text is kept."
    return Finding("arguments_beside_text", where, Action.DROPPED, why, Fault.INPUT)


def _corrected(call: ToolCall) -> Finding:
    why = f"The call of {call.name} ends inside its text, though the reply was told to be whole."
    return Finding("finish_corrected", "reply.finish", Action.CHANGED, why, Fault.INPUT)

"""Muse Glimmer: messages with a recipient; calls are messages to a tool, with tags of their own.

`<|start|>assistant to=f<|message|>` begins a message; the prompt has written the beginning of the
first one already, so a reply starts at ` to=`. Messages to `self` are thoughts, those to `user` are
words, all others hold a block of invokes. A message begins only where the last one has ended: a
header inside an answer is a quotation, and so are tags that no message to a tool holds. Tools may
be called with a namespace (`x.get`); where only the last part was offered, that is meant. The name
in the invoke counts, whatever the recipient says.
"""

import re

from canonicall.blocks import ToolCall, ToolResult
from canonicall.syntax.declaration import Opener, Syntax
from canonicall.syntax.invoke_tags import invoke_form, invoke_printer
from canonicall.syntax.output import Output
from canonicall.syntax.printing import with_printing
from canonicall.syntax.reader import Reader, Reading
from canonicall.syntax.stops import stops
from canonicall.syntax.xml_calls import tagged_calls

_START, _MESSAGE = "<|start|>assistant", "<|message|>"
_TO = "to="
_ENDS = ("<|eom|>", "<|eot|>")
_BLOCK = "atem:function_calls"
_MOST_RECIPIENT = 256


def _offered_name(name: str, output: Output) -> str:
    last = name.rpartition(".")[2]
    return last if name not in output.tools and last in output.tools else name


_FORM = invoke_form((_BLOCK,), prefix="atem:", named=_offered_name)
_read_block = tagged_calls(_FORM)


def _begun_message(reader: Reader, output: Output) -> Reading[bool]:
    """A message whose beginning the prompt has written, behind `to=`."""
    recipient, marker = yield from reader.up_to(stops(_MESSAGE), _MOST_RECIPIENT)
    if not marker:
        return False
    reader.take(len(marker))
    to = recipient.strip()
    if to == "self":
        yield from reader.until(stops(*_ENDS, _START), output.thinking, consume=False)
        output.end_words()
        return True
    if to == "user":
        return True
    yield from reader.blank()
    is_block = bool((yield from reader.accept(f"<{_BLOCK}>")))
    before = len(output.blocks)
    is_read = is_block and (yield from _read_block(reader, output))
    called = [one.name.strip() for one in output.blocks[before:] if isinstance(one, ToolCall)]
    if is_read and _offered_name(to, output) not in called:
        output.left_out("The recipient of a message whose calls name others", to)
    return is_read


def _message(reader: Reader, output: Output) -> Reading[bool]:
    """A message behind its first token."""
    yield from reader.blank()
    return bool((yield from reader.accept(_TO))) and (yield from _begun_message(reader, output))


def _next_message(reader: Reader, output: Output) -> Reading[bool]:
    """What follows the end of a message: another one, or words without any header."""
    if not (yield from reader.follows(0, _START)):
        return True
    yield from reader.blank()
    is_message = bool((yield from reader.accept(_START)))
    return not is_message or (yield from _message(reader, output))


def _print_calls(calls: tuple[ToolCall, ...]) -> str:
    print_block = invoke_printer(_BLOCK, "atem:")
    messages = (f"{_START} {_TO}{call.name}{_MESSAGE}{print_block((call,))}" for call in calls)
    return "<|eom|>".join(messages) + "<|eot|>"


def _print_results(results: tuple[ToolResult, ...]) -> str:
    return "".join(
        f'<|start|>tool {one.name}{_MESSAGE}<tool_output name="{one.name}">\n{one.text}\n'
        "</tool_output><|eot|>"
        for one in results
    )


_MUSE_GLIMMER = Syntax(
    name="muse_glimmer_atem",
    notation="xml",
    openers=(
        Opener(_TO, _begun_message, place="start"),
        Opener(_START, _message, place="start"),
        *(Opener(end, _next_message) for end in _ENDS),
    ),
    thinking=(),
    frames=(
        rf"(?:{re.escape(_START)})?\s*{_TO}\s*(?:self|user)\s*{re.escape(_MESSAGE)}",
        *map(re.escape, _ENDS),
    ),
)

SYNTAXES = (with_printing(_MUSE_GLIMMER, _print_calls, _print_results),)

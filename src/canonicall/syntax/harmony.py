"""Harmony, the format of gpt-oss: messages with a channel and, for calls, a recipient.

`<|channel|>commentary to=functions.f <|constrain|>json<|message|>{...}<|call|>`. The recipient may
stand in the role or in the channel, with `functions.` before the name or without; the beginning
`<|start|>assistant` may be missing, or its first token, and so may the end. The channel `analysis`
is thought, all others are words. What is said to the tools of the host (`python`, `browser`,
`container`), or in the form of a call to nobody, is neither shown nor called, with a finding.
Arguments that are no JSON are one text, `input`.
"""

import re

import msgspec

from canonicall.arguments import arguments_of
from canonicall.blocks import ToolCall, ToolResult
from canonicall.findings import Action
from canonicall.syntax.declaration import Opener, Syntax
from canonicall.syntax.output import Output, shown
from canonicall.syntax.printing import with_printing
from canonicall.syntax.reader import Reader, Reading
from canonicall.syntax.stops import stops
from canonicall.syntax.typed_values import json_text

_START, _CHANNEL, _MESSAGE, _CALL = "<|start|>", "<|channel|>", "<|message|>", "<|call|>"
_ENDS = (_CALL, "<|end|>", "<|return|>")
_HEADER_ENDS = stops(_MESSAGE, *_ENDS)
_BODY_ENDS = stops(*_ENDS, _START, _CHANNEL)
_RECIPIENT = re.compile(r"\bto=([^\s<]+)")
_FUNCTIONS = "functions."
_PEOPLE = ("assistant", "user", "all")
_HOSTS = ("python", "browser", "container")
_LONGEST_HEADER = 400
_UNOPENED = tuple(
    f"{before}to={_FUNCTIONS}" for before in ("", "assistant ", "commentary ", "analysis ")
)
_FRAME = re.compile(
    r"<\|(?:start|channel|constrain)\|>|\b(?:assistant|analysis|commentary|final|json|code)\b"
    r"|\bto=(?:assistant|user|all)\b"
)
"""What a header may say beside the recipient, and what means nothing more than the channel does."""


def _is_unopened(reader: Reader) -> Reading[bool]:
    """Whether a recipient comes first, which the token of its message should precede."""
    yield from reader.blank()
    return bool((yield from reader.next_of(*_UNOPENED)))


def _message(reader: Reader, output: Output) -> Reading[bool]:
    """One message: its header, and what its channel makes of the rest."""
    header, marker = yield from reader.up_to(_HEADER_ENDS, _LONGEST_HEADER)
    reader.take(len(marker))
    if marker != _MESSAGE:
        return False
    found = _RECIPIENT.search(header)
    recipient = "" if found is None or found[1] in _PEOPLE else found[1]
    odd = header.replace(found[0], "", 1) if found is not None else header
    channel = header.rpartition(_CHANNEL)[2].strip()
    output.left_out("A part of a header", _FRAME.sub("", odd))
    if _is_host(recipient, output):
        yield from _to_a_host(reader, output, recipient)
        return True
    if recipient:
        return (yield from _call(reader, output, recipient.removeprefix(_FUNCTIONS)))
    if channel.startswith("commentary") and "<|constrain|>" in header:
        yield from _to_a_host(reader, output, "nobody")
        return True
    output.end_words()
    sink = output.thinking if channel.startswith("analysis") else output.text
    marker = yield from reader.until(_BODY_ENDS, sink, consume=False)
    if marker in _ENDS:
        reader.take(len(marker))
    output.end_words()
    return True


def _is_host(recipient: str, output: Output) -> bool:
    """Whether a message goes to a tool that the host of the model runs."""
    return recipient.partition(".")[0] in _HOSTS and recipient not in output.tools


def _call(reader: Reader, output: Output, name: str) -> Reading[bool]:
    call = output.call()
    if not call.name(name):
        return False
    yield from reader.blank()
    first = yield from reader.peek()
    whole = True
    if first in ("{", "["):
        whole = yield from reader.json_value(call.arguments)
    rest: list[str] = []
    marker = yield from reader.until(_BODY_ENDS, rest.append, consume=False)
    if marker in _ENDS:
        reader.take(len(marker))
    said = "".join(rest).strip()
    if said and first not in ("{", "["):
        call.arguments(f'{{"input":{json_text(said)}}}')
    elif said:
        output.note("text_in_call", Action.DROPPED, f"Behind the arguments stood: {shown(said)}")
    return call.end(truncated=not whole)


def _to_a_host(reader: Reader, output: Output, recipient: str) -> Reading[None]:
    """A message to a tool that the host of the model runs."""
    said: list[str] = []
    marker = yield from reader.until(_BODY_ENDS, said.append, consume=False)
    if marker in _ENDS:
        reader.take(len(marker))
    why = f"A message to {recipient} is neither words nor a call: {shown(''.join(said))}"
    output.note("message_not_shown", Action.DROPPED, why)


def _print_calls(calls: tuple[ToolCall, ...]) -> str:
    written = []
    for call in calls:
        arguments = msgspec.json.encode(arguments_of(call)).decode()
        head = f"{_CHANNEL}commentary to={_FUNCTIONS}{call.name} <|constrain|>json{_MESSAGE}"
        written.append(f"{head}{arguments}{_CALL}")
    return f"{_START}assistant".join(written)


def _print_results(results: tuple[ToolResult, ...]) -> str:
    heads = (f"{_START}{_FUNCTIONS}{one.name} to=assistant{_CHANNEL}commentary" for one in results)
    texts = (f"{_MESSAGE}{one.text}<|end|>" for one in results)
    return "".join(head + text for head, text in zip(heads, texts, strict=True))


SYNTAXES = (
    with_printing(
        Syntax(
            name="harmony",
            openers=(
                Opener(_CHANNEL, _message),
                Opener(_START, _message),
                Opener("", _message, looks=_is_unopened),
            ),
            # Where the prompt has opened the thought already this says what ends it.
            thinking=((f"{_START}assistant{_CHANNEL}analysis{_MESSAGE}", "<|end|>"),),
            call_ends_thinking=True,
            noise=_ENDS,
            frames=(
                rf"(?:{re.escape(_START)}|{re.escape(_CHANNEL)})(?:\s|{_FRAME.pattern})*{re.escape(_MESSAGE)}",
            ),
        ),
        _print_calls,
        _print_results,
    ),
)

"""GLM-4 before 4.5, and GLM-Z1: the name of the tool, a line end, and the arguments as JSON.

The name directly follows `<|assistant|>`, which ends the prompt. So a reply begins with it, and
every further call begins with the token. Only the name of an offered tool distinguishes such a call
from text: without a tool list there is none. A reply
that begins with a name is read as Functionary's where no syntax was named.
"""

import re

from canonicall.blocks import ToolCall, ToolResult
from canonicall.syntax.declaration import Opener, Syntax, only_named
from canonicall.syntax.named_calls import (
    LONGEST,
    framed,
    json_arguments,
    name_for,
    read_arguments,
    word,
)
from canonicall.syntax.output import Output
from canonicall.syntax.reader import Reader, Reading
from canonicall.syntax.stops import stops

_ASSISTANT, _OBSERVATION = "<|assistant|>", "<|observation|>"
_NOISE = (_OBSERVATION, "<|user|>", "<|endoftext|>")
_ENDS = stops(_ASSISTANT, *_NOISE)
_NAME = re.compile(rf"[\w.\-]{{1,{LONGEST}}}")
_HEAD = re.compile(r"\s{0,8}([\w.\-]{1,128})[ \t]{0,8}\n\s{0,8}\{")
_HEAD_BEGUN = re.compile(r"\s{0,8}(?:[\w.\-]{1,128}[ \t]{0,8}(?:\n\s{0,8})?)?\Z")


def _is_call(reader: Reader, output: Output) -> Reading[bool]:
    """Whether the name of an offered tool comes next, followed by arguments."""
    head = yield from reader.ahead(_HEAD, LONGEST, _HEAD_BEGUN)
    return head is not None and head[1] in output.tools


def _read(reader: Reader, output: Output) -> Reading[bool]:
    if not (yield from _is_call(reader, output)):
        return False
    call = output.call()
    call.name((yield from word(reader, _NAME)))
    is_cut = yield from read_arguments(reader, call.arguments, _ENDS)
    return call.end(truncated=is_cut)


def _read_message(reader: Reader, output: Output) -> Reading[bool]:
    """A message, of which the token was taken: a call, or text."""
    yield from _read(reader, output)
    return True


def _print_call(call: ToolCall) -> str:
    return f"{_ASSISTANT}{name_for(call, _NAME)}\n{json_arguments(call)}"


def _print_results(results: tuple[ToolResult, ...]) -> str:
    return "".join(f"{_OBSERVATION}\n{one.text}" for one in results)


SYNTAXES = (
    Syntax(
        name="glm4",
        openers=(
            Opener(_ASSISTANT, _read_message, by_form=True),
            *only_named(Opener("", _read, by_form=True)),
        ),
        noise=_NOISE,
        frames=(re.escape(_ASSISTANT),),
        is_marked=False,
        prompt_opens_thinking=True,
        print_calls=framed("", _print_call, ""),
        print_results=_print_results,
    ),
)

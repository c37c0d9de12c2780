"""Llama 3.1 to 3.3, and Llama 4 where it writes JSON.

`{"name": ..., "parameters": {...}}`, bare or behind `<|python_tag|>`, several joined by semicolons,
or in a list. In code, JSON is an example. The built-in tools of Llama 3.1 are called by a line of
code, `brave_search.call(query="...")`, behind the same tag; other code behind it stays text, as
nothing says which tool it is for. Llama 3.2 was taught Python as well; its own template asks for
JSON, and either is read.
"""

import re

import msgspec

from canonicall.arguments import arguments_of
from canonicall.blocks import ToolCall, ToolResult
from canonicall.errors import InvalidValue
from canonicall.syntax.code_spans import code_openers
from canonicall.syntax.declaration import Opener, Syntax, only_named
from canonicall.syntax.json_calls import json_opener, taught_opener
from canonicall.syntax.json_form import JsonForm
from canonicall.syntax.json_printing import each_call, spaced_json
from canonicall.syntax.output import Output
from canonicall.syntax.pythonic import BARE_LIST
from canonicall.syntax.reader import Reader, Reading
from canonicall.syntax.repair import repaired_value

_TAG = "<|python_tag|>"
_NOISE = ("<|eom_id|>", "<|eot_id|>")
_HEAD = re.compile(r"\s{0,8}([A-Za-z_]\w{0,63})\s?\.\s?call\s?\(")
_HEAD_BEGUN = re.compile(r"\s{0,8}(?:[A-Za-z_]\w{0,63}\s?(?:\.\s?(?:c(?:a(?:l(?:l\s?)?)?)?)?)?)?\Z")
_LONGEST_HEAD = 90
_KEY = re.compile(r"[\s,]{0,16}([A-Za-z_]\w{0,63})\s?=\s{0,8}")
_KEY_BEGUN = re.compile(r"[\s,]{0,16}(?:[A-Za-z_]\w{0,63}\s?)?\Z")
_LONGEST_KEY = 100
_PLAIN_NAME = re.compile(r"[A-Za-z_]\w{0,63}")

_BEHIND_TAG = json_opener(_TAG)
_BARE = (
    *(taught_opener(bracket, form=JsonForm(is_strict=True)) for bracket in "{["),
    *code_openers(()),
)


def _read_builtin(reader: Reader, output: Output) -> Reading[bool]:
    """`tool.call(key=value, ...)`. The arguments are told one by one."""
    head = yield from reader.match(_HEAD, _LONGEST_HEAD, _HEAD_BEGUN)
    call = output.call()
    if head is None or not call.name(head[1]):
        return False
    opened = "{"
    while True:
        key = yield from reader.match(_KEY, _LONGEST_KEY, _KEY_BEGUN)
        if key is None:
            break
        pieces: list[str] = []
        whole = yield from reader.json_value(
            pieces.append,
        )
        call.arguments(f"{opened}{spaced_json(key[1])}: {_as_json(''.join(pieces))}")
        opened = ", "
        if not whole:
            return call.end(truncated=True)
    yield from reader.blank()
    is_closed = bool((yield from reader.accept(")")))
    call.arguments("{}" if opened == "{" else "}")
    return call.end(truncated=not is_closed)


def _as_json(raw: str) -> str:
    """A literal as JSON; what is none is text."""
    try:
        msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        meant = repaired_value(raw)
        return spaced_json(raw if meant is None and raw != "None" else meant)
    return raw


def _print_results(results: tuple[ToolResult, ...]) -> str:
    """Text, too, is printed as JSON."""
    before = "<|start_header_id|>ipython<|end_header_id|>\n\n"
    return "".join(f"{before}{spaced_json(one.text)}<|eot_id|>" for one in results)


def _print_builtin(calls: tuple[ToolCall, ...]) -> str:
    return "".join(_TAG + _builtin(call) for call in calls)


def _builtin(call: ToolCall) -> str:
    arguments = arguments_of(call)
    odd = [name for name in (call.name, *arguments) if not _PLAIN_NAME.fullmatch(name)]
    if odd:
        raise InvalidValue(
            f"{odd[0]!r} cannot be written in a line of code.", where=f"call {call.name!r}"
        )
    written = (f"{key}={spaced_json(value)}" for key, value in arguments.items())
    return f"{call.name}.call({', '.join(written)})"


SYNTAXES = (
    Syntax(
        name="llama3_json",
        openers=(_BEHIND_TAG, *only_named(*_BARE, BARE_LIST)),
        noise=_NOISE,
        print_calls=each_call("", "", between="; ", arguments="parameters"),
        print_results=_print_results,
    ),
    Syntax(
        name="llama3_builtin",
        openers=(
            Opener(_TAG, _read_builtin),
            *only_named(_BEHIND_TAG, *_BARE),
        ),
        notation="custom",
        noise=_NOISE,
        print_calls=_print_builtin,
        print_results=_print_results,
    ),
)

"""Texts read whole and in pieces, calls printed and read again."""

from collections.abc import Iterable
from typing import Any

from hypothesis import strategies as st

from canonicall.blocks import Text, ToolCall, ToolResult
from canonicall.errors import InvalidValue
from canonicall.folding import fold
from canonicall.request import Tool
from canonicall.syntax.parsing import Parsed, parse
from canonicall.syntax.registry import get_syntax
from canonicall.syntax.scanner import TextScanner
from canonicall.testing.strategies import json_values


def read(
    text: str,
    syntax: str,
    tools: Iterable[Tool | dict[str, Any]] | None = None,
    *,
    starts_in_thinking: bool = False,
) -> Parsed:
    """The text as it is read whole; by single characters and by threes it is read the same."""
    offered = None if tools is None else list(tools)
    whole = parse(text, syntax=syntax, tools=offered, starts_in_thinking=starts_in_thinking)
    for size in (1, 3):
        scanner = TextScanner(syntax, tools=offered, starts_in_thinking=starts_in_thinking)
        pieces = [text[at : at + size] for at in range(0, len(text), size)]
        events = [event for piece in pieces for event in scanner.feed(piece)]
        assert fold([*events, *scanner.close()]) == whole.reply
    return whole


def said(parsed: Parsed) -> list[tuple[str, Any]]:
    """The names and arguments of the calls."""
    return [(call.name, call.args) for call in parsed.calls]


def codes(parsed: Parsed) -> list[str]:
    return [finding.code for finding in parsed.findings]


def tool(name: str, **types: str) -> Tool:
    """A tool with arguments of these types."""
    properties = {key: {"type": type} for key, type in types.items()}
    return Tool(name, parameters={"type": "object", "properties": properties})


def printed(syntax: str, *calls: tuple[str, dict[str, Any]]) -> str:
    """Calls as the syntax prints them."""
    print_calls = get_syntax(syntax).print_calls
    assert print_calls is not None
    return print_calls(tuple(ToolCall(id="", name=name, args=args) for name, args in calls))


def printed_results(syntax: str, *results: tuple[str, str]) -> str:
    """Names and texts of results as the syntax prints them."""
    print_results = get_syntax(syntax).print_results
    assert print_results is not None
    made = (ToolResult(name=name, content=(Text(text=text),)) for name, text in results)
    return print_results(tuple(made))


def reads_its_own_print(
    syntax: str, calls: list[tuple[str, dict[str, Any]]], *, may_refuse: bool = False
) -> None:
    """What was printed is read as it was, with words around it."""
    try:
        text = printed(syntax, *calls)
    except InvalidValue:
        assert may_refuse
        return
    parsed = read(text, syntax, [tool(name) for name, _ in calls])
    assert said(parsed) == calls
    assert not parsed.text.strip()
    assert not parsed.findings
    assert not any(call.truncated for call in parsed.calls)


def values_with(*markers: str) -> st.SearchStrategy[Any]:
    """Any values, and texts that look like the syntax itself."""
    marked = st.lists(st.sampled_from([*markers, "a", "\n", '"', "'", "\\"]), max_size=4)
    return json_values() | marked.map("".join)


def arguments_with(keys: st.SearchStrategy[str], *markers: str) -> st.SearchStrategy[Any]:
    return st.dictionaries(keys, values_with(*markers), max_size=3)


plain_keys = st.from_regex(r"[a-z_][a-z0-9_]{0,6}", fullmatch=True)
any_keys = plain_keys | st.text(max_size=6)
names = st.sampled_from(["f", "get_weather", "files.read", "do-it"])


def read_at_every_cut(
    text: str, syntax: str, tools: Iterable[Tool | dict[str, Any]] | None = None
) -> Parsed:
    """The text as it is read whole; in two pieces, wherever it is cut, it is read the same."""
    offered = None if tools is None else list(tools)
    whole = read(text, syntax, offered)
    for at in range(1, len(text)):
        scanner = TextScanner(syntax, tools=offered)
        events = [*scanner.feed(text[:at]), *scanner.feed(text[at:]), *scanner.close()]
        assert fold(events) == whole.reply, text[:at]
    return whole

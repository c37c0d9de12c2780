"""The table of docs/findings.md about calls in text: each code is provoked, and what is done is as said."""

from collections.abc import Callable, Iterable

import pytest

from canonicall import Finding, Message, Opaque, Reply, Text, Tool, parse, recover_calls
from finding_codes import ABOUT_TEXT, documented

_F = Tool("f", parameters={"type": "object", "properties": {"a": {}}})
_CALL = '<tool_call>{"name": "f", "arguments": {}}</tool_call>'


def _read(text: str, syntax: str, *tools: Tool) -> Iterable[Finding]:
    return parse(text, syntax=syntax, tools=tools or None).findings


def _recovered(text: str, **fields: object) -> Iterable[Finding]:
    message = Message("assistant", (Text(text=text, **fields),), finish="stop")
    return recover_calls(Reply(message), [_F]).findings


PROVOKED: dict[str, Callable[[], Iterable[Finding]]] = {
    "call_unreadable": lambda: (
        *_read("<tool_call>no</tool_call>", "hermes"),
        *_read("<minimax:tool_call></minimax:tool_call>", "minimax_m2"),
    ),
    "call_not_offered": lambda: (
        *_read(_CALL, "auto", Tool("g")),
        *_read('{"name": "f", "arguments": {}}', "json_plain", Tool("g")),
    ),
    "tool_unknown": lambda: _read(_CALL, "hermes", Tool("g")),
    "arguments_repaired": lambda: (
        *_read("[TOOL_CALLS]f[ARGS]{'a': 1,}", "mistral"),
        *_read("<tool_call>f<arg_key>a</arg_key></tool_call>", "glm45_xml"),
    ),
    "text_in_call": lambda: (
        *_read(_CALL.replace("</", " well </"), "hermes"),
        *_read(_CALL.replace("</", "} </"), "hermes"),
        *_read("<|channel|>commentary to=functions.f<|message|>{} so<|call|>", "harmony"),
    ),
    "name_guessed": lambda: _read(
        '<|tool_call_begin|>0<|tool_call_argument_begin|>{"a": 1}<|tool_call_end|>', "kimi_k2", _F
    ),
    "message_not_shown": lambda: _read(
        "<|channel|>commentary to=python<|message|>1+1<|call|>", "harmony"
    ),
    "call_repeated": lambda: _read(
        "<|tool_call_start|>[f()]<|tool_call_end|>[f()]<|tool_call_end|>", "lfm2"
    ),
    "thought_unopened": lambda: _read("So.</think>Hello.", "hermes"),
    "call_recovered": lambda: _recovered(_CALL),
    "call_quoted": lambda: (
        *_recovered(f"{_CALL} is how it is done."),
        *_recovered(f"> {_CALL}"),
    ),
    "markers_removed": lambda: _recovered("<|channel|>final<|message|>Hello."),
}


def test_there_is_a_way_to_provoke_every_code():
    assert set(PROVOKED) == set(documented(ABOUT_TEXT))


@pytest.mark.parametrize("code", PROVOKED)
def test_the_page_says_what_is_done(code):
    """The actions in the table are those that really occur."""
    done = {finding.action.value for finding in PROVOKED[code]() if finding.code == code}
    assert done
    assert done == documented(ABOUT_TEXT)[code]


def test_fields_are_dropped_here_as_well_and_the_row_of_rendering_says_so():
    seal = Opaque("gemini-api", "signature", "x")
    found = (
        *_read(_CALL.replace("{}}", '{}, "b": 1}'), "hermes"),
        *_read(
            '<|message_model|>g<|content_invoke_tool_json|>{"name":"f","args":{}}<|end_message|>',
            "inkling",
        ),
        *_recovered(_CALL, opaque=(seal,)),
    )
    assert [one.action for one in found if one.code == "fields_dropped"] == ["dropped"] * 3

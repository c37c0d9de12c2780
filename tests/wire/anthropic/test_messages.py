"""Messages: roles, results apart from the user's words, strings and lists."""

import pytest

from canonicall import Message, Origin, Text, ToolCall, ToolResult
from canonicall.blocks import Native
from canonicall.errors import MalformedBody
from canonicall.transcript.turns import Turn
from canonicall.wire.anthropic import TARGET
from canonicall.wire.anthropic.messages import decode_messages, decode_system, encode_turn

ORIGIN = Origin(provider="anthropic", format="anthropic", model="claude-x")


def decoded(*messages, findings=None):
    given = list(messages)
    return decode_messages(given, ORIGIN, "anthropic", [] if findings is None else findings)


def result(id):
    return {"type": "tool_result", "tool_use_id": id, "content": "ok"}


def text(words):
    return {"type": "text", "text": words}


def test_a_string_is_one_text_and_only_the_assistant_has_an_origin():
    assert decoded({"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}) == [
        Message("user", (Text(text="a"),)),
        Message("assistant", (Text(text="b"),), origin=ORIGIN),
    ]


def test_empty_text_is_kept():
    assert decoded({"role": "user", "content": ""}) == [Message("user", (Text(text=""),))]


def test_results_become_a_message_of_their_own_before_the_users_words():
    findings = []
    message = {"role": "user", "content": [result("a"), result("b"), text("and?")], "x": 1}
    tool, user = decoded(message, findings=findings)
    assert (tool.role, [one.call_id for one in tool.results]) == ("tool", ["a", "b"])
    assert user == Message("user", (Text(text="and?"),), native=Native("anthropic", {"x": 1}))
    assert findings == []


def test_results_behind_other_content_are_moved_and_reported():
    findings = []
    message = {"role": "user", "content": [result("a"), text("and?"), result("b")]}
    tool, user = decoded({"role": "user", "content": "q"}, message, findings=findings)[1:]
    assert [one.call_id for one in tool.results] == ["a", "b"]
    assert user.text == "and?"
    assert [(one.code, one.where) for one in findings] == [
        ("results_moved", "$.messages[1].content[1]")
    ]


def test_only_results_keep_the_messages_own_fields():
    (tool,) = decoded({"role": "user", "content": [result("a")], "x": 1})
    assert (tool.role, tool.native) == ("tool", Native("anthropic", {"x": 1}))


def test_results_of_server_tools_stay_in_the_assistants_message():
    content = [
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
        {"type": "web_search_tool_result", "tool_use_id": "s", "content": []},
        text("Found."),
    ]
    (message,) = decoded({"role": "assistant", "content": content})
    assert [type(block) for block in message.blocks] == [ToolCall, ToolResult, Text]


def test_system_at_the_top_and_in_the_middle():
    assert decode_system("Be brief.", "anthropic", []) == [
        Message("system", (Text(text="Be brief."),))
    ]
    blocks = [text("a"), text("b") | {"cache_control": {"type": "ephemeral", "ttl": "1h"}}]
    assert decode_system(blocks, "anthropic", []) == [
        Message("system", (Text(text="a"), Text(text="b", cache="1h")))
    ]
    assert decode_system(None, "anthropic", []) == []
    (middle,) = decoded({"role": "system", "content": [text("Now in French.")]})
    assert middle == Message("system", (Text(text="Now in French."),))


@pytest.mark.parametrize(
    ("messages", "where"),
    [
        ({}, "$.messages"),
        (["hi"], "$.messages[0]"),
        ([{"role": "tool", "content": "x"}], "$.messages[0].role"),
        ([{"content": "x"}], "$.messages[0].role"),
        ([{"role": "user", "content": 1}], "$.messages[0].content"),
        ([{"role": "user", "content": [text("a"), 1]}], "$.messages[0].content[1]"),
    ],
)
def test_wrong_kinds_are_refused_with_their_path(messages, where):
    with pytest.raises(MalformedBody) as error:
        decode_messages(messages, ORIGIN, "anthropic", [])
    assert error.value.where == where


@pytest.mark.parametrize(
    ("turn", "message"),
    [
        (Turn("user", (Text(text="a"),)), {"role": "user", "content": "a"}),
        (
            Turn("user", (Text(text="a"), Text(text="b"))),
            {"role": "user", "content": [text("a"), text("b")]},
        ),
        (
            Turn("tool", (ToolResult(call_id="a", content=(Text(text="ok"),)), Text(text="so"))),
            {"role": "user", "content": [result("a"), text("so")]},
        ),
        (Turn("developer", (Text(text="a"),)), {"role": "system", "content": "a"}),
        (
            Turn("system", (Text(text="a"),), native=Native("anthropic", {"clear_at": "x"})),
            {"role": "system", "content": "a", "clear_at": "x"},
        ),
        (
            Turn("assistant", (ToolCall(id="toolu_1", name="f", args={}),)),
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}],
            },
        ),
    ],
)
def test_a_turn_is_one_message(turn, message):
    assert encode_turn(turn, TARGET) == [message]

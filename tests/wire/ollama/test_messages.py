"""Ollama messages: one text, thoughts, images and calls beside it; results that name their tool."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from canonicall.blocks import (
    Code,
    Media,
    Native,
    Origin,
    Summary,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Unknown,
)
from canonicall.errors import MalformedBody
from canonicall.testing.strategies import json_objects
from canonicall.transcript.turns import Turn
from canonicall.wire.ollama import TARGET
from canonicall.wire.ollama.messages import decode_messages, encode_reply, encode_turn

ORIGIN = Origin(provider="ollama", format="ollama")


def decoded(*messages):
    return decode_messages(list(messages), "$.messages", origin=ORIGIN)


def wire(role, *blocks, native=None, target=TARGET):
    return encode_turn(Turn(role, blocks, native=native), target)


def again(message):
    (canonical,) = decoded(message)
    return wire(canonical.role, *canonical.blocks, native=canonical.native)


words = st.text(max_size=8)
some_words = st.text(min_size=1, max_size=8)
images = st.lists(
    st.sampled_from(["iVBORw0K", "/9j/4AAQ", "R0lGODlh", "UklGRg==", "aGk="]),
    min_size=1,
    max_size=2,
)
calls = st.lists(
    st.builds(
        lambda id, name, args: {"id": id, "function": {"name": name, "arguments": args}},
        some_words.filter(lambda id: id != "null"),
        words,
        json_objects(),
    ),
    min_size=1,
    max_size=3,
)


@given(st.sampled_from(["system", "user"]), words, st.none() | images)
def test_plain_messages_come_back(role, text, pictures):
    message = {"role": role, "content": text} | ({"images": pictures} if pictures else {})
    assert again(message) == [message]


@given(words, st.none() | some_words, st.none() | calls, st.none() | images)
def test_replies_come_back(text, thought, asked, pictures):
    optional = {"thinking": thought, "tool_calls": asked, "images": pictures, "extra": 1}
    message = {"role": "assistant", "content": text}
    message |= {name: value for name, value in optional.items() if value is not None}
    assert again(message) == [message]


@given(words, st.none() | some_words, st.none() | some_words.filter(lambda id: id != "null"))
def test_results_come_back(text, name, id):
    optional = {"tool_name": name, "tool_call_id": id}
    message = {"role": "tool", "content": text}
    message |= {name: value for name, value in optional.items() if value is not None}
    assert again(message) == [message]


def test_what_a_reply_means():
    call = {"type": "function", "function": {"index": 0, "name": "f", "arguments": {"a": 1}}}
    (message,) = decoded(
        {"role": "assistant", "content": "", "thinking": "hm", "tool_calls": [call]}
    )
    assert message.blocks == (
        Thinking(text="hm"),
        Text(text=""),
        ToolCall(name="f", args={"a": 1}),
    )
    assert message.origin == ORIGIN


def test_a_result_names_its_tool_and_its_call():
    (message,) = decoded({"role": "tool", "content": "1", "tool_name": "f", "tool_call_id": "c"})
    assert message.results == (
        ToolResult(call_id="c", content=(Text(text="1"),), is_complete=True, name="f"),
    )


def test_a_result_names_its_tool_only_where_that_is_wanted():
    result = ToolResult(call_id="c", content=(Text(text="1"),), name="f")
    unnamed = replace(TARGET, result_names_tool=False)
    assert wire("tool", result)[0]["tool_name"] == "f"
    assert "tool_name" not in wire("tool", result, target=unnamed)[0]


def test_every_result_is_a_message_of_its_own():
    results = (ToolResult(call_id="a", content=()), ToolResult(call_id="b", content=()))
    assert wire("tool", *results) == [
        {"role": "tool", "content": "", "tool_call_id": "a"},
        {"role": "tool", "content": "", "tool_call_id": "b"},
    ]


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        ("iVBORw0K", "image/png"),
        ("/9j/4AAQ", "image/jpeg"),
        ("R0lGODlh", "image/gif"),
        ("UklGRg==", "image/webp"),
        ("aGk=", "image/*"),
    ],
)
def test_an_image_tells_its_type_by_its_first_bytes(data, media_type):
    (message,) = decoded({"role": "user", "content": "look", "images": [data]})
    assert message.blocks[1] == Media(media_type=media_type, data=data)


def test_an_image_that_is_elsewhere_is_named_in_text():
    (message,) = wire("user", Media(media_type="image/png", url="https://example.org/a.png"))
    assert message == {"role": "user", "content": "[image/png: https://example.org/a.png]"}


def test_all_words_of_a_message_are_one_text():
    blocks = (Text(text="a"), Summary(text="b"), Code(code="c", language="sh"))
    assert wire("user", *blocks)[0]["content"] == "a\nb\n```sh\nc\n```"


def test_a_reply_of_calls_only_has_empty_text():
    call = ToolCall(id="c", name="f", args={})
    omitting = replace(TARGET, empty_content_beside_calls="omit")
    assert wire("assistant", call)[0]["content"] == ""
    assert "content" not in wire("assistant", call, target=omitting)[0]


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        (ToolCall(raw='{"a": 1}'), {"a": 1}),
        (ToolCall(raw=""), {}),
        (ToolCall(args={"a": 2}), {"a": 2}),
        (ToolCall(raw="ls -l", kind="custom"), {"input": "ls -l"}),
        (ToolCall(raw='{"a": '), {"_raw": '{"a": '}),
    ],
)
def test_arguments_are_an_object_however_they_came(call, arguments):
    assert wire("assistant", call)[0]["tool_calls"][0]["function"]["arguments"] == arguments


def test_arguments_that_come_as_text_stay_text():
    call = {"function": {"name": "f", "arguments": '{"a": 1}'}}
    (message,) = decoded({"role": "assistant", "tool_calls": [call]})
    assert (message.calls[0].args, message.calls[0].raw) == (None, '{"a": 1}')


@pytest.mark.parametrize("given", [None, {}])
def test_missing_arguments_are_none_at_all(given):
    (message,) = decoded(
        {
            "role": "assistant",
            "tool_calls": [{"id": "null", "function": {"name": "f", "arguments": given}}],
        }
    )
    assert message.calls == (ToolCall(name="f", args={}),)


def test_calls_are_numbered_in_responses():
    calls = (ToolCall(id="a", name="f", args={}), ToolCall(id="b", name="f", args={}))
    message = encode_reply(calls, None, TARGET, numbered=True)
    assert [call["function"]["index"] for call in message["tool_calls"]] == [0, 1]
    assert "index" not in wire("assistant", *calls)[0]["tool_calls"][0]["function"]


def test_a_number_that_is_not_the_position_stays():
    call = {"id": "a", "function": {"index": 7, "name": "f", "arguments": {}}}
    message = {"role": "assistant", "content": "", "tool_calls": [call]}
    assert again(message) == [message]


def test_what_ollama_has_no_word_for_is_not_written():
    blocks = (
        Unknown(native=Native("gemini", {"a": 1})),
        ToolCall(id="s", name="search", kind="server"),
        Text(text="a"),
    )
    assert wire("assistant", *blocks) == [{"role": "assistant", "content": "a"}]


def test_the_developer_speaks_as_the_system():
    assert wire("developer", Text(text="a")) == [{"role": "system", "content": "a"}]


@pytest.mark.parametrize(
    ("message", "where"),
    [
        (1, "$.messages[0]"),
        ({"role": "model"}, "$.messages[0].role"),
        ({"role": "user", "content": ["a"]}, "$.messages[0].content"),
        ({"role": "user", "images": "aGk="}, "$.messages[0].images"),
        ({"role": "user", "images": [1]}, "$.messages[0].images[0]"),
        ({"role": "assistant", "thinking": True}, "$.messages[0].thinking"),
        ({"role": "tool", "tool_name": 1}, "$.messages[0].tool_name"),
    ],
)
def test_a_wrong_shape_is_refused_with_its_path(message, where):
    with pytest.raises(MalformedBody) as caught:
        decoded(message)
    assert caught.value.where == where

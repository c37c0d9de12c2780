"""Cohere messages: content in every form, plans beside calls, results with documents."""

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
from canonicall.testing.strategies import json_values
from canonicall.transcript.turns import Turn
from canonicall.wire.cohere import TARGET
from canonicall.wire.cohere.messages import decode_messages, encode_turn

ORIGIN = Origin(provider="cohere", format="cohere")
CALL = {"id": "f_1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
PNG = "data:image/png;base64,aGk="


def decoded(*messages):
    return decode_messages(list(messages), "$.messages", origin=ORIGIN)


def wire(role, *blocks, native=None, target=TARGET):
    return encode_turn(Turn(role, blocks, native=native), target)


def again(message):
    (canonical,) = decoded(message)
    return wire(canonical.role, *canonical.blocks, native=canonical.native)


words = st.text(max_size=8)
shown = st.one_of(
    st.builds(lambda text: {"type": "text", "text": text, "extra": 1}, words),
    st.builds(
        lambda url: {"type": "image_url", "image_url": {"url": url, "detail": "low"}},
        st.sampled_from([PNG, "https://example.org/a.png"]),
    ),
    st.just({"type": "something_new", "a": [1]}),
)
parts = shown | st.builds(
    lambda data: {"type": "document", "document": {"data": data, "id": "d"}},
    words | st.dictionaries(words, json_values(), max_size=3),
)
"""What a result may hold: only results have documents."""
thoughts = st.builds(lambda text: {"type": "thinking", "thinking": text}, words)
texts = st.builds(lambda text: {"type": "text", "text": text}, words)


@given(st.sampled_from(["system", "user"]), st.lists(shown, max_size=4))
def test_content_in_parts_comes_back(role, content):
    assert again({"role": role, "content": content}) == [{"role": role, "content": content}]


@given(st.sampled_from(["system", "user"]), words)
def test_content_that_is_text_stays_text(role, text):
    assert again({"role": role, "content": text}) == [{"role": role, "content": text}]


@given(st.lists(thoughts | texts | shown, min_size=1, max_size=4))
def test_a_reply_without_calls_comes_back(content):
    message = {"role": "assistant", "content": content}
    assert again(message) == [message]


@given(st.lists(thoughts, max_size=2), st.text(min_size=1, max_size=8), st.integers(1, 3))
def test_a_reply_with_calls_comes_back(content, plan, count):
    message = {"role": "assistant", "tool_plan": plan, "tool_calls": [CALL] * count}
    if content:
        message["content"] = content
    assert again(message) == [message]


@given(st.lists(parts, min_size=1, max_size=4) | words)
def test_a_result_comes_back(content):
    message = {"role": "tool", "tool_call_id": "f_1", "content": content}
    assert again(message) == [message]


@pytest.mark.parametrize("role", ["system", "user", "assistant"])
def test_a_document_in_a_message_is_sent_as_its_text(role):
    part = {"type": "document", "document": {"data": "a"}}
    assert again({"role": role, "content": [part]})[0]["content"] in (
        "a",
        [{"type": "text", "text": "a"}],
    )


def test_a_plan_is_text_that_knows_what_it_was():
    (message,) = decoded({"role": "assistant", "tool_plan": "I look.", "tool_calls": [CALL]})
    assert message.blocks == (
        Text(text="I look.", native=Native("cohere", {"tool_plan": True})),
        ToolCall(id="f_1", name="f", raw='{"a": 1}'),
    )
    assert message.origin == ORIGIN


def test_text_beside_calls_becomes_the_plan():
    blocks = (
        Text(text="a"),
        Summary(text="b"),
        Code(code="c", language="sh"),
        ToolCall(id="x", name="f", args={}),
    )
    (message,) = wire("assistant", *blocks)
    assert message["tool_plan"] == "a\nb\n```sh\nc\n```"
    assert "content" not in message


def test_a_plan_without_calls_is_text():
    block = Text(text="a", native=Native("cohere", {"tool_plan": True}))
    assert wire("assistant", block) == [
        {"role": "assistant", "content": [{"type": "text", "text": "a"}]}
    ]


def test_a_reply_of_calls_only_has_neither_text_nor_plan():
    call = ToolCall(id="x", name="f", args={})
    assert wire("assistant", Text(text=""), call)[0].keys() == {"role", "tool_calls"}
    null = replace(TARGET, empty_content_beside_calls="null")
    empty = replace(TARGET, empty_content_beside_calls="empty")
    assert wire("assistant", call, target=null)[0]["content"] is None
    assert wire("assistant", call, target=empty)[0]["content"] == ""


@pytest.mark.parametrize("content", [None, "", []])
def test_missing_content_is_accepted(content):
    (message,) = decoded({"role": "assistant", "content": content, "tool_calls": [CALL]})
    assert message.text == ""
    assert len(message.calls) == 1


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        (ToolCall(args={"a": 1}), '{"a":1}'),
        (ToolCall(args={"a": 1}, raw='{"a": 1}'), '{"a": 1}'),
        (ToolCall(args={}, raw=""), "{}"),
        (ToolCall(args={}, raw="null"), "{}"),
        (ToolCall(raw=""), "{}"),
        (ToolCall(raw='{"a": 1}'), '{"a": 1}'),
    ],
)
def test_arguments_are_json_text(call, arguments):
    (message,) = wire("assistant", call)
    assert message["tool_calls"][0]["function"]["arguments"] == arguments


def test_arguments_that_come_as_an_object_stay_one():
    call = {"id": "x", "function": {"name": "f", "arguments": {"a": 1}}}
    (message,) = decoded({"role": "assistant", "tool_calls": [call]})
    assert (message.calls[0].args, message.calls[0].raw) == ({"a": 1}, None)


@pytest.mark.parametrize("id", [None, "null", ""])
def test_a_missing_id_is_empty(id):
    call, result = decoded(
        {"role": "assistant", "tool_calls": [CALL | {"id": id}]},
        {"role": "tool", "tool_call_id": id, "content": "1"},
    )
    assert (call.calls[0].id, result.results[0].call_id) == ("", "")


def test_a_document_can_be_read_everywhere():
    document = {"type": "document", "document": {"data": {"title": "t"}}}
    (message,) = decoded({"role": "tool", "tool_call_id": "x", "content": [document]})
    assert message.results[0].text == '{"title":"t"}'
    assert message.results[0].is_complete


def test_a_document_whose_text_was_changed_is_text():
    part = Text(text="Error: d", native=Native("cohere", {"document": {"data": "d"}}))
    (message,) = wire("tool", ToolResult(call_id="x", content=(part,)))
    assert message["content"] == "Error: d"


def test_an_empty_result_is_an_empty_text():
    (message,) = decoded({"role": "tool", "tool_call_id": "x", "content": []})
    assert message.results[0].content == ()
    assert wire("tool", *message.blocks)[0]["content"] == ""


def test_every_result_is_a_message_of_its_own():
    results = (ToolResult(call_id="a", content=()), ToolResult(call_id="b", content=()))
    assert [m["tool_call_id"] for m in wire("tool", *results)] == ["a", "b"]


def test_an_image_is_taken_apart():
    part = {"type": "image_url", "image_url": {"url": PNG}}
    (message,) = decoded({"role": "user", "content": [part]})
    assert message.blocks == (Media(media_type="image/png", data="aGk="),)


def test_media_without_a_source_is_named_in_text():
    (message,) = wire("user", Media(media_type="image/png", native=Native("gemini", {"a": 1})))
    assert message["content"] == "[image/png: not available]"


def test_unknown_parts_and_fields_stay():
    message = {
        "role": "assistant",
        "content": [{"type": "new", "a": 1}],
        "citations": [{"start": 0, "end": 1}],
    }
    (canonical,) = decoded(message)
    assert isinstance(canonical.blocks[0], Unknown)
    assert again(message) == [message]


def test_the_developer_speaks_as_the_system():
    assert wire("developer", Text(text="a")) == [{"role": "system", "content": "a"}]


def test_thinking_stands_in_the_content():
    (message,) = wire("assistant", Thinking(text="hm"), Text(text="a"))
    assert [part["type"] for part in message["content"]] == ["thinking", "text"]


@pytest.mark.parametrize(
    ("message", "where"),
    [
        ("hello", "$.messages[0]"),
        ({"role": "chatbot"}, "$.messages[0].role"),
        ({"role": "user", "content": 1}, "$.messages[0].content"),
        ({"role": "user", "content": [1]}, "$.messages[0].content[0]"),
        ({"role": "assistant", "tool_calls": {}}, "$.messages[0].tool_calls"),
        ({"role": "assistant", "tool_plan": 1}, "$.messages[0].tool_plan"),
        ({"role": "tool", "tool_call_id": 7, "content": ""}, "$.messages[0].tool_call_id"),
    ],
)
def test_a_wrong_shape_is_refused_with_its_path(message, where):
    with pytest.raises(MalformedBody) as caught:
        decoded(message)
    assert caught.value.where == where


def test_summaries_and_code_are_text():
    (message,) = wire("user", Summary(text="so far"), Code(code="1+1", language="python"))
    assert [part["text"] for part in message["content"]] == ["so far", "```python\n1+1\n```"]

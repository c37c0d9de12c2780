"""Items and messages: what one says, the other says, both ways."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from canonicall.blocks import (
    Code,
    Media,
    Message,
    Native,
    Summary,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Unknown,
)
from canonicall.errors import MalformedBody
from canonicall.wire.openai_responses import FORMAT, TARGET
from canonicall.wire.openai_responses.messages import decode_input, decode_output
from wire.openai_responses.forms import ORIGIN, decode, encode, own, user

OPEN = replace(TARGET, reasoning="open")


# Decoding.


def test_a_string_is_what_the_user_says():
    messages, findings = decode_input("hi", origin=ORIGIN, domain="openai")
    assert messages == [Message("user", (Text(text="hi"),))]
    assert findings == []


@pytest.mark.parametrize("role", ["user", "system", "developer"])
@pytest.mark.parametrize("content", ["hi", [{"type": "input_text", "text": "hi"}]])
@pytest.mark.parametrize("kind", [{}, {"type": "message"}])
def test_messages_have_one_meaning_in_every_spelling(role, content, kind):
    item = {**kind, "role": role, "content": content}
    assert decode(item) == [Message(role, (Text(text="hi"),))]


def test_items_of_the_model_in_a_row_are_one_message():
    messages = decode(
        user("go"),
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "e"},
        {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"},
        {"type": "function_call", "call_id": "b", "name": "g", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "a", "output": "1"},
        {"type": "function_call_output", "call_id": "b", "output": "2"},
        {"role": "assistant", "content": "one"},
        {"role": "assistant", "content": "two"},
        user("more"),
    )
    assert [(one.role, len(one.blocks)) for one in messages] == [
        ("user", 1),
        ("assistant", 3),
        ("tool", 2),
        ("assistant", 2),
        ("user", 1),
    ]
    assert [one.origin for one in messages] == [None, ORIGIN, None, ORIGIN, None]


def test_a_message_without_content_holds_nothing():
    assert decode({"role": "user", "content": None}) == [Message("user")]


def test_the_id_and_phase_of_a_message_stay_with_its_texts():
    item = {
        "type": "message",
        "role": "assistant",
        "id": "msg_1",
        "status": "completed",
        "phase": "commentary",
        "content": [
            {"type": "output_text", "text": "a", "annotations": []},
            {"type": "output_text", "text": "b", "annotations": [], "logprobs": []},
        ],
    }
    (message,) = decode(item)
    native = Native(FORMAT, {"item": {"phase": "commentary"}})
    assert message.blocks == (
        Text(text="a", opaque=own("item_id", "msg_1"), native=native),
        Text(text="b", opaque=own("item_id", "msg_1"), native=native),
    )
    (again,) = encode("assistant", *message.blocks)
    del item["content"][1]["logprobs"]
    assert again == item


def test_an_empty_message_of_the_model_keeps_its_id():
    item = {"type": "message", "role": "assistant", "id": "msg_1", "content": []}
    (message,) = decode(item)
    assert message.blocks == (Text(text="", opaque=own("item_id", "msg_1")),)


def test_a_status_that_says_something_is_kept():
    item = {
        "type": "message",
        "role": "assistant",
        "id": "msg_1",
        "status": "incomplete",
        "content": [{"type": "output_text", "text": "a", "annotations": []}],
    }
    (message,) = decode(item)
    assert encode("assistant", *message.blocks) == [item]


@pytest.mark.parametrize(
    ("summary", "content", "text"),
    [
        ([], [], ""),
        (["one"], [], "one"),
        (["one", "two"], [], "one\n\ntwo"),
        ([], ["full"], "full"),
        (["short"], ["full"], "short"),
    ],
)
def test_thoughts_are_the_summary_or_the_text_and_come_back_exactly(summary, content, text):
    item = {"type": "reasoning", "id": "rs_1"}
    item["summary"] = [{"type": "summary_text", "text": one} for one in summary]
    item["encrypted_content"] = "e"
    if content:
        item["content"] = [{"type": "reasoning_text", "text": one} for one in content]
    (message,) = decode(item)
    (thought,) = message.blocks
    assert thought.text == text
    assert thought.opaque == own("encrypted", "e") + own("item_id", "rs_1")
    assert encode("assistant", thought) == [item]


def test_thoughts_without_a_stored_id_are_sent_without_one():
    item = {"type": "reasoning", "summary": [], "encrypted_content": "e"}
    (message,) = decode({**item, "content": None, "status": None})
    assert message.blocks == (Thinking(opaque=own("encrypted", "e")),)
    assert encode("assistant", *message.blocks) == [item]


def test_unknown_fields_of_a_thought_come_back():
    item = {
        "type": "reasoning",
        "summary": [],
        "encrypted_content": "e",
        "format": "google-gemini-v1",
    }
    (message,) = decode(item)
    assert encode("assistant", *message.blocks) == [item]


def test_the_id_of_a_user_message_belongs_to_its_domain():
    item = {
        "type": "message",
        "id": "msg_1",
        "role": "user",
        "content": "hi",
        "status": "completed",
    }
    (message,) = decode(item)
    assert message.blocks == (Text(text="hi", opaque=own("item_id", "msg_1")),)
    assert encode("user", *message.blocks, native=message.native) == [item]


@pytest.mark.parametrize(
    ("items", "where"),
    [
        ({"a": 1}, "$.input"),
        (["x"], "$.input[0]"),
        ([{"role": "tool", "content": "x"}], "$.input[0].role"),
        ([{"role": 1, "content": "x"}], "$.input[0].role"),
        ([{"role": "user", "content": {"a": 1}}], "$.input[0].content"),
        ([{"role": "user", "content": ["x"]}], "$.input[0].content[0]"),
        (
            [{"role": "user", "content": [{"type": "input_text", "text": 1}]}],
            "$.input[0].content[0].text",
        ),
        ([{"type": "reasoning", "summary": "x"}], "$.input[0].summary"),
        ([{"type": "function_call_output", "call_id": 1, "output": ""}], "$.input[0].call_id"),
        (
            [{"type": "function_call_output", "call_id": "a", "output": {"b": 1}}],
            "$.input[0].output",
        ),
    ],
)
def test_wrong_shapes_are_refused_with_their_path(items, where):
    with pytest.raises(MalformedBody) as caught:
        decode_input(items, origin=ORIGIN, domain="openai")
    assert caught.value.where == where


# Encoding.


def test_words_of_the_model_without_an_id_have_the_short_form():
    blocks = (Text(text="a"), Summary(text="b"), Code(code="c", language="py"))
    assert encode("assistant", *blocks) == [
        {"role": "assistant", "content": "a"},
        {"role": "assistant", "content": "b"},
        {"role": "assistant", "content": "```py\nc\n```"},
    ]


def test_the_phase_is_kept_without_an_id():
    item = {"role": "assistant", "content": "a", "phase": "final_answer"}
    (message,) = decode(item)
    assert encode("assistant", *message.blocks) == [item]


def test_a_refusal_stays_one():
    item = {"role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]}
    (message,) = decode(item)
    assert message.blocks[0].text == "no"
    assert encode("assistant", *message.blocks) == [item]


def test_annotations_come_back():
    part = {"type": "output_text", "text": "a", "annotations": [{"type": "url_citation"}]}
    item = {"role": "assistant", "content": [part]}
    (message,) = decode(item)
    assert encode("assistant", *message.blocks) == [item]


def test_open_reasoning_is_sent_as_its_text():
    (item,) = encode("assistant", Thinking(text="so"), target=OPEN)
    assert item == {
        "type": "reasoning",
        "summary": [],
        "content": [{"type": "reasoning_text", "text": "so"}],
    }


def test_native_fields_of_a_user_message_are_merged_and_do_not_win():
    native = Native(FORMAT, {"status": "completed", "role": "other"})
    assert encode("user", Text(text="a"), native=native) == [
        {"role": "user", "content": "a", "status": "completed"}
    ]


def test_fields_of_another_format_are_not_written():
    native = Native("anthropic", {"citations": []})
    assert encode("user", Text(text="a", native=native)) == [user("a")]


def test_words_around_an_item_of_the_client_keep_their_order():
    approval = {"type": "mcp_approval_response", "approval_request_id": "r", "approve": True}
    blocks = (Text(text="a"), Unknown(native=Native(FORMAT, approval)), Text(text="b"))
    assert encode("user", *blocks) == [user("a"), approval, user("b")]


def test_unknown_parts_stay_inside_their_message():
    part = {"type": "input_hologram", "data": "x"}
    item = user([{"type": "input_text", "text": "a"}, part])
    messages, findings = decode_input([item], origin=ORIGIN, domain="openai")
    assert [(one.code, one.where) for one in findings] == [
        ("unknown_part", "$.input[0].content[1]")
    ]
    assert encode("user", *messages[0].blocks) == [item]


def test_unknown_parts_of_the_model_stay_inside_their_message():
    item = {
        "type": "message",
        "role": "assistant",
        "id": "msg_1",
        "status": "completed",
        "content": [
            {"type": "output_text", "text": "a", "annotations": []},
            {"type": "hologram", "data": "x"},
        ],
    }
    blocks, findings = decode_output([item], domain="openai")
    assert [one.code for one in findings] == ["unknown_part"]
    assert encode("assistant", *blocks) == [item]


# Law L8: what was encoded is decoded to the same.

ids = st.sampled_from(["call_1", "call_2", "x"])
words = st.text(min_size=1, max_size=8)
item_ids = st.sampled_from(["", "msg_1", "msg_2"])
own_texts = st.builds(
    lambda text, id: Text(text=text, opaque=own("item_id", id) if id else ()), words, item_ids
)
thoughts = st.builds(
    lambda text, id: Thinking(text=text, opaque=own("encrypted", "e") + own("item_id", id)),
    st.text(max_size=8),
    st.sampled_from(["rs_1", "rs_2"]),
)
objects = st.dictionaries(words, st.none() | st.integers() | words, max_size=2)
calls = st.builds(
    lambda id, args: ToolCall(id=id, name="f", raw=json.dumps(args)), ids, objects
) | st.builds(
    lambda id, raw: ToolCall(
        id=id, name="run", raw=raw, kind="custom", opaque=own("item_id", "ctc_1")
    ),
    ids,
    st.text(max_size=8),
)
media = st.builds(
    lambda data, kind: Media(media_type=kind, data=data, name=None if kind[0] == "i" else "a.pdf"),
    st.sampled_from(["aGk=", ""]),
    st.sampled_from(["image/png", "application/pdf"]),
) | st.builds(
    lambda url: Media(media_type="image/*", url=url, cache="30m"),
    st.sampled_from(["https://example.com/a", "data:,x"]),
)
marks = st.sampled_from([None, None, "default", "12h"])
user_texts = st.builds(lambda text, cache: Text(text=text, cache=cache), words, marks)
results = st.builds(
    lambda id, content: ToolResult(call_id=id, content=tuple(content), is_complete=True),
    ids,
    st.lists(user_texts | media, max_size=3),
)


@given(st.lists(own_texts | thoughts | calls, min_size=1, max_size=6))
def test_replies_survive_the_wire(blocks):
    assert decode(*encode("assistant", *blocks)) == [
        Message("assistant", tuple(blocks), origin=ORIGIN)
    ]


@given(st.lists(user_texts | media, min_size=1, max_size=4), st.sampled_from(["user", "developer"]))
def test_words_survive_the_wire(blocks, role):
    assert decode(*encode(role, *blocks)) == [Message(role, tuple(blocks))]


@given(st.lists(results, min_size=1, max_size=3))
def test_results_survive_the_wire(blocks):
    assert decode(*encode("tool", *blocks)) == [Message("tool", tuple(blocks))]

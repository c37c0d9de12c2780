"""Converse messages: every block both ways, results apart from words, marks on what they follow."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from canonicall.blocks import (
    Code,
    Media,
    Message,
    Native,
    Opaque,
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
from canonicall.wire.bedrock import TARGET
from canonicall.wire.bedrock.messages import (
    decode_blocks,
    decode_messages,
    encode_blocks,
    encode_turn,
)

ORIGIN = Origin(provider="bedrock", format="bedrock")


def decoded(*messages, findings=None):
    told = [] if findings is None else findings
    return decode_messages(
        list(messages), "$.messages", origin=ORIGIN, domain="anthropic", findings=told
    )


def blocks(*content):
    return decode_blocks(list(content), "$", "anthropic")


def wire(*given):
    return encode_blocks(given, TARGET)


words = st.text(max_size=8)
wire_blocks = st.one_of(
    st.builds(lambda text: {"text": text}, words),
    st.builds(
        lambda id, name, args: {"toolUse": {"toolUseId": id, "name": name, "input": args}},
        st.sampled_from(["tooluse_a", "b.c:1"]),
        words,
        json_objects(),
    ),
    st.builds(
        lambda text, signature: {
            "reasoningContent": {"reasoningText": {"text": text, "signature": signature}}
        },
        words,
        st.text(min_size=1, max_size=8),
    ),
    st.builds(
        lambda data: {"reasoningContent": {"redactedContent": data}},
        st.sampled_from(["RXU4RUNr", "//79", "not base64!"]),
    ),
    st.builds(
        lambda format, source: {"image": {"format": format, "source": source}},
        st.sampled_from(["png", "jpeg", "gif", "webp"]),
        st.sampled_from(
            [
                {"bytes": "aGk="},
                {"s3Location": {"uri": "s3://b/k"}},
                {"s3Location": {"uri": "s3://b/k", "bucketOwner": "1"}},
            ]
        ),
    ),
    st.builds(
        lambda format: {"document": {"format": format, "name": "a b", "source": {"bytes": "aGk="}}},
        st.sampled_from(["pdf", "csv", "docx", "txt", "md", "html", "xls"]),
    ),
    st.builds(
        lambda format: {"video": {"format": format, "source": {"bytes": "aGk="}}},
        st.sampled_from(["mp4", "mov", "mkv", "mpg", "mpeg", "three_gp"]),
    ),
    st.builds(
        lambda content, failed: {
            "toolResult": {"toolUseId": "t", "content": content}
            | ({"status": "error"} if failed else {})
        },
        st.lists(
            st.builds(lambda text: {"text": text}, words)
            | st.builds(lambda value: {"json": value}, json_objects()),
            max_size=3,
        ),
        st.booleans(),
    ),
    st.sampled_from(
        [
            {"citationsContent": {"content": [{"text": "a"}, {"text": "b"}], "citations": [{}]}},
            {"guardContent": {"text": {"text": "a", "qualifiers": ["query"]}}},
            {"guardContent": {"image": {"format": "png", "source": {"bytes": "aGk="}}}},
            {"searchResult": {"source": "s", "title": "t", "content": [{"text": "a"}]}},
            {"somethingNew": {"a": [1]}},
        ]
    ),
)


@given(st.lists(wire_blocks, max_size=5))
def test_every_block_of_the_vocabulary_comes_back(content):
    assert wire(*blocks(*content)) == content


@given(st.lists(wire_blocks, min_size=1, max_size=5), st.sampled_from(["default", "5m", "1h"]))
def test_a_mark_stands_behind_its_block(content, mark):
    point = {"type": "default"} if mark == "default" else {"type": "default", "ttl": mark}
    content = [content[0], {"cachePoint": point}, *content[1:]]
    assert [block.cache for block in blocks(*content)] == [mark] + [None] * (len(content) - 2)
    assert wire(*blocks(*content)) == content


def test_a_mark_with_nothing_before_it_is_left_out():
    content = [{"cachePoint": {"type": "default"}}, {"text": "a"}]
    findings = []
    (text,) = decode_blocks(content, "$", "", findings)
    assert text == Text(text="a")
    assert [one.code for one in findings] == ["cache_mark_dropped"]


def test_a_mark_inside_a_result_moves_behind_it():
    result = ToolResult(call_id="t", content=(Text(text="a", cache="1h"),))
    assert wire(result)[1:] == [{"cachePoint": {"type": "default", "ttl": "1h"}}]


def test_a_time_to_live_that_bedrock_does_not_know_is_the_default():
    assert wire(Text(text="a", cache="12h"))[1] == {"cachePoint": {"type": "default"}}


def test_results_come_before_the_words_of_their_message():
    findings = []
    told = {"toolResult": {"toolUseId": "t", "content": [{"text": "42"}], "status": "error"}}
    message = {"role": "user", "content": [{"text": "so?"}, told]}
    first, second = decoded(message, findings=findings)
    assert first.role == "tool"
    assert first.results[0].error
    assert first.results[0].is_complete
    assert second == Message("user", (Text(text="so?"),))
    assert [(f.code, f.where) for f in findings] == [("results_moved", "$.messages[0].content")]


def test_results_that_already_stand_first_are_no_finding():
    findings = []
    result = {"toolResult": {"toolUseId": "t", "content": []}}
    assert (
        len(decoded({"role": "user", "content": [result, {"text": "a"}]}, findings=findings)) == 2
    )
    assert findings == []


def test_an_empty_result_is_a_result():
    (message,) = decoded({"role": "user", "content": [{"toolResult": {"toolUseId": "t"}}]})
    assert message.results[0].content == ()


def test_json_results_are_readable_everywhere():
    (message,) = decoded(
        {
            "role": "user",
            "content": [{"toolResult": {"toolUseId": "t", "content": [{"json": {"a": 1}}]}}],
        }
    )
    assert message.results[0].text == '{"a":1}'


@pytest.mark.parametrize(
    ("value", "text"), [([1, 2], "[1,2]"), (42, "42"), ("a", '"a"'), (None, "null")]
)
def test_a_json_result_that_is_no_object_is_text(value, text):
    """ "Provide a json object for the field and try again." """
    result = {"toolResult": {"toolUseId": "t", "content": [{"json": value}]}}
    (written,) = wire(*blocks(result))
    assert written["toolResult"]["content"] == [{"text": text}]


def test_a_json_result_whose_text_was_changed_is_text():
    part = Text(text='Error: {"a":1}', native=Native("bedrock", {"json": {"a": 1}}))
    (block,) = wire(ToolResult(call_id="t", content=(part,), error=True))
    assert block["toolResult"]["content"] == [{"text": 'Error: {"a":1}'}]
    assert block["toolResult"]["status"] == "error"


def test_the_error_flag_is_left_out_for_a_model_without_it():
    target = replace(TARGET, result_error_flag=False)
    (block,) = encode_blocks((ToolResult(call_id="t", content=(), error=True),), target)
    assert "status" not in block["toolResult"]


def test_redacted_thinking_is_the_text_that_claude_wrote():
    """The blob is base64 around Anthropic's own `data`, so that both hosts can read it."""
    (block,) = blocks({"reasoningContent": {"redactedContent": "RXU4RUNr"}})
    assert block == Thinking(opaque=(Opaque("anthropic", "redacted", "Eu8ECk"),))


def test_thinking_without_a_signature_has_none():
    (block,) = blocks({"reasoningContent": {"reasoningText": {"text": "hm"}}})
    assert block == Thinking(text="hm")
    assert wire(block) == [{"reasoningContent": {"reasoningText": {"text": "hm"}}}]


def test_what_the_provider_ran_stays_whole_and_in_place():
    content = [
        {
            "toolUse": {
                "toolUseId": "s",
                "name": "nova_grounding",
                "input": {},
                "type": "server_tool_use",
            }
        },
        {"toolResult": {"toolUseId": "s", "content": [{"json": {}}], "type": "grounding_result"}},
        {"text": "found"},
    ]
    (message,) = decoded({"role": "assistant", "content": content})
    call, result, _ = message.blocks
    assert call.kind == "server"
    assert [result.content, result.is_complete] == [(), True]
    assert wire(*message.blocks) == content


def test_what_ran_at_another_provider_is_not_written():
    seal = Opaque("anthropic", "server_block", {"type": "server_tool_use", "id": "srvtoolu_1"})
    call = ToolCall(id="srvtoolu_1", name="web_search", kind="server", opaque=(seal,))
    assert wire(call, ToolResult(call_id="srvtoolu_1", opaque=(seal,)), Text(text="a")) == [
        {"text": "a"}
    ]


@pytest.mark.parametrize(
    ("call", "input"),
    [
        (ToolCall(raw='{"a": 1}'), {"a": 1}),
        (ToolCall(raw=""), {}),
        (ToolCall(args={"a": 2}, raw="{}"), {"a": 2}),
        (ToolCall(raw="ls -l", kind="custom"), {"input": "ls -l"}),
        (ToolCall(raw='{"a": '), {"_raw": '{"a": '}),
    ],
)
def test_input_is_an_object_however_the_arguments_came(call, input):
    assert wire(call)[0]["toolUse"]["input"] == input


def test_the_type_that_responses_add_is_not_sent_back():
    (call,) = blocks({"toolUse": {"toolUseId": "t", "name": "f", "input": {}, "type": "tool_use"}})
    assert wire(call) == [{"toolUse": {"toolUseId": "t", "name": "f", "input": {}}}]


@pytest.mark.parametrize("id", [None, "null", ""])
def test_a_missing_id_is_empty(id):
    (call,) = blocks({"toolUse": {"toolUseId": id, "name": "f"}})
    assert (call.id, call.args) == ("", {})


def test_summaries_and_code_are_text():
    assert wire(Summary(text="so far"), Code(code="1+1", language="python")) == [
        {"text": "so far"},
        {"text": "```python\n1+1\n```"},
    ]


def test_an_address_bedrock_cannot_read_is_named_in_text():
    assert wire(Media(media_type="image/png", url="https://example.org/a.png")) == [
        {"text": "[image/png: https://example.org/a.png]"}
    ]


def test_fields_of_a_message_that_have_no_meaning_here_go_back():
    (message,) = decoded({"role": "assistant", "content": [{"text": "a"}], "extra": 1})
    turn = Turn(message.role, message.blocks, message.origin, message.native)
    assert encode_turn(turn, TARGET) == [
        {"role": "assistant", "content": [{"text": "a"}], "extra": 1}
    ]
    assert message.origin == ORIGIN


@pytest.mark.parametrize("role", ["tool", "user"])
def test_a_turn_of_results_is_the_users(role):
    turn = Turn(role, (ToolResult(call_id="t", content=()),))
    assert encode_turn(turn, TARGET)[0]["role"] == "user"


@pytest.mark.parametrize(
    ("message", "where"),
    [
        ([], "$.messages[0]"),
        ({"role": "robot", "content": []}, "$.messages[0].role"),
        ({"role": "user", "content": "hello"}, "$.messages[0].content"),
        ({"role": "user", "content": ["hello"]}, "$.messages[0].content[0]"),
        ({"role": "user", "content": [{"text": 1}]}, "$.messages[0].content[0].text"),
        (
            {"role": "user", "content": [{"toolResult": {"content": [{"text": {}}]}}]},
            "$.messages[0].content[0].toolResult.content[0].text",
        ),
        (
            {"role": "user", "content": [{"image": {"format": "png", "source": {"bytes": 1}}}]},
            "$.messages[0].content[0].image.source.bytes",
        ),
    ],
)
def test_a_wrong_shape_is_refused_with_its_path(message, where):
    with pytest.raises(MalformedBody) as caught:
        decoded(message)
    assert caught.value.where == where


def test_a_system_message_among_the_others_stays_one():
    (message,) = decoded({"role": "system", "content": [{"text": "be kind"}]})
    assert message == Message("system", (Text(text="be kind"),))
    assert encode_turn(Turn("developer", message.blocks), TARGET)[0]["role"] == "system"


def test_reasoning_of_an_unknown_kind_stays_as_it_is():
    content = [{"reasoningContent": {"newKind": {"a": 1}}}]
    assert isinstance(blocks(*content)[0], Unknown)
    assert wire(*blocks(*content)) == content


def test_members_that_are_null_are_not_there():
    assert blocks({"text": "a", "image": None}) == [Text(text="a")]

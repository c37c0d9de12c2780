"""Messages and content parts, both ways."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from canonicall import (
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
from canonicall.request import Tool
from canonicall.transcript.turns import Turn
from canonicall.wire.openai_chat.messages import decode_messages, encode_turn
from canonicall.wire.openai_chat.native import lost_marks
from canonicall.wire.openai_chat.target import FORMAT, TARGET

ORIGIN = Origin("openai", FORMAT, model="m")


def decode(*wire: dict, domain: str = "openai"):
    findings: list = []
    messages = list(decode_messages(list(wire), "$.messages", ORIGIN, domain, findings))
    return messages, [(finding.code, finding.where) for finding in findings]


def decoded(wire: dict) -> Message:
    (message,), findings = decode(wire)
    assert findings == []
    return message


def encode(*blocks, role="assistant", target=TARGET, **fields) -> dict:
    (wire,) = encode_turn(Turn(role, blocks, **fields), target)
    return wire


def native(**fields) -> Native:
    return Native(FORMAT, fields)


def thought(text: str, field: str, *opaque: Opaque, **more) -> Thinking:
    return Thinking(text=text, opaque=opaque, native=native(field=field, **more))


# Wire messages with what they mean; each is what its meaning is written as.
PAIRS = {
    "string": ({"role": "user", "content": "Hi"}, Message("user", (Text(text="Hi"),))),
    "developer": (
        {"role": "developer", "content": "Be brief."},
        Message("developer", (Text(text="Be brief."),)),
    ),
    "named": (
        {"role": "user", "content": "Hi", "name": "a"},
        Message("user", (Text(text="Hi"),), native=native(name="a")),
    ),
    "image": (
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "See"},
                {"type": "image_url", "image_url": {"url": "https://x.test/a", "detail": "low"}},
            ],
        },
        Message(
            "user",
            (
                Text(text="See"),
                Media(
                    media_type="image/*",
                    url="https://x.test/a",
                    native=native(image_url={"detail": "low"}),
                ),
            ),
        ),
    ),
    "inline image": (
        {
            "role": "user",
            "content": [
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
            ],
        },
        Message("user", (Media(media_type="image/png", data="aGk="),)),
    ),
    "sound": (
        {
            "role": "user",
            "content": [
                {"type": "input_audio", "input_audio": {"data": "aGk=", "format": "mp3"}},
                {"type": "input_audio", "input_audio": {"data": "aGk=", "format": "wav"}},
            ],
        },
        Message(
            "user",
            (
                Media(media_type="audio/mpeg", data="aGk="),
                Media(media_type="audio/wav", data="aGk="),
            ),
        ),
    ),
    "sound by address": (
        {
            "role": "user",
            "content": [{"type": "audio_url", "audio_url": {"url": "https://x.test/a"}}],
        },
        Message("user", (Media(media_type="audio/*", url="https://x.test/a"),)),
    ),
    "file": (
        {
            "role": "user",
            "content": [
                {
                    "type": "file",
                    "file": {
                        "filename": "a.pdf",
                        "file_data": "data:application/pdf;base64,aGk=",
                    },
                },
                {"type": "file", "file": {"file_id": "file-1"}},
            ],
        },
        Message(
            "user",
            (
                Media(media_type="application/pdf", data="aGk=", name="a.pdf"),
                Media(
                    media_type="application/octet-stream",
                    opaque=(Opaque("openai", "file_id", "file-1"),),
                ),
            ),
        ),
    ),
    "document of Mistral": (
        {
            "role": "user",
            "content": [{"type": "document_url", "document_url": "https://x.test/a.pdf"}],
        },
        Message(
            "user",
            (
                Media(
                    media_type="application/pdf",
                    url="https://x.test/a.pdf",
                    native=native(type="document_url"),
                ),
            ),
        ),
    ),
    "video": (
        {
            "role": "user",
            "content": [{"type": "video_url", "video_url": {"url": "data:video/mp4;base64,aGk="}}],
        },
        Message("user", (Media(media_type="video/mp4", data="aGk="),)),
    ),
    "cache marks": (
        {
            "role": "system",
            "content": [
                {"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}},
                {"type": "text", "text": "b", "cache_control": {"type": "ephemeral", "ttl": "1h"}},
            ],
        },
        Message("system", (Text(text="a", cache="default"), Text(text="b", cache="1h"))),
    ),
    "calls": (
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "call_1",
                    "type": "function",
                    "function": {"name": "f", "arguments": '{"a": 1}'},
                },
                {"id": "call_2", "type": "custom", "custom": {"name": "g", "input": "ls"}},
                {
                    "id": "call_3",
                    "type": "builtin_function",
                    "function": {"name": "$web_search", "arguments": "{}"},
                },
            ],
        },
        Message(
            "assistant",
            (
                ToolCall(id="call_1", name="f", raw='{"a": 1}'),
                ToolCall(id="call_2", name="g", raw="ls", kind="custom"),
                ToolCall(
                    id="call_3",
                    name="$web_search",
                    raw="{}",
                    native=native(type="builtin_function"),
                ),
            ),
            origin=ORIGIN,
        ),
    ),
    "result": (
        {"role": "tool", "tool_call_id": "call_1", "content": "42"},
        Message(
            "tool", (ToolResult(call_id="call_1", content=(Text(text="42"),), is_complete=True),)
        ),
    ),
    "empty result": (
        {"role": "tool", "tool_call_id": "call_1", "content": ""},
        Message("tool", (ToolResult(call_id="call_1", content=(), is_complete=True),)),
    ),
    "result with an image": (
        {
            "role": "tool",
            "tool_call_id": "call_1",
            "content": [
                {"type": "text", "text": "a"},
                {"type": "image_url", "image_url": {"url": "https://x.test/a"}},
            ],
            "cache_control": {"type": "ephemeral"},
        },
        Message(
            "tool",
            (
                ToolResult(
                    call_id="call_1",
                    content=(Text(text="a"), Media(media_type="image/*", url="https://x.test/a")),
                    is_complete=True,
                    cache="default",
                ),
            ),
        ),
    ),
    "refusal": (
        {"role": "assistant", "content": None, "refusal": "No."},
        Message(
            "assistant",
            (Text(text="No.", native=native(refusal=True)),),
            origin=ORIGIN,
            finish="refusal",
        ),
    ),
    "sound of the model": (
        {"role": "assistant", "content": None, "audio": {"id": "audio_1"}},
        Message(
            "assistant",
            (
                Media(
                    media_type="audio/*",
                    opaque=(Opaque("openai", "item_id", "audio_1"),),
                ),
            ),
            origin=ORIGIN,
        ),
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_a_message_means_the_same_in_both_forms(name):
    wire, message = PAIRS[name]
    assert decoded(wire) == message
    turn = Turn(message.role, message.blocks, message.origin, message.native)
    assert encode_turn(turn, TARGET) == [wire]


CHUNK = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm"}]}
DETAILS = [{"type": "reasoning.text", "text": "Hm", "signature": "s", "index": 0}]

REASONING = {
    "reasoning_content": (
        {"content": "Hi", "reasoning_content": "Hm"},
        (thought("Hm", "reasoning_content"), Text(text="Hi")),
    ),
    "reasoning": (
        {"content": "Hi", "reasoning": "Hm"},
        (thought("Hm", "reasoning"), Text(text="Hi")),
    ),
    "reasoning_details": (
        {"content": "Hi", "reasoning_details": DETAILS},
        (
            thought("Hm", "reasoning_details", Opaque("openai", "details", DETAILS)),
            Text(text="Hi"),
        ),
    ),
    "content": (
        {
            "content": [
                {**CHUNK, "signature": "s", "closed": True},
                {"type": "text", "text": "a"},
                CHUNK,
                {"type": "text", "text": "b"},
            ]
        },
        (
            thought("Hm", "content", Opaque("openai", "signature", "s"), closed=True),
            Text(text="a"),
            thought("Hm", "content"),
            Text(text="b"),
        ),
    ),
}


@pytest.mark.parametrize("field", REASONING)
def test_reasoning_stands_in_the_field_of_the_target(field):
    fields, blocks = REASONING[field]
    wire = {"role": "assistant", **fields}
    assert decoded(wire).blocks == blocks
    assert encode(*blocks, target=replace(TARGET, reasoning_field=field)) == wire


@pytest.mark.parametrize("field", REASONING)
def test_reasoning_from_any_field_goes_to_any_other(field):
    blocks = REASONING[field][1]
    target = replace(TARGET, reasoning_field="reasoning_content")
    assert set(encode(*blocks, target=target)["reasoning_content"].split()) == {"Hm"}


def test_details_that_are_not_there_are_left_out():
    target = replace(TARGET, reasoning_field="reasoning_details")
    assert encode(Thinking(text="Hm"), Text(text="Hi"), target=target) == {
        "role": "assistant",
        "content": "Hi",
    }


def test_an_empty_placeholder_for_reasoning_is_written():
    """Some hosts refuse a call without the field, whatever it says."""
    wire = encode(Thinking(text=""), ToolCall(id="c", name="f", args={}))
    assert wire["reasoning_content"] == ""


def test_a_text_and_its_details_are_one_thought():
    wire = {"role": "assistant", "content": "Hi", "reasoning": "Hm", "reasoning_details": DETAILS}
    opaque = Opaque("openrouter", "details", DETAILS)
    (message,), _ = decode(wire, domain="openrouter")
    assert message.blocks[0] == thought("Hm", "reasoning", opaque)


def test_equal_reasoning_in_two_fields_is_one_thought():
    wire = {"role": "assistant", "content": "Hi", "reasoning": "Hm", "reasoning_content": "Hm"}
    assert decoded(wire).blocks == (thought("Hm", "reasoning_content"), Text(text="Hi"))


def test_different_reasoning_in_two_fields_is_reported():
    wire = {"role": "assistant", "content": "Hi", "reasoning": "b", "reasoning_content": "a"}
    (message,), findings = decode(wire)
    assert [block.text for block in message.blocks] == ["a", "b", "Hi"]
    assert findings == [("reasoning_twice", "$.messages[0]")]


def test_a_thinking_chunk_may_hold_more_than_text():
    held = [{"type": "text", "text": "a"}, {"type": "reference", "reference_ids": [1]}]
    wire = {"role": "assistant", "content": [{"type": "thinking", "thinking": held}]}
    (block,) = decoded(wire).blocks
    assert block.text == "a"
    assert encode(block, target=replace(TARGET, reasoning_field="content")) == wire


@pytest.mark.parametrize("content", [None, "", []])
def test_no_content_is_no_block(content):
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    message = decoded({"role": "assistant", "content": content, "tool_calls": [call]})
    assert message.blocks == (ToolCall(id="c", name="f", raw="{}"),)
    assert message == decoded({"role": "assistant", "tool_calls": [call]})


@pytest.mark.parametrize(
    ("rule", "content"), [("null", {"content": None}), ("empty", {"content": ""}), ("omit", {})]
)
def test_what_stands_for_no_text_beside_calls(rule, content):
    target = replace(TARGET, empty_content_beside_calls=rule)
    wire = encode(ToolCall(id="c", name="f", args={}), target=target)
    del wire["tool_calls"]
    assert wire == {"role": "assistant", **content}


def test_a_message_that_says_nothing_at_all_has_a_string():
    assert encode() == {"role": "assistant", "content": ""}


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ({"id": "c", "function": {"name": "f", "arguments": "{}"}}, {"raw": "{}"}),
        (
            {"id": "c", "index": 3, "function": {"name": "f", "arguments": {"a": 1}}},
            {"args": {"a": 1}},
        ),
        ({"id": "c", "function": {"name": "f", "arguments": None}}, {}),
        ({"id": "c", "function": {"name": "f"}}, {}),
        ({"id": None, "function": {"name": "f"}}, {"id": ""}),
        ({"id": "", "function": {"name": "f"}}, {"id": ""}),
        ({"id": "null", "function": {"name": "f"}}, {"id": ""}),
        ({"function": {"name": "f"}}, {"id": ""}),
        (
            {"id": "c", "function": {"name": "f"}, "custom": {"name": "", "input": ""}},
            {},
        ),
        (
            {"id": "c", "function": {"name": "f", "output": None, "x": 1}, "y": 2},
            {"native": native(y=2, function={"x": 1})},
        ),
    ],
)
def test_calls_are_read_as_they_come(call, expected):
    """Hosts leave out types, ids and arguments; only what came is kept."""
    message = decoded({"role": "assistant", "tool_calls": [call]})
    assert message.blocks == (ToolCall(**{"id": "c", "name": "f", **expected}),)


def test_a_legacy_call_and_its_result():
    call = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}
    result = {"role": "function", "name": "f", "content": "42"}
    (asked, answered), findings = decode(call, result)
    (block,) = asked.blocks
    assert (block.id, block.name, block.raw) == ("", "f", "{}")
    assert answered.blocks == (ToolResult(name="f", content=(Text(text="42"),), is_complete=True),)
    assert findings == [
        ("legacy_function", "$.messages[0].function_call"),
        ("legacy_function", "$.messages[1]"),
    ]
    written = encode(replace(block, id="call_1"))
    assert written["tool_calls"] == [
        {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    ]


@pytest.mark.parametrize("empty", [None, {}, {"name": "", "arguments": ""}])
def test_an_empty_legacy_call_is_none(empty):
    assert decoded({"role": "assistant", "content": "a", "function_call": empty}).calls == ()


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        (ToolCall(raw='{"a": 1}', args={"a": 1}), '{"a": 1}'),
        (ToolCall(raw='{"a": 1}'), '{"a": 1}'),
        (ToolCall(args={"a": 1, "é": [None]}), '{"a":1,"é":[null]}'),
        (ToolCall(raw='{"a": 2}', args={"a": 1}), '{"a":1}'),
        (ToolCall(raw="", args={}), "{}"),
        (ToolCall(raw="null", args={}), "{}"),
        (ToolCall(raw="[1]"), "{}"),
        (ToolCall(raw='{"a": '), "{}"),
        (ToolCall(), "{}"),
    ],
)
def test_arguments_are_the_text_of_an_object(call, arguments):
    """DashScope and Ollama refuse anything else in the history."""
    (written,) = encode(call)["tool_calls"]
    assert written["function"]["arguments"] == arguments


def test_a_custom_call_is_a_function_call_where_there_are_none():
    call = ToolCall(id="c", name="g", raw='say "hi"', kind="custom")
    (written,) = encode(call, target=replace(TARGET, custom_tools=False))["tool_calls"]
    assert written["function"] == {"name": "g", "arguments": '{"input":"say \\"hi\\""}'}


def test_a_result_names_its_tool_where_the_target_wants_it():
    result = ToolResult(call_id="c", name="f", content=(Text(text="42"),))
    assert "name" not in encode(result, role="tool")
    named = encode(result, role="tool", target=replace(TARGET, result_names_tool=True))
    assert named == {"role": "tool", "tool_call_id": "c", "name": "f", "content": "42"}


def test_each_result_of_a_turn_is_a_message():
    turn = Turn("tool", (ToolResult(call_id="a", content=()), ToolResult(call_id="b", content=())))
    assert [one["tool_call_id"] for one in encode_turn(turn, TARGET)] == ["a", "b"]


def test_text_is_one_string_where_the_target_wants_it():
    blocks = (Text(text="a", cache="1h"), Text(text="b"))
    assert isinstance(encode(*blocks, role="user")["content"], list)
    target = replace(TARGET, content_as_text=True)
    assert encode(*blocks, role="user", target=target)["content"] == "a\nb"
    image = Media(media_type="image/png", data="aGk=")
    assert len(encode(*blocks, image, role="user", target=target)["content"]) == 3


def test_words_alone_are_one_string():
    blocks = (Summary(text="Before."), Text(text="a"), Code(code="1 + 1", language="python"))
    assert encode(*blocks, role="user")["content"] == "Before.\na\n```python\n1 + 1\n```"


def test_a_mark_that_the_renderer_took_away_is_not_written():
    wire = {"type": "text", "text": "a", "prompt_cache_breakpoint": {"mode": "explicit"}, "x": 1}
    (block,) = decoded({"role": "user", "content": [wire]}).blocks
    (part,) = encode(replace(block, cache=None), role="user")["content"]
    assert part == {"type": "text", "text": "a", "x": 1}


OWN_MARKS = replace(TARGET, cache_marks=4, cache_field="prompt_cache_breakpoint")


@pytest.mark.parametrize(
    ("cache", "mark"),
    [
        ("12h", {"mode": "explicit", "ttl": "12h"}),
        ("default", {"mode": "explicit"}),
        ("1h", {"mode": "explicit"}),
    ],
)
def test_the_target_says_what_a_mark_is_called(cache, mark):
    """OpenAI's own kind knows two lifetimes only; the other kind is read and written as ever."""
    wire = {"type": "text", "text": "a", "prompt_cache_breakpoint": mark}
    assert encode(Text(text="a", cache=cache), role="user", target=OWN_MARKS)["content"] == [wire]
    (block,) = decoded({"role": "user", "content": [wire]}).blocks
    assert block == Text(text="a", cache=mark.get("ttl", "default"))
    (part,) = encode(block, role="user")["content"]
    assert part.keys() == {"type", "text", "cache_control"}


def test_a_mark_for_parts_stands_on_the_last_part_of_a_result():
    result = ToolResult(call_id="a", content=(Text(text="x"), Text(text="y")), cache="default")
    wire = encode(result, role="tool", target=OWN_MARKS)
    mark = {"prompt_cache_breakpoint": {"mode": "explicit"}}
    parts = [{"type": "text", "text": "x"}, {"type": "text", "text": "y", **mark}]
    assert wire == {"role": "tool", "tool_call_id": "a", "content": parts}


def test_a_call_and_an_empty_result_cannot_carry_a_mark_for_parts():
    call = ToolCall(id="a", name="f", args={}, cache="default")
    result = ToolResult(call_id="a", content=(), cache="default")
    assert "prompt_cache_breakpoint" not in str(encode(call, target=OWN_MARKS))
    turns = [Turn("assistant", (Text(text="a", cache="default"), call)), Turn("tool", (result,))]
    lost = lost_marks(turns, [Tool("f", cache="default")], OWN_MARKS)
    assert [one.where for one in lost] == ["turns[0].blocks[1]", "turns[1].blocks[0]", "tools[0]"]
    assert {one.code for one in lost} == {"cache_mark_dropped"}
    assert lost_marks(turns, [], TARGET) == []


MIXED = [
    {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"a": 1}},
    {"type": "text", "text": "Now."},
]


def test_a_call_of_another_format_in_the_content_is_a_call():
    (message,), findings = decode({"role": "assistant", "content": MIXED})
    assert message.blocks == (ToolCall(id="toolu_1", name="f", args={"a": 1}), Text(text="Now."))
    assert findings == [("foreign_part", "$.messages[0].content[0]")]


def test_a_call_in_both_shapes_is_one_call():
    call = {"id": "toolu_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    (message,), findings = decode({"role": "assistant", "content": MIXED, "tool_calls": [call]})
    assert message.blocks == (Text(text="Now."), ToolCall(id="toolu_1", name="f", raw="{}"))
    assert [code for code, _ in findings] == ["foreign_part", "call_twice"]


def test_a_result_of_another_format_in_the_content_is_a_result():
    part = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "42", "is_error": True}
    (message,), findings = decode({"role": "user", "content": [part]})
    content = (Text(text="42"),)
    assert message.blocks == (
        ToolResult(call_id="toolu_1", content=content, error=True, is_complete=True),
    )
    assert findings == [("foreign_part", "$.messages[0].content[0]")]


def test_a_mark_on_a_message_is_behind_its_last_block():
    message = decoded(
        {"role": "user", "content": "a", "cache_control": {"type": "ephemeral", "ttl": "5m"}}
    )
    assert message == Message("user", (Text(text="a", cache="5m"),))


def test_only_the_turn_says_that_it_is_a_prefix():
    wire = {"role": "assistant", "content": "a", "prefix": True}
    message = decoded(wire)
    assert encode(*message.blocks, native=message.native) == {"role": "assistant", "content": "a"}
    assert encode(*message.blocks, native=message.native, prefix=True) == wire
    assert decoded({**wire, "prefix": False}).native is None


def test_native_fields_of_another_format_are_not_written():
    foreign = Native("anthropic", {"x": 1})
    assert encode(Text(text="a", native=foreign), native=foreign) == {
        "role": "assistant",
        "content": "a",
    }


def test_unknown_parts_are_kept_and_reported():
    part = {"type": "hologram", "hologram": {"url": "https://x.test"}}
    (message,), findings = decode({"role": "user", "content": [part]})
    assert message.blocks == (Unknown(native=Native(FORMAT, part)),)
    assert findings == [("unknown_part", "$.messages[0].content[0]")]
    assert encode(*message.blocks, role="user")["content"] == [part]


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image_url"},
        {"type": "image_url", "image_url": {"detail": "low"}},
        {"type": "input_audio", "input_audio": {"format": "mp3"}},
        {"type": "file", "file": {"filename": "a.pdf"}},
        {"type": "file", "file_id": "1"},
    ],
)
def test_media_without_a_source_is_kept_as_it_is(part):
    (message,), findings = decode({"role": "user", "content": [part]})
    assert message.blocks == (Unknown(native=Native(FORMAT, part)),)
    assert findings[0][0] == "unknown_part"


@pytest.mark.parametrize(
    ("part", "media"),
    [
        ({"type": "image_url", "image_url": "https://x.test/a"}, ("image/*", None)),
        ({"type": "input_audio", "input_audio": "aGk="}, ("audio/*", "aGk=")),
        ({"type": "input_audio", "input_audio": "https://x.test/a"}, ("audio/*", None)),
        (
            {"type": "file", "file": {"file_data": "https://x.test/a"}},
            ("application/octet-stream", None),
        ),
        (
            {"type": "file", "file": {"file_data": "aGk=", "filename": "A.PDF"}},
            ("application/pdf", "aGk="),
        ),
        ({"type": "image_url", "image_url": {"url": "data:;base64,aGk="}}, ("image/*", "aGk=")),
        (
            {"type": "image_url", "image_url": {"url": "data:image/png;a=b;base64,aGk="}},
            ("image/png", "aGk="),
        ),
        (
            {"type": "image_url", "image_url": {"url": "data:image/svg+xml,<svg/>"}},
            ("image/*", None),
        ),
    ],
)
def test_other_spellings_of_media(part, media):
    (block,) = decoded({"role": "user", "content": [part]}).blocks
    assert (block.media_type, block.data) == media


def test_images_of_a_model_stand_beside_its_content():
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}
    wire = {"role": "assistant", "content": "Here", "images": [image]}
    message = decoded(wire)
    assert [type(block) for block in message.blocks] == [Text, Media]
    assert encode(*message.blocks) == wire


def test_the_words_of_lost_sound_are_text():
    """A target that cannot read the id gets the transcript."""
    audio = {"id": "audio_1", "data": "aGk=", "transcript": "Hello", "expires_at": 1}
    words, sound = decoded({"role": "assistant", "content": None, "audio": audio}).blocks
    assert encode(words, sound)["audio"] == {"id": "audio_1"}
    assert encode(words) == {"role": "assistant", "content": "Hello"}


@pytest.mark.parametrize("part", ["Hi", {"text": "Hi"}])
def test_text_without_a_type_is_text(part):
    (message,), findings = decode({"role": "user", "content": [part]})
    assert message.blocks == (Text(text="Hi"),)
    assert findings == [("untyped_part", "$.messages[0].content[0]")]


def test_a_refusal_may_be_a_part():
    part = {"type": "refusal", "refusal": "No."}
    message = decoded({"role": "assistant", "content": [part]})
    assert message.finish == "refusal"
    assert encode(*message.blocks) == {"role": "assistant", "content": None, "refusal": "No."}
    assert encode(*message.blocks, role="user")["content"] == [part]


def test_a_call_is_no_content():
    """The renderer never puts one there; if it did, it would not go unseen."""
    with pytest.raises(TypeError, match="ToolCall"):
        encode(ToolCall(id="c", name="f"), role="user")


@pytest.mark.parametrize("role", ["user", "system", "tool"])
def test_missing_content_is_reported(role):
    assert decode({"role": role})[1] == [("missing_content", "$.messages[0]")]


@pytest.mark.parametrize(
    ("message", "where"),
    [
        ("Hi", "$.messages[0]"),
        ({"content": "Hi"}, "$.messages[0].role"),
        ({"role": "narrator", "content": "Hi"}, "$.messages[0].role"),
        ({"role": "user", "content": 1}, "$.messages[0].content"),
        ({"role": "user", "content": [1]}, "$.messages[0].content[0]"),
        (
            {"role": "user", "content": [{"type": "text", "text": 1}]},
            "$.messages[0].content[0].text",
        ),
        ({"role": "user", "content": "a", "cache_control": 1}, "$.messages[0].cache_control"),
        ({"role": "assistant", "tool_calls": {}}, "$.messages[0].tool_calls"),
        ({"role": "assistant", "tool_calls": [1]}, "$.messages[0].tool_calls[0]"),
        ({"role": "assistant", "tool_calls": [{}]}, "$.messages[0].tool_calls[0].function"),
        (
            {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": 1}}]},
            "$.messages[0].tool_calls[0].function.arguments",
        ),
        ({"role": "assistant", "reasoning": 1}, "$.messages[0].reasoning"),
        ({"role": "tool", "content": "a", "tool_call_id": 1}, "$.messages[0].tool_call_id"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_path(message, where):
    with pytest.raises(MalformedBody) as caught:
        decode(message)
    assert caught.value.where == where


WORDS = st.text(min_size=1, max_size=12)
IDS = WORDS.filter(lambda id: id != "null")  # Mistral's SDK writes that where there is none.
TEXTS = st.builds(
    lambda text, cache: Text(text=text, cache=cache),
    WORDS,
    st.sampled_from([None, "default", "1h"]),
)
MEDIA = st.builds(
    lambda kind, data, url, cache: Media(
        media_type=f"{kind}/*" if data is None else f"{kind}/x", data=data, url=url, cache=cache
    ),
    st.sampled_from(["image", "video", "audio"]),
    st.none(),
    st.just("https://x.test/a"),
    st.sampled_from([None, "5m"]),
) | st.builds(
    lambda kind, name: Media(
        media_type=kind, data="aGk=", name=name if kind.startswith("application") else None
    ),
    st.sampled_from(["image/png", "video/mp4", "audio/wav", "audio/mpeg", "application/pdf"]),
    st.none() | WORDS,
)
CALLS = st.builds(
    lambda id, name, raw: ToolCall(id=id, name=name, raw=raw),
    IDS,
    WORDS,
    st.sampled_from(["{}", '{"a": 1}', '{ "b":null }']),
) | st.builds(lambda id, raw: ToolCall(id=id, name="g", raw=raw, kind="custom"), IDS, WORDS)


def _no_adjacent_bare_text(blocks) -> bool:
    """Bare texts in a row are one string on the wire."""
    return len(blocks) < 2 or any(isinstance(b, Media) or b.cache for b in blocks)


CONTENT = st.lists(TEXTS | MEDIA, min_size=1, max_size=3).filter(_no_adjacent_bare_text)
THOUGHTS = st.builds(lambda text: (thought(text, "reasoning_content"),), WORDS) | st.just(())
MESSAGES = (
    st.builds(
        lambda role, blocks: Message(role, tuple(blocks)),
        st.sampled_from(["system", "developer", "user"]),
        CONTENT,
    )
    | st.builds(
        lambda thoughts, blocks, calls: Message(
            "assistant", (*thoughts, *blocks, *calls), origin=ORIGIN
        ),
        THOUGHTS,
        CONTENT | st.just([]),
        st.lists(CALLS, max_size=3),
    )
    | st.builds(
        lambda id, content: Message(
            "tool", (ToolResult(call_id=id, content=tuple(content), is_complete=True),)
        ),
        IDS,
        CONTENT | st.just([]),
    )
)


@given(MESSAGES)
def test_what_is_written_is_read_as_it_was(message):
    """L8 for messages."""
    (wire,) = encode_turn(Turn(message.role, message.blocks), TARGET)
    assert decode(wire)[0] == [message]


@given(MESSAGES)
def test_a_turn_is_written_the_same_every_time(message):
    turn = Turn(message.role, message.blocks)
    assert encode_turn(turn, TARGET) == encode_turn(turn, TARGET)

"""Messages and content parts, both ways."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from canonicall import Code, Media, Message, Native, Summary, Text, ToolCall, ToolResult
from canonicall.errors import MalformedBody
from canonicall.transcript.turns import Turn
from canonicall.wire.openai_chat import TARGET
from canonicall.wire.openai_chat.messages import encode_turn
from wire.openai_chat.forms import ORIGIN, decode, decoded, encode, thought


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
    assert "prompt_cache_breakpoint" not in str(encode(result, role="tool", target=OWN_MARKS))


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

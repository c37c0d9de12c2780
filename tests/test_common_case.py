"""What is taken at a glance is what the careful look would have left alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from canonicall import (
    Media,
    Message,
    Native,
    Opaque,
    Origin,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Unknown,
)
from canonicall.admission import admit, is_plain_message
from canonicall.conform import conform
from canonicall.errors import InvalidValue
from canonicall.testing.strategies import assistant_messages, other_messages, result_messages

ODD = st.sampled_from([None, 0, 1, "x", b"x", "\ud800", [], (), {}, {1: 2}, True, object()])


@given(assistant_messages() | other_messages() | result_messages())
def test_a_plain_message_conforms_as_it_is(message):
    findings = []
    if is_plain_message(message):
        assert conform(message, "m", findings) is message
        assert findings == []


@given(st.data())
def test_odd_values_are_never_taken_for_plain(data):
    """Whatever stands in whichever field: plain means that the careful look finds nothing."""
    block = data.draw(
        st.sampled_from(
            [
                Text(text="x"),
                ToolCall(id="c"),
                ToolResult(call_id="c", content=()),
                Thinking(text="x", opaque=(Opaque("d", "signature", "s"),)),
                Thinking(opaque=(Opaque("d", "signature", data.draw(ODD)),)),
            ]
        )
    )
    field = data.draw(st.sampled_from(block.__struct_fields__))
    changed = type(block)(**{**_fields(block), field: data.draw(ODD)})
    message = Message("assistant", (changed,))
    message_field = data.draw(st.sampled_from(["", *message.__struct_fields__]))
    if message_field:
        message = Message(**{**_fields(message), message_field: data.draw(ODD)})
    if is_plain_message(message):
        findings = []
        assert conform(message, "m", findings) is message
        assert findings == []


@given(assistant_messages() | other_messages() | result_messages())
def test_with_arguments_apart_nothing_else_is_overlooked(message):
    """What is plain but for parsed arguments is plain without them."""
    if is_plain_message(message, args_apart=True):
        bare = (
            replace(one, args=None) if isinstance(one, ToolCall) else one for one in message.blocks
        )
        assert is_plain_message(replace(message, blocks=tuple(bare)))


@pytest.mark.parametrize("args", [{}, {"day": [1]}])
def test_arguments_may_be_left_to_whoever_copies_them(args):
    message = Message("assistant", (ToolCall(id="c", args=args),))
    assert not is_plain_message(message)
    assert is_plain_message(message, args_apart=True)


@pytest.mark.parametrize("args", ["{}", [], 0])
def test_arguments_that_are_no_object_are_looked_at(args):
    assert not is_plain_message(Message("assistant", (ToolCall(args=args),)), args_apart=True)


def test_the_usual_messages_are_plain():
    """Otherwise every message would be looked at twice."""
    origin = Origin("p", format="openai-chat", model="m")
    call = ToolCall(id="c", name="f", raw="{}")
    result = ToolResult(call_id="c", content=(Text(text="größer"),), is_complete=True)
    assert is_plain_message(Message("user", (Text(text="hi"),)))
    assert is_plain_message(Message("assistant", (Text(text="hi"), call), origin=origin))
    assert is_plain_message(Message("tool", (result,)))
    thought = Thinking(text="Hm.", opaque=(Opaque("d", "signature", "s"),))
    assert is_plain_message(Message("assistant", (thought, call), origin=origin))


@pytest.mark.parametrize(
    "block",
    [
        Text(text="x", cache="1h"),
        Text(text="x", native=Native("f", {})),
        Text(text="x", opaque=(Opaque("d", "k", "v"),)),
        Text(text="\ud800"),
        ToolCall(args={}),
    ],
)
def test_what_holds_more_is_looked_at(block):
    assert not is_plain_message(Message("user", (block,)))


@pytest.mark.parametrize(
    "block",
    [
        Media(media_type="image/png", data="aGk="),
        Text(text="\ud800"),
        ToolCall(id="d", name="g", args={"day": "\ud800"}),
        Unknown(native=Native("f", {"a": [1]})),
    ],
)
def test_beside_an_unusual_block_the_plain_ones_are_what_they_were(block):
    """Block by block or as a whole: a message is admitted alike, with the same findings."""
    call = ToolCall(id="c", name="f", raw="{}")
    message = Message("assistant", (Text(text="x"), block, Thinking(text="Hm."), call))
    whole, told = [], []
    entry = conform(message, "entries[0]", whole)
    admitted = admit(message, 0, told)
    assert admitted.blocks[:3] == entry.blocks[:3]
    assert told == whole


def test_a_list_of_blocks_is_looked_at():
    with pytest.raises(InvalidValue):
        conform(Message("user", "text"), "m", [])
    assert not is_plain_message(Message("user", [Text(text="x")]))


def _fields(value):
    return {name: getattr(value, name) for name in value.__struct_fields__}

"""A message read at a glance is the message that the decoder proper reads."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonicall import Origin
from canonicall.errors import MalformedBody
from canonicall.wire.anthropic import messages as decoder
from canonicall.wire.anthropic.usual import usual_message

ORIGIN = Origin("p", format="anthropic", model="m")
odd = st.sampled_from([None, "", "x", "null", 0, True, [], {}, [{"type": "text", "text": "x"}]])
marks = st.just({"type": "ephemeral"})
texts = st.fixed_dictionaries(
    {"type": st.just("text")},
    optional={"text": st.just("words") | odd, "citations": odd, "cache_control": marks},
)
calls = st.fixed_dictionaries(
    {"type": st.just("tool_use")},
    optional={
        "id": st.just("toolu_1") | odd,
        "name": st.just("f") | odd,
        "input": st.just({"day": 1}) | odd,
        "cache_control": marks,
    },
)
results = st.fixed_dictionaries(
    {"type": st.just("tool_result")},
    optional={
        "tool_use_id": st.just("toolu_1") | odd,
        "content": st.lists(texts, max_size=2) | odd,
        "is_error": st.booleans() | odd,
    },
)
thoughts = st.just({"type": "thinking", "thinking": "Hm.", "signature": "s"})
blocks = texts | calls | results | thoughts | odd
wire_messages = st.fixed_dictionaries(
    {
        "role": st.sampled_from(["user", "assistant", "system"]),
        "content": st.lists(blocks, max_size=3) | odd,
    },
    optional={"id": odd},
)


@given(wire_messages)
def test_usual_blocks_beside_unusual_ones_are_read_alike(message):
    assert outcome(quickly, message) == outcome(carefully, message)


@given(wire_messages)
def test_both_read_a_message_alike(message):
    usual = usual_message(message, ORIGIN)
    if usual is None:
        return
    findings = []
    assert carefully(message, findings) == [usual]
    assert findings == []


@pytest.mark.parametrize(
    "message",
    [
        {"role": "user", "content": "Hi."},
        {"role": "assistant", "content": "Hello."},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "done"}],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "toolu_1",
                    "content": [{"type": "text", "text": "no"}, {"type": "text", "text": "such"}],
                    "is_error": True,
                }
            ],
        },
    ],
)
def test_the_usual_messages_are_known(message):
    assert [usual_message(message, ORIGIN)] == carefully(message, [])


def test_a_wrong_type_is_left_to_the_decoder():
    message = {"role": "assistant", "content": {"type": "text"}}
    assert usual_message(message, ORIGIN) is None
    with pytest.raises(MalformedBody):
        carefully(message, [])


def carefully(message, findings):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decoder, "usual_block", lambda block: None)
        return decoder.decode_message(message, "$.messages[0]", ORIGIN, "", findings)


def quickly(message, findings):
    return decoder.decode_message(message, "$.messages[0]", ORIGIN, "", findings)


def outcome(read, message):
    findings = []
    try:
        return read(message, findings), findings
    except MalformedBody as error:
        return str(error)

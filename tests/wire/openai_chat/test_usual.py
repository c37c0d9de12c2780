"""A message read at a glance is the message that the decoder proper reads."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonicall import Origin
from canonicall.errors import MalformedBody
from canonicall.wire.openai_chat import calls as calls_decoder
from canonicall.wire.openai_chat import messages as decoder
from canonicall.wire.openai_chat.usual import usual_message

ORIGIN = Origin("p", format="openai-chat", model="m")
odd = st.sampled_from([None, "", "x", "null", 0, True, [], {}, [{"type": "text", "text": "x"}]])
parts = st.fixed_dictionaries(
    {}, optional={"type": st.sampled_from(["text", "refusal", None]), "text": odd, "more": odd}
)
functions = st.fixed_dictionaries(
    {}, optional={"name": odd, "arguments": st.just("{}") | odd, "description": odd}
)
calls = st.fixed_dictionaries(
    {},
    optional={
        "id": st.just("call_1") | odd,
        "type": st.sampled_from(["function", "custom", None]),
        "function": st.just({"name": "f", "arguments": "{}"}) | functions,
        "index": st.just(0),
    },
)
wire_messages = st.fixed_dictionaries(
    {"role": st.sampled_from(["system", "developer", "user", "assistant", "tool", "function"])},
    optional={
        "content": st.just("words") | odd | st.lists(parts, max_size=2),
        "tool_calls": st.lists(calls, max_size=2) | odd,
        "tool_call_id": st.just("call_1") | odd,
        "name": odd,
        "reasoning_content": odd,
        "refusal": odd,
        "cache_control": st.just({"type": "ephemeral"}),
    },
)


@given(wire_messages)
def test_usual_calls_of_unusual_messages_are_read_alike(message):
    assert outcome(quickly, message) == outcome(carefully, message)


@given(wire_messages)
def test_both_read_a_message_alike(message):
    usual = usual_message(message, ORIGIN)
    if usual is None:
        return
    findings = []
    assert carefully(message, findings) == usual
    assert findings == []


@pytest.mark.parametrize(
    "message",
    [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hi."},
        {"role": "assistant", "content": "Hello."},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
            ],
        },
        {"role": "tool", "tool_call_id": "c", "content": "done"},
        {"role": "tool", "tool_call_id": "c", "name": "f", "content": "done"},
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "Hello."}]},
        {"role": "assistant", "content": ""},
    ],
)
def test_the_usual_messages_are_known(message):
    assert usual_message(message, ORIGIN) == carefully(message, [])


def test_a_wrong_type_is_left_to_the_decoder():
    message = {"role": "assistant", "content": None, "tool_calls": {"id": "c"}}
    assert usual_message(message, ORIGIN) is None
    with pytest.raises(MalformedBody):
        carefully(message, [])


def carefully(message, findings):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(calls_decoder, "usual_call", lambda call: None)
        return decoder.decode_message(message, "$", ORIGIN, "", findings)


def quickly(message, findings):
    return decoder.decode_message(message, "$", ORIGIN, "", findings)


def outcome(read, message):
    findings = []
    try:
        return read(message, findings), findings
    except MalformedBody as error:
        return str(error)

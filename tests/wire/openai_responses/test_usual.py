"""An item read at a glance is the item that the decoder proper reads."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonicall import Origin
from canonicall.errors import MalformedBody
from canonicall.wire.openai_responses import messages as decoder
from canonicall.wire.openai_responses.messages import decode_input
from canonicall.wire.openai_responses.usual import usual_item

ORIGIN = Origin("p", format="openai-responses", model="m")
odd = st.sampled_from([None, "", "x", "null", 0, True, [], {}])
parts = st.fixed_dictionaries(
    {"type": st.sampled_from(["input_text", "output_text", "text", "refusal"])},
    optional={"text": st.just("words") | odd, "annotations": odd},
)
texts = st.lists(parts, max_size=2)
roles = st.sampled_from(["user", "assistant", "system", "developer"])
words = st.fixed_dictionaries(
    {"role": roles, "content": st.just("words") | texts | odd},
    optional={"type": st.just("message"), "id": st.just("msg_1"), "status": odd},
)
calls = st.fixed_dictionaries(
    {"type": st.sampled_from(["function_call", "custom_tool_call"])},
    optional={
        "call_id": st.just("call_1") | odd,
        "name": st.just("f") | odd,
        "arguments": st.just("{}") | odd,
        "id": st.just("fc_1"),
        "status": st.sampled_from(["completed", "incomplete"]),
    },
)
outputs = st.fixed_dictionaries(
    {"type": st.just("function_call_output")},
    optional={
        "call_id": st.just("call_1") | odd,
        "output": st.just("done") | texts | odd,
        "id": st.just("fco_1"),
    },
)
inputs = st.lists(words | calls | outputs, max_size=5)


@given(inputs)
def test_both_read_an_input_alike(items):
    assert outcome(quickly, items) == outcome(carefully, items)


@pytest.mark.parametrize(
    "item",
    [
        {"role": "user", "content": "Hi."},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi."}]},
        {"role": "assistant", "content": "Hello."},
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "done"},
    ],
)
def test_the_usual_items_are_known(item):
    assert usual_item(item) is not None
    assert quickly([item]) == carefully([item])


def quickly(items):
    return decode_input(items, origin=ORIGIN, domain="d")


def carefully(items):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decoder, "usual_item", lambda item: None)
        return quickly(items)


def outcome(read, items):
    try:
        return read(items)
    except MalformedBody as error:
        return str(error)

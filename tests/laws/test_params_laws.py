"""Whatever parameters a request has, no model is sent one that it is known to refuse."""

from hypothesis import given
from hypothesis import strategies as st

from canonicall import Conversation, Tool, decode_request, encode_request, verify
from canonicall.facts.registry import get_target
from canonicall.request import Params, Reasoning, Request
from laws.test_thinking_laws import ASKED, TARGETS

LOOK = Tool("look", "Looks.", {"type": "object", "properties": {}})
SAMPLED = st.builds(
    Params,
    max_tokens=st.none() | st.integers(1, 50_000),
    temperature=st.none() | st.sampled_from((0, 0.2, 0.6, 1, 1.0, 1.5)),
    top_p=st.none() | st.sampled_from((0.1, 0.95, 1)),
    top_k=st.none() | st.integers(1, 40),
    stop=st.lists(st.sampled_from(("END", "\n", "x" * 80)), max_size=2, unique=True).map(tuple),
    seed=st.none() | st.integers(0, 2**31 - 1),
    reasoning=st.none() | ASKED,
)


@given(SAMPLED, st.sampled_from(TARGETS), st.booleans())
def test_no_model_is_sent_what_it_refuses(params, name, has_tools):
    """And what was fitted once, is not changed when it is read and sent again."""
    conversation = Conversation()
    conversation.user("Hello?")
    request = Request(conversation, (LOOK,) if has_tools else (), params=params)
    target = get_target(name)
    encoded = encode_request(request, target)
    assert list(verify(encoded.body, target)) == []
    read = decode_request(encoded.body, target.format, provider=target.provider)
    assert encode_request(read, target).data == encoded.data


def test_tools_and_thinking_together_are_among_them():
    told = Params(reasoning=Reasoning(enabled=True, effort="high"), temperature=0.2)
    conversation = Conversation()
    conversation.user("Hello?")
    made = encode_request(Request(conversation, (LOOK,), params=told), "openai:gpt-5.6")
    assert made.body["reasoning_effort"] == "none"
    assert made.body["temperature"] == 0.2
    assert not verify(made.body, "openai")

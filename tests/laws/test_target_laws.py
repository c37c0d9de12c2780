"""Laws over whole request bodies, for every provider there is a profile for."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from canonicall.codec import decode_request, encode_request
from canonicall.providers.registry import get_target, provider_names
from canonicall.request import Request, Tool
from canonicall.verify import verify

from strategies import conversations

PROVIDERS = sorted(provider_names())
TOOLS = tuple(
    Tool(name, "A tool.", {"type": "object", "properties": {}}) for name in ("f", "g", "read_file")
)
every_provider = pytest.mark.parametrize("provider", PROVIDERS)


def violations(body, target):
    return [(one.code, one.where) for one in verify(body, target)]


@every_provider
@settings(max_examples=40)
@given(conversations, st.booleans())
def test_any_conversation_renders_and_verifies_clean(provider, conversation, with_tools):
    """L1: however damaged the conversation is, the independent judge finds nothing."""
    target = get_target(provider)
    request = Request(conversation, tools=TOOLS if with_tools else (), model="model")
    encoded = encode_request(request, target)
    assert violations(encoded.body, target) == []


@every_provider
@settings(max_examples=15)
@given(conversations)
def test_equal_input_gives_equal_bytes(provider, conversation):
    """L3."""
    one = encode_request(Request(conversation, tools=TOOLS, model="m"), provider)
    other = encode_request(Request(conversation.fork(), tools=TOOLS, model="m"), provider)
    assert one.data == other.data


@every_provider
@settings(max_examples=40)
@given(conversations)
def test_reading_a_rendered_body_and_rendering_it_again_gives_the_same_bytes(
    provider, conversation
):
    """L5: a body that was repaired needs no further repair."""
    target = get_target(provider)
    first = encode_request(Request(conversation, tools=TOOLS, model="m"), target)
    again = decode_request(first.data, target.format, provider=provider)
    second = encode_request(again, target)
    assert second.data == first.data

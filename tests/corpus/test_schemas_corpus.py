"""Recorded lists of tools: what a provider accepted is sent to it again byte for byte, and every
list becomes one that every other provider is known to take."""

from functools import cache

import msgspec
import pytest

from canonicall import Conversation, Policy, Request, decode_request, encode_request, verify
from canonicall.errors import MalformedBody
from canonicall.providers.registry import find_profile, get_target, provider_names
from canonicall.transcript.schemas import fitted_tools
from canonicall.wire.formats import FORMATS, get_format
from corpus.support import needs_corpus, recorded

pytestmark = needs_corpus
PROTOCOLS = {
    "openai-chat": "openai-chat",
    "openai-responses": "openai-responses",
    "anthropic": "anthropic-messages",
    "gemini": "gemini-generate",
    "bedrock": "bedrock-converse",
    "cohere": "cohere-v2",
    "ollama": "ollama-chat",
}


@cache
def lists(format):
    """Each different list of tools that was accepted, with the provider that did."""
    found = {}
    for record in recorded(PROTOCOLS[format]):
        if record["status"] != 200 or not record["request"]:
            continue
        try:
            tools = decode_request(record["request"], format).tools
        except MalformedBody:
            continue
        provider = record["provider"]
        if tools:
            found.setdefault((provider, msgspec.json.encode(tools)), tools)
    return [(provider, tools) for (provider, _), tools in found.items()]


def home(provider, format):
    """The target that accepted a list: the provider's, if there is a profile, else the format's."""
    profile = find_profile(provider)
    known = profile is not None and format in profile.formats
    return get_target(f"{provider}/{format}") if known else get_format(format).target


@pytest.mark.parametrize("format", FORMATS)
def test_what_a_provider_accepted_is_not_touched(format):
    found = lists(format)
    assert len(found) > 5
    for provider, tools in found:
        fitted, findings = fitted_tools(tools, home(provider, format).schemas, Policy())
        assert (fitted is tools, [str(one) for one in findings]) == (True, []), provider


@pytest.mark.parametrize("target", sorted(provider_names()))
def test_every_list_becomes_one_that_is_taken(target):
    goal = get_target(target)
    chat = Conversation()
    chat.user("Go.")
    distinct = {
        msgspec.json.encode(tools): tools for format in FORMATS for _, tools in lists(format)
    }
    for tools in distinct.values():
        body = encode_request(Request(chat, tools=tools), goal).body
        assert [str(one) for one in verify(body, goal) if one.code == "bad_tool_schema"] == []

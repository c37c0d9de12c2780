"""What outside judges look at: bodies from three sources, the same ones for every target.

A judge is a function from a body to the lines that say what is wrong with it, in its own words.
What a judge refuses today is known by a pattern over such lines, with the reason. It is left out of
the tests that must pass and has a test of its own that must fail, until the cause is gone.
"""

import re
from functools import cache

from hypothesis import strategies as st
from msgspec.structs import replace

from canonicall import Conversation
from canonicall.codec.decode import decode_request
from canonicall.codec.encode import encode_request
from canonicall.request import Params, Request, Tool
from canonicall.testing.strategies import conversations
from corpus.support import FORMATS, every_record
from scenarios.test_provider_switch_matrix import PROVIDERS, TOOLS, speak

MISSING = "the SDK is not installed: pip install 'canonicall[judges]'"
_SMALL_TOOLS = tuple(
    Tool(name, "A tool.", {"type": "object", "properties": {}}) for name in ("f", "g", "read_file")
)

damaged_requests = st.builds(
    lambda conversation, tools, limit: Request(
        conversation, tools=tools, model="model", params=Params(max_tokens=limit)
    ),
    conversations(),
    st.sampled_from([(), _SMALL_TOOLS]),
    st.sampled_from([None, 100]),
)


@cache
def switched_requests():
    """After each provider had its turn: the conversation so far, and one more question."""
    conversation = Conversation()
    made = []
    for turn, provider in enumerate(PROVIDERS):
        speak(conversation, provider, turn)
        stage = conversation.fork()
        stage.user("Go on.")
        made.append((provider, Request(stage, tools=TOOLS, model="model")))
    return made


def _uses_tools(record):
    return record["has_tool_calls"] or record["has_tool_results"]


@cache
def recorded_requests():
    """Recorded requests of every protocol that a provider accepted and that use tools."""
    made = []
    for record in every_record():
        format = FORMATS.get(record["protocol"])
        if format and record["request"] and record["status"] == 200 and _uses_tools(record):
            request = decode_request(record["request"], format)
            if request.continues is None:  # The rest of a delta is on its own provider's server.
                made.append((record["id"], replace(request, model="model")))
    return made


def refusals(judge, requests, target, known=()):
    """What the judge has against the bodies of named requests, except what is known."""
    return [
        (name, line)
        for name, request in requests
        for line in judge(encode_request(request, target).body)
        if not any(re.search(pattern, line) for pattern in known)
    ]


@cache
def _all_recorded(judge, target):
    return refusals(judge, recorded_requests(), target)


def recorded_refusals(judge, target, known=()):
    """The same, over all that is recorded."""
    assert len(recorded_requests()) > 2000
    return [
        (name, line)
        for name, line in _all_recorded(judge, target)
        if not any(re.search(pattern, line) for pattern in known)
    ]

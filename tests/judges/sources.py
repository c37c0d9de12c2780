"""Where the bodies come from that outside judges look at: three sources, the same for every target.

A judge is a function from a body to the list of what is wrong with it, in the judge's own words.
"""

import json
import os
from functools import cache
from itertools import islice
from pathlib import Path

from hypothesis import strategies as st
from msgspec.structs import replace

from canonicall import Conversation
from canonicall.codec import decode_request, encode_request
from canonicall.request import Params, Request, Tool

from scenarios.test_provider_switch_matrix import PROVIDERS, TOOLS, speak
from strategies import conversations

CORPUS = os.environ.get("CANONICALL_CORPUS")
NO_CORPUS = "CANONICALL_CORPUS does not name the folder of recorded traffic"
EVERY = 5
"""One recorded conversation of this many is judged: the same ones in every run."""

_FORMATS = {
    "openai-chat": "openai-chat",
    "openai-responses": "openai-responses",
    "anthropic-messages": "anthropic",
    "gemini-generate": "gemini",
    "bedrock-converse": "bedrock",
    "cohere-v2": "cohere",
    "ollama-chat": "ollama",
}
_SMALL_TOOLS = tuple(
    Tool(name, "A tool.", {"type": "object", "properties": {}}) for name in ("f", "g", "read_file")
)

damaged_requests = st.builds(
    lambda conversation, tools, limit: Request(
        conversation, tools=tools, model="model", params=Params(max_tokens=limit)
    ),
    conversations,
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
    for path in sorted(Path(CORPUS).glob("*.jsonl")):
        records = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        fit = (
            record
            for record in records
            if record["protocol"] in _FORMATS
            and record["request"]
            and record["status"] == 200
            and _uses_tools(record)
        )
        for record in islice(fit, 0, None, EVERY):
            request = decode_request(record["request"], _FORMATS[record["protocol"]])
            made.append((record["id"], replace(request, model=request.model or "model")))
    return made


def refusals(judge, requests, target):
    """What the judge has against the bodies of named requests, by name."""
    judged = ((name, judge(encode_request(request, target).body)) for name, request in requests)
    return {name: wrong for name, wrong in judged if wrong}

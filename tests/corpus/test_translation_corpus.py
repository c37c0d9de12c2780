"""Recorded conversations travel to every other provider and pass the judge there."""

import json
import os
from functools import cache
from pathlib import Path

import pytest

from canonicall.codec import decode_request, encode_request
from canonicall.providers.registry import get_target, provider_names
from canonicall.verify import verify

from bodies import one_of_each

CORPUS = os.environ.get("CANONICALL_CORPUS")
FORMATS = {
    "openai-chat": "openai-chat",
    "openai-responses": "openai-responses",
    "anthropic-messages": "anthropic",
    "gemini-generate": "gemini",
    "bedrock-converse": "bedrock",
    "cohere-v2": "cohere",
    "ollama-chat": "ollama",
}
pytestmark = pytest.mark.skipif(
    CORPUS is None, reason="CANONICALL_CORPUS does not name the folder of recorded traffic"
)
GOALS = one_of_each({name: get_target(name) for name in sorted(provider_names())})


@cache
def recorded():
    """Accepted requests that use tools."""
    requests = []
    for path in sorted(Path(CORPUS).glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            format = FORMATS.get(record["protocol"])
            wanted = (
                record["has_tool_results"] or record["has_tool_calls"] or record["has_thinking"]
            )
            if format and record["request"] and record["status"] == 200 and wanted:
                requests.append((record["id"], decode_request(record["request"], format)))
    assert len(requests) > 500
    return requests


@pytest.mark.parametrize("target", GOALS if CORPUS else [])
def test_every_recorded_tool_conversation_is_valid_for(target):
    goal = GOALS[target]
    refused = [
        (id, one.code, one.where)
        for id, request in recorded()
        for one in verify(encode_request(request, goal).body, goal)
    ]
    assert refused == []

"""Recorded traffic: where it is, and how it is read. It is no part of the repository."""

import json
from functools import cache

from canonicall import StateElsewhere, encode_request
from components import component, needs

needs_corpus = needs("corpus")
FORMATS = {
    "openai-chat": "openai-chat",
    "openai-responses": "openai-responses",
    "anthropic-messages": "anthropic",
    "gemini-generate": "gemini",
    "bedrock-converse": "bedrock",
    "cohere-v2": "cohere",
    "ollama-chat": "ollama",
}
"""What the protocol of a record is called here."""
PROTOCOLS = {format: protocol for protocol, format in FORMATS.items()}


def recorded(protocol):
    """Every record of a protocol. They are shared by all tests, and not to be changed."""
    return [record for record in every_record() if record["protocol"] == protocol]


def requests(protocol):
    """The records of a protocol that have the body of a request."""
    return [record for record in recorded(protocol) if isinstance(record["request"], dict)]


def responses(protocol):
    """The records whose reply is one whole body."""
    return [one for one in recorded(protocol) if one["framing"] == "json" and one["status"] == 200]


def errors(protocol):
    """The records that were answered with an error."""
    return [one for one in recorded(protocol) if one["framing"] == "json" and one["status"] != 200]


@cache
def every_record():
    """Every record of every protocol, read once."""
    paths = sorted(component("corpus").glob("*.jsonl"))
    return [json.loads(line) for path in paths for line in path.read_text("utf-8").splitlines()]


def encoded_for(request, target):
    """The request for a target; None where it continues what the target does not keep."""
    try:
        return encode_request(request, target)
    except StateElsewhere:
        assert request.continues is not None
        return None


def arguments_in(raw):
    """The arguments of a call; the text itself where it is no JSON."""
    try:
        return json.loads(raw or "{}") or {}
    except ValueError:
        return raw

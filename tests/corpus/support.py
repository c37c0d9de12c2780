"""Recorded traffic: where it is, and how it is read. It is no part of the repository."""

import json
import os
from pathlib import Path

import pytest

CORPUS = os.environ.get("CANONICALL_CORPUS", "")
needs_corpus = pytest.mark.skipif(
    not CORPUS, reason="CANONICALL_CORPUS does not name the folder of recorded traffic"
)
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
    """Every record of a protocol."""
    lines = (line for line in _lines() if f'"{protocol}"' in line)
    return (record for record in map(json.loads, lines) if record["protocol"] == protocol)


def every_record():
    """Every record of every protocol, in one pass."""
    return map(json.loads, _lines())


def _lines():
    for path in sorted(Path(CORPUS).glob("*.jsonl")) if CORPUS else ():
        yield from path.read_text("utf-8").splitlines()


def each(records, size=50):
    """A test for each record, run in groups: thousands of tests cost more than what they test."""

    def decorate(test):
        def run(records):
            for record in records:
                try:
                    test(record)
                except AssertionError as error:
                    raise AssertionError(f"{record['id']}: {error}") from error

        run.__doc__ = test.__doc__
        run.__name__ = test.__name__
        groups = [records[at : at + size] for at in range(0, len(records), size)]
        ids = [f"from {at}" for at in range(0, len(records), size)]
        return pytest.mark.parametrize("records", groups, ids=ids)(run)

    return decorate


def arguments_in(raw):
    """The arguments of a call; the text itself where it is no JSON."""
    try:
        return json.loads(raw or "{}") or {}
    except ValueError:
        return raw

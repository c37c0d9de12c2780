"""Requests as the gateway tells of them."""

from canonicall.gateway.served import Begun, Served


def begun(**fields):
    return Begun(**{"id": "r1", "front": "anthropic", "action": "generate", "model": "m", **fields})


def served(*, of=None, **fields):
    known = {"status": 200, "target": "openai:gpt-5", "attempts": 1, "seconds": 2.0}
    return Served(begun=of or begun(), **{**known, **fields})

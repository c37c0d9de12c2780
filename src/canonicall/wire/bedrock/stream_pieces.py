"""A whole Converse block as what a stream says of it: its start, where it has one, and deltas."""

from typing import Any

import msgspec

from canonicall.wire.carried import set_fields

_DELTAS = {"toolUse": ("input",), "toolResult": ("content",), "image": ("source", "error")}
"""The kinds of block that have a start, and the fields that are not in it."""


def start_of(block: dict[str, Any]) -> dict[str, Any]:
    """The `start` of a block, nothing for those that have none."""
    return {
        kind: set_fields(member, _DELTAS[kind]) for kind, member in block.items() if kind in _DELTAS
    }


def deltas_of(block: dict[str, Any]) -> list[dict[str, Any]]:
    """The deltas of a block. One of a kind that has no delta is written as it is."""
    return [delta for kind, member in block.items() for delta in _deltas(kind, member)]


def _deltas(kind: str, member: Any) -> list[dict[str, Any]]:
    match kind, member:
        case "toolUse", _:
            given = member.get("input") or {}
            text = given if isinstance(given, str) else msgspec.json.encode(given).decode()
            return [{kind: {"input": text}}]
        case "toolResult", _:
            return [{kind: member["content"]}] if member.get("content") else []
        case "image", _:
            return [{kind: {name: member[name] for name in _DELTAS[kind] if name in member}}]
        case "reasoningContent", {"reasoningText": dict(thought)}:
            return [{kind: {name: piece}} for name, piece in thought.items()]
        case "citationsContent", _:
            cited = [{"citation": citation} for citation in member.get("citations") or ()]
            return [*(member.get("content") or ()), *cited]
        case _:
            return [{kind: member}]

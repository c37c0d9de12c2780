"""A whole content block as the stream has it: how it starts, and the deltas that make it whole.

What a client shows or parses as it comes (words, thoughts, input, citations, summaries) is in
deltas, as the API sends it: clients are known to overlook it in the start of a block.
"""

from typing import Any

import msgspec

_INPUTS = ("tool_use", "server_tool_use", "mcp_tool_use")
_SUMMARY = ("content", "encrypted_content")


def start_and_deltas(wire: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The content block that starts, and what is added to it."""
    match wire.get("type"):
        case "text":
            return wire | {"text": "", "citations": None}, _text(wire)
        case "thinking":
            return wire | {"thinking": "", "signature": ""}, _thinking(wire)
        case kind if kind in _INPUTS:
            text = msgspec.json.encode(wire.get("input") or {}).decode()
            return wire | {"input": {}}, [{"type": "input_json_delta", "partial_json": text}]
        case "compaction":
            said = {name: wire[name] for name in _SUMMARY if wire.get(name) is not None}
            rest = {name: value for name, value in wire.items() if name not in _SUMMARY}
            return rest | {"content": None}, [{"type": "compaction_delta", **said}] if said else []
        case _:
            return wire, []


def _text(wire: dict[str, Any]) -> list[dict[str, Any]]:
    words = [{"type": "text_delta", "text": wire["text"]}] if wire["text"] else []
    cited = wire.get("citations") or []
    return words + [{"type": "citations_delta", "citation": one} for one in cited]


def _thinking(wire: dict[str, Any]) -> list[dict[str, Any]]:
    deltas = []
    if wire["thinking"]:
        deltas.append({"type": "thinking_delta", "thinking": wire["thinking"]})
    if wire.get("signature"):
        deltas.append({"type": "signature_delta", "signature": wire["signature"]})
    return deltas

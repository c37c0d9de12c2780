"""Which session a request belongs to: what its client says, else how its conversation begins."""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import msgspec

from canonicall.gateway.exchange import HttpRequest

# What clients send of themselves: Codex CLI, Claude Code, opencode, and gateways.
_HEADERS = (
    "x-session-id",
    "session_id",
    "session-id",
    "x-claude-code-session-id",
    "conversation-id",
)
_FIELDS = ("prompt_cache_key", "session_id", "safety_identifier")
_MARKS = frozenset({"cache_control", "prompt_cache_breakpoint"})
_WRITTEN_MARKS = tuple(f'"{mark}":'.encode() for mark in sorted(_MARKS))
_TURNS = ("messages", "input", "contents")
_SYSTEM = ("system", "instructions", "systemInstruction", "system_instruction")


def session_of(request: HttpRequest, body: Mapping[str, Any], caller: str) -> str:
    """A key that stays the same while a conversation goes on."""
    named = _named(request, body)
    if not named:
        begin = [body.get(name) for name in _SYSTEM]
        turns = next((body[name] for name in _TURNS if body.get(name)), None)
        begin.append(_first_turns(turns))
        written = msgspec.json.encode(begin, order="deterministic")
        if any(mark in written for mark in _WRITTEN_MARKS):
            written = msgspec.json.encode(_unmarked(begin), order="deterministic")
        named = sha256(written).hexdigest()[:32]
    return f"{caller}|{named}"


def is_within_turn(body: Mapping[str, Any]) -> bool:
    """Whether a request gives results of calls: who made them is bound to answer."""
    turns = next((body[name] for name in _TURNS if body.get(name)), None)
    last = turns[-1] if isinstance(turns, list) and turns else None
    if not isinstance(last, dict):
        return False
    if last.get("role") in ("tool", "function") or str(last.get("type")).endswith("_output"):
        return True
    parts = next((last[name] for name in ("content", "parts") if name in last), None)
    return isinstance(parts, list) and any(map(_is_result, parts))


def _is_result(part: Any) -> bool:
    if not isinstance(part, dict):
        return False
    return str(part.get("type")).endswith("tool_result") or "functionResponse" in part


def _named(request: HttpRequest, body: Mapping[str, Any]) -> str:
    for header in _HEADERS:
        if request.headers.get(header):
            return request.headers[header][:200]
    metadata = body.get("metadata")
    found = metadata.get("user_id") if isinstance(metadata, dict) else None
    for value in (*(body.get(name) for name in _FIELDS), found):
        if isinstance(value, str) and value:
            return value[:200]
    return ""


def _first_turns(turns: Any) -> Any:
    """What does not change when a conversation grows: up to its first turn of the user."""
    if not isinstance(turns, list):
        return turns
    kept = []
    for turn in turns[:8]:
        kept.append(turn)
        if isinstance(turn, dict) and turn.get("role") not in ("system", "developer"):
            break
    return kept


def _unmarked(value: Any) -> Any:
    """Without cache marks: clients take them off the first turn and put them on later ones."""
    if isinstance(value, list):
        return [_unmarked(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {name: _unmarked(one) for name, one in value.items() if name not in _MARKS}

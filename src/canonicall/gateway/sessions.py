"""Sessions: which one a request belongs to, and what is known of it.

A session is what its client calls it, else how its conversation begins. What is known of it is who
answers in the place of its own choice, and what was read and rendered of its conversation, so that
a request costs what is new in it. Both are conveniences: another worker, or this one after a
restart, makes the same bytes, and asks the session's own choice first.
"""

from collections import OrderedDict
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Protocol

import msgspec

from canonicall.client.encoder import Renderings
from canonicall.codec.rereading import Rereader
from canonicall.conversation import Conversation
from canonicall.facts.target import Target
from canonicall.gateway.exchange import HttpRequest
from canonicall.transcript.render import Renderer

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
_MOST_SWITCHED = 20_000
_SWITCHED_SECONDS = 3600.0
_MOST_REMEMBERED = 256
_MOST_BYTES = 32 * 1024 * 1024
"""Of request bodies; what is made of them takes several times as much."""
_TARGETS_KEPT = 3
_SYSTEM = ("system", "instructions", "systemInstruction", "system_instruction")


class Sessions(Protocol):
    """What the gateway remembers of sessions. Nothing here waits: an implementation that several
    machines share answers from its own copy, and exchanges what it hears in the background."""

    def took_over(self, session: str, target: Target, now: float) -> None:
        """`target` answered in the place of the session's own choice."""
        ...

    def first(
        self, session: str, chain: tuple[Target, ...], now: float, *, is_bound: bool = False
    ) -> tuple[Target, ...]:
        """`chain` with the target that the session has got used to before the others. `is_bound`:
        in the middle of a turn, which it keeps to its end."""
        ...

    def remembered(self, session: str, format: str, size: int) -> "Remembered":
        """What was read and rendered of a session; its request now has `size` bytes."""
        ...


class Remembered(Renderings):
    """One session: what was read of it, and what was made of that for its targets."""

    def __init__(self, format: str) -> None:
        super().__init__()
        self.reader = Rereader(format)
        self.size = 0
        self._renderers: OrderedDict[Target, Renderer] = OrderedDict()
        self._last: Renderer | None = None

    def _renderer(self, conversation: Conversation, target: Target) -> Renderer:
        """The one renderer of a target: it finds out itself what it knows of a conversation."""
        del conversation
        last = self._last
        if last is not None and last.target is target:
            # Nearly always; to look a target up takes a while.
            return last
        found = self._last = self._renderers.pop(target, None) or Renderer(target)
        self._renderers[target] = found
        if len(self._renderers) > _TARGETS_KEPT:
            self._renderers.popitem(last=False)
        return found


class LocalSessions:
    """Fits `Sessions`: those that one process has served lately."""

    def __init__(self) -> None:
        self._switched: OrderedDict[str, tuple[Target, float]] = OrderedDict()
        """Who answers, and until when."""
        self._remembered: OrderedDict[tuple[str, str], Remembered] = OrderedDict()
        self._size = 0

    def took_over(self, session: str, target: Target, now: float) -> None:
        """`target` answered in the place of the session's own choice."""
        self._switched[session] = (target, now + _SWITCHED_SECONDS)
        self._switched.move_to_end(session)
        if len(self._switched) > _MOST_SWITCHED:
            self._switched.popitem(last=False)

    def first(
        self, session: str, chain: tuple[Target, ...], now: float, *, is_bound: bool = False
    ) -> tuple[Target, ...]:
        """`chain` with the target that the session has got used to before the others. `is_bound`:
        in the middle of a turn, which it keeps to its end."""
        target, until = self._switched.get(session, (None, 0.0))
        if target is None or target not in chain:
            return chain
        if until < now and not is_bound:
            del self._switched[session]
            return chain
        return (target, *(one for one in chain if one != target))

    def remembered(self, session: str, format: str, size: int) -> Remembered:
        """What was read and rendered of a session; its request now has `size` bytes."""
        key = (session, format)
        found = self._remembered.pop(key, None) or Remembered(format)
        self._remembered[key] = found
        self._size += size - found.size
        found.size = size
        while len(self._remembered) > _MOST_REMEMBERED or (
            self._size > _MOST_BYTES and len(self._remembered) > 1
        ):
            _, gone = self._remembered.popitem(last=False)
            self._size -= gone.size
        return found


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

"""How much of a body goes on: its texts, calls and results against those that were understood.

In: a body as it came, and the request that was read from it. Out: nothing, or a `MostlyUnread`. A
decoder takes what it knows and keeps or leaves out the rest. If that is more than half of what was
said, the body is in another form than the decoder expects, and what is left of it is no longer the
conversation.

What came is counted in the JSON itself, in every place in which some format has content, because a
decoder cannot count what it does not see. Reasoning, media, and what a provider runs itself are not
counted, nor are results that are set aside (orphans, duplicates): each of them has a finding. An
item of a list counts as one at most. Three steps, so that requests that are understood cost next to
nothing: a request whose messages all have content and no fields that were left over is not looked
at; then the most that there can be is compared; the last step looks at every item.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from canonicall.blocks import Message, Summary, Text, ToolCall, ToolResult, Unknown
from canonicall.errors import MostlyUnread
from canonicall.facts.target import Target
from canonicall.findings import Action, Fault, Finding, Report
from canonicall.lookalikes import TITLES
from canonicall.request import Request
from canonicall.transcript.fields import takes_part
from canonicall.transcript.opening import summary_text
from canonicall.wire.reading import parse_json

TEXT, CALL, RESULT = "texts", "calls", "results"
_HISTORIES = ("messages", "contents", "input")
_INSTRUCTIONS = ("system", "instructions", "systemInstruction", "system_instruction")
_CONTENT = ("content", "parts", "text", "value", "contents", "message", "data", "body", "blocks")
"""Fields in which a message has content, in some format or program."""
_ODD = frozenset(_CONTENT[1:])
"""Those among them that most formats do not have."""
_CALL_TYPES = ("tool_use", "function_call", "custom_tool_call", "tool_call", "tool-call")
_CALL_FIELDS = ("functionCall", "function_call", "toolUse", "tool_use")
_RESULT_TYPES = (
    *("tool_result", "function_call_output", "custom_tool_call_output", "tool-result"),
    "function_response",
)
_RESULT_FIELDS = ("functionResponse", "function_response", "toolResult", "tool_result")
_RESULT_ROLES = ("tool", "function")
_THOUGHTS = ("thinking", "reasoning", "thought", "redacted_thinking")
_DEPTH = 3
"""How many objects deep content is looked for inside of a message."""
_SET_ASIDE = ("orphan_result", "duplicate_result", "conflicting_result", "late_result")
_MARKS = {
    **dict.fromkeys(("parts", "functionCall", "functionResponse"), "gemini"),
    **dict.fromkeys(("toolUse", "toolResult"), "bedrock"),
    **dict.fromkeys(("tool_use", "tool_result"), "anthropic"),
    **dict.fromkeys(
        ("function_call", "function_call_output", "input_text", "output_text"), "openai-responses"
    ),
    **dict.fromkeys(("tool_calls", "tool_call_id"), "openai-chat"),
}
"""Fields and types by which a format can be recognised in a single message."""


def refuse_loss(
    body: dict[str, Any], request: Request, format: str, target: Target | None = None
) -> None:
    """Raise `MostlyUnread` if less than half of what is in `body` was understood.

    `body` was read as `format`. Parts that were kept unread count as well, unless there is a
    `target` that does not get them.
    """
    if is_plain(body, request):
        return
    went = sum(
        _sent_of(block, target) if type(block) is Unknown else type(block) in _UNDERSTOOD
        for message in request.conversation.messages
        for block in message.blocks
    )
    if 2 * went >= _most(body):
        return
    came = Counter(kind for _, _, kind in _items(body))
    aside = sum(one.code in _SET_ASIDE for one in request.conversation.report)
    came[RESULT] = max(came[RESULT] - aside, 0)
    total = came.total()
    if 2 * max(went - aside, 0) >= total:
        return
    raise MostlyUnread(
        max(went - aside, 0),
        total,
        counted=", ".join(
            f"{count} {kind if count > 1 else kind.removesuffix('s')}"
            for kind, count in came.items()
            if count
        ),
        format=format,
        seen=_seen(body, format),
    )


def refuse_unsent(request: Request, report: Report, target: Target) -> None:
    """Raise `MostlyUnread` if less than half of the body of `request` is sent to `target`.

    `report` says what was done for this target: only parts that it does not get make a difference
    to what was read. A request that was not read from a body is never refused.
    """
    if report.findings and request.source is not None and "block_dropped" in report:
        body = parse_json(request.source.given, [])
        refuse_loss(body, request, request.source.format, target)


def with_empty_reported(request: Request) -> Request:
    """`request`, with a finding if there is no message in it."""
    if request.conversation.entries or request.continues is not None:
        return request
    why = "The request has no messages: there is nothing to answer."
    finding = Finding("no_messages", "$", Action.KEPT, why, Fault.INPUT)
    return replace(request, findings=(*request.findings, finding))


_UNDERSTOOD = (Text, Summary, ToolCall, ToolResult)


def _sent_of(block: Unknown, target: Target | None) -> int:
    """How much is in a part that was not understood and is kept for the target, as far as that is
    known; at least 1, also where it holds nothing that is counted."""
    native = block.native
    if native is None:
        return 1
    if target is not None and not takes_part(native, None, target):
        return 1 if summary_text(block) else 0
    return max(1, sum(1 for _ in _said(native.fields)))


def is_plain(body: dict[str, Any], request: Request) -> bool:
    """Whether every message was read as a whole, as far as its decoder can see."""
    entries = request.conversation.entries
    came = 0
    for name in _HISTORIES:
        if name in body and type(body[name]) is list:
            came += len(body[name])
    if 2 * len(entries) < came or not entries:
        return False
    for entry in entries:
        if type(entry) is not Message or entry.native is not None or not entry.blocks:
            return False
        if Unknown in map(type, entry.blocks):
            return False
    return True


def _most(body: dict[str, Any]) -> float:
    """At least as many as there are in `body`, found without looking into them."""
    most: float = 0
    for name in _INSTRUCTIONS:
        if name in body:
            most += _most_at(body[name])
    for name in _HISTORIES:
        history = body.get(name)
        if type(history) is not list:
            most += _most_at(history)
            continue
        for message in history:
            if type(message) is not dict or not _ODD.isdisjoint(message):
                most += _most_in(message)
                continue
            content = message.get("content")
            if type(content) is str:
                most += 1
            else:
                most += _most_at(content) or "type" in message
            if "tool_calls" in message:
                most += _most_at(message["tool_calls"])
    return most


def _most_at(value: Any) -> float:
    if type(value) is list:
        return len(value)
    return 0 if value is None else 1 if type(value) is str else _MANY


_MANY = float("inf")
"""More than anybody can tell without looking."""


def _most_in(message: Any) -> float:
    """As `_most`, for a message that has content in other fields, as Gemini's have."""
    if type(message) is str:
        return 1
    if type(message) is not dict or message.keys() - {"role", "parts"}:
        return _MANY
    return _most_at(message.get("parts"))


def _items(body: dict[str, Any]) -> Iterator[tuple[str, Any, str]]:
    """Every text, call and result in `body`: its path, itself, what it is."""
    for name in _INSTRUCTIONS:
        given = body.get(name)
        for value in given if isinstance(given, list) else [given]:
            yield from ((f"$.{name}", value, kind) for kind in _within(value, 0))
    for name in _HISTORIES:
        history = body.get(name)
        for index, message in enumerate(history if isinstance(history, list) else [history]):
            yield from ((f"$.{name}[{index}]", message, kind) for kind in _said(message))


def _said(message: Any) -> Iterator[str]:
    """What one message, or one item, holds."""
    if isinstance(message, dict) and message.get("role") not in _RESULT_ROLES:
        calls = message.get("tool_calls")
        if isinstance(calls, list):
            yield from (CALL for call in calls if isinstance(call, dict))
    yield from _within(message, 0)


def _within(value: Any, depth: int) -> Iterator[str]:
    """What a message, or an object in the place of one, holds."""
    kind = _kind(value)
    if kind:
        yield kind
    elif isinstance(value, dict) and depth < _DEPTH and not _is_thought(value):
        for name in _CONTENT:
            held = value.get(name)
            if isinstance(held, list):
                yield from filter(None, map(_kind, held))
            elif isinstance(held, str):
                yield from filter(None, (_kind(held),))
            else:
                yield from _within(held, depth + 1)


def _kind(item: Any) -> str:
    """What an item of a list is, "" for something that is not counted."""
    if isinstance(item, str):
        return "" if item.isspace() or not item else TEXT
    if not isinstance(item, dict):
        return ""
    type = item.get("type")
    if type in _CALL_TYPES or any(item.get(name) for name in _CALL_FIELDS):
        return CALL
    if type in _RESULT_TYPES or any(item.get(name) for name in _RESULT_FIELDS):
        return RESULT
    if item.get("role") in _RESULT_ROLES and "content" in item:
        return RESULT
    text = item.get("text")
    is_said = isinstance(text, str) and text and not text.isspace() and not _is_thought(item)
    return TEXT if is_said and "content" not in item else ""


def _is_thought(item: dict[str, Any]) -> bool:
    return item.get("type") in _THOUGHTS or bool(item.get("thought"))


def _seen(body: dict[str, Any], format: str) -> str:
    """What the messages look like, in a sentence."""
    first = ""
    marks: Counter[str] = Counter()
    for where, message, _ in _items(body):
        if isinstance(message, dict):
            found = {_MARKS[mark] for mark in _marks_in(message)} - {format}
            marks.update(found)
            if not first and (found or not _ODD.isdisjoint(message)):
                first = f"{where} has the fields {', '.join(map(str, list(message)[:6]))}"
    likely = marks.most_common(1)
    if likely:
        other = likely[0][0]
        return f"{first}, as in a request of {TITLES[other]} ({other!r})."
    return f"{first}." if first else ""


def _marks_in(message: dict[str, Any]) -> Iterator[str]:
    """The marks in a message and in its parts."""
    parts = [
        one
        for name in _CONTENT[:2]
        if isinstance(message.get(name), list)
        for one in message[name]
        if isinstance(one, dict)
    ]
    for one in (message, *parts):
        yield from (name for name in one if name in _MARKS)
        if isinstance(one.get("type"), str) and one["type"] in _MARKS:
            yield one["type"]

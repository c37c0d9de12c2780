"""The usual message, read at a glance.

Nearly every message of a request has a role, words, and perhaps calls, and nothing beside. Such a
message is read here in a few steps; for every other one the answer is None, and the decoder proper
looks at each field. Both read a message alike, whatever it is: that is a law with a test.
"""

from typing import Any

from canonicall.blocks import Message, Origin, Text, ToolCall, ToolResult

_WORDS_FIELDS = {"role", "content"}
_REPLY_FIELDS = {"role", "content", "tool_calls"}
_RESULT_FIELDS = {"role", "content", "tool_call_id"}
_CALL_FIELDS = {"id", "type", "function"}
_FUNCTION_FIELDS = {"name", "arguments"}


def usual_message(message: dict[str, Any], origin: Origin) -> Message | None:
    """The message if there is nothing unusual about it."""
    words = message.get("content")
    match message.get("role"):
        case "assistant" if message.keys() <= _REPLY_FIELDS:
            return _usual_reply(words, message.get("tool_calls"), origin)
        case "tool" if words and message.keys() == _RESULT_FIELDS:
            return _usual_result(words, message["tool_call_id"])
        case "user" | "system" | "developer" as role if words and message.keys() == _WORDS_FIELDS:
            return Message(role, (Text(text=words),)) if words.__class__ is str else None
    return None


def _usual_reply(words: Any, calls: Any, origin: Origin) -> Message | None:
    if words is not None and words.__class__ is not str:
        return None
    blocks: list[Text | ToolCall] = [Text(text=words)] if words else []
    if calls is not None:
        if calls.__class__ is not list:
            return None
        for value in calls:
            call = _usual_call(value)
            if call is None:
                return None
            blocks.append(call)
    return Message("assistant", tuple(blocks), origin=origin)


def _usual_call(value: Any) -> ToolCall | None:
    if value.__class__ is not dict or value.keys() != _CALL_FIELDS or value["type"] != "function":
        return None
    function = value["function"]
    if function.__class__ is not dict or function.keys() != _FUNCTION_FIELDS:
        return None
    id, name, raw = value["id"], function["name"], function["arguments"]
    if id.__class__ is not str or name.__class__ is not str or raw.__class__ is not str:
        return None
    return None if id == "null" else ToolCall(id=id, name=name, raw=raw)


def _usual_result(words: Any, id: Any) -> Message | None:
    if words.__class__ is not str or id.__class__ is not str or id == "null":
        return None
    return Message("tool", (ToolResult(call_id=id, content=(Text(text=words),), is_complete=True),))

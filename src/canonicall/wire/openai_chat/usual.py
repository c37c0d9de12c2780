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
_NAMED_RESULT_FIELDS = {*_RESULT_FIELDS, "name"}
_PART_FIELDS = {"type", "text"}
_CALL_FIELDS = {"id", "type", "function"}
_FUNCTION_FIELDS = {"name", "arguments"}


def usual_message(message: dict[str, Any], origin: Origin) -> Message | None:
    """The message if there is nothing unusual about it."""
    content = message.get("content")
    words = _usual_words(content) if content else ()
    if words is None:
        return None
    match message.get("role"):
        case "assistant" if message.keys() <= _REPLY_FIELDS and (words or content in (None, "")):
            return _usual_reply(words, message.get("tool_calls"), origin)
        case "tool" if words and message.keys() == _RESULT_FIELDS:
            return _usual_result(words, message["tool_call_id"], "")
        case "tool" if words and message.keys() == _NAMED_RESULT_FIELDS:
            return _usual_result(words, message["tool_call_id"], message["name"])
        case "user" | "system" | "developer" as role if words and message.keys() == _WORDS_FIELDS:
            return Message(role, words)
    return None


def _usual_words(content: Any) -> tuple[Text, ...] | None:
    """Words in a string, or in parts that are nothing but words."""
    if content.__class__ is str:
        return (Text(text=content),)
    if content.__class__ is not list:
        return None
    words: list[Text] = []
    for part in content:
        is_text = part.__class__ is dict and part.keys() == _PART_FIELDS and part["type"] == "text"
        if not is_text or part["text"].__class__ is not str:
            return None
        words.append(Text(text=part["text"]))
    return tuple(words)


def _usual_reply(words: tuple[Text, ...], calls: Any, origin: Origin) -> Message | None:
    blocks: list[Text | ToolCall] = [*words]
    if calls is not None:
        if calls.__class__ is not list:
            return None
        for value in calls:
            call = usual_call(value)
            if call is None:
                return None
            blocks.append(call)
    return Message("assistant", tuple(blocks), origin=origin)


def usual_call(value: Any) -> ToolCall | None:
    """The call if there is nothing unusual about it."""
    if value.__class__ is not dict or value.keys() != _CALL_FIELDS or value["type"] != "function":
        return None
    function = value["function"]
    if function.__class__ is not dict or function.keys() != _FUNCTION_FIELDS:
        return None
    id, name, raw = value["id"], function["name"], function["arguments"]
    if id.__class__ is not str or name.__class__ is not str or raw.__class__ is not str:
        return None
    return None if id == "null" else ToolCall(id=id, name=name, raw=raw)


def _usual_result(words: tuple[Text, ...], id: Any, name: Any) -> Message | None:
    if id.__class__ is not str or id == "null" or name.__class__ is not str:
        return None
    result = ToolResult(call_id=id, content=words, is_complete=True, name=name)
    return Message("tool", (result,))

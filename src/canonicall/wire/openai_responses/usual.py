"""The usual item of an input, read at a glance.

Nearly every item is words, a call or its output, with no more fields than it needs. Such an item is
read here in a few steps; for every other one the answer is None, and the decoder proper looks at
each field. Both read an item alike, whatever it is: that is a law with a test.
"""

from typing import Any

from canonicall.blocks import Message, Text, ToolCall, ToolResult

_WORDS_FIELDS = ({"role", "content"}, {"type", "role", "content"})
_TEXT_FIELDS = {"type", "text"}
_CALL_FIELDS = {"type", "call_id", "name", "arguments"}
_OUTPUT_FIELDS = {"type", "call_id", "output"}


def usual_item(item: dict[str, Any]) -> Message | None:
    """A message of what the item holds, if there is nothing unusual about it."""
    match item.get("type", "message"):
        case "function_call" if item.keys() == _CALL_FIELDS:
            id, name, raw = item["call_id"], item["name"], item["arguments"]
            if id.__class__ is name.__class__ is raw.__class__ is str and id != "null":
                return Message("assistant", (ToolCall(id=id, name=name, raw=raw),))
        case "function_call_output" if item.keys() == _OUTPUT_FIELDS:
            id, words = item["call_id"], item["output"]
            if id.__class__ is words.__class__ is str and id != "null" and words:
                content = (Text(text=words),)
                return Message("tool", (ToolResult(call_id=id, content=content, is_complete=True),))
        case "message" if item.keys() in _WORDS_FIELDS:
            return _usual_words(item["role"], item["content"])
    return None


def _usual_words(role: Any, content: Any) -> Message | None:
    if content.__class__ is list and len(content) == 1 and content[0].__class__ is dict:
        part = content[0]
        is_text = part.keys() == _TEXT_FIELDS and part["type"] in ("input_text", "output_text")
        content = part["text"] if is_text else None
    if content.__class__ is not str:
        return None
    match role:
        case "user" | "assistant" | "system" | "developer":
            return Message(role, (Text(text=content),))
    return None

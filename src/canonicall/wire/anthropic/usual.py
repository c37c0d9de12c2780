"""The usual message, read at a glance.

Nearly every message of a request holds words and calls, or nothing but results, and no block has
more than its own fields. Such a message is read here in a few steps; for every other one the answer
is None, and the decoder proper looks at each field. Both read a message alike, whatever it is: that
is a law with a test.
"""

from typing import Any

from canonicall.blocks import Block, Message, Origin, Text, ToolCall, ToolResult

_MESSAGE_FIELDS = {"role", "content"}
_TEXT_FIELDS = {"type", "text"}
_REPLIED_TEXT_FIELDS = {*_TEXT_FIELDS, "citations"}
_CALL_FIELDS = {"type", "id", "name", "input"}
_RESULT_FIELDS = {"type", "tool_use_id", "content"}
_TOLD_RESULT_FIELDS = {*_RESULT_FIELDS, "is_error"}


def usual_message(message: Any, origin: Origin) -> Message | None:
    """The message if there is nothing unusual about it."""
    if message.__class__ is not dict or message.keys() != _MESSAGE_FIELDS:
        return None
    blocks = _usual_blocks(message["content"])
    if blocks is None:
        return None
    match message["role"]:
        case "assistant":
            return Message("assistant", blocks, origin=origin)
        case "user":
            kinds = set(map(type, blocks))
            if ToolResult not in kinds:
                return Message("user", blocks)
            if len(kinds) == 1:
                return Message("tool", blocks)
    return None


def _usual_blocks(content: Any) -> tuple[Block, ...] | None:
    if content.__class__ is str:
        return (Text(text=content),)
    if content.__class__ is not list:
        return None
    blocks: list[Block] = []
    for value in content:
        block = usual_block(value)
        if block is None:
            return None
        blocks.append(block)
    return tuple(blocks)


def usual_block(block: Any) -> Block | None:
    """The block if there is nothing unusual about it."""
    if block.__class__ is not dict:
        return None
    match block.get("type"):
        case "text":
            return _usual_text(block)
        case "tool_use" if block.keys() == _CALL_FIELDS:
            id, name, args = block["id"], block["name"], block["input"]
            if id.__class__ is name.__class__ is str and args.__class__ is dict and id != "null":
                return ToolCall(id=id, name=name, args=args)
        case "tool_result" if block.keys() == _RESULT_FIELDS:
            return _usual_result(block["tool_use_id"], block["content"], False)
        case "tool_result" if block.keys() == _TOLD_RESULT_FIELDS:
            return _usual_result(block["tool_use_id"], block["content"], block["is_error"])
    return None


def _usual_texts(content: Any) -> tuple[Text, ...] | None:
    if content.__class__ is str:
        return (Text(text=content),)
    if content.__class__ is not list:
        return None
    texts: list[Text] = []
    for value in content:
        is_text = value.__class__ is dict and value.get("type") == "text"
        text = _usual_text(value) if is_text else None
        if text is None:
            return None
        texts.append(text)
    return tuple(texts)


def _usual_text(block: dict[str, Any]) -> Text | None:
    is_usual = block.keys() == _TEXT_FIELDS or (
        block.keys() == _REPLIED_TEXT_FIELDS and block["citations"] is None
    )
    if not is_usual or block["text"].__class__ is not str:
        return None
    return Text(text=block["text"])


def _usual_result(id: Any, content: Any, error: Any) -> ToolResult | None:
    if id.__class__ is not str or id == "null" or error.__class__ is not bool:
        return None
    parts = _usual_texts(content) if content else None
    if parts is None:
        return None
    return ToolResult(call_id=id, content=parts, error=error, is_complete=True)

"""What was said, in the form that the GenAI conventions have for it.

Source: gen-ai-input-messages.json, gen-ai-output-messages.json and gen-ai-system-instructions.json
of the semantic conventions 1.41.0: messages of typed parts, as JSON text.
"""

from collections.abc import Iterable
from typing import Any

import msgspec

from canonicall.blocks import (
    Block,
    Code,
    Media,
    Message,
    Summary,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

_INSTRUCTIONS = ("system", "developer")


def input_messages(messages: Iterable[Message]) -> str:
    """What the model reads, without its instructions."""
    told = [_message(one) for one in messages if one.role not in _INSTRUCTIONS]
    return as_json(told)


def system_instructions(messages: Iterable[Message]) -> str:
    """The instructions; empty where there are none."""
    parts = [_part(block) for one in messages if one.role in _INSTRUCTIONS for block in one.blocks]
    return as_json(parts) if parts else ""


def output_messages(message: Message) -> str:
    """What the model said."""
    return as_json([{**_message(message), "finish_reason": message.finish}])


def as_json(value: Any) -> str:
    """JSON text of any value; what has no JSON is told in words."""
    return msgspec.json.encode(value, enc_hook=repr).decode()


def result_content(result: ToolResult) -> Any:
    """What a tool gave: text, or the parts of it."""
    content = result.content or ()
    if all(isinstance(block, Text) for block in content):
        return result.text
    return [_part(block) for block in content]


def _message(message: Message) -> dict[str, Any]:
    return {"role": message.role, "parts": [_part(block) for block in message.blocks]}


def _part(block: Block) -> dict[str, Any]:
    match block:
        case Text() | Summary() | Code():
            return {
                "type": "text",
                "content": block.code if isinstance(block, Code) else block.text,
            }
        case Thinking():
            return {"type": "reasoning", "content": block.text}
        case ToolCall():
            arguments = block.raw if block.args is None else block.args
            return {"type": "tool_call", "id": block.id, "name": block.name, "arguments": arguments}
        case ToolResult():
            response = result_content(block)
            return {"type": "tool_call_response", "id": block.call_id, "response": response}
        case Media():
            return _media(block)
        case _:
            return {"type": "unknown"}


def _media(media: Media) -> dict[str, Any]:
    family = media.media_type.partition("/")[0]
    modality = family if family in ("image", "video", "audio") else "document"
    told = {"modality": modality, "mime_type": media.media_type}
    if media.url is not None:
        return {"type": "uri", **told, "uri": media.url}
    return {"type": "blob", **told, "content": media.data or ""}

"""Reasoning items, both ways.

A thought is readable as a summary, as full text, or not at all; what replays it is its encrypted
content or, where the provider stores responses, its id.
"""

from typing import Any

from canonicall.blocks import Thinking
from canonicall.wire.carried import opaque_of, opaque_value, with_rest
from canonicall.wire.openai_responses.fields import (
    ENCRYPTED,
    ITEM_ID,
    native_of,
    opaque_id,
    own_fields,
    rest_of,
)
from canonicall.wire.reading import list_at, object_at, text_at

BETWEEN_PARTS = "\n\n"
"""What stands between the parts of a thought where it is one text."""
_KNOWN = ("id", "summary", "content", "encrypted_content")


def decode_reasoning(item: dict[str, Any], where: str, domain: str) -> Thinking:
    """The thought in a reasoning item."""
    summary = list_at(item.get("summary"), f"{where}.summary")
    content = list_at(item.get("content"), f"{where}.content")
    text = _joined(summary, f"{where}.summary") or _joined(content, f"{where}.content")
    fields = rest_of(item, *_KNOWN)
    if content:
        fields |= {"summary": summary, "content": content}
    elif summary != _summary(text):
        fields["summary"] = summary
    encrypted = text_at(item.get("encrypted_content"), f"{where}.encrypted_content")
    return Thinking(
        text=text,
        opaque=(*opaque_of(domain, ENCRYPTED, encrypted), *opaque_id(item, where, domain)),
        native=native_of(fields),
    )


def encode_reasoning(block: Thinking, *, in_full: bool = False) -> dict[str, Any]:
    """The reasoning item for a thought; `in_full`: bare text is the thought, not its summary."""
    item: dict[str, Any] = {"type": "reasoning"}
    id = opaque_value(block, ITEM_ID)
    if id is not None:
        item["id"] = id
    rest = own_fields(block.native)
    if "summary" in rest or "content" in rest:
        item["summary"] = rest.get("summary", [])
    elif in_full:
        item |= {"summary": [], "content": [{"type": "reasoning_text", "text": block.text}]}
    else:
        item["summary"] = _summary(block.text)
    encrypted = opaque_value(block, ENCRYPTED)
    if encrypted is not None:
        item["encrypted_content"] = encrypted
    return with_rest(item, rest)


def _summary(text: str) -> list[dict[str, Any]]:
    return [{"type": "summary_text", "text": text}] if text else []


def _joined(parts: list[Any], where: str) -> str:
    texts = (
        text_at(object_at(part, f"{where}[{index}]").get("text"), f"{where}[{index}].text")
        for index, part in enumerate(parts)
    )
    return BETWEEN_PARTS.join(texts)

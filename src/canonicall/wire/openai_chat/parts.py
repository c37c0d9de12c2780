"""Content: a string or a list of parts on the wire, blocks in canonical form."""

from collections.abc import Iterable
from typing import Any, TypeGuard

from canonicall.blocks import (
    Block,
    Code,
    Media,
    Native,
    ResultContent,
    Summary,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Unknown,
)
from canonicall.errors import MalformedBody
from canonicall.facts.target import Target
from canonicall.findings import Action, Fault, Finding
from canonicall.wire.foreign_parts import foreign_part, unread_part
from canonicall.wire.openai_chat import FORMAT, TARGET
from canonicall.wire.openai_chat.media import MEDIA_PARTS, decode_media, encode_media
from canonicall.wire.openai_chat.native import (
    HINT,
    decode_mark,
    native_rest,
    own_fields,
    part_mark,
    with_rest,
)
from canonicall.wire.openai_chat.reasoning import (
    CHUNK,
    decode_thinking_chunk,
    encode_thinking_chunk,
    instructing_chunk,
)
from canonicall.wire.reading import id_at, kind_of, object_at, text_at
from canonicall.wire.writing import fenced

REFUSED = Native(FORMAT, {"refusal": True})
"""Marks the text of a refusal."""


def decode_content(
    content: Any, where: str, domain: str, findings: list[Finding]
) -> tuple[Block, ...]:
    """The blocks of a message's content."""
    if content is None:
        return ()
    if isinstance(content, str):
        return (Text(text=content),)
    if not isinstance(content, list):
        raise MalformedBody(f"expected text or a list, got {kind_of(content)}.", where=where)
    return tuple(
        decode_part(part, f"{where}[{index}]", domain, findings)
        for index, part in enumerate(content)
    )


def decode_result_content(
    content: Any, where: str, domain: str, findings: list[Finding]
) -> tuple[ResultContent, ...]:
    """The content of a tool message; an empty string is no content."""
    blocks = decode_content(None if content == "" else content, where, domain, findings)
    return tuple(
        (Text(text=block.text) if isinstance(block, Text) and is_refusal(block) else block)
        if isinstance(block, (Text, Media, Unknown))
        else Unknown(native=Native(FORMAT, content[index]))
        for index, block in enumerate(blocks)
    )


def decode_part(part: Any, where: str, domain: str, findings: list[Finding]) -> Block:
    """One part of a content list."""
    if isinstance(part, str) or (
        isinstance(part, dict) and "type" not in part and isinstance(part.get("text"), str)
    ):
        why = "The part does not say its type; it is read as text."
        findings.append(Finding("untyped_part", where, Action.CHANGED, why, Fault.INPUT))
        part = {"type": "text", **({"text": part} if isinstance(part, str) else part)}
    part = object_at(part, where)
    match part.get("type"):
        case "text":
            return _decode_text(part, where)
        case "refusal":
            return Text(text=text_at(part.get("refusal"), f"{where}.refusal"), native=REFUSED)
        case "thinking":
            return decode_thinking_chunk(part, where, domain)
        case "tool_use" | "tool_result":
            return _decode_foreign(part, where, domain, findings)
        case kind if kind in MEDIA_PARTS:
            media = decode_media(part, where, domain)
            return media or unread_part("", part, where, findings)
        case _:
            found = foreign_part(part, where, findings)
            return found or unread_part(FORMAT, part, where, findings)


def encode_content(blocks: Iterable[Block], target: Target) -> str | list[dict[str, Any]]:
    """A string where there is nothing but words, else a list of parts."""
    blocks = tuple(blocks)
    if len(blocks) == 1 and is_bare_text(blocks[0]):
        return blocks[0].text
    if all(_is_text(block) and _is_bare(block, target) for block in blocks):
        return "\n".join(_words(block) for block in blocks)
    return [encode_part(block, target) for block in blocks]


def encode_part(block: Block, target: Target = TARGET) -> dict[str, Any]:
    """One part of a content list."""
    match block:
        case Unknown(native=Native(fields=fields)):
            return fields
        case Text(text=text) if is_refusal(block):
            return {"type": "refusal", "refusal": text}
        case Text(text=text) if (chunk := instructing_chunk(block)) is not None:
            has_chunks = target.reasoning_field == "content"
            part = chunk if has_chunks else {"type": "text", "text": text}
            return part | part_mark(block.cache, target)
        case Thinking():
            return encode_thinking_chunk(block)
        case Media():
            return with_rest(encode_media(block, target), block) | part_mark(block.cache, target)
        case _:
            part = with_rest({"type": "text", "text": _words(block)}, block)
            return part | part_mark(block.cache, target)


def is_bare_text(block: Block) -> TypeGuard[Text]:
    """Whether a block is words and nothing else."""
    return type(block) is Text and block.native is None and block.cache is None


def is_refusal(block: Block) -> bool:
    return isinstance(block, Text) and own_fields(block.native).get("refusal") is True


def _decode_text(part: dict[str, Any], where: str) -> Text:
    text = text_at(part.get("text"), f"{where}.text")
    native = native_rest(part, ("type", "text"))
    return Text(text=text, cache=decode_mark(part, where), native=native)


def _decode_foreign(
    part: dict[str, Any], where: str, domain: str, findings: list[Finding]
) -> ToolCall | ToolResult:
    """A call or a result as Anthropic writes it: clients that speak both formats mix them up."""
    kind = part["type"]
    why = f"A part of type {kind} is of another format; it is read as what it says."
    findings.append(Finding("foreign_part", where, Action.CHANGED, why, Fault.INPUT))
    if kind == "tool_use":
        return ToolCall(
            id=id_at(part.get("id"), f"{where}.id"),
            name=text_at(part.get("name"), f"{where}.name"),
            args=object_at(part.get("input") or {}, f"{where}.input"),
            cache=decode_mark(part, where),
        )
    return ToolResult(
        call_id=id_at(part.get("tool_use_id"), f"{where}.tool_use_id"),
        content=decode_result_content(part.get("content"), f"{where}.content", domain, findings),
        is_complete=True,
        error=part.get("is_error") is True,
        cache=decode_mark(part, where),
    )


def _is_text(block: Block) -> bool:
    return isinstance(block, (Text, Summary, Code))


def _is_bare(block: Block, target: Target) -> bool:
    """Whether a string says all of a text: a chunk is one where the target has them."""
    if target.content_as_text:
        return True
    said = {HINT} if target.reasoning_field == "content" else {HINT, CHUNK}
    return block.cache is None and not (own_fields(block.native).keys() - said)


def _words(block: Block) -> str:
    match block:
        case Text(text=text) | Summary(text=text):
            return text
        case Code():
            return fenced(block)
        case _:
            raise TypeError(f"{type(block).__name__} is not content of a chat message")

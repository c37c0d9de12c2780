"""Content that messages and tool results both hold: text, images, documents, search results.

A search result is text to every other format; here it keeps its own form as long as its text is
unchanged. A block type canonicall has no word for stays whole.
"""

from typing import Any, TypeGuard

from msgspec.structs import replace

from canonicall.blocks import Block, Code, Media, Native, Opaque, Summary, Text, Unknown
from canonicall.findings import Finding
from canonicall.wire.anthropic.extras import (
    FORMAT,
    decode_cache,
    decode_rest,
    own_fields,
    with_extras,
    without_mark,
)
from canonicall.wire.anthropic.media import decode_media, encode_media
from canonicall.wire.foreign_parts import foreign_part, unread_part
from canonicall.wire.reading import objects_at, text_at
from canonicall.wire.writing import words_of


def decode_part(
    block: dict[str, Any], where: str, domain: str, findings: list[Finding]
) -> Text | Media | Unknown:
    """A block that says or shows something."""
    match block.get("type"):
        case "text":
            return _decode_text(block, where, domain)
        case "image" | "document" if "source" in block:
            media = decode_media(block, where, domain)
            return media or unread_part("", block, where, findings)
        case "search_result":
            text = _search_text(block, where)
            native = Native(FORMAT, {"search_result": without_mark(block)})
            return Text(text=text, cache=decode_cache(block, where), native=native)
        case _:
            found = foreign_part(block, where, findings)
            if found is not None:
                return replace(found, cache=decode_cache(block, where))
            if block.get("type") in ("image", "document") or not isinstance(block.get("type"), str):
                return unread_part("", block, where, findings)
            native = Native(FORMAT, without_mark(block))
            return Unknown(cache=decode_cache(block, where), native=native)


def encode_part(block: Text | Media | Code | Summary | Unknown) -> dict[str, Any]:
    """The wire form of such a block."""
    match block:
        case Text():
            return _encode_text(block)
        case Media():
            return encode_media(block)
        case Summary() | Code():
            return with_extras({"type": "text", "text": words_of(block)}, cache=block.cache)
        case Unknown():
            return with_extras({}, cache=block.cache, native=block.native)


def is_plain_text(block: Block) -> TypeGuard[Text | Summary | Code]:
    """Whether `block` is words and nothing else, so that a string says all of it."""
    if type(block) not in (Text, Summary, Code):
        return False
    return not (block.cache or block.opaque or (block.native and own_fields(block.native)))


def is_search_result(block: Block) -> bool:
    """Whether a text is written as a search result."""
    return isinstance(block, Text) and "search_result" in own_fields(block.native)


def _decode_text(block: dict[str, Any], where: str, domain: str) -> Text:
    citations = [one for one, _ in objects_at(block.get("citations"), f"{where}.citations")]
    # Citations of web search carry an encrypted index, which only their issuer can read.
    is_sealed = any("encrypted_index" in one for one in citations)
    known = ("text", "citations") if is_sealed or not citations else ("text",)
    return Text(
        text=text_at(block.get("text"), f"{where}.text"),
        opaque=(Opaque(domain, "citations", citations),) if is_sealed else (),
        cache=decode_cache(block, where),
        native=decode_rest(block, *known),
    )


def _encode_text(block: Text) -> dict[str, Any]:
    if block.native is None and not block.opaque and block.cache is None:
        return {"type": "text", "text": block.text}
    searched = own_fields(block.native).get("search_result")
    if isinstance(searched, dict):
        if _search_text(searched, "$") == block.text:
            return with_extras(searched, cache=block.cache)
        return with_extras({"type": "text", "text": block.text}, cache=block.cache)
    wire: dict[str, Any] = {"type": "text", "text": block.text}
    for one in block.opaque:
        if one.kind == "citations":
            wire["citations"] = one.value
    return with_extras(wire, cache=block.cache, native=block.native)


def _search_text(block: dict[str, Any], where: str) -> str:
    """A search result in words: its title, its source and what it says."""
    parts = [block.get("title"), block.get("source")]
    parts += [part.get("text") for part, _ in objects_at(block.get("content"), f"{where}.content")]
    return "\n".join(part for part in parts if isinstance(part, str) and part)

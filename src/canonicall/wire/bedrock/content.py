"""Content between Converse and canonical form: what may stand in a message and in a result.

Text is text however it is wrapped: as JSON, with citations, for a guardrail, as a search result.
The text is canonical, the wrapping stays in `native` and is put around it again as long as the
text is still the same.
"""

from functools import partial
from typing import Any

import msgspec

from canonicall.blocks import Media, Native, ResultContent, Text, Unknown
from canonicall.findings import Action, Fault, Finding
from canonicall.wire import carried
from canonicall.wire.bedrock import TARGET
from canonicall.wire.bedrock.media import MEDIA_KINDS, decode_media, encode_media
from canonicall.wire.reading import object_at, text_at

FORMAT = TARGET.format
own_fields = partial(carried.fields_of, FORMAT)
"""The native fields of this format, nothing for those of another one."""
native_of = partial(carried.native_of, FORMAT)
"""Some fields as native fields of this format, None if there are none."""
INNER = ("context", "citations", "error", "redactedContent")
"""Members of what blocks hold. In the place of a block they are refused."""
# Service model: `CacheTTL`.
_TTLS = ("5m", "1h")


def is_foreign(item: dict[str, Any]) -> bool:
    """Whether a block is written as other formats have it: Converse names what it is by its key."""
    return "type" in item or "image_url" in item or "inlineData" in item or "fileData" in item


def decode_content(kind: str, member: Any, where: str) -> ResultContent:
    """The block that the member `kind` of a Converse block is."""
    if kind == "text":
        return Text(text=text_at(member, where))
    if kind in MEDIA_KINDS:
        return decode_media(kind, object_at(member, where), where)
    native = Native(FORMAT, {kind: member})
    words = _wrapped_text(kind, member)
    return Unknown(native=native) if words is None else Text(text=words, native=native)


def encode_content(block: ResultContent) -> dict[str, Any]:
    """The Converse block of `block`."""
    match block:
        case Media():
            return encode_media(block)
        case Unknown():
            return own_fields(block.native)
        case Text():
            for kind, member in own_fields(block.native).items():
                if _can_be_sent(kind, member) and _wrapped_text(kind, member) == block.text:
                    return {kind: member}
            return {"text": block.text}


def unwrapped_json(member: Any, where: str, findings: list[Finding] | None) -> Text:
    """The text of a `json` member outside of a result, where Converse does not have it."""
    if findings is not None:
        why = "Only results hold JSON; it is read as its text."
        findings.append(Finding("foreign_part", where, Action.CHANGED, why, Fault.INPUT))
    return Text(text=msgspec.json.encode(member).decode())


def encode_cache(mark: str) -> dict[str, Any]:
    """The value of a `cachePoint`."""
    return {"type": "default", "ttl": mark} if mark in _TTLS else {"type": "default"}


def decode_cache(point: Any, where: str, findings: list[Finding] | None) -> str:
    """The mark that a `cachePoint` means. Its fields and their values are but few."""
    fields = point if isinstance(point, dict) else {}
    ttl = fields.get("ttl")
    is_known = ttl is None or (isinstance(ttl, str) and ttl in _TTLS)
    is_plain = is_known and fields.get("type") == "default" and fields.keys() <= {"type", "ttl"}
    if findings is not None and not is_plain:
        why = "There is no such cache mark; it is read as one of the usual kind."
        findings.append(Finding("value_changed", where, Action.CHANGED, why, Fault.INPUT))
    return ttl if ttl and is_known else "default"


def unplaced_mark(where: str) -> Finding:
    """That a mark follows nothing that it could mark."""
    why = "There is nothing before this cache mark that has none."
    return Finding("cache_mark_dropped", where, Action.DROPPED, why, Fault.INPUT)


def _can_be_sent(kind: str, member: Any) -> bool:
    """Whether Converse takes a wrapping; a list or a scalar as JSON is sent as its text.

    "The format of the value at messages.2.content.0.toolResult.content.0.json is invalid. Provide a
    json object for the field and try again." (sigoden/aichat#1542)
    """
    return kind != "json" or isinstance(member, dict)


def _wrapped_text(kind: str, member: Any) -> str | None:
    match kind, member:
        case "json", _:
            return msgspec.json.encode(member).decode()
        case "guardContent", {"text": {"text": str(words)}}:
            return words
        case "citationsContent" | "searchResult", {"content": [*parts]}:
            texts = [part.get("text") for part in parts if isinstance(part, dict)]
            known = [text for text in texts if isinstance(text, str)]
            return "".join(known) if len(known) == len(parts) else None
        case _:
            return None

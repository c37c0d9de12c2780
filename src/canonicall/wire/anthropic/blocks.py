"""Content blocks of the Messages API, both ways.

What the provider ran itself (`server_tool_use`, `mcp_tool_use` and their results) is opaque: it is
kept whole and written back as it came. So is a block of a type that canonicall has no word for. A
search result is text to every other format; here it keeps its own form as long as its text is
unchanged.
"""

import re
from typing import Any, TypeGuard

from msgspec.structs import replace

from canonicall.arguments import arguments_of, parse_arguments
from canonicall.blocks import (
    Block,
    Code,
    Media,
    Native,
    Opaque,
    ResultContent,
    Summary,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Unknown,
)
from canonicall.facts.target import Target
from canonicall.findings import Action, Fault, Finding
from canonicall.transcript.opening import OPENING
from canonicall.wire.anthropic import TARGET
from canonicall.wire.anthropic.extras import (
    FORMAT,
    decode_cache,
    decode_rest,
    native_of,
    own_fields,
    with_extras,
    with_one_mark,
    without_mark,
)
from canonicall.wire.anthropic.media import decode_media, encode_media
from canonicall.wire.carried import UNKNOWN_ISSUER, opaque_of
from canonicall.wire.foreign_parts import foreign_part, unread_part
from canonicall.wire.reading import arguments_at, id_at, object_at, objects_at, text_at
from canonicall.wire.writing import words_of

SERVER_BLOCK = "server_block"
"""The kind of opaque state that is a whole block of a tool the provider ran."""

# Fernet tokens begin so: encrypted reasoning of OpenAI's, which bridges put where Claude's seal is.
# No seal of Claude's can: it is base64 of a protocol buffer, where no field begins with 0x80 0x00.
_FERNET = "gAAAA"
_COMPACTION = ("type", "content", "encrypted_content", "signature", "tool_changes")
# SDK beta_fallback_block_param.py and beta_mcp_tool_listing_block_param.py: no mark.
_UNMARKED = ("fallback", "mcp_tool_listing")
_DIRECT = {"type": "direct"}
"""SDK direct_caller.py: the model itself made the call, as where no caller is named."""
_SERVER_CALLS = ("server_tool_use", "mcp_tool_use")
# "server_tool_use.id: String should match pattern '^srvtoolu_[a-zA-Z0-9_]+$'": not Claude's else.
_SERVER_ID = re.compile(r"srvtoolu_[a-zA-Z0-9_]+")


def decode_block(value: Any, where: str, domain: str, findings: list[Finding]) -> Block:
    """One block of a message's content."""
    block = with_one_mark(object_at(value, where), where, findings)
    match block.get("type"):
        case "thinking" | "redacted_thinking":
            return _decode_thinking(block, where, domain, findings)
        case "tool_use":
            return _decode_call(block, where, findings)
        case "tool_result":
            return _decode_result(block, where, domain, findings)
        case "compaction":
            return _decode_compaction(block, where, domain, findings)
        case str(kind) if kind in _SERVER_CALLS or kind.endswith("_tool_result"):
            return _decode_server_block(block, where, domain)
        case str(kind) if kind in _UNMARKED and decode_cache(block, where) is not None:
            why = f"A block of type {kind} cannot carry a cache mark."
            findings.append(Finding("cache_mark_dropped", where, Action.DROPPED, why, Fault.INPUT))
            block = without_mark(block)
    return decode_part(block, where, domain, findings)


def encode_block(block: Block, target: Target) -> dict[str, Any]:
    """The wire form of `block`, which holds only what may be sent."""
    if type(block) is Text:
        return encode_part(block)
    match block:
        case ToolCall():
            return _encode_call(block)
        case ToolResult():
            return _encode_result(block, target)
        case Thinking():
            return _encode_thinking(block)
        case _:
            return encode_part(block)


def encode_reply_block(block: Block, target: Target) -> dict[str, Any]:
    """The same in a response, where each field that its schema requires is written."""
    wire = encode_block(block, target)
    match wire.get("type"):
        case "text":
            return wire | {"citations": wire.get("citations")}
        case "tool_use":
            return wire | {"caller": wire.get("caller", _DIRECT)}
        case _:
            return wire


def replied(block: Block) -> Block:
    """`block` of a response without the default caller, which each call of a response has."""
    fields = own_fields(block.native) if isinstance(block, ToolCall) else {}
    if fields.get("caller") != _DIRECT:
        return block
    del fields["caller"]
    return replace(block, native=native_of(fields))


def server_block(block: Block) -> dict[str, Any] | None:
    """The whole wire block of a call or result that the provider ran, None for any other.

    Claude over Bedrock has the same issuer; its blocks are of another form.
    """
    for one in block.opaque:
        if one.kind == SERVER_BLOCK and isinstance(one.value, dict) and "type" in one.value:
            return one.value
    return None


# Reasoning.


def _decode_thinking(
    block: dict[str, Any], where: str, domain: str, findings: list[Finding]
) -> Thinking:
    if decode_cache(block, where) is not None:
        why = "Thinking cannot carry a cache mark."
        findings.append(Finding("cache_mark_dropped", where, Action.DROPPED, why, Fault.INPUT))
    if block["type"] == "redacted_thinking":
        data = text_at(block.get("data"), f"{where}.data")
        seal = Opaque(_issuer(data, domain), "redacted", data)
        return Thinking(opaque=(seal,), native=decode_rest(block, "data"))
    signature = text_at(block.get("signature"), f"{where}.signature")
    return Thinking(
        text=text_at(block.get("thinking"), f"{where}.thinking"),
        opaque=opaque_of(_issuer(signature, domain), "signature", signature),
        native=decode_rest(block, "thinking", "signature"),
    )


def _issuer(seal: str, domain: str) -> str:
    """Who can read a seal: not Claude, where it begins as none of Claude's does."""
    return UNKNOWN_ISSUER if domain == TARGET.domain and seal.startswith(_FERNET) else domain


def _encode_thinking(block: Thinking) -> dict[str, Any]:
    held = {one.kind: one.value for one in block.opaque}
    if "redacted" in held:
        wire = {"type": "redacted_thinking", "data": held["redacted"]}
    else:
        # SDK thinking_block_param.py: the signature is required, compatible hosts leave it empty.
        signature = held.get("signature", "")
        wire = {"type": "thinking", "thinking": block.text, "signature": signature}
    # Docs "Prompt caching": thinking blocks cannot carry a mark.
    return with_extras(wire, native=block.native)


# Calls and results of the caller's own tools.


def _decode_call(block: dict[str, Any], where: str, findings: list[Finding]) -> ToolCall:
    raw, args = arguments_at(block.get("input"))
    if args is None:
        # Text that cannot be read, as a cut stream leaves it, is reported with the whole reply.
        args = parse_arguments(raw)
        if args is not None:
            why = "The input of the call is text where an object belongs; it was read as JSON."
            place = f"{where}.input"
            findings.append(Finding("arguments_as_text", place, Action.KEPT, why, Fault.INPUT))
    return ToolCall(
        id=id_at(block.get("id"), f"{where}.id"),
        name=text_at(block.get("name"), f"{where}.name"),
        args=args,
        raw=raw,
        cache=decode_cache(block, where),
        native=decode_rest(block, "id", "name", "input"),
    )


def _encode_call(call: ToolCall) -> dict[str, Any]:
    whole = server_block(call) if call.opaque else None
    if whole is not None:
        return with_extras(whole, cache=call.cache)
    kind = "server_tool_use" if call.kind == "server" else "tool_use"
    wire = {"type": kind, "id": call.id, "name": call.name, "input": arguments_of(call)}
    return with_extras(wire, cache=call.cache, native=call.native)


def _decode_result(
    block: dict[str, Any], where: str, domain: str, findings: list[Finding]
) -> ToolResult:
    return ToolResult(
        call_id=id_at(block.get("tool_use_id"), f"{where}.tool_use_id"),
        content=_decode_result_content(block.get("content"), f"{where}.content", domain, findings),
        error=block.get("is_error") is True,
        is_complete=True,
        cache=decode_cache(block, where),
        native=decode_rest(block, "tool_use_id", "content", "is_error"),
    )


def _decode_result_content(
    value: Any, where: str, domain: str, findings: list[Finding]
) -> tuple[ResultContent, ...]:
    if isinstance(value, str):
        return (Text(text=value),) if value else ()
    return tuple(
        decode_part(with_one_mark(part, at, findings), at, domain, findings)
        for part, at in objects_at(value, where)
    )


def _encode_result(result: ToolResult, target: Target) -> dict[str, Any]:
    whole = server_block(result) if result.opaque else None
    if whole is not None:
        return with_extras(whole, cache=result.cache)
    wire: dict[str, Any] = {"type": "tool_result", "tool_use_id": result.call_id}
    parts = result.content or ()
    if len(parts) == 1 and is_plain_text(parts[0]):
        wire["content"] = plain_words(parts[0])
    elif parts:
        # An empty list is refused; an empty result has no content (docs "Handle tool calls").
        wire["content"] = [encode_block(part, target) for part in parts]
    if result.error and target.result_error_flag and _is_text_only(wire.get("content")):
        wire["is_error"] = True
    return with_extras(wire, cache=result.cache, native=result.native)


def _is_text_only(content: str | list[dict[str, Any]] | None) -> bool:
    """ "all content must be type "text" if "is_error" is true" """
    return not isinstance(content, list) or all(part.get("type") == "text" for part in content)


# Calls and results of tools that the provider runs.


def _decode_server_block(block: dict[str, Any], where: str, domain: str) -> ToolCall | ToolResult:
    is_call = block["type"] in _SERVER_CALLS
    return (_decode_server_call if is_call else _decode_server_result)(block, where, domain)


def _decode_server_call(block: dict[str, Any], where: str, domain: str) -> ToolCall:
    id = block.get("id")
    if domain == TARGET.domain and block["type"] == _SERVER_CALLS[0]:
        is_own = isinstance(id, str) and _SERVER_ID.fullmatch(id)
        domain = domain if is_own else UNKNOWN_ISSUER
    if not id:
        domain = UNKNOWN_ISSUER  # No result could name it.
    return ToolCall(
        id=id_at(block.get("id"), f"{where}.id"),
        name=text_at(block.get("name"), f"{where}.name"),
        args=_input_at(block.get("input"), where),
        kind="server",
        opaque=(Opaque(domain, SERVER_BLOCK, without_mark(block)),),
        cache=decode_cache(block, where),
    )


def _decode_server_result(block: dict[str, Any], where: str, domain: str) -> ToolResult:
    content = block.get("content")
    kind = content.get("type") if isinstance(content, dict) else None
    failed = isinstance(kind, str) and kind.endswith("_error")
    return ToolResult(
        call_id=id_at(block.get("tool_use_id"), f"{where}.tool_use_id"),
        content=(),
        error=failed or block.get("is_error") is True,
        is_complete=True,
        opaque=(Opaque(domain, SERVER_BLOCK, without_mark(block)),),
        cache=decode_cache(block, where),
    )


# Summaries that the provider made.


def _decode_compaction(
    block: dict[str, Any], where: str, domain: str, findings: list[Finding]
) -> Unknown:
    """A summary. One that is signed takes the place of what it sums up, so it comes first."""
    content = block.get("content")
    if content == "":
        # SDK beta_compaction_block_param.py: an empty text is refused, null is one that failed.
        why = "The summary is empty; it is read as one that failed."
        told = Finding("blank_dropped", f"{where}.content", Action.DROPPED, why, Fault.INPUT)
        findings.append(told)
        content = None
    fields = without_mark(block)
    # The SDK's plain dump adds null fields that the API does not know (docs "Compact on demand").
    lost = [name for name in fields if name not in _COMPACTION and fields[name] is not None]
    if lost:
        why = f"A summary does not have these fields: {', '.join(lost)}."
        findings.append(Finding("fields_dropped", where, Action.DROPPED, why, Fault.INPUT))
    known = {name: field for name, field in fields.items() if name in _COMPACTION}
    seal = text_at(block.get("signature"), f"{where}.signature") if content else ""
    return Unknown(
        opaque=opaque_of(domain, OPENING, seal),
        cache=decode_cache(block, where),
        native=Native(FORMAT, known | {"content": content}),
    )


def _input_at(value: Any, where: str) -> dict[str, Any]:
    return {} if value is None else object_at(value, f"{where}.input")


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


def plain_words(block: Text | Summary | Code) -> str:
    """The words of such a block."""
    return block.text if type(block) is Text else words_of(block)


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

"""Parts: what a content is made of, to blocks and back.

A part holds one data field (text, functionCall, ...) and, beside it, fields about the part. Native
fields of a block are named as they are on the part; those inside the data field stand under its
name. Signatures and server-side parts go into opaque state, never into native fields.
"""

from collections.abc import Iterable
from typing import Any

from canonicall.arguments import arguments_of
from canonicall.blocks import (
    Block,
    Code,
    Media,
    Native,
    Opaque,
    Summary,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Unknown,
)
from canonicall.facts.target import field_tree
from canonicall.findings import Action, Fault, Finding
from canonicall.wire.carried import UNKNOWN_ISSUER, opaque_of, with_rest
from canonicall.wire.foreign_parts import foreign_part
from canonicall.wire.gemini import FORMAT, TARGET, results
from canonicall.wire.gemini.fields import (
    DATA,
    enum_at,
    fields_at,
    many_at,
    native_of,
    own_fields,
    split_part,
)
from canonicall.wire.gemini.media import decode_file, decode_inline, encode_media
from canonicall.wire.gemini.partial_args import put_together
from canonicall.wire.reading import arguments_at, object_at, text_at
from canonicall.wire.writing import fenced

_SERVER_SIDE = ("toolCall", "toolResponse")
_LANGUAGES = {"language_unspecified": "", "0": "", "1": "python"}
_SIGNATURE = "thoughtSignature"
_KNOWN_INSIDE = {
    "functionCall": ("id", "name", "args", _SIGNATURE),
    "functionResponse": results.KNOWN,
    "executableCode": ("code", "language"),
    "inlineData": ("mimeType", "data"),
    "fileData": ("mimeType", "fileUri"),
}


def decode_parts(parts: Any, where: str, domain: str, findings: list[Finding]) -> list[Block]:
    """The blocks in a list of parts."""
    blocks: list[Block] = []
    for index, part in enumerate(many_at(parts, where)):
        place = f"{where}[{index}]"
        if isinstance(part, str):
            why = "A part is an object; the bare text that stands there is taken as a text part."
            findings.append(Finding("untyped_part", place, Action.CHANGED, why, Fault.INPUT))
            blocks.append(Text(text=part))
            continue
        blocks += [
            _decode_part(fields, place, domain, findings)
            for fields in _said(fields_at(part, place), place, findings)
        ]
    return blocks


def encode_parts(
    blocks: Iterable[Block], *, by_model: bool, domain: str | None = None
) -> list[dict[str, Any]]:
    """The parts for some blocks; signatures of another domain than `domain` are left off."""
    parts = []
    for block in blocks:
        part = _encode_block(block, by_model=by_model)
        if part is None:
            continue
        for one in block.opaque:
            if one.kind == "signature" and domain in (None, one.domain):
                part["thoughtSignature"] = one.value
        parts.append(part)
    return parts


def _said(fields: dict[str, Any], where: str, findings: list[Finding]) -> list[dict[str, Any]]:
    """One set of fields for each data field; nothing for a part that says nothing."""
    if not fields:
        why = "A part without any field says nothing; it is left out."
        findings.append(Finding("empty_part", where, Action.DROPPED, why, Fault.INPUT))
        return []
    if "response" in fields:  # The name under which a result remembers its response.
        why = "A part does not have the field response; it is left out."
        findings.append(Finding("fields_dropped", where, Action.DROPPED, why, Fault.INPUT))
        del fields["response"]
    return split_part(fields, where, findings)


def _decode_part(fields: dict[str, Any], where: str, domain: str, findings: list[Finding]) -> Block:
    """The block for a part with at most one data field."""
    opaque = opaque_of(domain, "signature", fields.get(_SIGNATURE))
    name = next((name for name in DATA if name in fields), "")
    place = f"{where}.{name}"
    if name == "text" or (not name and set(fields) <= {"thoughtSignature", "thought"}):
        return _decode_words(fields, place, opaque)
    if name in _SERVER_SIDE:
        return _decode_server_side(fields, name, place, domain)
    data = fields_at(fields[name], place) if name in _KNOWN_INSIDE else {}
    if name == "functionCall" and data.get(_SIGNATURE) and not opaque:
        opaque = opaque_of(domain, "signature", data[_SIGNATURE])
        why = "The signature stands inside of the call; its place is beside it."
        findings.append(Finding("signature_moved", place, Action.MOVED, why, Fault.INPUT))
    rest = _rest(fields, name, data)
    native = native_of(rest)
    block: Block | None = None
    match name:
        case "functionCall":
            block = _decode_call(data, place, opaque, native, findings)
        case "functionResponse":
            block = results.decode_result(data, place, domain, opaque, rest, findings)
        case "executableCode":
            block = _decode_code(data, place, opaque, native)
        case "inlineData":
            block = decode_inline(data, place, opaque, native)
        case "fileData":
            block = decode_file(data, place, domain, opaque, native)
    if name == "functionCall" and block is None:
        opaque = (*opaque, Opaque(UNKNOWN_ISSUER, "piece_of_call", True))
    return block or _unread(fields, name, where, opaque, findings)


def _decode_words(
    fields: dict[str, Any], where: str, opaque: tuple[Opaque, ...]
) -> Text | Thinking:
    text = text_at(fields.get("text"), where)
    rest = _rest(fields, "text", {})
    is_thought = rest.pop("thought", False)
    native = native_of(rest)
    if is_thought:
        return Thinking(text=text, opaque=opaque, native=native)
    return Text(text=text, opaque=opaque, native=native)


def _decode_call(
    call: dict[str, Any],
    where: str,
    opaque: tuple[Opaque, ...],
    native: Native | None,
    findings: list[Finding],
) -> ToolCall | None:
    """The call, None if it is only a piece of one: that must not be run, and nobody is sent it."""
    is_in_pieces = "partialArgs" in call and "args" not in call
    if call.get("willContinue") is True or (is_in_pieces and not call.get("name")):
        why = "The arguments of this call are not complete; it is kept, but it is not a call."
        findings.append(Finding("partial_call", where, Action.SET_ASIDE, why, Fault.INPUT))
        return None
    given = put_together(call["partialArgs"], where) if is_in_pieces else call.get("args")
    raw, args = arguments_at(given)
    return ToolCall(
        id=text_at(call.get("id"), f"{where}.id"),
        name=text_at(call.get("name"), f"{where}.name"),
        args=args,
        raw=raw,
        opaque=opaque,
        native=native,
    )


def _decode_code(
    code: dict[str, Any], where: str, opaque: tuple[Opaque, ...], native: Native | None
) -> Code:
    language = enum_at(code.get("language"), f"{where}.language").lower()
    return Code(
        code=text_at(code.get("code"), f"{where}.code"),
        language=_LANGUAGES.get(language, language),
        opaque=opaque,
        native=native,
    )


def _decode_server_side(
    fields: dict[str, Any], name: str, where: str, domain: str
) -> ToolCall | ToolResult:
    """A call that Google ran itself, or its result. The part is echoed as it is."""
    data = fields_at(fields[name], where)
    id = text_at(data.get("id"), f"{where}.id")
    tool = enum_at(data.get("toolType"), f"{where}.toolType")
    opaque = (Opaque(domain, "server_block", {**fields, name: data}),)
    if name == "toolCall":
        args = object_at(data.get("args", {}), f"{where}.args")
        return ToolCall(id=id, name=tool, args=args, kind="server", opaque=opaque)
    return ToolResult(call_id=id, name=tool, content=(), is_complete=True, opaque=opaque)


def _unread(
    fields: dict[str, Any],
    name: str,
    where: str,
    opaque: tuple[Opaque, ...],
    findings: list[Finding],
) -> Block:
    """A part without data that is known: as another format writes it, or kept as it is."""
    found = None if name else foreign_part(fields, where, findings)
    if found is not None:
        return found
    rest = {key: value for key, value in fields.items() if key != "thoughtSignature"}
    # Fields about data that is not there are refused; another field may be newer than this.
    is_hollow = not name and rest.keys() <= field_tree(TARGET.fields.part).keys()
    return Unknown(native=Native("" if is_hollow else FORMAT, rest), opaque=opaque)


def _rest(fields: dict[str, Any], name: str, data: dict[str, Any]) -> dict[str, Any]:
    """The fields around and inside a part's data that have no canonical meaning."""
    rest = {key: value for key, value in fields.items() if key not in (name, "thoughtSignature")}
    if rest.get("thought") is not True:
        rest.pop("thought", None)
    known = _KNOWN_INSIDE.get(name, ())
    if "partialArgs" in data and "args" not in data:
        known = (*known, "partialArgs")  # The arguments of the call are made of them.
    inside = {k: v for k, v in data.items() if k not in known}
    if inside:
        rest[name] = inside
    return rest


def _encode_block(block: Block, *, by_model: bool) -> dict[str, Any] | None:
    """The part for a block, None for what another provider ran on its side."""
    part: dict[str, Any] | None
    match block:
        case Text() | Summary():
            part = _part("text", block.text, block)
        case ToolCall() | ToolResult() if _is_server_side(block):
            part = _server_part(block)
        case ToolCall():
            part = _part("functionCall", _encode_call(block), block)
        case ToolResult():
            part = _part("functionResponse", results.encode_result(block), block)
            part.pop("response", None)
        case Thinking():
            part = {**_part("text", block.text, block), "thought": True}
        case Code():
            part = _encode_code(block, by_model=by_model)
        case Media():
            part = _part(*encode_media(block), block)
        case Unknown():
            part = own_fields(block.native) or None
    return part


def _is_server_side(block: ToolCall | ToolResult) -> bool:
    for one in block.opaque:
        if one.kind == "server_block":
            return True
    return type(block) is ToolCall and block.kind == "server"


def _encode_call(call: ToolCall) -> dict[str, Any]:
    known: dict[str, Any] = {"id": call.id} if call.id else {}
    return {**known, "name": call.name, "args": arguments_of(call)}


def _encode_code(block: Code, *, by_model: bool) -> dict[str, Any]:
    """Google's own form for code the model wrote; fenced text for anything it does not run."""
    # google-genai, Language: PYTHON and LANGUAGE_UNSPECIFIED are all there is.
    if by_model and block.language in ("python", ""):
        language = block.language.upper() or "LANGUAGE_UNSPECIFIED"
        return _part("executableCode", {"language": language, "code": block.code}, block)
    return {"text": fenced(block)}


def _server_part(block: ToolCall | ToolResult) -> dict[str, Any] | None:
    for one in block.opaque:
        if one.kind == "server_block" and isinstance(one.value, dict):
            return dict(one.value) if any(name in one.value for name in _SERVER_SIDE) else None
    return None


def _part(name: str, value: Any, block: Block) -> dict[str, Any]:
    """A part with `value` in its data field, and the native fields around and inside it."""
    if block.native is None:
        return {name: value}
    rest = own_fields(block.native)
    inside = rest.pop(name, None)
    if isinstance(value, dict) and isinstance(inside, dict):
        value = with_rest(value, inside)
    return {name: value, **rest}

"""Messages between Converse and canonical form.

In: `system` and `messages` of a request, the message of a response, or one turn. Every Converse
block is an object with one member that says what it is. A `cachePoint` block is a mark on the block
before it.
"""

import re
from base64 import b64decode, b64encode
from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from canonicall.arguments import arguments_of
from canonicall.blocks import (
    Block,
    Code,
    Media,
    Message,
    Native,
    Opaque,
    Origin,
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
from canonicall.transcript.turns import Turn
from canonicall.wire.bedrock import TARGET
from canonicall.wire.bedrock.content import (
    FORMAT,
    INNER,
    decode_cache,
    decode_content,
    encode_cache,
    encode_content,
    is_foreign,
    own_fields,
    unplaced_mark,
    unwrapped_json,
)
from canonicall.wire.carried import UNKNOWN_ISSUER
from canonicall.wire.foreign_parts import foreign_part, unread_part
from canonicall.wire.reading import arguments_at, id_at, list_at, native_fields, object_at, text_at
from canonicall.wire.writing import words_of

# Service model: `ToolUseBlock$toolUseId` and `$name`.
_ID = re.compile(r"[a-zA-Z0-9_.:-]{1,64}")
_SERVER_CALL = {"toolUseId", "name", "input", "type"}
_SERVER_RESULT = {"toolUseId", "content", "status", "type"}
_STATUSES = ("success", "error")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def decode_messages(
    value: Any, where: str, *, origin: Origin, domain: str, findings: list[Finding]
) -> list[Message]:
    """The canonical messages of a request's `messages`."""
    messages: list[Message] = []
    for index, item in enumerate(list_at(value, where)):
        messages += _decode_message(item, f"{where}[{index}]", origin, domain, findings)
    return messages


def _decode_message(
    value: Any, where: str, origin: Origin, domain: str, findings: list[Finding]
) -> list[Message]:
    message = object_at(value, where)
    blocks = tuple(decode_blocks(message.get("content"), f"{where}.content", domain, findings))
    native = native_fields(FORMAT, message, ("role", "content"))
    match message.get("role"):
        case "assistant":
            return [Message("assistant", blocks, origin=origin, native=native)]
        case "system":
            return [Message("system", blocks, native=native)]
        case "user":
            parts = _results_first(blocks, where, findings)
            return [*parts[:-1], replace(parts[-1], native=native)]
        case role:
            raise MalformedBody(f"there is no role {role!r}.", where=f"{where}.role")


def message_places(body: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    """The path of each message that the decoder makes of `body`."""
    if decode_blocks(body.get("system"), "", ""):
        yield ("$.system",)
    for index, message in enumerate(list_at(body.get("messages"), "$.messages")):
        content = message.get("content")
        parts = content if isinstance(content, list) and message.get("role") == "user" else ()
        has_results = any("toolResult" in part for part in parts)
        is_mixed = has_results and any(part.keys() != {"toolResult"} for part in parts)
        count = len(_decode_message(message, "", Origin(), "", [])) if is_mixed else 1
        yield from [(f"$.messages[{index}]",)] * count


def _results_first(blocks: tuple[Block, ...], where: str, findings: list[Finding]) -> list[Message]:
    """A user message as a message of its results and one of the rest."""
    results = tuple(block for block in blocks if isinstance(block, ToolResult))
    rest = tuple(block for block in blocks if not isinstance(block, ToolResult))
    if not results:
        return [Message("user", rest)]
    if blocks[: len(results)] != results:
        why = "Tool results stood behind other content of their message; they come first now."
        finding = Finding("results_moved", f"{where}.content", Action.MOVED, why, Fault.INPUT)
        findings.append(finding)
    return [Message("tool", results), *([Message("user", rest)] if rest else [])]


def decode_blocks(
    value: Any, where: str, domain: str, findings: list[Finding] | None = None
) -> list[Block]:
    """The blocks of a `content` or `system` list."""
    content = [object_at(item, f"{where}[{i}]") for i, item in enumerate(list_at(value, where))]
    server_ids = _server_ids(content)
    blocks: list[Block] = []
    for index, item in enumerate(content):
        if is_foreign(item):
            at = f"{where}[{index}]"
            blocks.append(foreign_part(item, at, findings) or unread_part("", item, at, findings))
            continue
        for kind, member in item.items():
            if member is None:
                continue
            place = f"{where}[{index}].{kind}"
            if kind == "cachePoint":
                mark = decode_cache(member, place, findings)
                if blocks and blocks[-1].cache is None:
                    blocks[-1] = replace(blocks[-1], cache=mark)
                elif findings is not None:
                    findings.append(unplaced_mark(place))
                continue
            block = _decode_block(kind, member, place, domain, findings)
            if isinstance(block, ToolResult) and block.call_id in server_ids:
                issuer = domain if _is_whole(member, block) else UNKNOWN_ISSUER
                block = replace(block, content=(), opaque=(_server_block(issuer, kind, member),))
            blocks.append(block)
    return blocks


def _is_whole(member: dict[str, Any], result: ToolResult) -> bool:
    """Whether the provider may have written the result of a tool that it ran.

    It writes text and JSON. Any other form is refused.
    """
    if not member.keys() <= _SERVER_RESULT or member.get("status") not in (None, *_STATUSES):
        return False
    content = result.content or ()
    is_said = content and all(type(part) is Text and part.text.strip() for part in content)
    return bool(is_said) and [encode_content(part) for part in content] == member["content"]


def _decode_block(
    kind: str, member: Any, where: str, domain: str, findings: list[Finding] | None
) -> Block:
    match kind:
        case "toolUse":
            return _decode_call(object_at(member, where), where, domain)
        case "toolResult":
            return _decode_result(object_at(member, where), where, findings)
        case "reasoningContent":
            return _decode_thinking(object_at(member, where), where, domain, findings)
        case "json":
            return unwrapped_json(member, where, findings)
        case _ if kind in INNER:
            return unread_part("", {kind: member}, where, findings)
        case _:
            return decode_content(kind, member, where)


def _decode_call(call: dict[str, Any], where: str, domain: str) -> ToolCall:
    raw, args = arguments_at(call.get("input"))
    decoded = ToolCall(
        id=id_at(call.get("toolUseId"), f"{where}.toolUseId"),
        name=text_at(call.get("name"), f"{where}.name"),
        raw=raw,
        args=args,
    )
    if call.get("type") == "server_tool_use":
        # Any other form was not written by the provider, and is refused.
        is_named = _ID.fullmatch(decoded.id) and _NAME.fullmatch(decoded.name)
        is_plain = call.keys() <= _SERVER_CALL and isinstance(call.get("input"), dict)
        is_whole = is_named and is_plain
        seal = _server_block(domain if is_whole else UNKNOWN_ISSUER, "toolUse", call)
        return replace(decoded, kind="server", opaque=(seal,))
    # Responses say `tool_use` here; requests know `server_tool_use` only (`ToolUseType`).
    known = ["toolUseId", "name", "input"] + ["type"] * (call.get("type") == "tool_use")
    return replace(decoded, native=native_fields(FORMAT, call, known))


def _decode_result(
    result: dict[str, Any], where: str, findings: list[Finding] | None
) -> ToolResult:
    content: list[ResultContent] = []
    status = result.get("status")
    if status not in (None, *_STATUSES) and findings is not None:
        why = f"There is no status {status!r}; only `error` says that a call failed."
        place = f"{where}.status"
        findings.append(Finding("value_changed", place, Action.CHANGED, why, Fault.INPUT))
    for index, item in enumerate(list_at(result.get("content"), f"{where}.content")):
        at = f"{where}.content[{index}]"
        if is_foreign(object_at(item, at)):
            content.append(foreign_part(item, at, findings) or unread_part("", item, at, findings))
            continue
        for kind, member in item.items():
            if member is not None or kind == "json":
                content.append(decode_content(kind, member, f"{at}.{kind}"))
    return ToolResult(
        call_id=id_at(result.get("toolUseId"), f"{where}.toolUseId"),
        content=tuple(content),
        error=status == "error",
        is_complete=True,
        native=native_fields(FORMAT, result, ("toolUseId", "content", "status")),
    )


def _decode_thinking(
    reasoning: dict[str, Any], where: str, domain: str, findings: list[Finding] | None
) -> Block:
    if isinstance(reasoning.get("redactedContent"), str):
        return _decode_redacted(reasoning["redactedContent"], domain)
    if reasoning.get("reasoningText") is None:
        # Nothing that any model could read.
        seal = Opaque(UNKNOWN_ISSUER, "reasoning", reasoning)
        return Unknown(native=Native(FORMAT, {"reasoningContent": reasoning}), opaque=(seal,))
    thought = object_at(reasoning["reasoningText"], f"{where}.reasoningText")
    signature = text_at(thought.get("signature"), f"{where}.reasoningText.signature")
    known = {"text", "signature"}
    lost = [name for name in thought if name in TARGET.fields.part and name not in known]
    if lost and findings is not None:
        why = f"Reasoning does not have these fields: {', '.join(lost)}."
        place = f"{where}.reasoningText"
        findings.append(Finding("fields_dropped", place, Action.DROPPED, why, Fault.INPUT))
    return Thinking(
        text=text_at(thought.get("text"), f"{where}.reasoningText.text"),
        opaque=(Opaque(domain, "signature", signature),) if signature else (),
        native=native_fields(FORMAT, thought, (*known, *lost)),
    )


def _decode_redacted(blob: str, domain: str) -> Thinking:
    """Redacted reasoning as Claude wrote it.

    `redactedContent` is a blob, so JSON carries it in base64; inside is the very text that
    Anthropic's own API gives as `data`.
    """
    try:
        inner = b64decode(blob, validate=True).decode()
    except ValueError:
        inner = ""
    if b64encode(inner.encode()).decode() == blob:
        return Thinking(opaque=(Opaque(domain, "redacted", inner),))
    native = Native(FORMAT, {"redactedContent": blob})
    return Thinking(opaque=(Opaque(domain, "redacted", blob),), native=native)


def encode_turn(turn: Turn, target: Target) -> list[dict[str, Any]]:
    """The message of a turn."""
    role = {"tool": "user", "developer": "system"}.get(turn.role, turn.role)
    message: dict[str, Any] = {"role": role, "content": encode_blocks(turn.blocks, target)}
    return [message | own_fields(turn.native, except_for=message)]


def encode_blocks(blocks: tuple[Block, ...], target: Target) -> list[dict[str, Any]]:
    """The content list of `blocks`, each cache mark behind its block."""
    content: list[dict[str, Any]] = []
    for block in blocks:
        wire = _encode_block(block, target)
        if not wire:
            continue
        content.append(wire)
        mark = block.cache or _inner_cache(block)
        if mark is not None:
            content.append({"cachePoint": encode_cache(mark)})
    return content


def _encode_block(block: Block, target: Target) -> dict[str, Any]:
    match block:
        case Text() | Media() | Unknown():
            return encode_content(block)
        case Summary() | Code():
            return {"text": words_of(block)}
        case Thinking():
            return {"reasoningContent": _encode_thinking(block)}
        case ToolCall():
            sealed = _sealed(block)
            return {"toolUse": _encode_call(block)} if sealed is None else sealed
        case ToolResult():
            sealed = _sealed(block)
            return {"toolResult": _encode_result(block, target)} if sealed is None else sealed


def _encode_call(call: ToolCall) -> dict[str, Any]:
    wire: dict[str, Any] = {"toolUseId": call.id, "name": call.name}
    # "The format of the value at toolUse.input is invalid. Provide a json object."
    wire["input"] = arguments_of(call)
    return wire | own_fields(call.native, except_for=wire)


def _encode_result(result: ToolResult, target: Target) -> dict[str, Any]:
    content = [encode_content(part) for part in result.content or ()]
    wire: dict[str, Any] = {"toolUseId": result.call_id, "content": content}
    if result.error and target.result_error_flag:
        wire["status"] = "error"
    return wire | own_fields(result.native, except_for=wire)


def _encode_thinking(block: Thinking) -> dict[str, Any]:
    seals = {one.kind: one.value for one in block.opaque}
    if "redacted" in seals and not block.text:
        blob = b64encode(str(seals["redacted"]).encode()).decode()
        return {"redactedContent": own_fields(block.native).get("redactedContent", blob)}
    thought: dict[str, Any] = {"text": block.text}
    if seals.get("signature"):
        thought["signature"] = seals["signature"]
    return {"reasoningText": thought | own_fields(block.native, except_for=thought)}


def _inner_cache(block: Block) -> str | None:
    """Other formats have marks inside a result; here only the whole result can have one."""
    parts = block.content or () if isinstance(block, ToolResult) else ()
    return next((part.cache for part in reversed(parts) if part.cache is not None), None)


def _server_ids(content: list[dict[str, Any]]) -> list[Any]:
    """Ids of calls that the provider runs itself."""
    calls = [item.get("toolUse") for item in content]
    return [
        call.get("toolUseId")
        for call in calls
        if isinstance(call, dict) and call.get("type") == "server_tool_use"
    ]


def _server_block(domain: str, kind: str, member: Any) -> Opaque:
    return Opaque(domain, "server_block", {kind: member})


def _sealed(block: Block) -> dict[str, Any] | None:
    """The wire block of what ran on the provider's side; empty if it ran at another provider."""
    seals = [one.value for one in block.opaque if one.kind == "server_block"]
    if seals:
        own = isinstance(seals[0], dict) and seals[0].keys() & {"toolUse", "toolResult"}
        return seals[0] if own else {}
    return {} if isinstance(block, ToolCall) and block.kind == "server" else None

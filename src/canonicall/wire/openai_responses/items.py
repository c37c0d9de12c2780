"""The items that are the model's: messages, reasoning, calls, and what the provider ran itself.

An item that the provider executes is an opaque block of its own: its id is its payload, so it goes
back whole or not at all (docs "Conversation state"). Where one item holds both the call and what
came of it, the call carries the item and the result carries nothing.
"""

from typing import Any

from msgspec.structs import replace

from canonicall.arguments import arguments_text
from canonicall.blocks import Block, Native, Opaque, Text, ToolCall, ToolResult, Unknown
from canonicall.findings import Action, Fault, Finding
from canonicall.wire.carried import UNKNOWN_ISSUER, opaque_value, with_rest
from canonicall.wire.openai_responses import FORMAT, searches
from canonicall.wire.openai_responses.fields import (
    ITEM_ID,
    SERVER_BLOCK,
    domain_of_item,
    native_of,
    opaque_id,
    own_fields,
    rest_of,
)
from canonicall.wire.openai_responses.finish import COMPLETED, INCOMPLETE
from canonicall.wire.openai_responses.parts import ITEM, decode_content
from canonicall.wire.openai_responses.reasoning import decode_reasoning
from canonicall.wire.reading import arguments_at, id_at, list_at, text_at

# Where a server-side item says what was asked (SDK response_output_item.py).
_WHOLE = {
    "web_search_call": "action",
    "file_search_call": "queries",
    "code_interpreter_call": "code",
    "image_generation_call": "revised_prompt",
    "mcp_call": "arguments",
}
_ANSWERED_ELSEWHERE = {
    "computer_call": "action",
    "local_shell_call": "action",
    "shell_call": "action",
    "apply_patch_call": "operation",
    "tool_search_call": "arguments",
    "program": "code",
}
_ANSWERED_BY_ID = ("computer_call", "local_shell_call", "shell_call", "apply_patch_call")
_ASKED = _WHOLE | _ANSWERED_ELSEWHERE
_OUTPUTS = {
    "computer_call_output",
    "local_shell_call_output",
    "shell_call_output",
    "apply_patch_call_output",
    "tool_search_output",
    "program_output",
}
# Known items that have no canonical meaning.
_KEPT = {
    "mcp_list_tools",
    "mcp_approval_request",
    "mcp_approval_response",
    "additional_tools",
    "compaction",
    "compaction_trigger",
    "item_reference",
}


def decode_item(
    item: dict[str, Any], where: str, domain: str, so_far: list[Block], findings: list[Finding]
) -> list[Block]:
    """The blocks of one item of the model; `so_far` are those of the items before it."""
    match item.get("type"):
        case "message":
            return _decode_message(item, where, domain, findings)
        case None if "role" in item:
            return _decode_message(item, where, domain, findings)
        case "reasoning":
            block: Block = decode_reasoning(item, where, domain)
        case "function_call":
            block = _decode_call(item, where, domain, findings)
        case "custom_tool_call":
            block = _decode_custom_call(item, where, domain)
        case searches.CALL if searches.is_clients(item):
            block = searches.decode_search(item, where, domain)
        case str(kind) if kind in _ASKED:
            return _decode_server_call(item, where, domain)
        case str(kind) if kind in _OUTPUTS:
            block = _decode_server_output(item, where, domain, so_far)
        case _:
            block = decode_unknown(item, where, domain, findings)
    return [block]


def with_results(blocks: list[Block], domain: str) -> tuple[Block, ...]:
    """`blocks`, where every search the provider ran has a result: its output may be left out."""
    if not any(block.opaque for block in blocks):
        return tuple(blocks)
    answered = {block.call_id for block in blocks if isinstance(block, ToolResult)}
    complete: list[Block] = []
    for block in blocks:
        complete.append(block)
        if isinstance(block, ToolCall) and _ran_at_provider(block) and block.id not in answered:
            complete.append(_told_by_call(block.id, domain))
    return tuple(complete)


def decode_unknown(
    item: dict[str, Any], where: str, domain: str, findings: list[Finding], *, known: bool = False
) -> Unknown:
    """An item without canonical meaning."""
    kind = item.get("type")
    is_kept = isinstance(kind, str) and kind in _KEPT
    if not known and kind is not None and not is_kept:
        why = f"An item of type {kind!r} is not known; it is kept as it is."
        findings.append(Finding("unknown_item", where, Action.KEPT, why, Fault.INPUT))
    # What was approved is known to its provider alone, and so is the answer.
    is_answer = kind == "mcp_approval_response"
    named = item.get("approval_request_id") if is_answer else None
    id = text_at(named, f"{where}.approval_request_id") or text_at(item.get("id"), f"{where}.id")
    domain = domain_of_item(item, where, domain)
    seal = (Opaque(domain, ITEM_ID, id),) if id or domain == UNKNOWN_ISSUER else ()
    return Unknown(opaque=seal, native=Native(FORMAT, item))


def encode_call(call: ToolCall) -> dict[str, Any]:
    """The item for a call."""
    if searches.is_search(call, searches.CALL):
        return searches.encode_search(call)
    item: dict[str, Any] = {"type": "function_call"}
    if call.kind == "custom":
        item["type"] = "custom_tool_call"
    id = opaque_value(call, ITEM_ID)
    if id is not None:
        item["id"] = id
    item |= {"call_id": call.id, "name": call.name}
    if call.kind == "custom":
        item["input"] = call.raw or ""
    else:
        item["arguments"] = arguments_text(call)
    return item if call.native is None else with_rest(item, own_fields(call.native))


def _decode_message(
    item: dict[str, Any], where: str, domain: str, findings: list[Finding]
) -> list[Block]:
    """The texts of a message item. Each carries the id and the fields of the item around it."""
    blocks: list[Block] = list(
        decode_content(item.get("content"), f"{where}.content", domain, findings)
    )
    mark = opaque_id(item, where, domain)
    fields = rest_of(item, "role", "id", "content")
    _drop_plain_status(fields)
    if not mark and not fields:
        return blocks
    around = {ITEM: fields} if fields else {}
    return [
        replace(
            block,
            opaque=(*block.opaque, *mark),
            native=block.native
            if isinstance(block, Unknown)
            else native_of({**own_fields(block.native), **around}),
        )
        for block in blocks or [Text(text="")]
    ]


def _decode_call(
    item: dict[str, Any], where: str, domain: str, findings: list[Finding]
) -> ToolCall:
    raw, args = arguments_at(item.get("arguments"))
    text_at(item.get("namespace"), f"{where}.namespace")
    if isinstance(item.get("arguments"), dict):
        why = "The arguments are an object, not its text."
        place = f"{where}.arguments"
        findings.append(Finding("arguments_not_text", place, Action.CHANGED, why, Fault.INPUT))
    lost = ("execution",) if "execution" in item else ()
    if lost:
        why = "Only searches say who runs them."
        findings.append(Finding("fields_dropped", where, Action.DROPPED, why, Fault.INPUT))
    return ToolCall(
        id=id_at(item.get("call_id"), f"{where}.call_id"),
        name=text_at(item.get("name"), f"{where}.name"),
        args=args,
        raw=raw,
        truncated=item.get("status") == INCOMPLETE,
        opaque=opaque_id(item, where, domain),
        native=native_of(
            rest_of(item, "id", "item_id", "output_index", "call_id", "name", "arguments", *lost)
        ),
    )


def _drop_plain_status(fields: dict[str, Any]) -> None:
    """Take out a status that says nothing: an item in a history is complete unless it says more."""
    if fields.get("status") == COMPLETED:
        del fields["status"]


def _decode_custom_call(item: dict[str, Any], where: str, domain: str) -> ToolCall:
    text_at(item.get("namespace"), f"{where}.namespace")
    fields = rest_of(item, "id", "call_id", "name", "input")
    if fields.get("status") in (COMPLETED, INCOMPLETE):
        # Replies have a status, requests have none (SDK response_custom_tool_call_param.py).
        del fields["status"]
    return ToolCall(
        id=id_at(item.get("call_id"), f"{where}.call_id"),
        name=text_at(item.get("name"), f"{where}.name"),
        raw=text_at(item.get("input"), f"{where}.input"),
        kind="custom",
        truncated=item.get("status") == INCOMPLETE,
        opaque=opaque_id(item, where, domain),
        native=native_of(fields),
    )


def _decode_server_call(item: dict[str, Any], where: str, domain: str) -> list[Block]:
    kind = item["type"]
    asked = item.get(_ASKED[kind])
    args = asked if isinstance(asked, dict) else {_ASKED[kind]: asked} if asked else {}
    raw = asked if kind == "mcp_call" and isinstance(asked, str) else None
    # Of these items, only this one has a name.
    name = text_at(item.get("name"), f"{where}.name") if kind == "mcp_call" else ""
    domain = domain_of_item(item, where, domain)
    is_named = isinstance(item.get("id"), str | None)
    is_blank = item.get("call_id") == "" and kind == searches.CALL
    is_blank |= kind in _ANSWERED_BY_ID and not item.get("call_id")
    if not is_named or is_blank:
        domain = UNKNOWN_ISSUER  # As it came, it could not be answered.
    call = ToolCall(
        id=_own_id(item, where),
        name=name or kind.removesuffix("_call"),
        args=args if raw is None else None,
        raw=raw,
        kind="server",
        opaque=_whole(domain, item),
    )
    if kind in _ANSWERED_ELSEWHERE:
        return [call]
    return [call, _told_by_call(call.id, domain, error=bool(item.get("error")))]


def _told_by_call(id: str, domain: str, *, error: bool = False) -> ToolResult:
    """The result of a call whose item says all there is to say."""
    nothing = (Opaque(domain, SERVER_BLOCK, None),)
    return ToolResult(call_id=id, content=(), error=error, is_complete=True, opaque=nothing)


def _ran_at_provider(call: ToolCall) -> bool:
    """Whether a search has run already; otherwise the client runs it and answers."""
    match opaque_value(call, SERVER_BLOCK):
        case {"type": "tool_search_call", "execution": "server"}:
            return True
        case _:
            return False


def _decode_server_output(
    item: dict[str, Any], where: str, domain: str, so_far: list[Block]
) -> ToolResult:
    id = _id_of_answered(item, where, so_far)
    domain = domain_of_item(item, where, domain)
    is_search = item["type"] == searches.OUTPUT
    if item.get("call_id") == "" if is_search else not _own_id(item, where):
        domain = UNKNOWN_ISSUER  # As it came, it would answer no call.
    if any(not isinstance(tool, dict) for tool in list_at(item.get("tools"), f"{where}.tools")):
        domain = UNKNOWN_ISSUER  # The provider did not write it.
    return ToolResult(call_id=id, content=(), is_complete=True, opaque=_whole(domain, item))


def _whole(domain: str, item: dict[str, Any]) -> tuple[Opaque, ...]:
    return (Opaque(domain, SERVER_BLOCK, item),)


def _own_id(item: dict[str, Any], where: str) -> str:
    return id_at(item.get("call_id"), f"{where}.call_id") or id_at(item.get("id"), f"{where}.id")


def _id_of_answered(item: dict[str, Any], where: str, so_far: list[Block]) -> str:
    """The id of the call that an output belongs to; hosted tool search does not name it."""
    is_search = item["type"] == searches.OUTPUT
    named = id_at(item.get("call_id"), f"{where}.call_id") if is_search else _own_id(item, where)
    if named:
        return named
    answered = {block.call_id for block in so_far if isinstance(block, ToolResult)}
    waiting = (
        block.id
        for block in so_far
        if isinstance(block, ToolCall) and block.kind == "server" and block.id not in answered
    )
    return next(waiting, "") or _own_id(item, where)

"""The items of a conversation, both ways.

Items of the model that stand in a row are one assistant message; outputs in a row are one tool
message. A turn is written as one item for each thing it holds.
"""

from functools import cached_property
from typing import Any

from msgspec.structs import replace

from canonicall.blocks import (
    Block,
    Message,
    Origin,
    Role,
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
from canonicall.wire.carried import UNKNOWN_ISSUER, opaque_of, opaque_value, with_rest
from canonicall.wire.openai_responses import searches
from canonicall.wire.openai_responses.fields import (
    ITEM_ID,
    SERVER_BLOCK,
    domain_of_item,
    native_of,
    opaque_id,
    own_fields,
    rest_of,
)
from canonicall.wire.openai_responses.items import (
    decode_item,
    decode_unknown,
    encode_call,
    with_results,
)
from canonicall.wire.openai_responses.media import MEDIA_PARTS
from canonicall.wire.openai_responses.parts import (
    ITEM,
    decode_content,
    encode_content,
    encode_output_part,
)
from canonicall.wire.openai_responses.reasoning import encode_reasoning
from canonicall.wire.openai_responses.usual import usual_item
from canonicall.wire.reading import id_at, list_at, object_at, text_at

_CUSTOM_OUTPUT = "custom_tool_call_output"
_OUTPUTS = ("function_call_output", _CUSTOM_OUTPUT)
_ASKED, _ANSWER = "mcp_approval_request", "mcp_approval_response"
_NAMED = "approval_request_id"
_PARTS = ("input_text", "output_text", "refusal", *MEDIA_PARTS)
_ROLES: dict[str, Role] = {role: role for role in ("user", "system", "developer", "assistant")}
# Items of the client that are neither words nor outputs, and whose they are.
_CLIENT_ITEMS: dict[str, Role] = {
    "mcp_approval_response": "user",
    "additional_tools": "developer",
    "configuration_update": "developer",
}


def decode_input(
    value: Any,
    *,
    origin: Origin,
    domain: str,
    where: str = "$.input",
    continues: bool = False,
) -> tuple[list[Message], list[Finding]]:
    """The messages of a request's input; `continues`: items before it are stored elsewhere."""
    if isinstance(value, str):
        return [Message("user", (Text(text=value),))], []
    items = list_at(value, where)
    reader = _Reader(origin, domain, items, continues=continues)
    for index, item in enumerate(items):
        usual = usual_item(item) if isinstance(item, dict) else None
        if usual is not None:
            reader.take(usual)
        else:
            reader.feed(object_at(item, f"{where}[{index}]"), f"{where}[{index}]")
    reader.close()
    return reader.messages, reader.findings


def message_places(body: dict[str, Any]) -> list[tuple[str, ...]]:
    """The paths of each message that the decoder makes of `body`: those of its items."""
    instructions = body.get("instructions")
    is_apart = isinstance(instructions, str) and instructions != ""
    places: list[tuple[str, ...]] = [("$.instructions",)] if is_apart else []
    if isinstance(body.get("input"), str):
        return [*places, ("$.input",)]
    items = list_at(body.get("input"), "$.input")
    reader = _Reader(Origin(), "", items)
    last: Role = "user"
    for index, item in enumerate(items):
        role = reader.role_of(_message_of(item) if item.get("type") in _PARTS else item, "")
        place = f"$.input[{index}]"
        if role == last and role in ("assistant", "tool"):
            places[-1] = (*places[-1], place)
        elif role == "assistant" and _says_nothing(item):
            continue
        else:
            places.append((place,))
        last = role
    return places


def decode_output(value: Any, *, domain: str) -> tuple[tuple[Block, ...], list[Finding]]:
    """The blocks of a response's output: all of it is one assistant message."""
    findings: list[Finding] = []
    blocks: list[Block] = []
    for index, item in enumerate(list_at(value, "$.output")):
        where = f"$.output[{index}]"
        blocks += decode_item(object_at(item, where), where, domain, blocks, findings)
    return with_results(blocks, domain), findings


def encode_turn(turn: Turn, target: Target) -> list[dict[str, Any]]:
    """The items of one turn."""
    if turn.role == "assistant":
        return encode_reply(turn.blocks, target)
    items: list[dict[str, Any]] = []
    said: list[Block] = []
    for block in turn.blocks:
        if isinstance(block, ToolResult):
            items.append(_encode_result(block, target))
        elif isinstance(block, Unknown) and _is_client_item(block):
            items += _encode_words(turn, said)
            items.append(own_fields(block.native))
            said = []
        else:
            said.append(block)
    return items + _encode_words(turn, said)


def encode_reply(blocks: tuple[Block, ...], target: Target) -> list[dict[str, Any]]:
    """The items of the model, in the order of their blocks."""
    items: list[dict[str, Any]] = []
    message_id = None
    for block in blocks:
        id = opaque_value(block, ITEM_ID) if block.opaque and is_words(block) else None
        if id is not None and id == message_id:
            items[-1]["content"].append(encode_output_part(block))
        else:
            items += _encode_block(block, target)
        message_id = id
    return items


class _Reader:
    """Items in, messages out: what belongs together is held until something else comes."""

    def __init__(
        self, origin: Origin, domain: str, items: list[Any], *, continues: bool = False
    ) -> None:
        self._items = items
        self._continues = continues
        self._asked: set[str] = set()
        """The ids of requests for approval that were read, and that can be sent."""
        self.messages: list[Message] = []
        self.findings: list[Finding] = []
        self._origin = origin
        self._domain = domain
        self._reply: list[Block] = []
        self._results: list[ToolResult] = []
        self._searches: set[str] = set()
        """The ids of searches that are the client's: an output need not say whose it is."""

    def take(self, usual: Message) -> None:
        """What an item holds, read already."""
        if usual.role == "assistant":
            self._end_results()
            self._reply += usual.blocks
        elif usual.role == "tool":
            self._end_reply()
            self._results += usual.results
        else:
            self.close()
            self.messages.append(usual)

    def role_of(self, item: dict[str, Any], where: str) -> Role:
        """Whose an item is; outputs are those of tools."""
        kind = text_at(item.get("type"), f"{where}.type") or _untyped_kind(item, where)
        if kind in _OUTPUTS:
            return "tool"
        if kind == searches.CALL and searches.is_clients(item):
            self._searches.add(id_at(item.get("call_id"), f"{where}.call_id"))
        if kind == searches.OUTPUT and self._is_clients(item):
            return "tool"
        return _role_of(item, kind, where)

    def feed(self, item: dict[str, Any], where: str) -> None:
        """An item, whatever is in it."""
        if item.get("type") in _PARTS:
            why = "A part is in the place of an item; it is read as a message that holds it."
            self.findings.append(Finding("unknown_item", where, Action.CHANGED, why, Fault.INPUT))
            item = _message_of(item)
        role = self.role_of(item, where)
        kind = item.get("type") or _untyped_kind(item, where)
        if role == "tool":
            self._end_reply()
            if kind == searches.OUTPUT:
                self._results.append(searches.decode_found(item, where, self._domain))
            else:
                self._results.append(_decode_result(item, where, self._domain, self.findings))
            return
        if role == "assistant":
            self._end_results()
            domain = self._domain_of_asked(item, where) if kind == _ASKED else self._domain
            self._reply += decode_item(item, where, domain, self._reply, self.findings)
            return
        self.close()
        if kind == "message":
            self.messages.append(_decode_words(item, role, where, self._domain, self.findings))
        else:
            is_unasked = kind == _ANSWER and not self._is_asked(item)
            domain = UNKNOWN_ISSUER if is_unasked else self._domain
            block = decode_unknown(item, where, domain, self.findings, known=True)
            self.messages.append(Message(role, (block,)))

    def _domain_of_asked(self, item: dict[str, Any], where: str) -> str:
        """Who can be sent a request for approval. One without an answer after it is refused."""
        id = text_at(item.get("id"), f"{where}.id")
        if id not in self._approved or domain_of_item(item, where, self._domain) == UNKNOWN_ISSUER:
            return UNKNOWN_ISSUER
        self._asked.add(id)
        return self._domain

    def _is_asked(self, item: dict[str, Any]) -> bool:
        """Whether an answer names a request for approval before it, which may be a stored one."""
        id = item.get(_NAMED)
        return isinstance(id, str) and bool(id) and (self._continues or id in self._asked)

    @cached_property
    def _approved(self) -> set[str]:
        """The ids of requests for approval that are answered after them."""
        asked: set[Any] = set()
        approved: set[str] = set()
        for item in self._items:
            kind = item.get("type") if isinstance(item, dict) else None
            id = item.get("id" if kind == _ASKED else _NAMED) if kind in (_ASKED, _ANSWER) else None
            if not isinstance(id, str) or not id:
                continue
            if kind == _ASKED:
                asked.add(id)
            elif id in asked:
                approved.add(id)
        return approved

    def _is_clients(self, item: dict[str, Any]) -> bool:
        id = item.get("call_id")
        return searches.is_clients(item) or (isinstance(id, str) and id in self._searches)

    def close(self) -> None:
        self._end_reply()
        self._end_results()

    def _end_reply(self) -> None:
        if self._reply:
            blocks = with_results(self._reply, self._domain)
            self.messages.append(Message("assistant", blocks, origin=self._origin))
            self._reply = []

    def _end_results(self) -> None:
        if self._results:
            self.messages.append(Message("tool", tuple(self._results)))
            self._results = []


def _says_nothing(item: dict[str, Any]) -> bool:
    """Whether an item of the model is a message without a block."""
    is_message = item.get("type", "message") == "message"
    return is_message and not item.get("content") and not decode_item(item, "", "", [], [])


def _message_of(part: dict[str, Any]) -> dict[str, Any]:
    """The message that a part belongs into: of the model if it is one that only models write."""
    role = "assistant" if part["type"] in ("output_text", "refusal") else "user"
    held = {name: field for name, field in part.items() if name not in ("role", "id")}
    return {"type": "message", "role": part.get("role") or role, "content": [held]}


def _untyped_kind(item: dict[str, Any], where: str) -> str:
    """The type of an item that does not say it: only a message and a reference need not."""
    if "role" in item:
        return "message"
    if item.get("id") and item.keys() <= {"type", "id"}:
        return "item_reference"
    raise MalformedBody("an item has neither a type nor a role.", where=where)


def _role_of(item: dict[str, Any], kind: str, where: str) -> Role:
    """Whose an item is. All that is not the client's is the model's."""
    if kind != "message":
        return _CLIENT_ITEMS.get(kind, "assistant")
    role = _ROLES.get(text_at(item.get("role"), f"{where}.role"))
    if role is None:
        # "Invalid value: 'tool'. Supported values are: 'assistant', 'system', 'developer', and
        # 'user'."
        raise MalformedBody(f"no item has the role {item.get('role')!r}.", where=f"{where}.role")
    return role


def _decode_words(
    item: dict[str, Any], role: Role, where: str, domain: str, findings: list[Finding]
) -> Message:
    blocks = decode_content(item.get("content"), f"{where}.content", domain, findings)
    mark = opaque_id(item, where, domain)
    if mark and blocks:
        marked = replace(blocks[0], opaque=(*blocks[0].opaque, *mark))
        blocks = (marked, *blocks[1:])
    return Message(role, blocks, native=native_of(rest_of(item, "role", "id", "content")))


def _decode_result(
    item: dict[str, Any], where: str, domain: str, findings: list[Finding]
) -> ToolResult:
    if item.get("tools") is not None:
        why = "Only what a search has found has tools; they are left out."
        findings.append(Finding("fields_dropped", where, Action.DROPPED, why, Fault.INPUT))
    output = item.get("output")
    content = () if output == "" else decode_content(output, f"{where}.output", domain, findings)
    return ToolResult(
        call_id=id_at(item.get("call_id"), f"{where}.call_id"),
        content=content,
        is_complete=True,
        name=text_at(item.get("name"), f"{where}.name"),
        opaque=opaque_of(domain, ITEM_ID, text_at(item.get("id"), f"{where}.id")),
        kind="custom" if item["type"] == _CUSTOM_OUTPUT else "function",
        native=native_of(rest_of(item, "id", "call_id", "output", "tools")),
    )


def _encode_words(turn: Turn, blocks: list[Block]) -> list[dict[str, Any]]:
    if not blocks:
        return []
    item: dict[str, Any] = {"role": turn.role, "content": encode_content(blocks)}
    id = opaque_value(blocks[0], ITEM_ID)
    if id is not None:
        item = {"type": "message", "id": id, **item}
    return [with_rest(item, own_fields(turn.native))]


def _encode_result(result: ToolResult, target: Target) -> dict[str, Any]:
    whole = opaque_value(result, SERVER_BLOCK)
    if isinstance(whole, dict):
        return whole
    if searches.is_search(result, searches.OUTPUT):
        return searches.encode_found(result)
    rest = own_fields(result.native)
    is_custom = target.custom_tools and result.kind == "custom"
    item: dict[str, Any] = {"type": _CUSTOM_OUTPUT if is_custom else "function_call_output"}
    id = opaque_value(result, ITEM_ID)
    if id is not None:
        item["id"] = id
    item |= {"call_id": result.call_id, "output": encode_content(result.content or ())}
    return with_rest(item, rest) if rest else item


def _encode_block(block: Block, target: Target) -> list[dict[str, Any]]:
    if type(block) is Text and block.native is None and not block.opaque:
        return [{"role": "assistant", "content": block.text}]
    whole = opaque_value(block, SERVER_BLOCK)
    match block:
        case ToolCall(kind="server") | ToolResult():
            return [whole] if isinstance(whole, dict) else []
        case ToolCall():
            return [encode_call(block)]
        case Thinking():
            in_full = target.reasoning == "open"
            return [encode_reasoning(block, in_full=in_full)]
        case Unknown() if not is_words(block):
            return [own_fields(block.native)]
        case _:
            return [_encode_message(block)]


def _encode_message(block: Block) -> dict[str, Any]:
    """A message of the model: with its id as it came, without one in the short form.

    An id names what the provider has stored, so the full form is for its own messages only
    (SDK response_output_message_param.py; easy_input_message_param.py is the short form).
    """
    around = dict(own_fields(block.native).get(ITEM, {}))
    part = encode_output_part(block)
    status = around.pop("status", "completed")
    id = opaque_value(block, ITEM_ID)
    if id is not None:
        item = {"type": "message", "role": "assistant", "id": id, "status": status}
        return with_rest({**item, "content": [part]}, around)
    is_bare = part["type"] == "output_text" and part.get("annotations") == [] and len(part) == 3
    return with_rest({"role": "assistant", "content": part["text"] if is_bare else [part]}, around)


def is_words(block: Block) -> bool:
    """Whether a block is part of a message item, not an item of its own."""
    if isinstance(block, (Thinking, ToolCall, ToolResult)):
        return False
    if not isinstance(block, Unknown):
        return True
    if _is_client_item(block):
        return False
    fields = own_fields(block.native)
    inside = opaque_value(block, ITEM_ID) not in (None, fields.get("id"))
    return inside or fields.get("type") in (*MEDIA_PARTS, "input_video")


def _is_client_item(block: Unknown) -> bool:
    kind = own_fields(block.native).get("type")
    return isinstance(kind, str) and kind in _CLIENT_ITEMS

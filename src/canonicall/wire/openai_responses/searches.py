"""Searches for tools that the client runs, both ways.

The model asks for tools by an item of its own, `tool_search_call`, and the answer has no words: its
`tools` can be called from then on (guide "Tool search", `execution: client`). Read as a call of a
function and its result, a search can be carried to models of any format; the type of the item
stands in the native fields, so that it is written here as it came. Searches that the provider runs
itself are none of these.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from canonicall.arguments import arguments_of
from canonicall.blocks import Text, ToolCall, ToolResult
from canonicall.wire.carried import opaque_of, opaque_value, with_rest
from canonicall.wire.openai_responses.fields import (
    ITEM_ID,
    native_of,
    opaque_id,
    own_fields,
    rest_of,
)
from canonicall.wire.openai_responses.finish import COMPLETED, INCOMPLETE
from canonicall.wire.reading import arguments_at, id_at, list_at, text_at

CALL = "tool_search_call"
OUTPUT = "tool_search_output"
NAME = "tool_search"
CLIENT: dict[str, Any] = {"execution": "client"}
_BETWEEN = "__"


def is_clients(item: dict[str, Any]) -> bool:
    """Whether a tool, call or output of a search is the client's."""
    return item.get("execution") == "client"


def is_unexplained(tool: dict[str, Any]) -> bool:
    """Whether a tool is a search of the client's that the provider refuses: it says nothing.

    "Missing required parameter: 'tools[0].description'."
    """
    return tool.get("type") == NAME and is_clients(tool) and not tool.get("description")


def is_search(block: ToolCall | ToolResult, kind: str) -> bool:
    """Whether a block is written as an item of this kind."""
    return block.native is not None and own_fields(block.native).get("type") == kind


def decode_search(item: dict[str, Any], where: str, domain: str) -> ToolCall:
    """The call in an item."""
    raw, args = arguments_at(item.get("arguments"))
    fields = rest_of(item, "id", "call_id", "arguments")
    return ToolCall(
        id=id_at(item.get("call_id"), f"{where}.call_id"),
        name=NAME,
        args=args,
        raw=raw,
        truncated=item.get("status") == INCOMPLETE,
        opaque=opaque_id(item, where, domain),
        native=native_of({"type": CALL, **fields}),
    )


def encode_search(call: ToolCall) -> dict[str, Any]:
    """The item for a call."""
    item: dict[str, Any] = {"type": CALL}
    id = opaque_value(call, ITEM_ID)
    if id is not None:
        item["id"] = id
    item |= {"call_id": call.id, "arguments": arguments_of(call)}
    return with_rest(item, own_fields(call.native))


def decode_found(item: dict[str, Any], where: str, domain: str) -> ToolResult:
    """The result in an item. Its words are for models of other formats: they are offered the same
    tools beside it."""
    names = list(_names(list_at(item.get("tools"), f"{where}.tools"), ""))
    said = f"These tools can be called now: {', '.join(names)}." if names else "No tool was found."
    return ToolResult(
        call_id=id_at(item.get("call_id"), f"{where}.call_id"),
        content=(Text(text=said),),
        is_complete=True,
        name=NAME,
        opaque=opaque_of(domain, ITEM_ID, text_at(item.get("id"), f"{where}.id")),
        native=native_of({"type": OUTPUT, **rest_of(item, "id", "call_id")}),
    )


def encode_found(result: ToolResult) -> dict[str, Any]:
    """The item for a result."""
    item: dict[str, Any] = {"type": OUTPUT}
    id = opaque_value(result, ITEM_ID)
    if id is not None:
        item["id"] = id
    return with_rest(item | {"call_id": result.call_id}, own_fields(result.native))


def with_answers(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """`items` in which every search has an output of its kind: one that never came back has found
    nothing."""
    asked = {item["call_id"] for item in items if item.get("type") == CALL and is_clients(item)}
    if not asked:
        return items
    return [
        _nothing(item)
        if item.get("type") == "function_call_output" and item["call_id"] in asked
        else item
        for item in items
    ]


def _nothing(item: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": OUTPUT,
        "call_id": item["call_id"],
        "status": COMPLETED,
        **CLIENT,
        "tools": [],
    }


def _names(tools: Iterable[Any], group: str) -> Iterator[str]:
    """The names that tools have where they stand alone."""
    for tool in tools:
        if not isinstance(tool, dict):
            continue
        name = tool.get("name")
        if isinstance(tool.get("tools"), list):
            yield from _names(tool["tools"], name if isinstance(name, str) else "")
        elif isinstance(name, str) and name:
            yield f"{group}{_BETWEEN}{name}" if group else name

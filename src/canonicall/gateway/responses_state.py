"""Stored responses: what `previous_response_id` stands for, whoever answered then."""

from collections.abc import Mapping
from typing import Any

import msgspec

from canonicall.gateway.exchange import Refused
from canonicall.gateway.keeping import Keeping
from canonicall.gateway.turns import Turn

FORMAT = "openai-responses"
PREVIOUS = "previous_response_id"


async def whole_body(body: dict[str, Any], keeping: Keeping) -> dict[str, Any]:
    """`body` with the turns it refers to in its input."""
    given = _items(body.get("input"))
    named = {
        item["id"] for item in given if _is_reference(item) and isinstance(item.get("id"), str)
    }
    before = body.get(PREVIOUS)
    stored = await keeping.response(before) if isinstance(before, str) else None
    if before is not None and stored is None:
        what = f"Previous response with id '{before}' not found."
        raise Refused(400, "previous_response_not_found", what)
    said = [*stored["input"], *stored["response"].get("output", ())] if stored else []
    known = {item.get("id"): item for item in said if isinstance(item, dict)} if named else {}
    items = [known.get(item.get("id"), item) if _is_reference(item) else item for item in given]
    rest = {name: value for name, value in body.items() if name != PREVIOUS}
    return {**rest, "input": [*said, *items]} if said or named else rest


def is_stored(turn: Turn) -> bool:
    """Whether the client wants its response stored; it does unless it says otherwise."""
    return turn.front.format == FORMAT and turn.body.get("store") is not False


def store(turn: Turn, response: dict[str, Any], keeping: Keeping, now: float) -> None:
    """Store a response, and all that was said before it."""
    id = response.get("id")
    if isinstance(id, str):
        keeping.keep_response(id, response, _items(turn.body.get("input")), now)


def response_in(data: bytes) -> dict[str, Any] | None:
    """The response object in a body, or in the last event of a stream."""
    if data.lstrip()[:1] != b"{":
        _, _, rest = data[data.rfind(b"event: response.completed") :].partition(b"data: ")
        event = _object(rest.partition(b"\n")[0])
        response = event.get("response") if event else None
        return response if isinstance(response, dict) else None
    return _object(data)


def as_list(stored: Mapping[str, Any]) -> dict[str, Any]:
    """The input of a stored response as `/input_items` lists it, the last first."""
    id = stored["response"].get("id", "")
    items = [
        {"id": f"msg_{id}_{at}", **item} if isinstance(item, dict) else item
        for at, item in enumerate(stored["input"])
    ]
    items.reverse()
    edges = [items[0].get("id"), items[-1].get("id")] if items else [None, None]
    listed = {"object": "list", "data": items, "has_more": False}
    return {**listed, "first_id": edges[0], "last_id": edges[1]}


def _items(given: Any) -> list[Any]:
    if isinstance(given, str):
        return [{"type": "message", "role": "user", "content": given}]
    return given if isinstance(given, list) else []


def _is_reference(item: Any) -> bool:
    return isinstance(item, dict) and item.get("type") == "item_reference"


def _object(data: bytes) -> dict[str, Any] | None:
    try:
        value = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    return value if isinstance(value, dict) else None

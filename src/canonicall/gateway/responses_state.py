"""Stored responses: what `previous_response_id` stands for, whoever answered then."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from canonicall.gateway.exchange import Refused
from canonicall.gateway.fronts.front import page_size
from canonicall.gateway.keeping import Keeping
from canonicall.gateway.turns import Turn, target_name

FORMAT = "openai-responses"
PREVIOUS = "previous_response_id"
_ENDS = tuple(b"\nevent: response." + word for word in (b"completed", b"incomplete", b"failed"))
"""How the events begin whose response is whole. In JSON no line ends: words cannot look so."""
_ITEMS, _MOST_ITEMS = 20, 100
"""As many items as a page has (OpenAI: list input items)."""


class Whole(Struct, frozen=True):
    """A request with all that it refers to."""

    body: dict[str, Any]
    keeper: str = ""
    """The target that has stored all of it itself, under the same ids; empty where none has."""


async def whole_body(body: dict[str, Any], keeping: Keeping, *, owner: str) -> Whole:
    """`body` with the turns and items it refers to in its input; `owner` has stored them."""
    given = _items(body.get("input"))
    before = body.get(PREVIOUS)
    named = [_id_of(item) for item in given if _is_reference(item)]
    if before is None and not named:
        return Whole(body)
    stored = await keeping.response(before, owner=owner) if isinstance(before, str) else None
    if before is not None and stored is None:
        what = f"Previous response with id '{before}' not found."
        code = "previous_response_not_found"
        raise Refused(400, "not_found", what, code=code, param=PREVIOUS)
    said = [*stored["input"], *stored["response"].get("output", ())] if stored else []
    known = await keeping.items(named, owner=owner) if named else {}
    items = [_resolved(item, known) for item in given]
    rest = {name: value for name, value in body.items() if name != PREVIOUS}
    keeper = stored.get("keeper", "") if stored and not named else ""
    return Whole({**rest, "input": [*said, *items]}, keeper)


def is_stored(turn: Turn) -> bool:
    """Whether the client wants its response stored; it does unless it says otherwise."""
    return turn.front.format == FORMAT and turn.body.get("store") is not False


def store(turn: Turn, response: dict[str, Any], keeping: Keeping, now: float) -> None:
    """Store a response, and all that was said before it."""
    id = response.get("id")
    if isinstance(id, str):
        kept = {"response": response, "input": _items(turn.body.get("input"))}
        if turn.is_forwarded:
            kept["keeper"] = target_name(turn.target)
        keeping.keep_response(id, kept, now, owner=turn.key)


def response_in(data: bytes) -> dict[str, Any] | None:
    """The response object in a body, or in the last event of a stream."""
    if data.lstrip()[:1] == b"{":
        return _object(data)
    at = max(data.rfind(end) for end in _ENDS)
    _, _, rest = data[max(at, 0) :].partition(b"data: ")
    event = _object(rest.partition(b"\n")[0])
    response = event.get("response") if event else None
    return response if isinstance(response, dict) else None


def begins_end(data: bytes) -> bool:
    """Whether the event that ends a stream, and has the response in it, begins in these bytes."""
    return any(end in data for end in _ENDS)


def as_list(stored: Mapping[str, Any], query: Mapping[str, str]) -> dict[str, Any]:
    """A page of the input of a stored response, as `/input_items` lists it: the last first."""
    id = stored["response"].get("id", "")
    items = [_listed(item, f"msg_{id}_{at}") for at, item in enumerate(stored["input"])]
    if query.get("order") != "asc":
        items.reverse()
    places = {_id_of(item): at for at, item in enumerate(items)}
    begin = places.get(query.get("after", ""), -1) + 1
    end = begin + min(page_size(query.get("limit", ""), _ITEMS), _MOST_ITEMS)
    page = items[begin:end]
    edges = [_id_of(page[0]), _id_of(page[-1])] if page else [None, None]
    listed = {"object": "list", "data": page, "has_more": end < len(items)}
    return {**listed, "first_id": edges[0], "last_id": edges[1]}


def _listed(item: Any, id: str) -> Any:
    """An item as it is listed: each has an id, and words are always parts."""
    if not isinstance(item, dict):
        return item
    said = item.get("content")
    if isinstance(said, str):
        kind = "output_text" if item.get("role") == "assistant" else "input_text"
        item = {"type": "message", **item, "content": [{"type": kind, "text": said}]}
    return {"id": id, **item}


def _resolved(item: Any, known: Mapping[str, Any]) -> Any:
    if not _is_reference(item):
        return item
    if (id := _id_of(item)) in known:
        return known[id]
    what = (
        f"Item with id '{id}' not found. Items are not persisted when `store` is set to false."
        " Try again with `store` set to true, or remove this item from your input."
    )
    raise Refused(400, "not_found", what, param="input")


def _id_of(item: Any) -> str:
    id = item.get("id") if isinstance(item, dict) else None
    return id if isinstance(id, str) else ""


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

"""Conversations of the Responses API: `/v1/conversations` and their items, kept in memory.

A response that names a conversation is made from its items and the input, and adds its input and
its output to the end. Source: openai 3.49.0 (Python), resources/conversations and types.
"""

from typing import Any

from canonicall.testing.doors.door import Asked
from canonicall.testing.exchange import SimRequest
from canonicall.testing.failure import Failure
from canonicall.testing.seals import digest
from canonicall.wire.error_body import ErrorBody

_INVALID = "invalid_request_error"
_MOST_ITEMS = 20
_PAGE, _MOST_PAGE = 20, 100
_PREFIXES = {"message": "msg", "function_call": "fc", "reasoning": "rs"}
_PARTS = {"assistant": "output_text"}


class Conversations:
    """The conversations of one simulator."""

    def __init__(self) -> None:
        self._metadata: dict[str, dict[str, Any]] = {}
        self._items: dict[str, list[dict[str, Any]]] = {}
        self._made = 0

    def need(self, named: Any) -> None:
        """A failure where the conversation that a request names is not there."""
        if named is not None and _id(named) not in self._items:
            raise _not_found(_id(named))

    def whole(self, body: dict[str, Any]) -> dict[str, Any]:
        """`body` with the items of the conversation it names before its own."""
        said = self._items.get(_id(body.get("conversation")))
        if said is None:
            return body
        rest = {name: value for name, value in body.items() if name != "conversation"}
        return {**rest, "input": [*said, *as_items(body.get("input"))]}

    def keep(self, asked: dict[str, Any], made: dict[str, Any]) -> None:
        """Add a response and its input to its conversation."""
        id = _id(asked.get("conversation"))
        if id in self._items:
            self._add(id, [*as_items(asked.get("input")), *made.get("output", ())])

    def answered(self, asked: Asked, request: SimRequest, body: dict[str, Any]) -> dict[str, Any]:
        """The answer at one of the endpoints."""
        if asked.action == "conversations" and request.method == "POST":
            return self._created(body)
        self.need(asked.name)
        if asked.action == "conversation_items":
            if request.method == "POST":
                return _page(self._add(asked.name, _given(body)), has_more=False)
            return self._listed(asked.name, request.query)
        if asked.action == "conversation_item":
            return self._one(asked, request)
        if request.method == "DELETE":
            del self._items[asked.name], self._metadata[asked.name]
            return {"id": asked.name, "object": "conversation.deleted", "deleted": True}
        if request.method == "POST":
            self._metadata[asked.name]["metadata"] = body.get("metadata") or {}
        return self._metadata[asked.name]

    def _created(self, body: dict[str, Any]) -> dict[str, Any]:
        items = _given(body)
        self._made += 1
        id = f"conv_{self._made:048d}"
        told = {"id": id, "object": "conversation", "created_at": self._made}
        self._metadata[id] = {**told, "metadata": body.get("metadata") or {}}
        self._items[id] = []
        self._add(id, items)
        return self._metadata[id]

    def _add(self, id: str, items: list[Any]) -> list[dict[str, Any]]:
        """Add items, each with an id and in the form in which it is listed."""
        kept = self._items[id]
        added = [listed_form(item, f"{id} {len(kept) + at}") for at, item in enumerate(items)]
        kept.extend(added)
        return added

    def _listed(self, id: str, query: dict[str, str]) -> dict[str, Any]:
        items = self._items[id]
        ordered = items if query.get("order") == "asc" else items[::-1]
        after = query.get("after")
        at = next((n + 1 for n, one in enumerate(ordered) if one["id"] == after), 0)
        asked = query.get("limit", "")
        limit = min(int(asked), _MOST_PAGE) if asked.isdecimal() else _PAGE
        return _page(ordered[at : at + limit], has_more=len(ordered) > at + limit)

    def _one(self, asked: Asked, request: SimRequest) -> dict[str, Any]:
        items = self._items[asked.name]
        found = next((one for one in items if one["id"] == asked.item), None)
        if found is None:
            what = f"Item with id '{asked.item}' not found in conversation '{asked.name}'."
            raise Failure(404, ErrorBody(what, _INVALID))
        if request.method != "DELETE":
            return found
        items.remove(found)
        return self._metadata[asked.name]


def as_items(given: Any) -> list[Any]:
    """The input as a list: bare text is one user message."""
    if isinstance(given, str):
        return [{"type": "message", "role": "user", "content": given}]
    return given if isinstance(given, list) else []


def item_type(item: Any) -> str:
    """The type of an item; empty where it has none."""
    kind = item.get("type") if isinstance(item, dict) else ""
    return kind if isinstance(kind, str) else ""


def is_asked(item: Any) -> bool:
    """Whether an item is a message of the user."""
    kind = item_type(item) or "message"
    return isinstance(item, dict) and kind == "message" and item.get("role") == "user"


def id_of(item: Any) -> str:
    """The id of an item; empty where it has none."""
    id = item.get("id") if isinstance(item, dict) else ""
    return id if isinstance(id, str) else ""


def _id(named: Any) -> str:
    """The id of a conversation, which a request names by its id or by an object with it."""
    return id_of(named) if isinstance(named, dict) else str(named)


def _not_found(id: str) -> Failure:
    return Failure(404, ErrorBody(f"Conversation with id '{id}' not found.", _INVALID))


def _given(body: dict[str, Any]) -> list[Any]:
    """The items that a request adds."""
    items = as_items(body.get("items"))
    if len(items) > _MOST_ITEMS:
        what = (
            f"Invalid 'items': array too long. Expected an array with maximum length {_MOST_ITEMS},"
            f" but got an array with length {len(items)} instead."
        )
        raise Failure(400, ErrorBody(what, _INVALID, "array_above_max_length", "items"))
    for at, item in enumerate(items):
        if not isinstance(item, dict):
            where = f"items[{at}]"
            what = f"Invalid type for '{where}': expected an input item, but got another value."
            raise Failure(400, ErrorBody(what, _INVALID, "invalid_type", where))
    return items


def listed_form(item: Any, seed: str) -> dict[str, Any]:
    """An item as the API lists it: with an id and a status, its text as parts."""
    held = dict(item) if isinstance(item, dict) else {}
    kind = item_type(held) or "message"
    made = {"id": id_of(held) or f"{_PREFIXES.get(kind, 'item')}_{digest(seed)}", "type": kind}
    if kind == "message":
        made["status"] = "completed"
        if isinstance(held.get("content"), str):
            part = _PARTS.get(str(held.get("role")), "input_text")
            extra: dict[str, Any] = {"annotations": []} if part == "output_text" else {}
            held["content"] = [{"type": part, "text": held["content"], **extra}]
    return {**made, **held, "id": made["id"]}


def _page(items: list[dict[str, Any]], *, has_more: bool) -> dict[str, Any]:
    ids = [one["id"] for one in items] or [""]
    edges = {"first_id": ids[0], "last_id": ids[-1]}
    return {"object": "list", "data": items, **edges, "has_more": has_more}

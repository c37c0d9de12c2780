"""OpenAI's `/v1/conversations`: lists of items that are made, read, described and deleted.

Responses add to them (`responses_state`).
"""

import os
from collections.abc import Mapping
from typing import Any

from canonicall.gateway.conversation_store import Head, Held, Item
from canonicall.gateway.exchange import HttpRequest, HttpResponse, Refused
from canonicall.gateway.fronts.front import (
    CONVERSATION,
    CONVERSATION_DELETE,
    CONVERSATION_ITEM,
    CONVERSATION_ITEM_DELETE,
    CONVERSATION_ITEMS,
    CONVERSATION_ITEMS_ADD,
    CONVERSATION_MAKE,
    CONVERSATION_UPDATE,
    Asked,
)
from canonicall.gateway.reading import parsed_body
from canonicall.gateway.responses_state import as_list, listed, refuse_too_large, unsupported
from canonicall.gateway.state import State
from canonicall.gateway.storage import locked, named_items, no_conversation

ACTIONS = (
    CONVERSATION_MAKE,
    CONVERSATION,
    CONVERSATION_UPDATE,
    CONVERSATION_DELETE,
    CONVERSATION_ITEMS,
    CONVERSATION_ITEMS_ADD,
    CONVERSATION_ITEM,
    CONVERSATION_ITEM_DELETE,
)
_MOST_ITEMS, _MOST_PAIRS, _LONGEST_KEY, _LONGEST_VALUE = 20, 16, 64, 512
"""openai 3.49.0 (Python), resources/conversations."""
_HAVE_STATUS = ("message", "function_call", "function_call_output")


class Conversations:
    """The conversations of one client, at one request."""

    def __init__(self, state: State, request: HttpRequest, asked: Asked, owner: str) -> None:
        self._state = state
        self._store = state.keeping.conversations
        self._request = request
        self._id = asked.name
        self._item = asked.item
        self._action = asked.action
        self._owner = owner
        self._now = state.backs.means.now()

    async def answer(self) -> HttpResponse:
        """What the client gets."""
        if not self._state.settings.store.enabled:
            raise unsupported("conversation")
        if self._action == CONVERSATION_MAKE:
            return HttpResponse.json(await self._made())
        head = await self._head()
        match self._action:
            case action if action == CONVERSATION_UPDATE:
                metadata = _metadata(self._body())
                await self._store.describe(self._id, metadata, owner=self._owner)
                head = await self._head()
            case action if action == CONVERSATION_DELETE:
                await self._store.forget(self._id, owner=self._owner)
                gone = {"id": self._id, "object": "conversation.deleted", "deleted": True}
                return HttpResponse.json(gone)
            case action if action == CONVERSATION_ITEMS:
                shown = [_shown(one) for one in await self._items()]
                return HttpResponse.json(as_list(shown, self._request.query))
            case action if action == CONVERSATION_ITEMS_ADD:
                return HttpResponse.json(await self._added(head))
            case action if action == CONVERSATION_ITEM:
                return HttpResponse.json(_shown(await self._one()))
            case action if action == CONVERSATION_ITEM_DELETE:
                await self._one()
                await self._store.forget_item(self._id, self._item, owner=self._owner)
        return HttpResponse.json(_described(self._id, head))

    async def _made(self) -> dict[str, Any]:
        body = self._body() if self._request.body else {}
        seed = os.urandom(16).hex()
        id = f"conv_{seed}"
        metadata, items = _metadata(body), named_items(_items(body), seed)
        await self._store.make(id, metadata, items, self._now, owner=self._owner)
        return _described(id, Head(self._now, metadata, 0, 0, "", 0.0))

    async def _added(self, head: Head) -> dict[str, Any]:
        refuse_too_large(head.size + len(self._request.body), self._state.settings.store)
        items = named_items(_items(self._body()), os.urandom(16).hex())
        try:
            await self._store.add(self._id, items, self._now, owner=self._owner)
        except Held:
            raise locked() from None
        return as_list([_shown(one) for one in items], {"order": "asc", "limit": "100"})

    async def _head(self) -> Head:
        head = await self._store.head(self._id, owner=self._owner)
        if head is None:
            raise no_conversation(self._id)
        return head

    async def _items(self) -> list[Item]:
        return await self._store.items(self._id, owner=self._owner)

    async def _one(self) -> Item:
        for one in await self._items():
            if one.id == self._item:
                return one
        raise Refused(404, "not_found", f"Item with id '{self._item}' not found.")

    def _body(self) -> dict[str, Any]:
        return parsed_body(self._request.body, self._state.settings.server)


def _described(id: str, head: Head) -> dict[str, Any]:
    made = int(head.made)
    return {"id": id, "object": "conversation", "created_at": made, "metadata": head.metadata}


def _shown(item: Item) -> Any:
    shown = listed(item.data, item.id)
    if isinstance(shown, dict) and shown.get("type", "message") in _HAVE_STATUS:
        return {"type": "message", "status": "completed", **shown}
    return shown


def _items(body: Mapping[str, Any]) -> list[Any]:
    items = body.get("items") or []
    if not isinstance(items, list) or not all(isinstance(one, dict) for one in items):
        what = "Invalid type for 'items': expected an array of objects."
        raise Refused(400, "malformed", what, code="invalid_type", param="items")
    if len(items) > _MOST_ITEMS:
        what = (
            f"Invalid 'items': array too long. Expected an array with maximum length {_MOST_ITEMS},"
            f" but got an array with length {len(items)} instead."
        )
        raise Refused(400, "malformed", what, code="array_above_max_length", param="items")
    return items


def _metadata(body: Mapping[str, Any]) -> dict[str, Any]:
    given = body.get("metadata") or {}
    if not isinstance(given, dict) or not all(isinstance(one, str) for one in given.values()):
        what = "Invalid type for 'metadata': expected an object whose values are strings."
        raise Refused(400, "malformed", what, code="invalid_type", param="metadata")
    if len(given) > _MOST_PAIRS:
        what = (
            "Invalid 'metadata': too many properties. Expected an object with at most"
            f" {_MOST_PAIRS} properties, but got an object with {len(given)} properties instead."
        )
        code = "object_above_max_properties"
        raise Refused(400, "malformed", what, code=code, param="metadata")
    for name, value in given.items():
        if len(name) > _LONGEST_KEY or len(value) > _LONGEST_VALUE:
            what = (
                f"Invalid 'metadata': string too long. Expected keys with maximum length"
                f" {_LONGEST_KEY} and values with maximum length {_LONGEST_VALUE}."
            )
            code = "string_above_max_length"
            raise Refused(400, "malformed", what, code=code, param="metadata")
    return given

"""The Responses API with its stored state: `/responses`, `/responses/{id}`, its input items.

Encrypted reasoning can be read by its own service and model family, under the id it was made for.
What a request refers to by id has to be stored.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from msgspec.structs import replace

from canonicall.blocks import Block, Opaque, Text, Thinking, ToolCall
from canonicall.reply import Reply
from canonicall.target import Target
from canonicall.testing.doors.door import (
    CANCEL,
    COUNT,
    DELETE,
    GENERATE,
    INPUT_ITEMS,
    MODEL,
    MODELS,
    STORED,
    Door,
)
from canonicall.testing.doors.openai_chat import ChatDoor
from canonicall.testing.exchange import SimRequest
from canonicall.testing.failure import Failure
from canonicall.testing.seals import Seal, digest, read_seal
from canonicall.verify.violation import Violation, refuse
from canonicall.wire.error_body import ErrorBody
from canonicall.wire.openai_responses.repeated import repeated

SOURCE = "OpenAI: error invalid_encrypted_content"
_FAMILY = re.compile(r"^(?:[^/]+/)?([a-z]+-?\d+(?:\.\d+)?|[a-z]+-[\w.]+?\d)")
_PREFIXES: dict[type, str] = {Thinking: "rs", Text: "msg", ToolCall: "fc"}
"""What the ids of items begin with."""
# pydantic-ai 2.66.0, models/openai.py: a picture is looked up, whatever else its item says.
_BY_ID = ("item_reference", "image_generation_call")
_UNREADABLE = (
    "The encrypted content {shown}... could not be verified."
    " Reason: Encrypted content could not be decrypted or parsed."
)
_OTHER_ITEM = (
    "The encrypted content {shown}... could not be verified."
    " Reason: Encrypted content item_id did not match the target item id."
)


class ResponsesDoor(Door):
    """`POST /v1/responses` and what is stored behind it."""

    format = "openai-responses"
    routes = (
        ("POST", r"/responses$", GENERATE),
        ("POST", r"/responses/input_tokens$", COUNT),
        ("GET", r"/responses/(?P<name>(?!compact$|input_tokens$)[^/]+)/input_items$", INPUT_ITEMS),
        ("POST", r"/responses/(?P<name>(?!compact$|input_tokens$)[^/]+)/cancel$", CANCEL),
        ("GET", r"/responses/(?P<name>(?!compact$|input_tokens$)[^/]+)$", STORED),
        ("DELETE", r"/responses/(?P<name>(?!compact$|input_tokens$)[^/]+)$", DELETE),
        ("GET", r"/models$", MODELS),
        ("GET", r"/models/(?P<name>.+)$", MODEL),
    )
    keeps_responses = True
    _chat = ChatDoor()

    def key(self, request: SimRequest) -> str:
        return self._chat.key(request)

    def no_key(self, shown: str) -> Failure:
        return self._chat.no_key(shown)

    def needs_model(self, body: dict[str, Any], target: Target) -> bool:
        # A stored prompt names the model (recorded).
        return body.get("prompt") is None and self._chat.needs_model(body, target)

    def wrong_method(self, request: SimRequest) -> Failure:
        return self._chat.wrong_method(request)

    def no_model(self, target: Target) -> Failure:
        return self._chat.no_model(target)

    def tokens(self, count: int) -> dict[str, Any]:
        return {"object": "response.input_tokens", "input_tokens": count}

    def error(self, status: int, error: ErrorBody, target: Target) -> Any:
        if target.provider == "xai":
            return self._chat.error(status, error, target)
        if target.provider == "chatgpt-codex":  # Recorded with a wrong token.
            return {"detail": error.message}
        return super().error(status, error, target)

    def response(self, body: dict[str, Any], target: Target, number: int) -> dict[str, Any]:
        del target
        completed = None if body["completed_at"] is None else number
        return {**body, "created_at": number, "completed_at": completed}

    def repeats(self, request: dict[str, Any]) -> dict[str, Any]:
        return repeated(request)

    def sealed(self, reply: Reply, body: dict[str, Any], target: Target) -> Reply:
        del body
        blocks: list[Block] = []
        made = reply.message.origin.response_id if reply.message.origin else ""
        for index, block in enumerate(reply.message.blocks):
            prefix = _PREFIXES.get(type(block))
            if prefix is None or block.opaque:
                blocks.append(block)
                continue
            id = f"{prefix}_{digest([made, index])}"
            opaque: tuple[Opaque, ...] = (Opaque(target.domain, "item_id", id),)
            if isinstance(block, Thinking):
                seal = Seal(target.domain, family(target.model), digest(id))
                opaque = (Opaque(target.domain, "encrypted", seal.text), *opaque)
            blocks.append(replace(block, opaque=opaque))
        return replace(reply, message=replace(reply.message, blocks=tuple(blocks)))

    def broken_seals(self, body: dict[str, Any], target: Target) -> Iterator[Violation]:
        items = body.get("input")
        for index, item in enumerate(items if isinstance(items, list) else ()):
            value = item.get("encrypted_content") if isinstance(item, dict) else None
            if item_type(item) != "reasoning" or value is None:
                continue
            seal, where = read_seal(value), f"$.input[{index}]"
            if seal is None or (seal.domain, seal.model) != (target.domain, family(target.model)):
                error = _UNREADABLE.format(shown=str(value)[:4])
                yield refuse("thinking_unsigned", where, error, source=SOURCE)
            elif item.get("id") and seal.content != digest(item["id"]):
                error = _OTHER_ITEM.format(shown=str(value)[:4])
                yield refuse("thinking_unsigned", where, error, source=SOURCE)


class StoredResponses:
    """The responses a simulator keeps, with all that was said up to each of them."""

    def __init__(self) -> None:
        self._bodies: dict[str, dict[str, Any]] = {}
        self._inputs: dict[str, list[Any]] = {}
        self._items: dict[str, Any] = {}
        """Every stored item of a reply by its id."""
        self._thoughts: dict[str, str] = {}
        """The reasoning that an item was made from, by their ids."""

    def get(self, id: str) -> dict[str, Any] | None:
        """The body of a response."""
        return self._bodies.get(id)

    def input_items(self, id: str) -> dict[str, Any] | None:
        """What a response was made from."""
        if id not in self._inputs:
            return None
        items = [
            {"id": f"msg_{digest([id, at])}", **item} if isinstance(item, dict) else item
            for at, item in enumerate(self._inputs[id])
        ]
        edges = (id_of(items[0]), id_of(items[-1])) if items else (None, None)
        listed = {"object": "list", "data": items, "has_more": False}
        return {**listed, "first_id": edges[0], "last_id": edges[1]}

    def delete(self, id: str) -> bool:
        """Forget a response and its items; whether there was one."""
        self._inputs.pop(id, None)
        gone = self._bodies.pop(id, None)
        for item in gone.get("output", ()) if gone is not None else ():
            self._items.pop(id_of(item), None)
        return gone is not None

    def keep(self, request: dict[str, Any], response: dict[str, Any]) -> None:
        """Keep a response, unless the request says not to. `request` has its whole input."""
        if request.get("store") is not False:
            self._bodies[response["id"]] = response
            self._inputs[response["id"]] = as_items(request.get("input"))
            output = response.get("output", ())
            self._items |= {id_of(item): item for item in output}
            self._thoughts |= {
                id_of(item): id_of(before)
                for before, item in pairwise(output)
                if item_type(before) == "reasoning" and item_type(item) != "reasoning"
            }

    def whole(self, body: dict[str, Any]) -> dict[str, Any]:
        """`body` with the turns and items it refers to, as far as they are stored."""
        body = self._with_items(body)
        before = body.get("previous_response_id")
        if not isinstance(before, str) or before not in self._bodies:
            return body
        said = [*self._inputs[before], *self._bodies[before].get("output", ())]
        rest = {name: value for name, value in body.items() if name != "previous_response_id"}
        return {**rest, "input": [*said, *as_items(body.get("input"))]}

    def lost(self, body: dict[str, Any]) -> Failure | None:
        """The answer to a request that goes on with what is not stored. Conversations are made at
        an endpoint of their own, which is not served here, so none of them is known."""
        before, named = body.get("previous_response_id"), body.get("conversation")
        if named is not None:
            id = named.get("id") if isinstance(named, dict) else named
            what = f"Conversation with id '{id}' not found."
            return Failure(404, ErrorBody(what, "invalid_request_error"))
        if before is None or (isinstance(before, str) and before in self._bodies):
            return None
        what = f"Previous response with id '{before}' not found."
        kind, code = "invalid_request_error", "previous_response_not_found"
        return Failure(400, ErrorBody(what, kind, code, "previous_response_id"))

    def _with_items(self, body: dict[str, Any]) -> dict[str, Any]:
        """`body` with the stored items in the place of references to them."""
        given = body.get("input")
        if not any(item_type(item) == "item_reference" for item in as_items(given)):
            return body
        items = [
            self._items.get(id_of(item), item) if item_type(item) == "item_reference" else item
            for item in as_items(given)
        ]
        return {**body, "input": items}

    def unknown_items(self, body: dict[str, Any]) -> Iterator[Violation]:
        """Items that are named by an id alone, and that nobody has stored."""
        for index, item in enumerate(as_items(body.get("input"))):
            by_id_only = item_type(item) in _BY_ID or (
                item_type(item) == "reasoning" and item.get("encrypted_content") is None
            )
            if by_id_only and id_of(item) not in self._items:
                error = (
                    f"Item with id '{item.get('id')}' not found. Items are not persisted when"
                    " `store` is set to false. Try again with `store` set to true, or remove this"
                    " item from your input."
                )
                yield refuse("bad_item_id", f"$.input[{index}]", error, source="OpenAI: error")

    def parted_items(self, body: dict[str, Any]) -> Iterator[Violation]:
        """Stored items that are sent with their id, and without the reasoning before them."""
        items = as_items(body.get("input"))
        given = {id_of(item) for item in items}
        for index, item in enumerate(items):
            thought = self._thoughts.get(id_of(item), "")
            if thought in self._items and id_of(item) in self._items and thought not in given:
                error = (
                    f"Item '{id_of(item)}' of type '{item_type(item)}' was provided without its"
                    f" required 'reasoning' item: '{thought}'."
                )
                where, source = f"$.input[{index}]", "continuedev/continue#9555"
                yield refuse("reasoning_without_following", where, error, source=source)


def as_items(given: Any) -> list[Any]:
    """The input as a list: bare text is one user message."""
    if isinstance(given, str):
        return [{"type": "message", "role": "user", "content": given}]
    return given if isinstance(given, list) else []


def item_type(item: Any) -> str:
    kind = item.get("type") if isinstance(item, dict) else ""
    return kind if isinstance(kind, str) else ""


def id_of(item: Any) -> str:
    id = item.get("id") if isinstance(item, dict) else ""
    return id if isinstance(id, str) else ""


def family(model: str) -> str:
    """The models that read each other's reasoning: those of one version."""
    found = _FAMILY.match(model)
    return found[1] if found else model

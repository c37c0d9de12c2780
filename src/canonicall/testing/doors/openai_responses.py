"""The Responses API with its stored state: `/responses`, `/responses/{id}`, `/conversations`.

Encrypted reasoning can be read by its own service and model family, under the id it was made for;
so can the summaries of `/responses/compact`. What a request refers to by id has to be stored.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from canonicall.blocks import Block, Native, Opaque, Text, Thinking, ToolCall, Unknown
from canonicall.facts.target import Target
from canonicall.reply import Reply
from canonicall.testing.doors.conversations import as_items, item_type
from canonicall.testing.doors.door import (
    CANCEL,
    COMPACT,
    CONVERSATIONS,
    COUNT,
    DELETE,
    GENERATE,
    INPUT_ITEMS,
    MODEL,
    MODELS,
    STORED,
    Door,
    State,
)
from canonicall.testing.doors.openai_chat import ChatDoor
from canonicall.testing.doors.stored_responses import ResponsesState
from canonicall.testing.exchange import SimRequest
from canonicall.testing.failure import Failure
from canonicall.testing.seals import Seal, digest, read_seal
from canonicall.verify.violation import Violation, refuse
from canonicall.wire.openai_responses.repeated import repeated

SOURCE = "OpenAI: error invalid_encrypted_content"
COMPACTION = "compaction"
_STORED = r"/responses/(?P<name>(?!compact$|input_tokens$)[^/]+)"
_FAMILY = re.compile(r"^(?:[^/]+/)?([a-z]+-?\d+(?:\.\d+)?|[a-z]+-[\w.]+?\d)")
_PREFIXES: dict[type, str] = {Thinking: "rs", Text: "msg", ToolCall: "fc"}
"""What the ids of items begin with."""
_UNREADABLE = (
    "The encrypted content {shown}... could not be verified."
    " Reason: Encrypted content could not be decrypted or parsed."
)
_OTHER_ITEM = (
    "The encrypted content {shown}... could not be verified."
    " Reason: Encrypted content item_id did not match the target item id."
)


_ONE = r"/conversations/(?P<name>[^/]+)"
_CONVERSATION_ROUTES = tuple(
    (method, pattern, action)
    for action, pattern, methods in zip(
        CONVERSATIONS,
        (r"/conversations$", rf"{_ONE}$", rf"{_ONE}/items$", rf"{_ONE}/items/(?P<item>[^/]+)$"),
        (("POST",), ("GET", "POST", "DELETE"), ("GET", "POST"), ("GET", "DELETE")),
        strict=True,
    )
    for method in methods
)


class ResponsesDoor(Door):
    """`POST /v1/responses` and what is stored for it."""

    format = "openai-responses"
    routes = (
        ("POST", r"/responses$", GENERATE),
        ("POST", r"/responses/input_tokens$", COUNT),
        ("POST", r"/responses/compact$", COMPACT),
        ("GET", rf"{_STORED}/input_items$", INPUT_ITEMS),
        ("POST", rf"{_STORED}/cancel$", CANCEL),
        ("GET", rf"{_STORED}$", STORED),
        ("DELETE", rf"{_STORED}$", DELETE),
        *_CONVERSATION_ROUTES,
        ("GET", r"/models$", MODELS),
        ("GET", r"/models/(?P<name>.+)$", MODEL),
    )
    names_param = True
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

    def response(self, body: dict[str, Any], target: Target, number: int) -> dict[str, Any]:
        del target
        completed = None if body["completed_at"] is None else number
        return {**body, "created_at": number, "completed_at": completed}

    def repeats(self, request: dict[str, Any]) -> dict[str, Any]:
        return repeated(request)

    def state(self, *, is_lenient: bool, prompts: Mapping[str, Mapping[str, Any]]) -> State:
        return ResponsesState(is_lenient=is_lenient, prompts=prompts)

    def summary(self, text: str, target: Target, id: str) -> Block:
        """The seal has the text itself: what is encrypted can be read by its service again."""
        seal = Seal(target.domain, family(target.model), text)
        item = {"type": COMPACTION, "id": f"cmp_{digest(id)}", "encrypted_content": seal.text}
        return Unknown(native=Native(self.format, item))

    def readable(self, body: dict[str, Any]) -> dict[str, Any]:
        items = body.get("input")
        if not any(item_type(item) == COMPACTION for item in as_items(items)):
            return body
        return {**body, "input": [_as_message(item) for item in as_items(items)]}

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
            if item_type(item) not in ("reasoning", COMPACTION) or value is None:
                continue
            seal, where = read_seal(value), f"$.input[{index}]"
            if seal is None or (seal.domain, seal.model) != (target.domain, family(target.model)):
                error = _UNREADABLE.format(shown=str(value)[:4])
                yield refuse("thinking_unsigned", where, error, source=SOURCE)
            elif _is_moved(item, seal):
                error = _OTHER_ITEM.format(shown=str(value)[:4])
                yield refuse("thinking_unsigned", where, error, source=SOURCE)


def _is_moved(item: dict[str, Any], seal: Seal) -> bool:
    """Whether reasoning has another id than the one it was made for."""
    is_named = item_type(item) == "reasoning" and bool(item.get("id"))
    return is_named and seal.content != digest(item["id"])


def _as_message(item: Any) -> Any:
    """A summary as the model reads it; any other item as it is."""
    seal = read_seal(item.get("encrypted_content")) if item_type(item) == COMPACTION else None
    if seal is None:
        return item
    return {"type": "message", "role": "developer", "content": seal.content}


def family(model: str) -> str:
    """The models that read each other's reasoning: those of one version."""
    found = _FAMILY.match(model)
    return found[1] if found else model

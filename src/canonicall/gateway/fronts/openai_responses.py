"""OpenAI's Responses, with the stored ones, and its conversations."""

from collections.abc import Mapping
from typing import Any

from canonicall.facts.target import Target
from canonicall.findings import Action, Fault, Finding
from canonicall.gateway.exchange import Refused
from canonicall.gateway.fronts.front import (
    CANCEL,
    COMPACT,
    CONVERSATION,
    CONVERSATION_DELETE,
    CONVERSATION_ITEM,
    CONVERSATION_ITEM_DELETE,
    CONVERSATION_ITEMS,
    CONVERSATION_ITEMS_ADD,
    CONVERSATION_MAKE,
    CONVERSATION_UPDATE,
    COUNT,
    DELETE,
    GENERATE,
    INPUT_ITEMS,
    STORED,
    Asked,
)
from canonicall.gateway.fronts.openai_chat import ChatFront
from canonicall.wire.openai_responses.repeated import repeated

_BASE = r"(?:/openai)?(?:/v1)?/responses"
_ID = r"(?P<name>(?!(?:input_tokens|compact)$)[^/]+)"
_CONVERSATIONS = r"(?:/openai)?(?:/v1)?/conversations"
_ITEM = r"(?P<item>[^/]+)"


class ResponsesFront(ChatFront):
    """For the SDKs of OpenAI and agents such as Codex CLI. Models are listed by the chat front."""

    format = "openai-responses"
    routes = (
        ("POST", _BASE, GENERATE),
        ("POST", _BASE + r"/input_tokens", COUNT),
        ("POST", _BASE + r"/compact", COMPACT),
        ("GET", f"{_BASE}/{_ID}/input_items", INPUT_ITEMS),
        ("POST", f"{_BASE}/{_ID}/cancel", CANCEL),
        ("GET", f"{_BASE}/{_ID}", STORED),
        ("DELETE", f"{_BASE}/{_ID}", DELETE),
        ("POST", _CONVERSATIONS, CONVERSATION_MAKE),
        ("GET", f"{_CONVERSATIONS}/{_ID}", CONVERSATION),
        ("POST", f"{_CONVERSATIONS}/{_ID}", CONVERSATION_UPDATE),
        ("DELETE", f"{_CONVERSATIONS}/{_ID}", CONVERSATION_DELETE),
        ("GET", f"{_CONVERSATIONS}/{_ID}/items", CONVERSATION_ITEMS),
        ("POST", f"{_CONVERSATIONS}/{_ID}/items", CONVERSATION_ITEMS_ADD),
        ("GET", f"{_CONVERSATIONS}/{_ID}/items/{_ITEM}", CONVERSATION_ITEM),
        ("DELETE", f"{_CONVERSATIONS}/{_ID}/items/{_ITEM}", CONVERSATION_ITEM_DELETE),
    )
    beside = _BASE + r"/.*"
    response_prefix = "resp_"
    history = "input"
    # openai/codex: only `response.failed` with the code of an overflow is taken for one.
    streamed_errors = ("context_overflow",)

    def served(self, body: dict[str, Any]) -> tuple[dict[str, Any], list[Finding]]:
        if body.get("background") is not True:
            return body, []
        why = "The gateway answers while the client waits; nothing is done in the background."
        place = "$.background"
        finding = Finding("param_dropped", place, Action.DROPPED, why, Fault.RENDER)
        return {name: body[name] for name in body if name != "background"}, [finding]

    def unserved(self, body: Mapping[str, Any], target: Target) -> Refused | None:
        # `n` is a field of Chat Completions.
        del body, target
        return None

    def repeats(self, body: Mapping[str, Any]) -> dict[str, Any]:
        return repeated(body)

    def dated(self, body: dict[str, Any], begun: float, ended: float) -> dict[str, Any]:
        completed = None if body["completed_at"] is None else int(ended)
        return {**body, "created_at": int(begun), "completed_at": completed}

    def streams(self, asked: Asked, body: Mapping[str, Any]) -> bool:
        return asked.action != COMPACT and super().streams(asked, body)

    def tokens(self, count: int) -> dict[str, Any]:
        return {"object": "response.input_tokens", "input_tokens": count}

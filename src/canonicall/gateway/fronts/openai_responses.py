"""OpenAI's Responses, with the stored ones, and its conversations."""

from typing import Any

from canonicall.gateway.fronts.front import (
    CANCEL,
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
)
from canonicall.gateway.fronts.openai_chat import ChatFront

_BASE = r"(?:/openai)?(?:/v1)?/responses"
_CONVERSATIONS = r"(?:/openai)?(?:/v1)?/conversations"
_ITEM = r"(?P<item>[^/]+)"
_ID = r"(?P<name>[^/]+)"


class ResponsesFront(ChatFront):
    """For the SDKs of OpenAI and agents such as Codex CLI. Models are listed by the chat front."""

    format = "openai-responses"
    routes = (
        ("POST", _BASE, GENERATE),
        ("POST", _BASE + r"/input_tokens", COUNT),
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
    response_prefix = "resp_"

    def dated(self, body: dict[str, Any], now: float) -> dict[str, Any]:
        return {**body, "created_at": int(now)}

    def tokens(self, count: int) -> dict[str, Any]:
        return {"object": "response.input_tokens", "input_tokens": count}

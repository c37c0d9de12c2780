"""OpenAI's Responses, with what is stored behind them."""

from collections.abc import Mapping
from typing import Any

from canonicall.gateway.fronts.front import (
    CANCEL,
    COMPACT,
    COUNT,
    DELETE,
    GENERATE,
    INPUT_ITEMS,
    STORED,
    Asked,
)
from canonicall.gateway.fronts.openai_chat import ChatFront

_BASE = r"(?:/openai)?(?:/v1)?/responses"
_ID = r"(?P<name>[^/]+)"


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
    )
    response_prefix = "resp_"

    def streams(self, asked: Asked, body: Mapping[str, Any]) -> bool:
        return asked.action != COMPACT and super().streams(asked, body)

    def dated(self, body: dict[str, Any], now: float) -> dict[str, Any]:
        return {**body, "created_at": int(now)}

    def tokens(self, count: int) -> dict[str, Any]:
        return {"object": "response.input_tokens", "input_tokens": count}

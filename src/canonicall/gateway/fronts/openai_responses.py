"""OpenAI's Responses, with what is stored behind them."""

from collections.abc import Mapping
from typing import Any

from canonicall.gateway.fronts.front import CANCEL, COUNT, DELETE, GENERATE, INPUT_ITEMS, STORED
from canonicall.gateway.fronts.openai_chat import ChatFront
from canonicall.wire.openai_responses.repeated import repeated

_BASE = r"(?:/openai)?(?:/v1)?/responses"
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
    )
    response_prefix = "resp_"

    def repeats(self, body: Mapping[str, Any]) -> dict[str, Any]:
        return repeated(body)

    def dated(self, body: dict[str, Any], begun: float, ended: float) -> dict[str, Any]:
        completed = None if body["completed_at"] is None else int(ended)
        return {**body, "created_at": int(begun), "completed_at": completed}

    def tokens(self, count: int) -> dict[str, Any]:
        return {"object": "response.input_tokens", "input_tokens": count}

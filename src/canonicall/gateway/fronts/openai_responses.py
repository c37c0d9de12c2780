"""OpenAI's Responses, with what is stored behind them."""

from typing import Any

from canonicall.gateway.fronts.front import CANCEL, COUNT, DELETE, GENERATE, INPUT_ITEMS, STORED
from canonicall.gateway.fronts.openai_chat import ChatFront

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
    history = "input"
    # openai/codex: only `response.failed` with the code of an overflow is taken for one.
    streamed_errors = ("context_overflow",)

    def dated(self, body: dict[str, Any], now: float) -> dict[str, Any]:
        return {**body, "created_at": int(now)}

    def tokens(self, count: int) -> dict[str, Any]:
        return {"object": "response.input_tokens", "input_tokens": count}

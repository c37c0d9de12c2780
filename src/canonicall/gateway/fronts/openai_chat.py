"""OpenAI's Chat Completions: what most clients of other hosts speak as well."""

from typing import Any, ClassVar

from canonicall.gateway.exchange import Refused
from canonicall.gateway.fronts.front import GENERATE, MODEL, MODELS, Front, Routes

_BASE = r"(?:/openai)?(?:/v1)?"


class ChatFront(Front):
    """For the SDKs of OpenAI and everything that is compatible with them."""

    format = "openai-chat"
    routes: ClassVar[Routes] = (
        ("POST", _BASE + r"/chat/completions", GENERATE),
        # Azure's client names the model in the path.
        ("POST", r"/openai/deployments/(?P<name>[^/]+)/chat/completions", GENERATE),
        ("GET", _BASE + r"/models", MODELS),
        ("GET", _BASE + r"/models/(?P<name>.+)", MODEL),
    )
    response_prefix = "chatcmpl-"

    def dated(self, body: dict[str, Any], begun: float, ended: float) -> dict[str, Any]:
        del ended
        return {**body, "created": int(begun)}

    def error(self, refused: Refused) -> Any:
        # openai 3.49.0 (Python), _exceptions.py: clients look at `code` to tell refusals apart.
        body = super().error(refused)
        body["error"]["code"] = refused.code or _CODES.get(refused.kind)
        return body


_CODES = {
    "authentication": "invalid_api_key",
    "model_not_found": "model_not_found",
    "rate_limited": "rate_limit_exceeded",
}
"""OpenAI's codes by the kinds of refusals."""

"""OpenAI's Chat Completions: what most clients of other hosts speak as well."""

from typing import Any, ClassVar

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

    def dated(self, body: dict[str, Any], now: float) -> dict[str, Any]:
        return {**body, "created": int(now)}

    def error(self, status: int, message: str, *, code: str = "") -> Any:
        # openai 3.49.0 (Python), _exceptions.py: clients look at `code` to tell refusals apart.
        return super().error(status, message, code=code or _CODES.get(status, ""))


_CODES = {401: "invalid_api_key", 404: "model_not_found", 429: "rate_limit_exceeded"}

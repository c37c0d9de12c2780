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
    history: ClassVar[str] = "messages"
    """The field of a request that holds the conversation."""

    def dated(self, body: dict[str, Any], now: float) -> dict[str, Any]:
        return {**body, "created": int(now)}

    def error(self, refused: Refused) -> Any:
        # openai 3.49.0 (Python), _exceptions.py: clients look at `code` to tell refusals apart.
        body = super().error(refused)
        body["error"]["code"] = refused.code or _CODES.get(refused.kind)
        return body

    def overflow(self, tokens: int, limit: int) -> Refused:
        what = "Your input exceeds the context window of this model."
        help = "Please adjust your input and try again."
        if tokens and limit:
            what = f"This model's maximum context length is {limit} tokens."
            help = f"However, your messages resulted in {tokens} tokens."
            help += " Please reduce the length of the messages."
        code = "context_length_exceeded"
        return Refused(400, "context_overflow", f"{what} {help}", code=code, param=self.history)


_CODES = {
    "authentication": "invalid_api_key",
    "model_not_found": "model_not_found",
    "rate_limited": "rate_limit_exceeded",
}
"""OpenAI's codes by the kinds of refusals."""

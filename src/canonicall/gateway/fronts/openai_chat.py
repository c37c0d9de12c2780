"""OpenAI's Chat Completions: what most clients of other hosts speak as well."""

from collections.abc import Mapping
from typing import Any, ClassVar

from canonicall.facts.target import Target
from canonicall.gateway.exchange import Refused
from canonicall.gateway.fronts.front import GENERATE, MODEL, MODEL_NAME, MODELS, Front, Routes

_BASE = r"(?:/openai)?(?:/v1)?"
_NOT_FOUND = 404
_SERVER_ERROR = 500


class ChatFront(Front):
    """For the SDKs of OpenAI and everything that is compatible with them."""

    format = "openai-chat"
    routes: ClassVar[Routes] = (
        ("POST", _BASE + r"/chat/completions", GENERATE),
        # Azure's client names the model in the path.
        ("POST", r"/openai/deployments/(?P<name>[^/]+)/chat/completions", GENERATE),
        ("GET", _BASE + r"/models", MODELS),
        ("GET", f"{_BASE}/models/{MODEL_NAME}", MODEL),
    )
    response_prefix = "chatcmpl-"
    history: ClassVar[str] = "messages"
    """The field of a request that holds the conversation."""

    def dated(self, body: dict[str, Any], begun: float, ended: float) -> dict[str, Any]:
        del ended
        return {**body, "created": int(begun)}

    def unserved(self, body: Mapping[str, Any], target: Target) -> Refused | None:
        count = body.get("n")
        if target.format == self.format or not isinstance(count, int) or count < 2:
            return None
        # Error text "Unsupported value: 'stream' does not support true with this model. Only the
        # default (false) value is supported." (ChatGPTNextWeb/NextChat#5410).
        what = (
            f"Unsupported value: 'n' does not support {count} with this model."
            " Only the default (1) value is supported."
        )
        return Refused(400, "malformed", what, code="unsupported_value", param="n")

    def error(self, refused: Refused, request_id: str = "") -> Any:
        del request_id
        # openai 3.49.0 (Python), _exceptions.py: clients look at `code` to tell refusals apart.
        body = super().error(refused)
        if refused.status == _NOT_FOUND:
            # Error text "Invalid URL (POST /chat/completions)" (microsoft/TaskWeaver#11).
            body["error"]["type"] = "invalid_request_error"
        elif refused.status >= _SERVER_ERROR:
            # platform.openai.com: error codes, "The server had an error".
            body["error"]["type"] = "server_error"
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

"""Chat Completions, as OpenAI and the many that speak its format serve it."""

from typing import Any

from canonicall.target import Target
from canonicall.testing.doors.door import GENERATE, MODEL, MODELS, Door
from canonicall.testing.exchange import SimRequest
from canonicall.wire.error_body import ErrorBody

# Recorded answers: hosts that have an envelope of their own.
_FLAT = ("mistral", "fireworks")
# Mistral checks types with pydantic before anything else and answers 422.
_CHECKED_FIRST = ("mistral",)


class ChatDoor(Door):
    """`POST /chat/completions`, `GET /models`."""

    format = "openai-chat"
    routes = (
        ("POST", r"/chat/completions$", GENERATE),
        ("GET", r"/models$", MODELS),
        ("GET", r"/models/(?P<name>.+)$", MODEL),
    )

    def key(self, request: SimRequest) -> str:
        # Azure's own header, besides the usual one.
        return super().key(request) or request.headers.get("api-key", "")

    def no_key(self, shown: str) -> ErrorBody:
        what = f"Incorrect API key provided: {shown[:4]}***." if shown else _NO_KEY
        return ErrorBody(what, "invalid_request_error", "invalid_api_key")

    def no_model(self, model: str) -> ErrorBody:
        what = f"The model `{model}` does not exist or you do not have access to it."
        return ErrorBody(what, "invalid_request_error", "model_not_found")

    def refusal_status(self, code: str, target: Target) -> int:
        is_type = code in ("malformed_body", "missing_field", "unknown_field", "unknown_role")
        return 422 if is_type and target.provider in _CHECKED_FIRST else 400

    def error(self, status: int, error: ErrorBody, target: Target) -> Any:
        if target.provider in _FLAT:
            kind = error.type or "invalid_request_error"
            said = {"object": "error", "message": error.message, "type": kind}
            return {**said, "param": error.param or None, "code": error.code or None}
        if target.provider == "xai":
            return {
                "code": error.code or "Client specified an invalid argument",
                "error": error.message,
            }
        return super().error(status, error, target)

    def response(self, body: dict[str, Any], target: Target, number: int) -> dict[str, Any]:
        del target
        return {**body, "created": body.get("created") or number}


_NO_KEY = (
    "You didn't provide an API key. You need to provide your API key in an Authorization header"
    " using Bearer auth (i.e. Authorization: Bearer YOUR_KEY)."
)

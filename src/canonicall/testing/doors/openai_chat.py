"""Chat Completions, as OpenAI and the many that speak its format serve it."""

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec.structs import replace

from canonicall.blocks import Block, Native, Opaque, Thinking
from canonicall.facts.target import Target
from canonicall.reply import Reply
from canonicall.testing.doors.door import GENERATE, MODEL, MODELS, Door
from canonicall.testing.exchange import SimRequest
from canonicall.testing.failure import Failure
from canonicall.testing.streaming import whole_calls, with_usage_at_the_end
from canonicall.wire.error_body import ErrorBody
from canonicall.wire.openai_chat.native import HINT
from canonicall.wire.openai_chat.reasoning import DETAILS, TEXT_FIELDS

# Recorded streams: hosts that send each call in one piece, and those that always tell the usage.
_WHOLE_CALLS = ("cerebras", "groq", "mistral", "ollama", "xai", "zai")
_ALWAYS_COUNT = ("mistral", "openrouter")
# Recorded replies: where thoughts stand, if not in `reasoning_content`; OpenAI shows none.
_THOUGHTS_IN = {
    "cerebras": "reasoning",
    "crusoe": "reasoning",
    "groq": "reasoning",
    "minimax": DETAILS,
    "mistral": "content",
    "ollama": "reasoning",
    "openrouter": DETAILS,
    "snowflake": DETAILS,
    "vercel-gateway": DETAILS,
    # Not recorded: vllm-project/vllm#27752, the field of the versions since then.
    "vllm": "reasoning",
}
_SHOW_NO_THOUGHTS = ("azure", "openai")
# Recorded requests without a model, where the address names it.
_NAMED_BY_PATH = ("azure",)
# Recorded answers: hosts that have an envelope of their own.
_FLAT = ("mistral", "fireworks")
# Mistral checks types with pydantic before anything else and answers 422.
_CHECKED_FIRST = ("mistral",)


class ChatDoor(Door):
    """`POST /chat/completions`, `GET /models`."""

    format = "openai-chat"
    routes = (
        # A deployment is how Azure names a model.
        ("POST", r"(?:/deployments/(?P<name>[^/]+))?/chat/completions$", GENERATE),
        ("GET", r"/models$", MODELS),
        ("GET", r"/models/(?P<name>.+)$", MODEL),
    )

    def key(self, request: SimRequest) -> str:
        # Azure's own header, besides the usual one.
        return super().key(request) or request.headers.get("api-key", "")

    def no_key(self, shown: str) -> Failure:
        what = "Incorrect API key provided." if shown else _NO_KEY
        return Failure(401, ErrorBody(what, "invalid_request_error", "invalid_api_key"))

    def needs_model(self, body: dict[str, Any], target: Target) -> bool:
        del body
        return target.provider not in _NAMED_BY_PATH

    def wrong_method(self, request: SimRequest) -> Failure:
        what = (
            f"Not allowed to {request.method} on {request.path}. (HINT: Perhaps you meant to use a"
            " different HTTP method?)"
        )
        return Failure(405, ErrorBody(what, "invalid_request_error", "method_not_supported"))

    def no_model(self, target: Target) -> Failure:
        if target.provider == "mistral":
            error = ErrorBody(f"Invalid model: {target.model}", "invalid_model", "1500")
            return Failure(400, error)
        what = f"The model `{target.model}` does not exist or you do not have access to it."
        return Failure(404, ErrorBody(what, "invalid_request_error", "model_not_found"))

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
        if target.provider == "openrouter":
            # openrouter.ai/docs/api-reference/errors: the status, the words, and `metadata`.
            return {"error": {"message": error.message, "code": status, **(error.native or {})}}
        return super().error(status, error, target)

    def one_model(self, name: str, target: Target) -> dict[str, Any]:
        made = super().one_model(name, target)
        if target.provider == "mistral":
            # mistralai 3.7.0, BaseModelCard.
            made |= {"type": "base", "capabilities": {"completion_chat": True}}
        return made

    def sealed(self, reply: Reply, body: dict[str, Any], target: Target) -> Reply:
        """Nothing is signed; thoughts are put where this host shows them."""
        del body
        blocks = tuple(_shown(reply.message.blocks, target.provider))
        return replace(reply, message=replace(reply.message, blocks=blocks))

    def counts_streams(self, body: dict[str, Any], target: Target) -> bool:
        options = body.get("stream_options")
        asked = isinstance(options, dict) and options.get("include_usage") is True
        return asked or target.provider in _ALWAYS_COUNT

    def shaped(self, pieces: list[bytes], target: Target) -> list[bytes]:
        if target.provider in _WHOLE_CALLS:
            pieces = list(whole_calls(pieces))
        return with_usage_at_the_end(pieces) if target.provider == "mistral" else pieces

    def response(self, body: dict[str, Any], target: Target, number: int) -> dict[str, Any]:
        del target
        return {**body, "created": body.get("created") or number}


def _shown(blocks: Iterable[Block], provider: str) -> Iterator[Block]:
    for block in blocks:
        if not isinstance(block, Thinking):
            yield block
        elif provider not in _SHOW_NO_THOUGHTS:
            yield _in_field(block, _THOUGHTS_IN.get(provider, TEXT_FIELDS[0]))


def _in_field(thought: Thinking, field: str) -> Thinking:
    if field != DETAILS:
        return replace(thought, native=Native(ChatDoor.format, {HINT: field}))
    # The words stand in `reasoning` as well, as with both hosts that send details.
    told = {"type": "reasoning.text", "text": thought.text, "format": "unknown", "index": 0}
    native = Native(ChatDoor.format, {HINT: TEXT_FIELDS[1]})
    return replace(thought, opaque=(Opaque("", "details", [told]),), native=native)


_NO_KEY = (
    "You didn't provide an API key. You need to provide your API key in an Authorization header"
    " using Bearer auth (i.e. Authorization: Bearer YOUR_KEY)."
)

"""Chat Completions, as OpenAI and the many that speak its format serve it."""

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec.structs import replace

from canonicall.blocks import Block, Native, Opaque, Thinking
from canonicall.facts.habits import ThoughtPlace
from canonicall.facts.target import Target
from canonicall.reply import Reply
from canonicall.testing.doors.door import GENERATE, MODEL, MODELS, Door
from canonicall.testing.exchange import SimRequest
from canonicall.testing.failure import Failure
from canonicall.testing.habits import habits_of
from canonicall.testing.streaming import whole_calls, with_usage_at_the_end
from canonicall.wire.error_body import ErrorBody
from canonicall.wire.openai_chat.native import HINT
from canonicall.wire.openai_chat.reasoning import DETAILS, TEXT_FIELDS

_TYPE_ERRORS = ("malformed_body", "missing_field", "unknown_field", "unknown_role")
"""Violations that a host finds that checks types before anything else."""


class ChatDoor(Door):
    """`POST /chat/completions`, `GET /models`."""

    format = "openai-chat"
    routes = (
        # A deployment is how Azure names a model.
        ("POST", r"(?:/deployments/(?P<name>[^/]+))?/chat/completions$", GENERATE),
        ("GET", r"/models$", MODELS),
        ("GET", r"/models/(?P<name>.+)$", MODEL),
    )
    names_param = True

    def key(self, request: SimRequest) -> str:
        # Azure's own header, besides the usual one.
        return super().key(request) or request.headers.get("api-key", "")

    def no_key(self, shown: str) -> Failure:
        what = "Incorrect API key provided." if shown else _NO_KEY
        return Failure(401, ErrorBody(what, "invalid_request_error", "invalid_api_key"))

    def needs_model(self, body: dict[str, Any], target: Target) -> bool:
        del body
        return not habits_of(target).model_in_path

    def wrong_method(self, request: SimRequest) -> Failure:
        what = (
            f"Not allowed to {request.method} on {request.path}. (HINT: Perhaps you meant to use a"
            " different HTTP method?)"
        )
        return Failure(405, ErrorBody(what, "invalid_request_error", "method_not_supported"))

    def no_model(self, target: Target) -> Failure:
        own = habits_of(target).missing_model
        if own is not None:
            text = own.text.replace("{model}", target.model)
            return Failure(own.status, ErrorBody(text, own.type, own.error_code))
        what = f"The model `{target.model}` does not exist or you do not have access to it."
        return Failure(404, ErrorBody(what, "invalid_request_error", "model_not_found"))

    def refusal_status(self, code: str, target: Target) -> int:
        return habits_of(target).type_error_status if code in _TYPE_ERRORS else 400

    def one_model(self, name: str, target: Target) -> dict[str, Any]:
        return super().one_model(name, target) | habits_of(target).model_card

    def sealed(self, reply: Reply, body: dict[str, Any], target: Target) -> Reply:
        """Nothing is signed; thoughts are put where this host shows them."""
        del body
        blocks = tuple(_shown(reply.message.blocks, habits_of(target).thoughts))
        return replace(reply, message=replace(reply.message, blocks=blocks))

    def counts_streams(self, body: dict[str, Any], target: Target) -> bool:
        options = body.get("stream_options")
        asked = isinstance(options, dict) and options.get("include_usage") is True
        return asked or habits_of(target).always_usage

    def shaped(self, pieces: list[bytes], target: Target) -> list[bytes]:
        habits = habits_of(target)
        if habits.whole_calls:
            pieces = list(whole_calls(pieces))
        return with_usage_at_the_end(pieces) if habits.usage_in_last_chunk else pieces

    def response(self, body: dict[str, Any], target: Target, number: int) -> dict[str, Any]:
        del target
        return {**body, "created": body.get("created") or number}


def _shown(blocks: Iterable[Block], place: ThoughtPlace) -> Iterator[Block]:
    for block in blocks:
        if not isinstance(block, Thinking):
            yield block
        elif place != "none":
            yield _in_field(block, place)


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

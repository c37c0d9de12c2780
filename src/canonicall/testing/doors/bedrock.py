"""Bedrock Converse: `/model/{modelId}/converse` and `/converse-stream`, its frames binary."""

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Any

from msgspec.structs import replace

from canonicall.blocks import Block, Opaque, Thinking
from canonicall.facts.habits import format_habits
from canonicall.facts.target import Target
from canonicall.reply import Reply
from canonicall.testing.doors.door import COUNT, GENERATE, MODEL, MODELS, STREAM, Door, list_of
from canonicall.testing.exchange import SimRequest
from canonicall.testing.failure import Failure
from canonicall.testing.seals import Seal, digest, read_seal
from canonicall.verify.violation import Violation, refuse
from canonicall.wire.error_body import ErrorBody

SOURCE = "docs: errors"
_SAID = {"role": "user", "content": [{"text": "unread"}]}
_INVALID = (
    "The model returned the following errors: {where}: Invalid `signature` in `thinking` block"
)


class ConverseDoor(Door):
    """`POST /model/{modelId}/converse`."""

    format = "bedrock"
    routes = (
        ("POST", r"/model/(?P<name>.+)/converse$", GENERATE),
        ("POST", r"/model/(?P<name>.+)/converse-stream$", STREAM),
        ("POST", r"/model/(?P<name>.+)/count-tokens$", COUNT),
        # These two stand at the service `bedrock`, the others at `bedrock-runtime`.
        ("GET", r"/foundation-models$", MODELS),
        ("GET", r"/foundation-models/(?P<name>[^/]+)$", MODEL),
    )
    has_object_arguments = True
    request_header = "x-amzn-requestid"
    stream_type = "application/vnd.amazon.eventstream"

    def key(self, request: SimRequest) -> str:
        # Requests are signed (AWS4-HMAC-SHA256) or carry a bearer token; both are a key here.
        return request.headers.get("authorization", "")

    def no_key(self, shown: str) -> Failure:
        error = ErrorBody("Missing Authentication Token", "MissingAuthenticationTokenException")
        if shown:
            what = "The security token included in the request is invalid."
            error = ErrorBody(what, "UnrecognizedClientException")
        return Failure(403, error)

    def no_model(self, target: Target) -> Failure:
        del target
        what = "The provided model identifier is invalid."
        return Failure(400, ErrorBody(what, "ValidationException"))

    def models(self, names: Sequence[str], target: Target) -> dict[str, Any]:
        return {"modelSummaries": [self.one_model(name, target)["modelDetails"] for name in names]}

    def one_model(self, name: str, target: Target) -> dict[str, Any]:
        del target
        # arn:partition:service:region::resource; the region is the one most clients have.
        arn = f"arn:aws:bedrock:us-east-1::foundation-model/{name}"
        made = {"modelArn": arn, "modelId": name, "modelName": name, "providerName": "simulator"}
        ways = {"inputModalities": ["TEXT"], "outputModalities": ["TEXT"]}
        return {"modelDetails": {**made, **ways, "responseStreamingSupported": True}}

    def error_headers(self, error: ErrorBody) -> dict[str, str]:
        # AWS restJson1: clients read the name of the exception here first.
        return {"x_amzn_errortype": error.type}

    def wrong_method(self, request: SimRequest) -> Failure:
        del request
        what = "Unable to determine service/operation name to be authorized"
        return Failure(403, ErrorBody(what, "AccessDeniedException"))

    def counted(self, body: dict[str, Any]) -> dict[str, Any]:
        """A request of Converse; that of InvokeModel is the model's own and is not read."""
        given = body.get("input")
        held = given.get("converse") if isinstance(given, dict) else None
        return held if isinstance(held, dict) else {"messages": [_SAID]}

    def tokens(self, count: int) -> dict[str, Any]:
        return {"inputTokens": count}

    def sealed(self, reply: Reply, body: dict[str, Any], target: Target) -> Reply:
        del body
        if not _signs(target):
            return reply
        blocks: list[Block] = []
        for block in reply.message.blocks:
            if isinstance(block, Thinking) and not block.opaque:
                seal = Seal(target.domain, target.model, digest(block.text))
                opaque = (Opaque(target.domain, "signature", seal.text),)
                blocks.append(replace(block, opaque=opaque))
            else:
                blocks.append(block)
        return replace(reply, message=replace(reply.message, blocks=tuple(blocks)))

    def broken_seals(self, body: dict[str, Any], target: Target) -> Iterator[Violation]:
        for index, message in enumerate(list_of(body, "messages") if _signs(target) else ()):
            for at, block in enumerate(list_of(message, "content")):
                reasoning = block.get("reasoningContent") if isinstance(block, dict) else None
                thought = reasoning.get("reasoningText") if isinstance(reasoning, dict) else None
                if not isinstance(thought, dict):
                    continue
                seal = read_seal(thought.get("signature"))
                is_ours = seal is not None and seal.domain == target.domain
                if seal is None or not is_ours or seal.content != digest(thought.get("text")):
                    error = _INVALID.format(where=f"messages.{index}.content.{at}")
                    where = f"$.messages[{index}].content[{at}]"
                    yield refuse("thinking_unsigned", where, error, source=SOURCE)


def _signs(target: Target) -> bool:
    """Whether the thoughts of a model are signed."""
    signed = format_habits(target.format).signed_models
    return any(fnmatchcase(target.model.lower(), pattern) for pattern in signed)

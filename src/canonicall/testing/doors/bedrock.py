"""Bedrock Converse: `/model/{modelId}/converse` and `/converse-stream`, its frames binary."""

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from canonicall.blocks import Block, Opaque, Thinking
from canonicall.reply import Reply
from canonicall.target import Target
from canonicall.testing.doors.door import COUNT, GENERATE, Asked, Door
from canonicall.testing.exchange import SimRequest
from canonicall.testing.seals import Seal, digest, read_seal
from canonicall.verify.violation import Violation, refuse
from canonicall.wire.error_body import ErrorBody

SOURCE = "docs: errors"
_STREAM = "stream"
_INVALID = (
    "The model returned the following errors: {where}: Invalid `signature` in `thinking` block"
)


class ConverseDoor(Door):
    """`POST /model/{modelId}/converse`."""

    format = "bedrock"
    routes = (
        ("POST", r"/model/(?P<name>.+)/converse$", GENERATE),
        ("POST", r"/model/(?P<name>.+)/converse-stream$", _STREAM),
        ("POST", r"/model/(?P<name>.+)/count-tokens$", COUNT),
    )
    stream_type = "application/vnd.amazon.eventstream"

    def asked(self, request: SimRequest) -> Asked | None:
        asked = super().asked(request)
        if asked is None:
            return None
        streams = asked.action == _STREAM
        return Asked(GENERATE if streams else asked.action, asked.name, streams)

    def key(self, request: SimRequest) -> str:
        # Requests are signed (AWS4-HMAC-SHA256) or carry a bearer token; both are a key here.
        return request.headers.get("authorization", "")

    def no_key(self, shown: str) -> ErrorBody:
        del shown
        return ErrorBody("Missing Authentication Token", "MissingAuthenticationTokenException")

    def no_model(self, model: str) -> ErrorBody:
        del model
        return ErrorBody("The provided model identifier is invalid.", "ValidationException")

    def tokens(self, count: int) -> dict[str, Any]:
        return {"inputTokens": count}

    def sealed(self, reply: Reply, body: dict[str, Any], target: Target) -> Reply:
        del body
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
        for index, message in enumerate(body.get("messages") or ()):
            content = message.get("content") if isinstance(message, dict) else None
            for at, block in enumerate(content if isinstance(content, list) else ()):
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

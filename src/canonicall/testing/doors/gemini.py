"""Gemini: `models/{model}:generateContent`, `:streamGenerateContent`, `:countTokens`.

A stream is framed as server-sent events or as one JSON array, as the client asks. Signatures are
valid for one service and one model; what skips the check is let through.
"""

from base64 import b64encode
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from canonicall.blocks import Block, Opaque, ToolCall
from canonicall.facts.target import Target
from canonicall.reply import Reply
from canonicall.testing.doors.door import COUNT, GENERATE, MODEL, MODELS, STREAM, Door, list_of
from canonicall.testing.exchange import Piece, SimRequest
from canonicall.testing.failure import Failure
from canonicall.testing.seals import Seal, read_seal
from canonicall.verify.violation import Violation, refuse
from canonicall.wire.error_body import ErrorBody

SOURCE = "ai.google.dev: thought signatures"
_WORDS = ("skip_thought_signature_validator", "context_engineering_is_the_way_to_go")
# The field holds bytes, so that some clients send the words in base64; both are reported to work.
_SKIPS = (*_WORDS, *(b64encode(one.encode()).decode() for one in _WORDS))


class GeminiDoor(Door):
    """`POST /v1beta/models/{model}:generateContent` and what stands beside it."""

    format = "gemini"
    routes = (
        ("POST", r"models/(?P<name>[^/]+):generateContent$", GENERATE),
        ("POST", r"models/(?P<name>[^/]+):streamGenerateContent$", STREAM),
        ("POST", r"models/(?P<name>[^/]+):countTokens$", COUNT),
        ("GET", r"/models$", MODELS),
        ("GET", r"/models/(?P<name>[^/:]+)$", MODEL),
    )
    not_json = "Invalid JSON payload received. {why}"

    def key(self, request: SimRequest) -> str:
        shown = request.headers.get("x-goog-api-key", "") or request.query.get("key", "")
        return shown or super().key(request)

    def no_key(self, shown: str) -> Failure:
        if shown:
            what = "API key not valid. Please pass a valid API key."
            return Failure(400, ErrorBody(what, "INVALID_ARGUMENT"))
        what = "Method doesn't allow unregistered callers (callers without established identity)."
        return Failure(403, ErrorBody(what, "PERMISSION_DENIED"))

    def no_model(self, target: Target) -> Failure:
        what = (
            f"models/{target.model} is not found for API version v1beta, or is not supported for"
            " generateContent. Call ModelService.ListModels to see the list of available models"
            " and their supported methods."
        )
        return Failure(404, ErrorBody(what, "NOT_FOUND"))

    def models(self, names: Sequence[str], target: Target) -> dict[str, Any]:
        return {"models": [self.one_model(name, target) for name in names]}

    def one_model(self, name: str, target: Target) -> dict[str, Any]:
        del target
        ways = ["generateContent", "streamGenerateContent", "countTokens"]
        return {"name": f"models/{name}", "displayName": name, "supportedGenerationMethods": ways}

    def wrong_method(self, request: SimRequest) -> Failure:
        what = f"The requested URL {request.path} was not found on this server."
        return Failure(404, ErrorBody(what, "NOT_FOUND"))

    def counted(self, body: dict[str, Any]) -> dict[str, Any]:
        """Contents alone, or a whole request as it would be sent."""
        inner = body.get("generateContentRequest", body.get("generate_content_request", body))
        return inner if isinstance(inner, dict) else {}

    def tokens(self, count: int) -> dict[str, Any]:
        return {"totalTokens": count}

    def type_of_stream(self, request: SimRequest) -> str:
        is_events = request.query.get("alt") == "sse"
        return self.stream_type if is_events else "application/json; charset=UTF-8"

    def framed(self, pieces: Sequence[bytes], request: SimRequest) -> Iterator[Piece]:
        if request.query.get("alt") == "sse":
            yield from pieces
            return
        # Without alt=sse the chunks are the elements of one JSON array.
        opening = b"["
        for piece in pieces:
            for event in piece.split(b"\n\n"):
                if event.startswith(b"data: "):
                    yield opening + event.removeprefix(b"data: ")
                    opening = b",\r\n"
        yield b"]" if opening != b"[" else b"[]"

    def sealed(self, reply: Reply, body: dict[str, Any], target: Target) -> Reply:
        """The signature is on the first call; on the last part where there is none."""
        del body
        blocks: list[Block] = list(reply.message.blocks)
        if target.signature_sentinel is None or not blocks:
            return reply
        calls = [at for at, block in enumerate(blocks) if isinstance(block, ToolCall)]
        at = calls[0] if calls else len(blocks) - 1
        seal = Opaque(target.domain, "signature", Seal(target.domain, target.model).text)
        blocks[at] = replace(blocks[at], opaque=(*blocks[at].opaque, seal))
        return replace(reply, message=replace(reply.message, blocks=tuple(blocks)))

    def broken_seals(self, body: dict[str, Any], target: Target) -> Iterator[Violation]:
        for index, content in enumerate(list_of(body, "contents")):
            for at, part in enumerate(list_of(content, "parts")):
                if not isinstance(part, dict):
                    continue
                value = part.get("thoughtSignature", part.get("thought_signature"))
                if value is None or value in _SKIPS:
                    continue
                seal = read_seal(value)
                if seal is None or (seal.domain, seal.model) != (target.domain, target.model):
                    error = "Corrupted thought signature." if seal else "Invalid thought signature."
                    where = f"$.contents[{index}].parts[{at}]"
                    yield refuse("signature_missing", where, error, source=SOURCE)

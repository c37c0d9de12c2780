"""Anthropic's Messages API: `/v1/messages`, `/v1/messages/count_tokens`, `/v1/models`.

Signatures vouch for the text of a thought; those of the newest models also for all that stood
before it. A thought of another Claude model is read past in silence, as the API does.
"""

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from msgspec.structs import replace

from canonicall.blocks import Block, Native, Opaque, Thinking, Unknown
from canonicall.facts.habits import format_habits
from canonicall.facts.target import Target
from canonicall.reply import Reply
from canonicall.testing.doors.door import COUNT, GENERATE, MODEL, MODELS, Door, State, list_of
from canonicall.testing.doors.message_threads import COMPACTION, MessagesState
from canonicall.testing.exchange import SimRequest
from canonicall.testing.failure import Failure
from canonicall.testing.seals import Seal, digest, read_seal
from canonicall.verify.violation import Violation, refuse
from canonicall.wire.anthropic.response import encode_model
from canonicall.wire.error_body import ErrorBody

SOURCE = "docs: errors; preserved thinking"
_NO_LIMIT = 2**31
_PING = b'event: ping\ndata: {"type": "ping"}\n\n'
_INVALID = "{where}: Invalid `signature` in `thinking` block"
_INVALID_DATA = "{where}: Invalid `data` in `redacted_thinking` block"
_BOUND = (
    "{where}: Invalid `signature` in `thinking` block. The block is bound to a different"
    " conversation. Remove the block, or set"
    ' `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".'
)


class MessagesDoor(Door):
    """`POST /v1/messages` and what stands beside it."""

    format = "anthropic"
    routes = (
        ("POST", r"/messages$", GENERATE),
        ("POST", r"/messages/count_tokens$", COUNT),
        # Vertex names the model in the path: anthropic 2.8.0 (Python), lib/vertex/_client.py.
        ("POST", r"/models/(?P<name>[^/]+):(?:rawPredict|streamRawPredict)$", GENERATE),
        ("GET", r"/models$", MODELS),
        ("GET", r"/models/(?P<name>[^/]+)$", MODEL),
    )

    has_object_arguments = True
    request_header = "request-id"
    # docs, "Errors": 32 MB for messages, else `request_too_large`.
    most_bytes = 32 * 1024 * 1024
    no_model_named = "model: Field required"
    not_json = "The request body is not valid JSON: {why}"

    def key(self, request: SimRequest) -> str:
        return request.headers.get("x-api-key", "") or super().key(request)

    def no_key(self, shown: str) -> Failure:
        what = "invalid x-api-key" if shown else "x-api-key header is required"
        return Failure(401, ErrorBody(what, "authentication_error"))

    def told(self, said: Any, number: str) -> Any:
        return {**said, "request_id": number}

    def no_model(self, target: Target) -> Failure:
        return Failure(404, ErrorBody(f"model: {target.model}", "not_found_error"))

    def models(self, names: Sequence[str], target: Target) -> dict[str, Any]:
        listed = [self.one_model(name, target) for name in names]
        edges = {"first_id": names[0] if names else None, "last_id": names[-1] if names else None}
        return {"data": listed, "has_more": False, **edges}

    def one_model(self, name: str, target: Target) -> dict[str, Any]:
        del target
        return encode_model(name, "2026-01-01T00:00:00Z")

    def shaped(self, pieces: list[bytes], target: Target) -> list[bytes]:
        """The API pings its clients when the first block has begun (recorded)."""
        del target
        for at, piece in enumerate(pieces):
            begin = piece.find(b"event: content_block_start")
            end = piece.find(b"\n\n", begin) + 2
            if begin >= 0 and end > 2:
                return [*pieces[:at], piece[:end] + _PING + piece[end:], *pieces[at + 1 :]]
        return pieces

    def state(self, *, is_lenient: bool, prompts: Mapping[str, Mapping[str, Any]]) -> State:
        del prompts
        return MessagesState(is_lenient=is_lenient)

    def is_compaction(self, body: dict[str, Any]) -> bool:
        return body.get(COMPACTION) is not None

    def summary(self, text: str, target: Target, id: str) -> Block:
        del id
        seal = Seal(target.domain, target.model, digest(text))
        block = {"type": COMPACTION, "content": text, "signature": seal.text}
        return Unknown(native=Native(self.format, block))

    def readable(self, body: dict[str, Any]) -> dict[str, Any]:
        messages = list_of(body, "messages")
        if not any(_is_summary(block) for one in messages for block in list_of(one, "content")):
            return body
        return {**body, "messages": [_with_summaries_as_text(one) for one in messages]}

    def counted(self, body: dict[str, Any]) -> dict[str, Any]:
        """Of the fields of a reply, the limit of tokens is the one that counting does not have."""
        return {**body, "max_tokens": _NO_LIMIT}

    def sealed(self, reply: Reply, body: dict[str, Any], target: Target) -> Reply:
        blocks: list[Block] = []
        before = _prefix(body, None) if _binds(target.model) else ""
        for block in reply.message.blocks:
            if isinstance(block, Thinking) and not block.opaque:
                seal = Seal(target.domain, target.model, digest(block.text), before)
                opaque = (Opaque(target.domain, "signature", seal.text),)
                blocks.append(replace(block, opaque=opaque))
            else:
                blocks.append(block)
        return replace(reply, message=replace(reply.message, blocks=tuple(blocks)))

    def broken_seals(self, body: dict[str, Any], target: Target) -> Iterator[Violation]:
        for index, message in enumerate(list_of(body, "messages")):
            for at, block in enumerate(list_of(message, "content")):
                kind = block.get("type") if isinstance(block, dict) else None
                where = f"messages.{index}.content.{at}"
                if kind == "thinking":
                    yield from self._judged(block, where, body, index, target)
                elif kind == "redacted_thinking":
                    # No simulator hides its thoughts, so it is somebody else's.
                    error, place = _INVALID_DATA.format(where=where), f"$.messages[{index}]"
                    yield refuse("thinking_unsigned", place, error, source=SOURCE)

    def _judged(
        self, block: dict[str, Any], where: str, body: dict[str, Any], index: int, target: Target
    ) -> Iterator[Violation]:
        place = f"$.messages[{index}]"
        seal = read_seal(block.get("signature"))
        if (
            seal is None
            or seal.domain != target.domain
            or seal.content != digest(block.get("thinking"))
        ):
            yield refuse("thinking_unsigned", place, _INVALID.format(where=where), source=SOURCE)
        elif seal.prefix and seal.model == target.model and seal.prefix != _prefix(body, index):
            yield refuse("thinking_unsigned", place, _BOUND.format(where=where), source=SOURCE)


def _is_summary(block: Any) -> bool:
    is_kind = isinstance(block, dict) and block.get("type") == COMPACTION
    return is_kind and bool(block.get("content"))


def _with_summaries_as_text(message: dict[str, Any]) -> dict[str, Any]:
    content = message.get("content")
    if not isinstance(content, list):
        return message
    read = [
        {"type": "text", "text": one["content"]} if _is_summary(one) else one for one in content
    ]
    return {**message, "content": read}


def _binds(model: str) -> bool:
    bound = format_habits(MessagesDoor.format).bound_models
    return any(fnmatchcase(model, pattern) for pattern in bound)


def _prefix(body: dict[str, Any], end: int | None) -> str:
    """A digest of system, tools and the messages before `end`; cache marks do not count."""
    messages = list_of(body, "messages")[:end]
    said = [[_field(one, "role"), _parts(_field(one, "content"))] for one in messages]
    return digest([_parts(body.get("system")), _unmarked(body.get("tools")), said])


def _parts(content: Any) -> Any:
    """Content as a list: a bare text and a list with that text are the same."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return _unmarked(content)


def _unmarked(value: Any) -> Any:
    if isinstance(value, list):
        return [_unmarked(one) for one in value]
    if isinstance(value, dict):
        return {name: _unmarked(one) for name, one in value.items() if name != "cache_control"}
    return value


def _field(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None

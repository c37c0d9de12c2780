"""Requests rendered for targets; a conversation that goes on costs what is new of it."""

import weakref
from collections import OrderedDict
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from canonicall.blocks import Native
from canonicall.client.endpoints import endpoint_for
from canonicall.codec.encode import Encoded, encode_request
from canonicall.conversation import Conversation
from canonicall.facts.target import Target
from canonicall.request import Request, Tool
from canonicall.transcript.fields import has_all, takes_unknown
from canonicall.transcript.render import Renderer
from canonicall.wire.losses import foreign_fields

_TARGETS_KEPT = 8
_MODEL_FIELDS = ("model", "modelId")
_CHAT = "openai-chat"
_WITH_USAGE = Native(_CHAT, {"stream_options": {"include_usage": True}})
"""Without it a chat stream says nothing of tokens; it goes where the field is not refused."""


class Rendered(Struct, frozen=True):
    """A request in the form one target takes."""

    target: Target
    encoded: Encoded
    body: dict[str, Any]
    data: bytes
    tools: tuple[Tool, ...]
    stream: bool


class Renderings:
    """Keeps a renderer for each conversation and target, as long as the conversation lives."""

    def __init__(self) -> None:
        self._kept: dict[int, _Kept] = {}

    def rendered(self, request: Request, target: Target) -> Rendered:
        """`request` for `target`. It is streamed, unless it says otherwise and there is a choice:
        whoever wants the reply whole waits for its end."""
        stream = request.params.stream is not False or target.stream_only
        asked = replace(request, params=replace(request.params, stream=stream))
        if stream and target.format == _CHAT:
            asked = _with_usage(asked, target)
        encoded = encode_request(
            asked, target, renderer=self._renderer(request.conversation, target)
        )
        body = encoded.body
        if endpoint_for(target).names_model:
            body = {name: value for name, value in body.items() if name not in _MODEL_FIELDS}
        data = msgspec.json.encode(body)
        return Rendered(target, encoded, body, data, request.tools, stream)

    def _renderer(self, conversation: Conversation, target: Target) -> Renderer:
        key = id(conversation)
        kept = self._kept.get(key)
        if kept is None or kept.conversation() is not conversation:
            # A conversation cannot be a key: it grows. Its place is given up together with it.
            forget = weakref.ref(conversation, lambda _: self._kept.pop(key, None))
            kept = self._kept[key] = _Kept(forget)
        return kept.renderer(target)


class _Kept:
    """The renderers of one conversation."""

    def __init__(self, conversation: "weakref.ref[Conversation]") -> None:
        self.conversation = conversation
        self._renderers: OrderedDict[Target, Renderer] = OrderedDict()

    def renderer(self, target: Target) -> Renderer:
        found = self._renderers.pop(target, None) or Renderer(target)
        self._renderers[target] = found
        if len(self._renderers) > _TARGETS_KEPT:
            self._renderers.popitem(last=False)
        return found


def takes_usage_question(target: Target, *, is_own: bool | None = None) -> bool:
    """Whether a chat host may be asked for the tokens of a stream. `is_own`: whether the request
    was written for it, where that is known."""
    is_taken = takes_unknown("request", target, is_own=is_own)
    return is_taken or has_all(_WITH_USAGE, "request", target)


def _with_usage(request: Request, target: Target) -> Request:
    """`request` that asks for the usage of a chat stream, if the target takes the question.

    Nobody else wanted it, so it is no finding where it is left out.
    """
    is_own = request.domain == target.domain if request.domain else None
    if not takes_usage_question(target, is_own=is_own):
        return request
    native = request.native
    given = native.fields if native is not None and native.format == _CHAT else {}
    findings = (*request.findings, *foreign_fields(_CHAT, native))
    wanted = Native(_CHAT, {**_WITH_USAGE.fields, **given})
    return replace(request, native=wanted, findings=findings)

"""Google's Gemini API: `models/{model}:generateContent` and its stream in two framings."""

import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from canonicall.facts.target import Target
from canonicall.gateway.exchange import JSON, HttpRequest, Refused
from canonicall.gateway.fronts.front import (
    COUNT,
    GENERATE,
    MODEL,
    MODEL_NAME,
    MODELS,
    STREAM,
    Asked,
    Front,
    page_size,
    whole_number,
)
from canonicall.wire.error_body import ErrorBody
from canonicall.wire.gemini.errors import encode_error

_PAGE = 50
"""ai.google.dev, models.list: `pageSize`."""
# Some clients are given the address of a version, others add none.
_BASE = r"(?:/gemini)?(?:/v1(?:beta1?|alpha)?)?"
# Vertex has its own prefix before the same methods: google-genai 3.1.0, _api_client.py.
_MODEL = (
    _BASE + r"(?:/projects/[^/]+/locations/[^/]+)?(?:/publishers/google)?/(?:models|tunedModels)"
)
# `provider:model` is a name too: only the last colon is the method's.
_NAME = r"/(?P<name>.+)"
_METHOD = re.compile(rf"{_MODEL}/.+:\w+")


class GeminiFront(Front):
    """For the SDKs of Google and agents such as Gemini CLI."""

    format = "gemini"
    routes = (
        ("POST", f"{_MODEL}{_NAME}:generateContent", GENERATE),
        ("POST", f"{_MODEL}{_NAME}:streamGenerateContent", STREAM),
        ("POST", f"{_MODEL}{_NAME}:countTokens", COUNT),
        ("GET", f"{_MODEL}", MODELS),
        ("GET", f"{_MODEL}/{MODEL_NAME}", MODEL),
    )
    beside = r"/gemini/.*|/v1(?:beta1?|alpha)/.*"

    def asked(self, request: HttpRequest) -> Asked | None:
        asked = super().asked(request)
        if asked is None or asked.action not in (MODEL, MODELS):
            return asked
        # OpenAI's list of models is at /v1/models too.
        return asked if self.is_beside(request) else None

    def is_beside(self, request: HttpRequest) -> bool:
        is_shown = "x-goog-api-key" in request.headers or "key" in request.query
        return is_shown or super().is_beside(request) or is_method(request)

    def unserved(self, body: Mapping[str, Any], target: Target) -> Refused | None:
        config = body.get("generationConfig", body.get("generation_config"))
        fields = config if isinstance(config, dict) else {}
        count = fields.get("candidateCount", fields.get("candidate_count"))
        if target.format == self.format or not isinstance(count, int) or count < 2:
            return None
        # googleapis/python-genai#1723
        what = "Multiple candidates is not enabled for this model"
        return Refused(400, "malformed", what, param="generationConfig.candidateCount")

    def streams(self, asked: Asked, body: Mapping[str, Any]) -> bool:
        del body
        return asked.action == STREAM

    def stream_type(self, request: HttpRequest) -> str:
        return super().stream_type(request) if _wants_events(request) else JSON

    def framed(
        self, pieces: AsyncGenerator[bytes, None], request: HttpRequest
    ) -> AsyncGenerator[bytes, None]:
        return pieces if _wants_events(request) else _as_array(pieces)

    def error(self, refused: Refused, request_id: str = "") -> Any:
        del request_id
        kind = super().error(refused)["error"]["status"]
        return encode_error(ErrorBody(refused.message, kind, str(refused.status)))

    def overflow(self, tokens: int, limit: int) -> Refused:
        count, most = (f" ({number})" if number else "" for number in (tokens, limit))
        what = f"The input token count{count} exceeds the maximum number of tokens allowed{most}."
        return Refused(400, "context_overflow", what)

    def models(self, names: Sequence[str], query: Mapping[str, str]) -> dict[str, Any]:
        begin = whole_number(query.get("pageToken", ""), 0)
        end = begin + page_size(query.get("pageSize", ""), _PAGE)
        listed = {"models": [self.one_model(name) for name in names[begin:end]]}
        return {**listed, "nextPageToken": str(end)} if end < len(names) else listed

    def one_model(self, name: str) -> dict[str, Any]:
        ways = ["generateContent", "streamGenerateContent", "countTokens"]
        return {"name": f"models/{name}", "displayName": name, "supportedGenerationMethods": ways}

    def tokens(self, count: int) -> dict[str, Any]:
        return {"totalTokens": count}


def is_method(request: HttpRequest) -> bool:
    """Whether a method of a model is asked for, be there such a one or not: only Google has any."""
    return request.method == "POST" and _METHOD.fullmatch(request.path) is not None


def _wants_events(request: HttpRequest) -> bool:
    return request.query.get("alt") == "sse"


async def _as_array(pieces: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    """Server-sent events as the elements of one JSON array, which is open until the last.

    Each piece ends a line: behind it a sign of life is nothing but space.
    """
    opening, rest = b"[", b""
    async with aclosing(pieces):
        async for piece in pieces:
            *whole, rest = (rest + piece).split(b"\n")
            for line in whole:
                # Google ends its lines with a carriage return too. One event is one line of data.
                data = line.strip().removeprefix(b"data:").strip()
                if data:
                    yield opening + data + b"\n"
                    opening = b","
    yield b"]" if opening != b"[" else b"[]"

"""Google's Gemini API: `models/{model}:generateContent` and its stream in two framings."""

from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import aclosing
from typing import Any

from canonicall.gateway.exchange import HttpRequest
from canonicall.gateway.fronts.front import COUNT, GENERATE, MODEL, MODELS, STREAM, Asked, Front
from canonicall.wire.error_body import ErrorBody
from canonicall.wire.gemini.errors import encode_error

_BASE = r"(?:/gemini)?/v1(?:beta1?|alpha)?"
# Vertex has its own prefix before the same methods: google-genai 3.1.0, _api_client.py.
_MODEL = (
    _BASE + r"(?:/projects/[^/]+/locations/[^/]+)?(?:/publishers/google)?/(?:models|tunedModels)"
)
_NAME = r"/(?P<name>[^:]+)"


class GeminiFront(Front):
    """For the SDKs of Google and agents such as Gemini CLI."""

    format = "gemini"
    routes = (
        ("POST", f"{_MODEL}{_NAME}:generateContent", GENERATE),
        ("POST", f"{_MODEL}{_NAME}:streamGenerateContent", STREAM),
        ("POST", f"{_MODEL}{_NAME}:countTokens", COUNT),
        ("GET", f"{_MODEL}", MODELS),
        ("GET", f"{_MODEL}{_NAME}", MODEL),
    )

    def asked(self, request: HttpRequest) -> Asked | None:
        asked = super().asked(request)
        if asked is None or asked.action not in (MODEL, MODELS):
            return asked
        # OpenAI's list of models is at /v1/models too.
        shown = "x-goog-api-key" in request.headers or "key" in request.query
        return asked if shown or not request.path.startswith("/v1/") else None

    def streams(self, asked: Asked, body: Mapping[str, Any]) -> bool:
        del body
        return asked.action == STREAM

    def framed(
        self, pieces: AsyncGenerator[bytes, None], request: HttpRequest
    ) -> AsyncGenerator[bytes, None]:
        return pieces if request.query.get("alt") == "sse" else _as_array(pieces)

    def error(self, status: int, message: str, *, code: str = "") -> Any:
        del code
        kind = super().error(status, message)["error"]["status"]
        return encode_error(ErrorBody(message, kind, str(status)))

    def models(self, names: Iterable[str]) -> dict[str, Any]:
        return {"models": [self.one_model(name) for name in names]}

    def one_model(self, name: str) -> dict[str, Any]:
        ways = ["generateContent", "streamGenerateContent", "countTokens"]
        return {"name": f"models/{name}", "displayName": name, "supportedGenerationMethods": ways}

    def tokens(self, count: int) -> dict[str, Any]:
        return {"totalTokens": count}


async def _as_array(pieces: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    """Server-sent events as the elements of one JSON array, which is open until the last."""
    opening, rest = b"[", b""
    async with aclosing(pieces):
        async for piece in pieces:
            *whole, rest = (rest + piece.replace(b"\r\n", b"\n")).split(b"\n\n")
            for event in whole:
                data = event.strip().removeprefix(b"data:").strip()
                if data:
                    yield opening + data
                    opening = b",\r\n"
    yield b"]" if opening != b"[" else b"[]"

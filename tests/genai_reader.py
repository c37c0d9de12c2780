"""Google's own client as a reader of streams: its bytes are faked, everything else is real."""

from functools import cache
from typing import Any, NamedTuple

import httpx
import pytest

MISSING = "the SDK is not installed: pip install 'canonicall[judges]'"
genai = pytest.importorskip("google.genai", reason=MISSING)
types = pytest.importorskip("google.genai.types", reason=MISSING)


class Read(NamedTuple):
    """What the client made of a stream."""

    text: str
    thoughts: str
    calls: list[tuple[str, str, dict[str, Any]]]
    seals: list[bytes]
    finish: str
    usage: Any
    chunks: list[Any]


class _Answering(httpx.BaseTransport):
    """A provider that always sends the same stream."""

    data = b""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        headers = {"content-type": "text/event-stream"}
        return httpx.Response(200, content=self.data, headers=headers, request=request)


_PROVIDER = _Answering()


@cache
def _client() -> Any:
    options = types.HttpOptions(httpx_client=httpx.Client(transport=_PROVIDER))
    return genai.Client(api_key="none", http_options=options)


def read_with_genai(stream: bytes) -> Read:
    """Put a stream of server-sent events through `generate_content_stream`."""
    _PROVIDER.data = stream
    return _collect(list(_client().models.generate_content_stream(model="m", contents="Hi")))


def _collect(chunks: list[Any]) -> Read:
    parts = [
        part
        for chunk in chunks
        for candidate in (chunk.candidates or [])[:1]
        for part in (candidate.content.parts if candidate.content else None) or []
    ]
    calls = [part.function_call for part in parts if part.function_call]
    reasons = [
        candidate.finish_reason.name
        for chunk in chunks
        for candidate in (chunk.candidates or [])[:1]
        if candidate.finish_reason
    ]
    counts = [chunk.usage_metadata for chunk in chunks if chunk.usage_metadata]
    return Read(
        text="".join(part.text for part in parts if part.text and not part.thought),
        thoughts="".join(part.text for part in parts if part.text and part.thought),
        calls=[(call.id or "", call.name or "", call.args or {}) for call in calls],
        seals=[part.thought_signature for part in parts if part.thought_signature],
        finish=reasons[-1] if reasons else "",
        usage=counts[-1] if counts else None,
        chunks=chunks,
    )

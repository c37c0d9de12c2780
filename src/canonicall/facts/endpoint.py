"""Where a reply is asked for, and how the key is shown: for each format, and where a host differs.

What stands before the path is the profile's `base_url`. `{model}` in a path is the model's name;
then the body does not name it.
"""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from canonicall.errors import InvalidValue

BEARER = "bearer"
AWS = "aws"


class Endpoint(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One format at one provider."""

    path: str = ""
    stream_path: str = ""
    """Where a stream is asked for, if it is another path."""
    compact_path: str = ""
    """Where a summary of a conversation is asked for, in formats that have such a path."""
    auth: str = ""
    """The name of the header that holds the key; "bearer" for `Authorization: Bearer`, "aws" for
    the same or, without a token, a signature of the request (version 4)."""
    headers: dict[str, str] = {}
    source: str = ""

    @property
    def names_model(self) -> bool:
        """Whether the path names the model, and the body does not."""
        return "{model}" in self.path


ENDPOINTS = {
    "openai-chat": Endpoint(
        path="/chat/completions", auth=BEARER, source="openai 3.49.0 (Python), _client.py"
    ),
    "openai-responses": Endpoint(
        path="/responses",
        compact_path="/responses/compact",
        auth=BEARER,
        source="openai 3.49.0 (Python), _client.py",
    ),
    "anthropic": Endpoint(
        path="/v1/messages",
        auth="x-api-key",
        headers={"anthropic-version": "2023-06-01"},
        source="anthropic 2.8.0 (Python), _client.py",
    ),
    "gemini": Endpoint(
        path="/models/{model}:generateContent",
        stream_path="/models/{model}:streamGenerateContent?alt=sse",
        auth="x-goog-api-key",
        source="google-genai 3.1.0 (Python), models.py and _api_client.py",
    ),
    "bedrock": Endpoint(
        path="/model/{model}/converse",
        stream_path="/model/{model}/converse-stream",
        auth=AWS,
        source="botocore 1.44.0, bedrock-runtime service model",
    ),
    "cohere": Endpoint(path="/chat", auth=BEARER, source="cohere 7.3.1 (Python), v2/raw_client.py"),
    "ollama": Endpoint(path="/api/chat", auth=BEARER, source="ollama 0.6.3 (Python), _client.py"),
}


def load_endpoints(value: Any, formats: tuple[str, ...], where: str) -> dict[str, Endpoint]:
    """The endpoints that a profile has of its own, by format; each has a source."""
    if not isinstance(value, Mapping) or not set(value) <= set(formats):
        what = f"a table for some of {', '.join(formats)} belongs here."
        raise InvalidValue(what, where=where)
    return {format: _endpoint(value[format], f"{where}.{format}") for format in value}


def endpoint_of(own: Mapping[str, Endpoint], format: str) -> Endpoint:
    """The endpoint of a format: what a profile says itself, and the format's own for the rest."""
    usual = ENDPOINTS[format]
    ours = own.get(format)
    if ours is None:
        return usual
    return Endpoint(
        path=ours.path or usual.path,
        stream_path=ours.stream_path if ours.path else usual.stream_path,
        compact_path=ours.compact_path if ours.path else usual.compact_path,
        auth=ours.auth or usual.auth,
        headers=ours.headers if ours.path else usual.headers,
        source=ours.source,
    )


def _endpoint(value: Any, where: str) -> Endpoint:
    try:
        endpoint = msgspec.convert(value, Endpoint)
    except msgspec.ValidationError as error:
        raise InvalidValue(f"{value!r} does not fit: {error}.", where=where) from error
    if not endpoint.source:
        raise InvalidValue("`source` is missing.", where=where)
    return endpoint

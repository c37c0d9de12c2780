"""HTTP as plain values: what comes in at a front door, and what goes out."""

from collections.abc import AsyncGenerator, Mapping
from typing import Any

import msgspec
from msgspec import Struct

JSON = "application/json"


class HttpRequest(Struct, frozen=True):
    """A request whose body has been read."""

    method: str
    path: str
    query: dict[str, str]
    headers: Mapping[str, str]
    """By their names in lower case."""
    body: bytes = b""
    client: str = ""
    """The address of the client, as far as it is known."""


class HttpResponse(Struct, frozen=True):
    """A response, whole or in pieces that come while it is sent."""

    status: int
    headers: dict[str, str] = {}
    body: bytes | AsyncGenerator[bytes, None] = b""

    @classmethod
    def json(cls, value: Any, status: int = 200, **headers: str) -> "HttpResponse":
        """A response whose body is JSON; `_` in the name of a header stands for `-`."""
        named = {name.replace("_", "-"): text for name, text in headers.items()}
        return cls(status, {"content-type": JSON, **named}, msgspec.json.encode(value))


async def one_piece(data: bytes) -> AsyncGenerator[bytes, None]:
    """A body in pieces that is there as a whole."""
    yield data


class Refused(Exception):
    """The gateway itself says no. `kind` is one word; fronts put it in the caller's own shape."""

    def __init__(
        self,
        status: int,
        kind: str,
        message: str,
        *,
        retry_after: float | None = None,
        code: str = "",
        param: str = "",
        details: Mapping[str, Any] | None = None,
    ) -> None:
        """`code`, `param`: what OpenAI's errors say beside the message, where it is known;
        `details`: what Anthropic's say beside the code."""
        self.details = dict(details or {})
        self.code = code
        self.param = param
        self.status = status
        self.kind = kind
        self.message = message
        self.retry_after = retry_after
        self.ending = b""
        """What says so at the end of a stream that the client has the beginning of."""
        super().__init__(message)

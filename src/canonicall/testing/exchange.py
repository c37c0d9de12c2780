"""What goes in and out of a simulator: HTTP as plain values, without any socket."""

import json
from collections.abc import Iterable
from typing import Any, TypeAlias
from urllib.parse import parse_qsl, unquote, urlsplit

import msgspec
from msgspec import Struct


class Pause(Struct, frozen=True):
    """Nothing comes for a while; for ever where `seconds` is None."""

    seconds: float | None = None


Piece: TypeAlias = bytes | Pause


def _json(body: Any) -> bytes:
    """The body as a client sends it: half characters as escapes."""
    try:
        return msgspec.json.encode(body)
    except UnicodeEncodeError:
        return json.dumps(body).encode()


class SimRequest(Struct, frozen=True):
    """One HTTP request."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    """By their names in lower case."""
    body: bytes = b""

    @classmethod
    def of(
        cls, method: str, url: str, body: Any = b"", headers: dict[str, str] | None = None
    ) -> "SimRequest":
        """A request to `url`; a body that is no bytes is sent as JSON."""
        parts = urlsplit(url)
        named = {name.lower(): value for name, value in (headers or {}).items()}
        data = body if isinstance(body, bytes) else _json(body)
        return cls(method.upper(), unquote(parts.path), dict(parse_qsl(parts.query)), named, data)


class SimResponse(Struct, frozen=True):
    """One HTTP response."""

    status: int
    headers: dict[str, str]
    pieces: Iterable[Piece]
    is_cut: bool = False
    """The connection breaks behind the last piece, without an end."""

    @classmethod
    def json(cls, status: int, body: Any, **headers: str) -> "SimResponse":
        """A response whose body is JSON; `_` in the name of a header stands for `-`."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        data = msgspec.json.encode(body)
        return cls(status, {"content-type": "application/json", **named}, (data,))

    @property
    def data(self) -> bytes:
        """All bytes of the body, without waiting at any pause."""
        return b"".join(piece for piece in self.pieces if isinstance(piece, bytes))

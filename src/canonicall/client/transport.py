"""The seam to HTTP: what the client asks of whatever moves the bytes, and how that fails.

`AiohttpTransport` is the one in use; a faster one, or one for tests, has only `post` to offer.
Nothing is retried behind this seam, and no redirect is followed: a key must not travel on.
"""

from collections.abc import AsyncIterator, Mapping
from typing import Literal, Protocol, TypeAlias

from msgspec import Struct

from canonicall.errors import CanonicallError

Phase: TypeAlias = Literal["setup", "connect", "first_byte", "between_bytes", "total", "connection"]
"""Where it broke: before anything was tried, a time-out of its kind, or the connection itself."""


class Timeouts(Struct, frozen=True, kw_only=True):
    """Seconds for each part of one exchange; None to wait for ever."""

    connect: float | None = 10.0
    first_byte: float | None = 300.0
    """From the request to the first bytes of the answer: models that reason take minutes."""
    between_bytes: float | None = 90.0
    total: float | None = None
    """From the request to the last byte."""
    after_end: float = 2.0
    """For what may follow the end of a reply: usage does; some hosts never hang up."""


class TransportError(CanonicallError):
    """The exchange broke. `phase` says where, `help` what can be done."""

    def __init__(self, what: str, *, where: str, phase: Phase, help: str = "") -> None:
        self.what = what
        self.where = where
        self.phase = phase
        self.help = help
        super().__init__(f"{where}: {what}" + (f" {help}" if help else ""))


class Response(Protocol):
    """An answer whose head has arrived."""

    @property
    def status(self) -> int:
        """The HTTP status."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """By their names in lower case."""
        ...

    def chunks(self) -> AsyncIterator[bytes]:
        """The bytes of the body as they come; `TransportError` where they stop coming."""
        ...

    def close(self) -> None:
        """Let go of the connection at once. What was read to its end is kept open for the next."""
        ...


class Transport(Protocol):
    """Whatever posts bodies."""

    async def post(
        self,
        url: str,
        headers: Mapping[str, str],
        body: bytes,
        timeouts: Timeouts,
        *,
        proxy: str = "",
    ) -> Response:
        """The answer, as soon as its head is there; else `TransportError`."""
        ...

    async def close(self) -> None:
        """Close all connections."""
        ...


class ReadingTransport(Transport, Protocol):
    """A transport that can also ask without sending anything: for lists of models."""

    async def get(
        self, url: str, headers: Mapping[str, str], timeouts: Timeouts, *, proxy: str = ""
    ) -> Response:
        """The answer, as soon as its head is there; else `TransportError`."""
        ...

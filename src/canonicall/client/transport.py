"""The seam to HTTP: what the client asks of whatever moves the bytes, and how that fails.

`AiohttpTransport` is the one in use; a faster one, or one for tests, has only `post` to offer.
No failure is retried below this seam, and no redirect is followed: a key must not travel on. A
kept connection that the server has closed is no failure: servers close idle ones as they like, and
a request that crosses it on the way is sent once more on a new connection, if not a byte came back.
"""

from collections.abc import AsyncIterator, Mapping
from typing import Literal, Protocol, TypeAlias

from msgspec import Struct

from canonicall.errors import CanonicallError, ReplyTooLarge
from canonicall.framing.limits import ReplyLimits

Phase: TypeAlias = Literal[
    "setup", "connect", "first_byte", "between_bytes", "total", "connection", "limit"
]
"""Where it broke: before anything was tried, a time-out of its kind, the connection itself, or at
a limit for replies."""


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


class TooMuch(TransportError):
    """A reply that is beyond a limit. To ask again would bring the same."""

    def __init__(self, error: ReplyTooLarge) -> None:
        super().__init__(error.what, where="the reply", phase="limit")


async def whole_body(chunks: AsyncIterator[bytes], limits: ReplyLimits) -> bytes:
    """The body of a reply that is JSON. `TooMuch` as soon as there is more than is read."""
    came: list[bytes] = []
    left = limits.total_bytes
    async for chunk in chunks:
        left -= len(chunk)
        if left < 0:
            raise TooMuch(limits.too_many_bytes())
        came.append(chunk)
    data = b"".join(came)
    try:
        limits.check_json(data)
    except ReplyTooLarge as error:
        raise TooMuch(error) from None
    return data

"""What is known of one request, for whoever watches: metrics, log, traces."""

from typing import Protocol

from msgspec import Struct

from canonicall.reply import Usage


class Begun(Struct, frozen=True, kw_only=True):
    """A request that was let in."""

    id: str
    front: str
    """The wire format of the client."""
    action: str
    """What is asked for: generate, count, models, ..."""
    model: str = ""
    """As the client names it."""
    key: str = ""
    """The name of the virtual key; empty where none is needed."""
    streams: bool = False
    traceparent: str = ""
    """The client's own trace (W3C Trace Context), as it came; likewise `tracestate`."""
    tracestate: str = ""


class Served(Struct, frozen=True, kw_only=True):
    """A request that has ended, however it did."""

    begun: Begun
    status: int
    """What the client got; 499 where it went away before the end."""
    target: str = ""
    """`provider:model` that answered, or was asked last."""
    attempts: int = 0
    fallbacks: int = 0
    """How many of the attempts went to another target than the one before."""
    findings: tuple[tuple[str, int], ...] = ()
    """Codes of what was changed or noticed, and how often."""
    error: str = ""
    """The kind of failure in one word; empty where there was none."""
    is_forwarded: bool = False
    """Whether bytes went through as they came."""
    is_complete: bool = True
    """Whether the reply came to its end."""
    usage: Usage | None = None
    is_estimated: bool = False
    """Whether `usage` is an estimate: the provider gave no figures."""
    seconds: float = 0.0
    upstream_seconds: float = 0.0
    """How much of it was spent waiting for the provider's first byte."""
    first_byte_seconds: float = 0.0
    bytes_in: int = 0
    bytes_out: int = 0
    request_body: bytes = b""
    """Only where the log asks for bodies."""
    response_body: bytes = b""
    """What the client got; only its beginning where `bytes_out` is more."""


class Watcher(Protocol):
    """Whoever is told, in the task of the request. It must neither raise nor wait."""

    def begun(self, begun: Begun) -> None:
        """A request was let in."""
        ...

    def ended(self, served: Served) -> None:
        """It has ended."""
        ...

"""What a document is, and what a kind of document has to be able to do."""

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from canonicall.findings import Finding
from canonicall.request import Request


class Sent(Struct, frozen=True):
    """What a coding agent sends next, as its session file has it: nothing in it is repaired.

    The file does not hold all of it. Tools, instructions and parameters are missing, and a short
    message takes the place of what the user says next.
    """

    format: str
    body: dict[str, Any]

    @property
    def place(self) -> str:
        """Where the history is in the body: `$.messages`. Elsewhere the file says nothing."""
        return f"$.{next(name for name in self.body if name != 'model')}"


class Document(Struct, frozen=True):
    """A transcript that was read."""

    format: str
    """A wire format, "canonical", or the kind of file it is."""
    request: Request
    body: dict[str, Any] | None
    """The request body as it stands in the document; None where the document holds no body."""
    findings: tuple[Finding, ...] = ()
    """What was remarkable while reading."""
    sent: Sent | None = None
    """For a session of an agent that speaks one format, what it sends next."""


class WrittenBack(Struct, frozen=True):
    """A file in its own form after its repair, and what was done to it."""

    data: bytes
    findings: tuple[Finding, ...] = ()


class DocumentKind(Struct, frozen=True):
    """One kind of file."""

    name: str
    detects: Callable[[bytes], bool]
    """Whether data is of this kind; its first line has to be enough to tell."""
    read: Callable[[bytes], Document]
    is_whole_file: bool = False
    """Its lines belong together; else every line of a file may be a document of its own."""
    is_session: bool = False
    """It belongs to a program that goes on writing it."""
    write_back: Callable[[bytes], WrittenBack] | None = None
    """The same file with what it lacks to be valid, everything else as it was, to the byte."""

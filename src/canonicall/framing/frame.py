"""One message of a stream, before anybody has looked into it."""

from typing import NamedTuple, Protocol


class Frame(NamedTuple):
    """A name, where the framing gives one, and the payload as it came."""

    name: str
    data: bytes


class Framing(Protocol):
    """Finds the frames in bytes that come in pieces."""

    def feed(self, data: bytes) -> list[Frame]:
        """The frames that these bytes complete."""
        ...

    def close(self) -> list[Frame]:
        """What is left when nothing more comes."""
        ...

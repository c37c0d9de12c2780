"""A provider's error, whatever envelope it came in."""

from typing import Any

from msgspec import Struct


class ErrorBody(Struct, frozen=True, omit_defaults=True):
    """What an error response says."""

    message: str
    type: str = ""
    code: str = ""
    param: str = ""
    native: dict[str, Any] | None = None
    """The envelope as it came."""

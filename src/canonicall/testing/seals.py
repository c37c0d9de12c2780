"""Seals: what a simulator signs its thoughts with, to tell whether they came back as made.

Real signatures can be checked by their provider alone. A seal says in the open what a real one
hides: the signing domain, the model, and digests of what it covers. A change of any of them shows.
"""

from base64 import b64decode, b64encode
from hashlib import sha256
from typing import Any

import msgspec
from msgspec import Struct

_MARK = b"sim1|"
_PLAIN = str.maketrans("-_", "+/")


class Seal(Struct, frozen=True, array_like=True):
    """What one signature vouches for."""

    domain: str
    model: str
    content: str = ""
    """Digest of the thought itself."""
    prefix: str = ""
    """Digest of all that stood before it, for models that bind their thoughts to it."""

    @property
    def text(self) -> str:
        """The signature as it goes over the wire."""
        return b64encode(_MARK + msgspec.json.encode(self)).decode()


def read_seal(text: object) -> Seal | None:
    """The seal in a signature; None if no simulator made it.

    Clients that hold signatures as bytes write them in either alphabet, padded or not.
    """
    if not isinstance(text, str):
        return None
    plain = text.translate(_PLAIN).rstrip("=")
    try:
        data = b64decode(plain + "=" * (-len(plain) % 4), validate=True)
        if not data.startswith(_MARK):
            return None
        return msgspec.json.decode(data[len(_MARK) :], type=Seal)
    except (ValueError, msgspec.DecodeError):
        return None


def digest(value: Any) -> str:
    """A short name for a JSON value; equal values have equal ones."""
    return sha256(msgspec.json.encode(value, order="deterministic")).hexdigest()[:16]

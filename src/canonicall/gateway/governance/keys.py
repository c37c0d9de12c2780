"""Virtual keys: what clients show instead of a provider's key.

Only hashes are kept. A key that is shown is hashed and looked up by its hash, so how long that
takes says nothing about the keys there are, nor about their names.
"""

import hmac
import math
import re
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from hashlib import sha256

from msgspec import Struct

from canonicall.errors import InvalidValue
from canonicall.gateway.config import KeySettings, fits

_PREFIX = "sk-canonicall-"
"""Clients and scanners for leaked keys know `sk-`; the rest says whose it is."""
_ALGORITHM = "sha256:"
_HASH = re.compile(r"sha256:[0-9a-f]{64}")
_SHOWN_OF_HASH = len(_ALGORITHM) + 8
_FEWEST_BYTES = 16
_BEARER = "bearer "
# The headers in which the SDKs of OpenAI, Anthropic, Google and Azure send their key.
_KEY_HEADERS = ("x-api-key", "x-goog-api-key", "api-key")


class VirtualKey(Struct, frozen=True, kw_only=True):
    """A key of the settings, read and checked."""

    name: str
    settings: KeySettings
    hash: str
    expires: float = math.inf
    """The first second at which it no longer counts."""

    def allows(self, model: str) -> bool:
        """Whether this model may be asked for with it."""
        return any(fits(pattern, model) for pattern in self.settings.models)

    def state(self, now: float, revoked: Iterable[str] = ()) -> str:
        """`active`, `expired` or `revoked`."""
        if self.settings.revoked or self.hash in revoked:
            return "revoked"
        return "active" if now < self.expires else "expired"

    @property
    def shown_hash(self) -> str:
        """Enough of the hash to tell keys apart, too little to look the rest up."""
        return f"{self.hash[:_SHOWN_OF_HASH]}…"


class KeyRing:
    """All keys, found by what is shown."""

    def __init__(self, keys: Mapping[str, KeySettings]) -> None:
        self.by_hash: dict[str, VirtualKey] = {}
        for name, settings in keys.items():
            key = _read(name, settings)
            known = self.by_hash.get(key.hash)
            if known is not None:
                what = f"the key is the same as that of {known.name!r}."
                help = "Make a key of its own for each name."
                raise InvalidValue(what, where=f"$.keys.{name}.hash", help=help)
            self.by_hash[key.hash] = key

    def find(self, shown: str) -> VirtualKey | None:
        """The key that was shown; None for one that nobody knows."""
        hash = hash_of(shown)
        key = self.by_hash.get(hash)
        return key if key is not None and hmac.compare_digest(key.hash, hash) else None

    def named(self, name: str) -> VirtualKey | None:
        """The key of that name."""
        return next((key for key in self.by_hash.values() if key.name == name), None)


def hash_of(key: str) -> str:
    """What is kept of a key: `sha256:` and its digest."""
    return _ALGORITHM + sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def new_key(random_bytes: bytes) -> tuple[str, str]:
    """A key to hand out, made of bytes that nobody can guess, and the hash to keep of it."""
    if len(random_bytes) < _FEWEST_BYTES:
        what = f"{len(random_bytes)} bytes can be guessed."
        help = f"Give {_FEWEST_BYTES} or more: secrets.token_bytes(32)."
        raise InvalidValue(what, where="random_bytes", help=help)
    key = _PREFIX + urlsafe_b64encode(random_bytes).decode().rstrip("=")
    return key, hash_of(key)


def shown_key(headers: Mapping[str, str], query: Mapping[str, str]) -> str:
    """The key of a request, wherever an SDK puts it; empty where there is none."""
    authorization = headers.get("authorization", "")
    if authorization[: len(_BEARER)].lower() == _BEARER:
        return authorization[len(_BEARER) :].strip()
    for name in _KEY_HEADERS:
        if headers.get(name):
            return headers[name].strip()
    return query.get("key", "").strip()


def _read(name: str, settings: KeySettings) -> VirtualKey:
    hash = settings.hash.strip().lower()
    if not _HASH.fullmatch(hash):
        # What stands there may be the key itself: it is not repeated.
        help = "Give the hash of a key, never the key: sha256: and 64 hexadecimal digits."
        raise InvalidValue("this is no hash.", where=f"$.keys.{name}.hash", help=help)
    try:
        expires = _end_of(settings.expires.strip())
    except ValueError:
        what = f"{settings.expires!r} is neither a day nor a moment."
        help = "Write it as 2030-12-31 or 2030-12-31T18:00:00Z."
        raise InvalidValue(what, where=f"$.keys.{name}.expires", help=help) from None
    return VirtualKey(name=name, settings=settings, hash=hash, expires=expires)


def _end_of(written: str) -> float:
    """The end of a day, or a moment; in UTC where no offset is given."""
    if not written:
        return math.inf
    moment = datetime.fromisoformat(written)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    is_day = "T" not in written.upper() and ":" not in written
    try:
        return (moment + timedelta(days=1 if is_day else 0)).timestamp()
    except OverflowError:
        return math.inf

"""Who is let in: the key, what it may ask for, and how much of it.

One gate stands before one state of the gateway. A reload makes a new gate, which counts where the
old one did (`after`), so that nobody gets a fresh minute by it.

Limits are those of one process, unless its limiter is shared (`limit_by`): then they are those of
all together. Workers of a server that has no such limiter for them are given `share`, their
number, and each lets in its part: the limit divided by `share`, at least 1.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Self

from msgspec import Struct, to_builtins

from canonicall.gateway.config import KeySettings
from canonicall.gateway.exchange import Refused
from canonicall.gateway.governance.keys import KeyRing, VirtualKey
from canonicall.gateway.governance.limits import KeyLimits, Limiter, LimitReached
from canonicall.gateway.governance.windows import LocalLimiter

_CONCURRENT_WAIT = 1.0
"""Nobody knows when a running request ends; a second is often enough."""

_KEY_NEEDED = (
    "A key of this gateway is needed. Send it where your client sends its key:"
    " authorization: Bearer, x-api-key or x-goog-api-key."
)


class Spending(Struct, frozen=True):
    """What one key has spent, for people; a limit of 0 is none."""

    key: str
    running: int
    concurrent: int
    requests: int
    requests_per_minute: int
    tokens: int
    tokens_per_minute: int


class Permit:
    """One request that was let in. Whoever has it must release it, once."""

    __slots__ = ("_limiter", "_virtual")

    def __init__(self, virtual: VirtualKey | None, limiter: Limiter | None) -> None:
        self._virtual = virtual
        self._limiter = limiter

    @property
    def key(self) -> str:
        """The name of the key; empty where none was needed."""
        return "" if self._virtual is None else self._virtual.name

    def allows(self, model: str) -> bool:
        """Whether this model may be asked for."""
        return self._virtual is None or self._virtual.allows(model)

    def release(self, tokens: int, now: float) -> None:
        """The request has ended and cost so many tokens. A second time does nothing."""
        limiter, self._limiter = self._limiter, None
        if limiter is not None and self._virtual is not None:
            limiter.end(self._virtual.hash, tokens, now)


class Gate:
    """Lets in or refuses, by the keys of the settings."""

    def __init__(
        self,
        keys: Mapping[str, KeySettings],
        *,
        open_to_all: bool,
        share: int = 1,
        revoked: Iterable[str] = (),
    ) -> None:
        self._ring = KeyRing(keys)
        self._open = open_to_all
        self._share = max(1, share)
        self.revoked = set(revoked)
        self.limit_by(LocalLimiter())

    def after(self, old: "Gate") -> Self:
        """Take the place of an older gate, with what is spent there, running there and revoked."""
        self.revoked |= old.revoked
        self.limit_by(old.limiter)
        return self

    def limit_by(self, limiter: Limiter) -> None:
        """Hold limits against what is counted there."""
        self.limiter = limiter
        limiter.know(self._ring.by_hash)
        share = 1 if limiter.is_shared else self._share
        self._limits = {
            hash: _limits(key.settings, share) for hash, key in self._ring.by_hash.items()
        }

    async def admit(self, shown: str, model: str | None, now: float) -> Permit:
        """A permit for one request, or `Refused`. What is refused is not counted."""
        key = self.identify(shown, now)
        if key is None:
            return Permit(None, None)
        if model is not None and not key.allows(model):
            what = f"The key {key.name!r} may not be used for the model {model!r}."
            allowed = f" It may be used for: {', '.join(key.settings.models) or 'none'}."
            raise Refused(403, "permission", what + allowed)
        limits = self._limits[key.hash]
        reached = await self.limiter.begin(key.hash, limits, now)
        if reached is not None:
            raise _refusal(key.name, limits, reached)
        return Permit(key, self.limiter)

    def identify(self, shown: str, now: float) -> VirtualKey | None:
        """Whose key it is; None for anybody where the gate is open. No request is counted."""
        key = self._ring.find(shown) if shown and self._ring.by_hash else None
        if key is None and self._open:
            return None
        if key is None:
            what = "This key is not known here." if shown else _KEY_NEEDED
            if not self._ring.by_hash:
                what += " None is configured, and without keys only this machine is served."
            raise Refused(401, "authentication", what)
        state = key.state(now, self.revoked)
        if state != "active":
            what = f"The key {key.name!r} is {state}. Ask for a new one."
            raise Refused(401, "authentication", what)
        return key

    def name_of(self, shown: str) -> str:
        """The name of a key, also of one that is refused; empty if it is unknown."""
        key = self._ring.find(shown) if shown and self._ring.by_hash else None
        return "" if key is None else key.name

    def revoke(self, name: str) -> str | None:
        """Refuse a key from now on: its hash, to be kept where that is to last; None if unknown.

        What is running with it goes on to its end.
        """
        key = self._ring.named(name)
        if key is None:
            return None
        self.revoked.add(key.hash)
        return key.hash

    def keys(self, now: float) -> list[tuple[VirtualKey, str]]:
        """All keys, and the state of each."""
        return [(key, key.state(now, self.revoked)) for key in self._ring.by_hash.values()]

    def shown_keys(self, now: float) -> list[dict[str, Any]]:
        """The keys as an admin is shown them: state, settings and the beginning of the hash."""
        return [
            {"name": key.name, "state": state, **to_builtins(key.settings), "hash": key.shown_hash}
            for key, state in self.keys(now)
        ]

    async def spending(self, now: float) -> list[Spending]:
        """What each key has spent in the last minute, and what it is let."""
        return [await self._spending(key, now) for key in self._ring.by_hash.values()]

    async def _spending(self, key: VirtualKey, now: float) -> Spending:
        spent, limits = await self.limiter.spent(key.hash, now), self._limits[key.hash]
        return Spending(
            key=key.name,
            running=spent.running,
            concurrent=limits.concurrent,
            requests=spent.requests,
            requests_per_minute=limits.requests_per_minute,
            tokens=spent.tokens,
            tokens_per_minute=limits.tokens_per_minute,
        )


def _limits(settings: KeySettings, share: int) -> KeyLimits:
    def part(limit: int) -> int:
        return max(1, limit // share) if limit > 0 else 0

    return KeyLimits(
        concurrent=part(settings.concurrent),
        requests_per_minute=part(settings.requests_per_minute),
        tokens_per_minute=part(settings.tokens_per_minute),
    )


def _refusal(key: str, limits: KeyLimits, reached: LimitReached) -> Refused:
    if reached.limit == "concurrent":
        what = f"The key {key!r} has {reached.spent} requests open, as many as it may."
        return Refused(429, "rate_limited", what, retry_after=_CONCURRENT_WAIT)
    limit = getattr(limits, f"{reached.limit}_per_minute")
    what = f"The key {key!r} has used up its {reached.limit} per minute ({limit})."
    return Refused(429, "rate_limited", what, retry_after=reached.wait)

"""Several keys for one provider: in turn, and none of them while it is cooling down.

Pure: `KeyRing` is a value and the time is handed in. A key is never refused: where all are cooling
down, the one that is ready first is taken. No key is in what is shown.
"""

from msgspec import Struct
from msgspec.structs import replace

from canonicall.client.failure import Failure
from canonicall.client.secrets import Secret


class KeyPolicy(Struct, frozen=True, kw_only=True):
    """For how many seconds a key is not used."""

    rate_limited: float = 30.0
    """After 429, where the provider does not say how long."""
    rejected: float = 3600.0
    """After 401 or 403, and where its quota is used up: that does not pass by itself."""

    def rest(self, failure: Failure) -> float | None:
        """Seconds after a failure; None where the key is not to blame."""
        if failure.kind == "authentication":
            return self.rejected
        if failure.kind != "rate_limited":
            return None
        if failure.wait is not None:
            return failure.wait
        return self.rate_limited if failure.passing else self.rejected


class KeyRing(Struct, frozen=True):
    """The keys of one provider, until when each is cooling down, and whose turn it was."""

    keys: tuple[Secret, ...]
    ready_at: tuple[float, ...]
    last: int = -1

    @classmethod
    def of(cls, keys: tuple[Secret, ...]) -> "KeyRing":
        """Keys that are all ready."""
        return cls(keys, (0.0,) * len(keys))

    def ready(self, now: float) -> int:
        """How many may be used."""
        return sum(at <= now for at in self.ready_at)

    def turned(self, now: float) -> "KeyRing":
        """With the next key that is ready as the last one used; else the one ready first."""
        size = len(self.keys)
        order = [(self.last + step) % size for step in range(1, size + 1)]
        ready = next((at for at in order if self.ready_at[at] <= now), None)
        chosen = min(order, key=self.ready_at.__getitem__) if ready is None else ready
        return replace(self, last=chosen)

    def cooled(self, key: Secret, until: float) -> "KeyRing":
        """With this key not used before then; what is known already is not cut short."""
        rests = zip(self.keys, self.ready_at, strict=True)
        return replace(self, ready_at=tuple(max(at, until) if k == key else at for k, at in rests))

    def __repr__(self) -> str:
        return f"KeyRing({len(self.keys)} keys)"


class KeyPools:
    """The rings of all providers that a client asks."""

    def __init__(self, policy: KeyPolicy | None = None) -> None:
        self._policy = policy or KeyPolicy()
        self._rings: dict[str, KeyRing] = {}

    def next(self, provider: str, keys: tuple[Secret, ...], now: float) -> Secret:
        """The key for one request; an empty one where there is none."""
        if len(keys) < 2:
            return keys[0] if keys else Secret("")
        ring = self._rings.get(provider)
        if ring is None or ring.keys != keys:
            ring = KeyRing.of(keys)
        self._rings[provider] = ring = ring.turned(now)
        return keys[ring.last]

    def failed(self, provider: str, key: Secret, failure: Failure, now: float) -> bool:
        """Let a key cool down that is to blame; whether another one is ready in its place."""
        ring, rest = self._rings.get(provider), self._policy.rest(failure)
        if ring is None or rest is None:
            return False
        self._rings[provider] = ring = ring.cooled(key, now + rest)
        return ring.ready(now) > 0

"""Who is let in: the key, what it may ask for, and how much of it.

One gate stands before one state of the gateway. A reload makes a new gate, which takes over what
was spent and what is still running (`after`), so that nobody gets a fresh minute by it.

Limits are those of one process, unless it counts in a ledger with others (`count_in`): then they
are those of all together. Workers of a server that has no ledger for them are given `share`, their
number, and each lets in its part: the limit divided by `share`, at least 1.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Self

from msgspec import Struct, to_builtins

from canonicall.gateway.config import KeySettings
from canonicall.gateway.exchange import Refused
from canonicall.gateway.governance.keys import KeyRing, VirtualKey
from canonicall.gateway.governance.windows import Spent

if TYPE_CHECKING:
    from canonicall.gateway.governance.ledger import Ledger, Row

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

    __slots__ = ("_account", "_virtual")

    def __init__(self, virtual: VirtualKey | None, account: "_Account | None") -> None:
        self._virtual = virtual
        self._account = account

    @property
    def key(self) -> str:
        """The name of the key; empty where none was needed."""
        return "" if self._virtual is None else self._virtual.name

    def allows(self, model: str) -> bool:
        """Whether this model may be asked for."""
        return self._virtual is None or self._virtual.allows(model)

    def release(self, tokens: int, now: float) -> None:
        """The request has ended and cost so many tokens. A second time does nothing."""
        account, self._account = self._account, None
        if account is not None:
            account.end(tokens, now)


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
        self.revoked = set(revoked)
        self.ledger: Ledger | None = None
        self.accounts: Mapping[str, _Account] = {
            hash: _Account(key.settings, max(1, share)) for hash, key in self._ring.by_hash.items()
        }

    def after(self, old: "Gate") -> Self:
        """Take the place of an older gate, with what is spent there, running there and revoked."""
        self.revoked |= old.revoked
        if old.ledger is not None:
            self.count_in(old.ledger)
            return self
        for hash, account in self.accounts.items():
            if hash in old.accounts:
                account.spent = old.accounts[hash].spent
        return self

    def count_in(self, ledger: "Ledger") -> None:
        """Hold limits against what all workers have spent together."""
        self.ledger = ledger
        rows = ledger.rows(self._ring.by_hash)
        self.accounts = {
            hash: _SharedAccount(key.settings, rows[hash])
            for hash, key in self._ring.by_hash.items()
        }

    def admit(self, shown: str, model: str | None, now: float) -> Permit:
        """A permit for one request, or `Refused`. What is refused is not counted."""
        key = self.identify(shown, now)
        if key is None:
            return Permit(None, None)
        if model is not None and not key.allows(model):
            what = f"The key {key.name!r} may not be used for the model {model!r}."
            allowed = f" It may be used for: {', '.join(key.settings.models) or 'none'}."
            raise Refused(403, "permission", what + allowed)
        account = self.accounts[key.hash]
        account.begin(key.name, now)
        return Permit(key, account)

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

    def spending(self, now: float) -> list[Spending]:
        """What each key has spent in the last minute, and what it is let."""
        return [
            self.accounts[hash].spending(key.name, now) for hash, key in self._ring.by_hash.items()
        ]


class _Account:
    """The limits of one key, and what it has spent."""

    __slots__ = ("_concurrent", "_requests", "_tokens", "spent")

    def __init__(self, settings: KeySettings, share: int) -> None:
        self._concurrent = _part(settings.concurrent, share)
        self._requests = _part(settings.requests_per_minute, share)
        self._tokens = _part(settings.tokens_per_minute, share)
        self.spent = Spent()
        """The same in all gates that have known the key."""

    def begin(self, key: str, now: float) -> None:
        """One more request, or `Refused`."""
        spent = self.spent
        if self._concurrent and spent.running >= self._concurrent:
            what = f"The key {key!r} has {spent.running} requests open, as many as it may."
            raise Refused(429, "rate_limited", what, retry_after=_CONCURRENT_WAIT)
        for what, limit, window in (
            ("requests", self._requests, spent.requests),
            ("tokens", self._tokens, spent.tokens),
        ):
            wait = window.wait(limit, now) if limit else 0.0
            if wait > 0:
                said = f"The key {key!r} has used up its {what} per minute ({limit})."
                raise Refused(429, "rate_limited", said, retry_after=wait)
        spent.begin()
        spent.requests.add(1, now)

    def end(self, tokens: int, now: float) -> None:
        """One less, and what it cost: only now is that known."""
        self.spent.end()
        self.spent.tokens.add(max(0, tokens), now)

    def spending(self, key: str, now: float) -> Spending:
        """What is told of it."""
        return Spending(
            key=key,
            running=self.spent.running,
            concurrent=self._concurrent,
            requests=self.spent.requests.at(now),
            requests_per_minute=self._requests,
            tokens=self.spent.tokens.at(now),
            tokens_per_minute=self._tokens,
        )


class _SharedAccount(_Account):
    """One whose spending is that of all workers: it is held while it is looked at."""

    __slots__ = ("_lock",)

    def __init__(self, settings: KeySettings, row: "Row") -> None:
        super().__init__(settings, share=1)
        self.spent, self._lock = row

    def begin(self, key: str, now: float) -> None:
        with self._lock:
            super().begin(key, now)

    def end(self, tokens: int, now: float) -> None:
        with self._lock:
            super().end(tokens, now)

    def spending(self, key: str, now: float) -> Spending:
        with self._lock:
            return super().spending(key, now)


def _part(limit: int, share: int) -> int:
    return max(1, limit // share) if limit > 0 else 0

"""Circuit breakers: an endpoint that failed again and again is left alone for a while.

    closed ──failures in a row──▶ open ──after a while──▶ half_open ──a reply──▶ closed
                                   ▲                          │
                                   └────────no reply──────────┘  for twice as long

Pure: `Circuit` is a value, the time is handed in, thresholds are data. Only failures that another
request would meet as well count; a request that is refused says that the endpoint is alive.
"""

from collections.abc import Container, Mapping
from typing import Literal, Protocol, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from canonicall.facts.target import Target

State: TypeAlias = Literal["closed", "open", "half_open"]
_MOST_DOUBLINGS = 30


class BreakerPolicy(Struct, frozen=True, kw_only=True):
    """When an endpoint is left alone, and for how long."""

    failures: int = 3
    """So many questions in a row without a reply, each with all its retries; 0: never."""
    rest: float = 30.0
    """Seconds, the first time; then twice as long each time it failed again."""
    longest_rest: float = 600.0
    kinds: frozenset[str] = frozenset(
        {"connection", "timeout", "cut", "rate_limited", "overloaded", "provider_error"}
    )
    """The kinds of failure that count."""


class Circuit(Struct, frozen=True):
    """What is known of one endpoint."""

    failures: int = 0
    """In a row, since the last reply."""
    openings: int = 0
    """In a row; 0 while it is closed."""
    open_until: float = 0.0
    is_probed: bool = False
    """Half open, and somebody is asking it."""

    def state(self, now: float) -> State:
        """Where it stands."""
        if not self.openings:
            return "closed"
        return "open" if now < self.open_until else "half_open"

    def allows(self, now: float) -> bool:
        """Whether it may be asked: one at a time while it is half open."""
        state = self.state(now)
        return state == "closed" or (state == "half_open" and not self.is_probed)

    def asked(self, now: float) -> "Circuit":
        """Somebody asks it now."""
        return replace(self, is_probed=True) if self.state(now) == "half_open" else self

    def replied(self) -> "Circuit":
        """It gave a reply: all is well."""
        return Circuit()

    def let_go(self) -> "Circuit":
        """Whoever asked it went away, or failed of something that says nothing of it."""
        return replace(self, is_probed=False)

    def failed(self, now: float, policy: BreakerPolicy, *, told: float | None = None) -> "Circuit":
        """It gave no reply; `told`: seconds that it says to wait, which it is believed."""
        failures = self.failures + 1
        state = self.state(now)
        is_told = told is not None and told >= policy.rest
        if not policy.failures or state == "open":
            # What was asked before it opened says nothing new.
            return replace(self, failures=failures, is_probed=False)
        if state == "closed" and failures < policy.failures and not is_told:
            return replace(self, failures=failures)
        doubled = policy.rest * 2.0 ** min(self.openings, _MOST_DOUBLINGS)
        rest = max(min(doubled, policy.longest_rest), told or 0.0)
        return Circuit(failures, self.openings + 1, now + rest)


class Breakers(Protocol):
    """What the attempts loop asks, and tells, of endpoints: one circuit for each provider, format
    and model. A model that is overloaded says nothing of its neighbours, which may be the fallback.

    Nothing here waits: an implementation that several machines share answers from its own copy,
    and exchanges what it hears in the background.
    """

    @property
    def known(self) -> Mapping[tuple[str, str, str], Circuit]:
        """All circuits that are out of the ordinary, by provider, format and model."""
        ...

    def of(self, target: Target) -> Circuit:
        """What is known of an endpoint."""
        ...

    def asked(self, target: Target, now: float) -> None:
        """Somebody asks it now; `replied`, `failed` or `let_go` has to follow."""
        ...

    def replied(self, target: Target) -> None:
        """It has begun to reply."""
        ...

    def let_go(self, target: Target) -> None:
        """Whoever asked it went away."""
        ...

    def failed(self, target: Target, kind: str, now: float, *, told: float | None = None) -> None:
        """It gave no reply, for this kind of reason; `told`: seconds that it says to wait."""
        ...

    def remember(self, other: "Breakers", providers: Container[str]) -> None:
        """Take over which endpoints of these providers another client has found to be down."""
        ...


class LocalBreakers:
    """Fits `Breakers`: the circuits of one process."""

    def __init__(self, policy: BreakerPolicy | None = None) -> None:
        self.policy = policy or BreakerPolicy()
        self._circuits: dict[tuple[str, str, str], Circuit] = {}

    @property
    def known(self) -> Mapping[tuple[str, str, str], Circuit]:
        """All circuits that are out of the ordinary, by provider, format and model."""
        return self._circuits

    def remember(self, other: "Breakers", providers: Container[str]) -> None:
        """Take over which endpoints of these providers another client has found to be down."""
        self._circuits |= {
            endpoint: one.let_go()
            for endpoint, one in other.known.items()
            if endpoint[0] in providers
        }

    def of(self, target: Target) -> Circuit:
        """What is known of an endpoint."""
        return self._circuits.get(_endpoint(target), Circuit())

    def asked(self, target: Target, now: float) -> None:
        """Somebody asks it now; `replied`, `failed` or `let_go` has to follow."""
        self._keep(target, self.of(target).asked(now))

    def replied(self, target: Target) -> None:
        self._keep(target, self.of(target).replied())

    def let_go(self, target: Target) -> None:
        self._keep(target, self.of(target).let_go())

    def failed(self, target: Target, kind: str, now: float, *, told: float | None = None) -> None:
        """It gave no reply, for this kind of reason."""
        if kind in self.policy.kinds:
            self._keep(target, self.of(target).failed(now, self.policy, told=told))
        elif kind == "refused":
            self.replied(target)
        else:
            self.let_go(target)

    def _keep(self, target: Target, circuit: Circuit) -> None:
        """Only what is out of the ordinary."""
        if circuit == Circuit():
            self._circuits.pop(_endpoint(target), None)
        else:
            self._circuits[_endpoint(target)] = circuit


def _endpoint(target: Target) -> tuple[str, str, str]:
    return target.provider, target.format, target.model

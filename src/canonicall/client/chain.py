"""Asking a chain of targets: those that rest are passed over, and breakers hear how it went."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from canonicall.client.breaker import Breakers
from canonicall.client.failure import AttemptFailed
from canonicall.client.notices import Skipped
from canonicall.facts.target import Target
from canonicall.runtime.model import Notify


def ready(chain: Sequence[Target], breakers: Breakers, now: float, notify: Notify) -> list[Target]:
    """Those that may be asked now; where none may, all: somebody has to be."""
    skipped = [target for target in chain if not breakers.of(target).allows(now)]
    if len(skipped) == len(chain):
        return list(chain)
    for target in skipped:
        circuit = breakers.of(target)
        notify(Skipped(target, circuit.failures, max(circuit.open_until - now, 0.0)))
    return [target for target in chain if target not in skipped]


@contextmanager
def asking(target: Target, breakers: Breakers, elapsed: Callable[[], float]) -> Iterator[None]:
    """Ask a target in here; its breaker hears how it went. `elapsed`: a clock that is never set."""
    breakers.asked(target, elapsed())
    try:
        yield
    except AttemptFailed as failed:
        failure = failed.failure
        breakers.failed(target, failure.kind, elapsed(), told=failure.wait)
        raise
    except BaseException:
        breakers.let_go(target)
        raise
    breakers.replied(target)

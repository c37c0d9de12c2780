"""Names of models to chains of targets. Pure: equal requests of one session go the same way.

Which of several weighted choices a session gets follows from its key alone, by rendezvous hashing:
nothing has to be remembered for it to stay where its reasoning and its caches are, in every worker.
Only where a fallback took over is that noted, so that the session stays with it for a while.
"""

import math
from collections import OrderedDict
from collections.abc import Mapping
from hashlib import sha256

from msgspec import Struct

from canonicall.errors import UnknownName
from canonicall.facts.registry import (
    find_target_parts,
    get_target,
    meant_target,
    provider_names,
)
from canonicall.facts.target import Target
from canonicall.gateway.config import ModelSettings, fits

_SESSIONS_KEPT = 20_000
_KEPT_SECONDS = 3600.0
_ANY = "PROVIDER:MODEL"
"""What every name is that the settings do not have."""


class Route(Struct, frozen=True):
    """Who answers for one name."""

    name: str
    choices: tuple[tuple[Target, float], ...]
    fallbacks: tuple[Target, ...] = ()

    def chain(self, session: str) -> tuple[Target, ...]:
        """The targets to ask, in order: the session's own choice, the others, the fallbacks."""
        weighed = [one for one in self.choices if one[1] > 0]
        if len(weighed) == 1 and not self.fallbacks:
            return (weighed[0][0],)
        if len(weighed) > 1:
            weighed.sort(key=lambda one: _distance(session, one[0], one[1]))
        return tuple(dict.fromkeys((*(target for target, _ in weighed), *self.fallbacks)))


class Routes:
    """All names that are served."""

    def __init__(self, models: Mapping[str, ModelSettings], *, default: str = "") -> None:
        """`default`: the provider that answers for names nobody else answers for."""
        self._exact = {name: one for name, one in models.items() if "*" not in name}
        self._globs = [(name, one) for name, one in models.items() if "*" in name]
        self._default = default
        self._known: dict[str, Route] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The names that can be listed."""
        return tuple(self._exact)

    def find(self, name: str) -> Route:
        """The route of a name; `UnknownName` where nobody answers for it."""
        route = self._known.get(name)
        if route is None:
            route = self._made(name)
            if len(self._known) < _SESSIONS_KEPT:
                self._known[name] = route
        return route

    def forget(self) -> None:
        """Find all routes anew: who is behind a name of a provider may have changed."""
        self._known.clear()

    def _made(self, name: str) -> Route:
        settings = self._exact.get(name) or next(
            (one for glob, one in self._globs if fits(glob, name)), None
        )
        if settings is not None:
            choices = tuple((_target(one.target, name), one.weight) for one in settings.choices)
            return Route(name, choices, tuple(_target(one, name) for one in settings.fallbacks))
        _, colon, model = name.partition(":")
        if colon and model and find_target_parts(name) is not None:
            return Route(name, ((get_target(name), 1.0),))
        if self._default and name:
            return Route(name, ((get_target(f"{self._default}:{name}"), 1.0),))
        # Before a colon stands a provider.
        meant = (f"{one}:{model}" for one in provider_names()) if colon else ()
        known = (*self.names, _ANY)
        raise UnknownName("model", name, known, aliases=meant, meant=meant_target(name))


class Switched:
    """The sessions that a fallback has taken over, for a while."""

    def __init__(self) -> None:
        self._targets: OrderedDict[str, tuple[Target, float]] = OrderedDict()

    def took_over(self, session: str, target: Target, now: float) -> None:
        """`target` answered in the place of the session's own choice."""
        self._targets[session] = (target, now + _KEPT_SECONDS)
        self._targets.move_to_end(session)
        if len(self._targets) > _SESSIONS_KEPT:
            self._targets.popitem(last=False)

    def first(
        self, session: str, chain: tuple[Target, ...], now: float, *, is_bound: bool = False
    ) -> tuple[Target, ...]:
        """`chain` with the target that the session has got used to before the others. `is_bound`:
        in the middle of a turn, which it keeps to its end."""
        target, until = self._targets.get(session, (None, 0.0))
        if target is None or target not in chain:
            return chain
        if until < now and not is_bound:
            del self._targets[session]
            return chain
        return (target, *(one for one in chain if one != target))


def _target(text: str, model: str) -> Target:
    """The target of a choice. `*` for its model stands for the name that was asked for."""
    head, colon, named = text.partition(":")
    return get_target(f"{head}:{model}" if colon and named == "*" else text)


def _distance(session: str, target: Target, weight: float) -> float:
    """How far a target is from a session; the nearest of all is chosen, each by its weight."""
    name = f"{session}|{target.provider}/{target.format}:{target.model}"
    drawn = int.from_bytes(sha256(name.encode("utf-8", "surrogatepass")).digest()[:7], "big")
    return -math.log((drawn + 1) / 2.0**56) / weight

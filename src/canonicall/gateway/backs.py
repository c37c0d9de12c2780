"""Who stands behind the gateway: the providers of the settings, with all that asking them needs."""

import asyncio
import random
import time
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager

from msgspec.structs import replace

from canonicall.client.breaker import Breakers
from canonicall.client.chain import asking, ready
from canonicall.client.config import ClientConfig, ProviderConfig
from canonicall.client.keys import KeyPools
from canonicall.client.learning import Learned
from canonicall.client.rendering import Renderings
from canonicall.client.retrying import RetryPolicy
from canonicall.client.sending import Means
from canonicall.client.transport import Transport
from canonicall.facts.registry import get_profile
from canonicall.facts.target import Target
from canonicall.gateway.config import ProviderSettings, Settings
from canonicall.gateway.registrations import bring, bring_files, take_away
from canonicall.gateway.upstream_addresses import UpstreamAddresses
from canonicall.runtime.model import Notify

_RETRY = RetryPolicy(attempts=3, longest_wait=20.0)
"""Somebody waits for the answer, and there may be others to ask."""


class Backs:
    """The client side of one set of settings."""

    def __init__(
        self, settings: Settings, transport: Transport, *, environ: dict[str, str] | None = None
    ) -> None:
        self.registered = bring_files(settings.profiles)
        """The files and sections that became providers of the registry."""
        self.registered |= {
            name for name, one in settings.providers.items() if _register(name, one)
        }
        config = ClientConfig(
            {name: _client_config(one) for name, one in settings.providers.items()},
            retry=_RETRY,
            replies=settings.replies,
            save_refused=settings.log.refused,
            recover=settings.repair.recover,
            environ=environ or {},
        )
        self.means = Means(
            transport,
            config,
            asyncio.sleep,
            random.random,
            time.time,
            time.monotonic,
            KeyPools(config.keys),
        )
        self.addresses = UpstreamAddresses(settings)
        self.renderings = Renderings()
        self.learned = Learned(is_shared=True)
        self.breakers = Breakers(config.breaker)
        self.uncounted: set[Target] = set()
        """Chat hosts that refuse to be asked for the tokens of a stream."""

    def ready(self, chain: Sequence[Target], notify: Notify) -> list[Target]:
        """Those that may be asked now; where none may, all: somebody has to be."""
        return ready(chain, self.breakers, self.means.elapsed(), notify)

    def asking(self, target: Target) -> AbstractContextManager[None]:
        """Ask a target in here; its breaker hears how it went."""
        return asking(target, self.breakers, self.means.elapsed)

    def forget(self, others: Iterable["Backs"] = ()) -> None:
        """Take out of the registry again what none of the others has."""
        take_away(self.registered - {name for one in others for name in one.registered})

    def shown(self) -> list[dict[str, object]]:
        """The targets that are not as they should be, for operators."""
        now = self.means.elapsed()
        return [
            {
                "target": f"{provider}:{model}",
                "format": format,
                "state": circuit.state(now),
                "failures": circuit.failures,
                "seconds_left": round(max(circuit.open_until - now, 0.0), 1),
            }
            for (provider, format, model), circuit in self.breakers.known.items()
        ]


def _register(name: str, settings: ProviderSettings) -> bool:
    """Make the section known where it is not a provider of that name already; whether it was."""
    if not settings.profile or settings.profile == name:
        profile = get_profile(name)
    else:
        profile = replace(get_profile(settings.profile), name=name, aliases=(), key_env=())
    if settings.format:
        others = tuple(one for one in profile.formats if one != settings.format)
        profile = replace(profile, format=settings.format, formats=(settings.format, *others))
    if profile == get_profile(settings.profile or name):
        # One with another format of its own may stand from the settings before.
        return bool(settings.format)
    bring(profile)
    return True


def _client_config(settings: ProviderSettings) -> ProviderConfig:
    # One address is that of the format which is spoken.
    is_own = bool(settings.format and settings.base_url)
    own = {settings.format: settings.base_url} if is_own else {}
    return ProviderConfig(
        keys=settings.keys,
        base_url=settings.base_url,
        base_urls={**own, **settings.base_urls},
        headers=settings.headers,
        values=settings.values,
        proxy=settings.proxy,
        timeouts=settings.timeouts,
        recover=settings.recover or None,
        sends_trace=settings.sends_trace,
    )

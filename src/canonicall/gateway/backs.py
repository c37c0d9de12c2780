"""Who stands behind the gateway: the providers of the settings, with all that asking them needs."""

import asyncio
import random
import time

from msgspec.structs import replace

from canonicall.client.config import ClientConfig, ProviderConfig
from canonicall.client.learning import Learned
from canonicall.client.rendering import Renderings
from canonicall.client.retrying import RetryPolicy
from canonicall.client.sending import Means
from canonicall.client.transport import Transport
from canonicall.gateway.profile_files import register_files
from canonicall.gateway.settings import ProviderSettings, Settings
from canonicall.providers.registry import get_profile, register_provider

_RETRY = RetryPolicy(attempts=3, longest_wait=20.0)
"""Somebody waits for the answer, and there may be others to ask."""


class Backs:
    """The client side of one set of settings."""

    def __init__(
        self, settings: Settings, transport: Transport, *, environ: dict[str, str] | None = None
    ) -> None:
        register_files(settings.profiles)
        for name, one in settings.providers.items():
            _register(name, one)
        config = ClientConfig(
            {name: _client_config(one) for name, one in settings.providers.items()},
            retry=_RETRY,
            environ=environ or {},
        )
        self.means = Means(
            transport, config, asyncio.sleep, random.random, time.time, time.monotonic
        )
        self.renderings = Renderings()
        self.learned = Learned()

    def shown(self, now: float) -> list[dict[str, object]]:
        """What is known of each provider, for operators."""
        del now
        return []


def _register(name: str, settings: ProviderSettings) -> None:
    """Make the section known where it is not a provider of that name already."""
    if not settings.profile or settings.profile == name:
        profile = get_profile(name)
    else:
        profile = replace(get_profile(settings.profile), name=name, aliases=(), key_env=())
    if settings.format:
        others = tuple(one for one in profile.formats if one != settings.format)
        profile = replace(profile, format=settings.format, formats=(settings.format, *others))
    if profile != get_profile(settings.profile or name):
        register_provider(profile, replace=True)


def _client_config(settings: ProviderSettings) -> ProviderConfig:
    # One address is that of the format which is spoken.
    is_own = bool(settings.format and settings.base_url)
    own = {settings.format: settings.base_url} if is_own else {}
    return ProviderConfig(
        key=settings.keys[0] if settings.keys else None,
        base_url=settings.base_url,
        base_urls={**own, **settings.base_urls},
        headers=settings.headers,
        values=settings.values,
        proxy=settings.proxy,
        timeouts=settings.timeouts,
    )

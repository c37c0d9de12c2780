"""Settings that need no file: every provider that the environment has a key for."""

from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace

from canonicall.client.config import ClientConfig
from canonicall.client.secrets import Secret
from canonicall.gateway.config_checks import profile_of
from canonicall.gateway.settings import (
    Choice,
    ModelSettings,
    ProviderSettings,
    Settings,
    StoreSettings,
)

SIMULATED = "generic:simulated"
"""Who is asked where nothing is configured: the provider whose rules all others can live with."""
_NOWHERE = "http://simulated.invalid/v1"
"""An address that a simulator answers for; it can never be one of the network (RFC 6761)."""
_ANY_KEY = Secret("any")
"""Simulators take any key. One of so few letters is none that a log would have to hide."""


def environment_settings(environ: Mapping[str, str]) -> Settings | None:
    """A back for each provider with a key, asked as `provider:model`; None where there is none."""
    present = ClientConfig(environ=environ).present()
    if not present:
        return None
    settings = Settings(
        providers={name: ProviderSettings() for name in present},
        store=StoreSettings(path=str(state_file(environ))),
    )
    return completed(settings, environ)


def default_settings(environ: Mapping[str, str]) -> Settings:
    """What is served where nothing is configured: one simulated model, for every name."""
    provider, _, name = SIMULATED.partition(":")
    answered = ModelSettings(choices=(Choice(target=SIMULATED),))
    return Settings(
        providers={provider: ProviderSettings(base_url=_NOWHERE, keys=(_ANY_KEY,))},
        models={name: answered, "*": answered},
        store=StoreSettings(path=str(state_file(environ))),
    )


def state_file(environ: Mapping[str, str]) -> Path:
    """Where the gateway keeps what it knows, in the user's folder for such."""
    home = environ.get("HOME") or str(Path.home())
    state = environ.get("XDG_STATE_HOME") or Path(home) / ".local" / "state"
    return Path(state) / "canonicall" / "gateway.db"


def completed(settings: Settings, environ: Mapping[str, str]) -> Settings:
    """Settings in which each section has what it lacks and the environment knows.

    That is a key, and what fills `{region}` and the like. A section with an address of its own gets
    no key: it would go to a host it is not meant for.
    """
    config = ClientConfig(environ=environ)
    filled = dict(settings.providers)
    for name, section in settings.providers.items():
        profile = profile_of(settings, name)
        if profile is None:
            continue
        known = config.of(profile)
        takes_key = bool(known.secret) and not section.keys and not section.base_url
        filled[name] = replace(
            section,
            keys=(known.secret,) if takes_key else section.keys,
            values={**known.values, **section.values},
        )
    return replace(settings, providers=filled)

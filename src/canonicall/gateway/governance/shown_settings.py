"""Settings and keys as an admin is shown them: all but what is secret."""

from typing import Any

import msgspec

from canonicall.client.redaction import redacted_text
from canonicall.client.secrets import HIDDEN, Secret
from canonicall.gateway.governance.gate import Gate
from canonicall.gateway.governance.keys import VirtualKey
from canonicall.gateway.settings import ProviderSettings, Settings
from canonicall.store.places import shown


def shown_settings(settings: Settings, gate: Gate, now: float) -> dict[str, Any]:
    """The settings that hold now, as JSON."""
    return {
        "server": msgspec.to_builtins(settings.server),
        "profiles": list(settings.profiles),
        "providers": {name: _provider(one) for name, one in settings.providers.items()},
        "models": msgspec.to_builtins(settings.models),
        "keys": shown_keys(gate, now),
        "prompts": msgspec.to_builtins(settings.prompts),
        "replies": msgspec.to_builtins(settings.replies),
        "repair": msgspec.to_builtins(settings.repair),
        "log": msgspec.to_builtins(settings.log),
        "store": msgspec.to_builtins(settings.store) | {"path": shown(settings.store.path)},
    }


def shown_keys(gate: Gate, now: float) -> list[dict[str, Any]]:
    """The virtual keys, each with its state and the beginning of its hash."""
    return [_key(key, state) for key, state in gate.keys(now)]


def _key(key: VirtualKey, state: str) -> dict[str, Any]:
    known = msgspec.to_builtins(key.settings)
    return {"name": key.name, "state": state, **known, "hash": key.shown_hash}


def _provider(provider: ProviderSettings) -> dict[str, Any]:
    """Headers and values may hold anything; their names are enough to find a mistake."""
    known = msgspec.to_builtins(provider, enc_hook=_secret)
    for field in ("headers", "values"):
        known[field] = dict.fromkeys(known[field], HIDDEN)
    for field in ("base_url", "proxy"):
        known[field] = known[field] and redacted_text(known[field])
    return dict(known)


def _secret(value: Any) -> str:
    if not isinstance(value, Secret):
        raise NotImplementedError
    return HIDDEN

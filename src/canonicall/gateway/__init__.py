"""The HTTP gateway: four fronts over every provider. The parts are loaded when they are used."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from canonicall.client.redaction import redacted
    from canonicall.gateway.app import Gateway
    from canonicall.gateway.config import (
        Choice,
        KeySettings,
        LogSettings,
        ModelSettings,
        ProviderSettings,
        RepairSettings,
        ServerSettings,
        Settings,
        StoreSettings,
        load_file,
        read_settings,
    )
    from canonicall.gateway.exchange import Refused
    from canonicall.gateway.governance.gate import Gate
    from canonicall.gateway.governance.keys import hash_of, new_key

_HOME = {
    "Choice": "canonicall.gateway.config",
    "Gate": "canonicall.gateway.governance.gate",
    "Gateway": "canonicall.gateway.app",
    "KeySettings": "canonicall.gateway.config",
    "LogSettings": "canonicall.gateway.config",
    "ModelSettings": "canonicall.gateway.config",
    "ProviderSettings": "canonicall.gateway.config",
    "Refused": "canonicall.gateway.exchange",
    "RepairSettings": "canonicall.gateway.config",
    "ServerSettings": "canonicall.gateway.config",
    "Settings": "canonicall.gateway.config",
    "StoreSettings": "canonicall.gateway.config",
    "hash_of": "canonicall.gateway.governance.keys",
    "load_file": "canonicall.gateway.config",
    "new_key": "canonicall.gateway.governance.keys",
    "read_settings": "canonicall.gateway.config",
    "redacted": "canonicall.client.redaction",
}

__all__ = [
    "Choice",
    "Gate",
    "Gateway",
    "KeySettings",
    "LogSettings",
    "ModelSettings",
    "ProviderSettings",
    "Refused",
    "RepairSettings",
    "ServerSettings",
    "Settings",
    "StoreSettings",
    "hash_of",
    "load_file",
    "new_key",
    "read_settings",
    "redacted",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'canonicall.gateway' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)

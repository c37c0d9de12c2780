"""Proof that what you add or build is sound: a profile, a syntax, an endpoint.

check_provider(profile).raise_if_broken()

Each function returns a `Conformance`: checks by name, each held, broken or open, with evidence. The
parts are loaded when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from canonicall.testing.conformance.endpoints import check_endpoint, probe_endpoint
    from canonicall.testing.conformance.providers import check_provider
    from canonicall.testing.conformance.report import Check, Conformance, NotConforming
    from canonicall.testing.conformance.syntaxes import broken_checks, check_syntax

_HOME = {
    "Check": "report",
    "Conformance": "report",
    "NotConforming": "report",
    "broken_checks": "syntaxes",
    "check_endpoint": "endpoints",
    "check_provider": "providers",
    "check_syntax": "syntaxes",
    "probe_endpoint": "endpoints",
}

__all__ = [
    "Check",
    "Conformance",
    "NotConforming",
    "broken_checks",
    "check_endpoint",
    "check_provider",
    "check_syntax",
    "probe_endpoint",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)

"""The capability matrix: what is known about a provider's tool calling, with the source of each.

A view of the profiles, nothing of its own. What no source tells stays unknown: a limit is None, an
ability is False, and `provenance` has no entry for it. A provider nobody knows gets conservative
answers and no error, so that a caller can ask before anything is set up.
"""

from typing import Any, Literal, TypeAlias

from msgspec import Struct

from canonicall.facts.profile import Profile, Provenance
from canonicall.facts.registry import find_target_parts

CallFormat: TypeAlias = Literal["json", "xml", "custom", "unknown"]


class Capabilities(Struct, frozen=True, kw_only=True):
    """What one provider's tool calling can do."""

    provider: str
    format: CallFormat = "unknown"
    """How calls are written: structured JSON, XML in text, a syntax of its own, or not known."""
    wire_format: str = ""
    """The wire format requests are made in."""
    supports_parallel: bool = False
    """One response may hold several calls."""
    max_tools_per_call: int | None = 1
    """The most calls one response may hold; None where no limit is known."""
    max_tools: int | None = None
    """The most tools one request may declare; None where no limit is known."""
    requires_schema: bool = False
    """A tool has to be declared in the request, or it cannot be called."""
    stream_support: bool = False
    """Calls arrive in streams."""
    strict: bool = False
    """Arguments can be held to their schema while they are generated."""
    tool_choice: tuple[str, ...] = ()
    """The choices it takes: auto, required, none, named, subset."""
    reasoning_replay: str = ""
    """What becomes of reasoning sent back: required, recommended, accepted, rejected, none."""
    quirks: tuple[str, ...] = ()
    provenance: dict[str, Provenance] = {}
    """The source of each field above, by its name; quirks count as `quirks[0]`, `quirks[1]`..."""


_NAMES = {
    "format": "format",
    "parallel": "supports_parallel",
    "max_calls": "max_tools_per_call",
    "max_tools": "max_tools",
    "requires_schema": "requires_schema",
    "streaming": "stream_support",
    "strict": "strict",
    "tool_choice": "tool_choice",
    "reasoning_replay": "reasoning_replay",
}


def get_capabilities(provider: str) -> Capabilities:
    """What is known about `provider`, which may be an alias, a format or `provider:model`."""
    parts = find_target_parts(provider)
    if parts is None:
        return Capabilities(provider=provider)
    profile = parts.profile
    known = profile.capabilities
    values: dict[str, Any] = {_NAMES[name]: rule.value for name, rule in known.items()}
    return Capabilities(
        **{"format": "json", "max_tools_per_call": None, **values},
        provider=profile.name,
        wire_format=profile.format,
        quirks=tuple(quirk.text for quirk in profile.quirks),
        provenance=_provenance(profile),
    )


def _provenance(profile: Profile) -> dict[str, Provenance]:
    facts: dict[str, Provenance] = {
        _NAMES[name]: rule for name, rule in profile.capabilities.items()
    }
    facts |= {f"quirks[{index}]": quirk for index, quirk in enumerate(profile.quirks)}
    return {
        name: Provenance(source=fact.source, date=fact.date, confidence=fact.confidence)
        for name, fact in facts.items()
    }

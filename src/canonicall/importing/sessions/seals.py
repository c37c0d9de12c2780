"""Signatures in sessions: who can read them, for agents that speak to many providers."""

from typing import Any

import msgspec

from canonicall.blocks import Opaque, Thinking
from canonicall.errors import MalformedBody
from canonicall.facts.registry import find_profile
from canonicall.facts.target import FORMATS
from canonicall.wire.carried import UNKNOWN_ISSUER
from canonicall.wire.formats import get_format
from canonicall.wire.openai_responses.reasoning import decode_reasoning


def signing_domain(provider: str, format: str) -> str:
    """Who can read what a provider signed: its own domain where it is known, else nobody.

    A host that is not known may pass on another's signatures or make its own.
    """
    profile = find_profile(provider) if provider else None
    if profile is not None:
        return profile.domain
    is_plain = not provider and format in FORMATS
    return get_format(format).target.domain if is_plain else UNKNOWN_ISSUER


def sealed(domain: str, signature: Any, kind: str = "signature") -> tuple[Opaque, ...]:
    """The signature as opaque state, if there is one."""
    is_one = isinstance(signature, str) and signature
    return (Opaque(domain, kind, signature),) if is_one else ()


def reasoning_item(text: str, domain: str) -> Thinking | None:
    """The thought in a reasoning item of the Responses API that is stored as JSON text."""
    if not text.startswith("{"):
        return None
    try:
        item = msgspec.json.decode(text.encode("utf-8", "surrogatepass"))
        if isinstance(item, dict) and item.get("type") == "reasoning":
            return decode_reasoning(item, "$", domain)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, MalformedBody):
        pass
    return None

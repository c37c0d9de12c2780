"""The second half of the story: the same conversation, written for every provider and judged.

Out: one `Hop` for each provider, facts only.
"""

from msgspec import Struct

from canonicall.codec import encode_request
from canonicall.conversation import Conversation
from canonicall.providers.registry import get_target, provider_names
from canonicall.request import Request
from canonicall.verify import verify


class Hop(Struct, frozen=True):
    """What one provider would be sent."""

    provider: str
    format: str
    first_id: str
    """The wire id of the first call; empty where the provider wants none."""
    calls: int
    repairs: int
    """How many findings the rendering has."""
    refused: int
    """What the provider's rules, checked by code of their own, have against it."""


def travel(talk: Conversation) -> tuple[Hop, ...]:
    """The conversation as every provider would get it."""
    return tuple(hop(talk, provider) for provider in sorted(provider_names()))


def hop(talk: Conversation, provider: str) -> Hop:
    """The conversation as one provider would get it."""
    target = get_target(provider)
    encoded = encode_request(Request(talk, model="a-model"), target)
    ids = encoded.transcript.diagnostics.emitted_calls
    return Hop(
        provider,
        target.format,
        ids[0] if ids else "",
        len(ids),
        len(encoded.transcript.report),
        len(verify(encoded.body, target)),
    )

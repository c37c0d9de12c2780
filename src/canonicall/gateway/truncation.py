"""`truncation: "auto"` of the Responses API: a conversation that is too long loses its beginning.

In: a request, and the overflow for which a provider refused it. Out: the request without the first
part of its conversation, cut where no call is split from its result. Instructions and the last
entry stay. What is stored of the conversation is not shortened.

OpenAI truncates by itself; the gateway does it where the provider answers with an overflow.
"""

from collections.abc import Mapping
from itertools import accumulate
from typing import Any

import msgspec
from msgspec.structs import replace

from canonicall.blocks import Entry, Message
from canonicall.client.overflow import Overflow
from canonicall.compaction import cut_points, drop
from canonicall.facts.target import Target
from canonicall.findings import Action, Fault, Finding
from canonicall.gateway.responses_state import FORMAT
from canonicall.request import Request

FIELD, AUTO = "truncation", "auto"
_VALUES = (AUTO, "disabled")
_MOST_CUTS = 8
"""As often one request is made shorter: without figures, each cut halves what can be left out."""
_MARGIN = 1.1
"""Tokens are not spread evenly over the bytes of a conversation."""


def wants_truncation(body: Mapping[str, Any], format: str) -> bool:
    """Whether a client allows that its request is made shorter."""
    return format == FORMAT and body.get(FIELD) == AUTO


def without_truncation(body: dict[str, Any], format: str, target: Target) -> dict[str, Any]:
    """`body` without the field, where the target has none: what it says is done here."""
    if format != FORMAT or target.format == FORMAT or body.get(FIELD) not in _VALUES:
        return body
    return {name: value for name, value in body.items() if name != FIELD}


class Truncation:
    """The cuts of one request, each behind the one before."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._cut = 0
        self._cuts = 0

    def shorter(self, overflow: Overflow) -> Request | None:
        """The request with more left out than the last time; None where nothing more can be."""
        self._cuts += 1
        point = self._next_point(overflow) if self._cuts <= _MOST_CUTS else None
        if point is None:
            return None
        self._cut = point
        conversation = self._request.conversation
        left = drop(conversation, point)
        gone = len(conversation) - len(left.conversation) + 1
        why = (
            f"The conversation is too long for the model, and `{FIELD}` is `auto`: {gone} entries"
            " at its beginning were left out."
        )
        found = Finding("input_truncated", "conversation", Action.DROPPED, why, Fault.NONE)
        findings = (*self._request.findings, found)
        return replace(self._request, conversation=left.conversation, findings=findings)

    def _next_point(self, overflow: Overflow) -> int | None:
        """The first point where enough is left out, at best before a message of the user."""
        entries = self._request.conversation.entries
        sizes = [0 if _is_instruction(one) else len(msgspec.json.encode(one)) for one in entries]
        before = [0, *accumulate(sizes)]
        points = [
            point
            for point in cut_points(self._request.conversation)
            if before[self._cut] < before[point] < before[-1]
        ]
        if not points:
            return None
        excess = self._excess(overflow, before[-1] - before[self._cut])
        enough = [one for one in points if before[one] - before[self._cut] >= excess]
        asked = [one for one in enough if _is_asked(entries[one])]
        return next(iter(asked or enough), points[-1])

    def _excess(self, overflow: Overflow, size: int) -> float:
        """How many bytes of `size` are to be left out."""
        tokens, limit = overflow.tokens, overflow.limit
        if not 0 < limit < tokens:
            return size / 2
        tools = len(msgspec.json.encode(self._request.tools))
        return (size + tools) * (1 - limit / tokens) * _MARGIN


def _is_instruction(entry: Entry) -> bool:
    return isinstance(entry, Message) and entry.role in ("system", "developer")


def _is_asked(entry: Entry) -> bool:
    """Whether a turn begins here."""
    return isinstance(entry, Message) and entry.role == "user" and not entry.results

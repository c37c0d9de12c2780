"""What a request refers to that it does not have: resolved before anything else sees the request.

Where the gateway has it, the request becomes whole, and its reply is stored. Where only the
provider can have it, the request is forwarded as it came. Otherwise it is refused.
"""

import asyncio
from typing import Any

from canonicall.gateway import responses_state, threads
from canonicall.gateway.conversation_store import LEASE_SECONDS
from canonicall.gateway.exchange import HttpRequest, Refused
from canonicall.gateway.routing import Route
from canonicall.gateway.sessions import session_of
from canonicall.gateway.state import State
from canonicall.gateway.turn_tree import Lease, Whole
from canonicall.target import Target
from canonicall.wire.formats import get_format

_NAMES = {
    responses_state.FORMAT: (responses_state.PREVIOUS, responses_state.CONVERSATION),
    threads.FORMAT: (threads.FIELD,),
}
"""The fields that name what is stored, by format."""


class References:
    """Those of one request."""

    def __init__(
        self, state: State, request: HttpRequest, format: str, key: str, *, holder: str
    ) -> None:
        """`key`: the name of the virtual key; `holder`: in whose name a conversation is held."""
        self._state = state
        self._request = request
        self._format = format
        self._key = key
        self._holder = holder
        self._lease: Lease | None = None
        self._holding: asyncio.Task[None] | None = None

    async def whole(self, body: dict[str, Any], route: Route) -> Whole:
        """The body with all that it refers to; `Refused` where that is not to be had."""
        names = [name for name in _NAMES.get(self._format, ()) if body.get(name) is not None]
        if self._format not in _NAMES:
            return Whole(body)
        if not self._state.settings.store.enabled:
            return self._unstored(body, names, route)
        try:
            whole = await self._resolved(body)
        except Refused as refused:
            if refused.kind == "not_found" and self._may_be_elsewhere(body, route):
                return Whole(body, is_delta=bool(names))
            raise
        if whole.storing is not None and whole.storing.lease is not None:
            self._hold(whole.storing.lease)
        return whole

    def release(self) -> None:
        """Let go of what is held."""
        if self._holding is not None:
            self._holding.cancel()
        if self._lease is not None:
            conversations = self._state.keeping.conversations
            conversations.release(self._lease.conversation, self._holder, owner=self._lease.owner)

    async def _resolved(self, body: dict[str, Any]) -> Whole:
        keeping, limits = self._state.keeping, self._state.settings.store
        if self._format == threads.FORMAT:
            return await threads.whole_message(body, keeping, limits, owner=self._key)
        return await responses_state.whole_response(
            body,
            keeping,
            limits,
            owner=self._key,
            holder=self._holder,
            now=self._state.backs.means.now(),
        )

    def _unstored(self, body: dict[str, Any], names: list[str], route: Route) -> Whole:
        """The body where the gateway stores nothing: its provider may."""
        if not names:
            return Whole(body)
        if _owns(self._first(body, route), self._format):
            return Whole(body, is_delta=True)
        if self._format == threads.FORMAT:
            raise threads.unsupported()
        raise responses_state.unsupported(names[0])

    def _may_be_elsewhere(self, body: dict[str, Any], route: Route) -> bool:
        """Whether the provider may have stored it before the gateway was there.

        Where clients have keys of their own, what one of them has not stored here is not for it:
        the provider knows only the gateway's key.
        """
        if self._format == threads.FORMAT or self._state.settings.keys:
            return False
        return self._first(body, route).format == self._format

    def _first(self, body: dict[str, Any], route: Route) -> Target:
        first, *_ = route.chain(session_of(self._request, body, ""))
        return first

    def _hold(self, lease: Lease) -> None:
        self._lease = lease
        self._holding = asyncio.ensure_future(self._renew(lease))

    async def _renew(self, lease: Lease) -> None:
        """Hold a conversation until this is cancelled."""
        conversations, now = self._state.keeping.conversations, self._state.backs.means.now
        while True:
            await asyncio.sleep(LEASE_SECONDS / 3)
            await conversations.take(lease.conversation, self._holder, now(), owner=lease.owner)


def _owns(target: Target, format: str) -> bool:
    """Whether a target is the provider whose format it is."""
    return target.format == format and target.provider == get_format(format).target.provider

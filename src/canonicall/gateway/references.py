"""What a request refers to that it does not have: resolved before anything else sees the request.

Where the gateway has it, the request becomes whole, and its reply is stored. Where only the
provider can have it, the request is forwarded as it came. Otherwise it is refused.
"""

import asyncio
from contextlib import suppress
from typing import Any

from msgspec.structs import replace

from canonicall.facts.target import Target
from canonicall.gateway import prompts, responses_state, threads
from canonicall.gateway.conversation_store import LEASE_SECONDS
from canonicall.gateway.exchange import HttpRequest, Refused
from canonicall.gateway.forwarded import owns
from canonicall.gateway.routing import Route
from canonicall.gateway.sessions import session_of
from canonicall.gateway.state import State
from canonicall.gateway.turn_tree import Lease, Whole
from canonicall.store.engine import StoreError

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
        self._conversation = ""
        """The one that is held, or may be."""
        self._holding: asyncio.Task[None] | None = None

    async def whole(self, body: dict[str, Any], route: Route) -> Whole:
        """The body with all that it refers to; `Refused` where that is not to be had."""
        if self._format not in _NAMES:
            return Whole(body)
        if self._format != responses_state.FORMAT or body.get(prompts.FIELD) is None:
            return await self._whole(body, route)
        rest = {name: value for name, value in body.items() if name != prompts.FIELD}
        try:
            items = prompts.prompt_items(body, self._state.settings.prompts)
        except Refused as refused:
            if refused.kind != "not_found" or not self._is_owners(body, route):
                raise
            # OpenAI stores prompts as well.
            whole = await self._whole(rest, route)
            own = {**whole.body, prompts.FIELD: body[prompts.FIELD]}
            return replace(whole, body=own, keeper="", is_delta=True)
        whole = await self._whole(rest, route)
        said = [*items, *responses_state.items_of(whole.body.get("input"))]
        storing = whole.storing and replace(whole.storing, is_repeatable=False)
        return replace(whole, body={**whole.body, "input": said}, keeper="", storing=storing)

    async def _whole(self, body: dict[str, Any], route: Route) -> Whole:
        names = [name for name in _NAMES[self._format] if body.get(name) is not None]
        if not self._state.settings.store.enabled:
            return self._unstored(body, names, route)
        self._conversation = responses_state.conversation_of(body)
        try:
            whole = await self._resolved(body)
        except Refused as refused:
            if refused.kind == "not_found" and self._may_be_elsewhere(body, route):
                return Whole(body, is_delta=bool(names))
            raise
        if whole.storing is not None and whole.storing.lease is not None:
            self._holding = asyncio.ensure_future(self._renew(whole.storing.lease))
        return whole

    def release(self) -> None:
        """Let go of what is held."""
        if self._holding is not None:
            self._holding.cancel()
        if self._conversation:
            conversations = self._state.keeping.conversations
            conversations.release(self._conversation, self._holder, owner=self._key)

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
        if self._is_owners(body, route):
            return Whole(body, is_delta=True)
        if self._format == threads.FORMAT:
            raise threads.unsupported()
        raise responses_state.unsupported(names[0])

    def _may_be_elsewhere(self, body: dict[str, Any], route: Route) -> bool:
        """Whether the provider may have stored it before the gateway was there.

        Where clients have keys of their own, what one of them has not stored here is not for it:
        the provider knows only the gateway's key.
        """
        if self._format == threads.FORMAT or self._state.settings.keys or self._state.middleware:
            return False
        return self._first(body, route).format == self._format

    def _is_owners(self, body: dict[str, Any], route: Route) -> bool:
        """Whether a request goes to the provider whose format it is, which may have the rest of it.
        What no middleware can read is not sent."""
        return not self._state.middleware and owns(self._first(body, route), self._format)

    def _first(self, body: dict[str, Any], route: Route) -> Target:
        first, *_ = route.chain(session_of(self._request, body, self._key))
        return first

    async def _renew(self, lease: Lease) -> None:
        """Hold a conversation until this is cancelled."""
        conversations, now = self._state.keeping.conversations, self._state.backs.means.now
        while True:
            await asyncio.sleep(LEASE_SECONDS / 3)
            # Where the store is away for long, another takes it, and our write is refused.
            with suppress(StoreError):
                await conversations.renew(
                    lease.conversation, self._holder, now(), owner=lease.owner
                )

"""The five counters of tool calling, for the provider that answered, and over time.

Calls in replies that were translated are counted where they are checked. Here those of replies that
were forwarded are counted, after the client has got them, and the requests that providers refused.
What was counted is written to the gateway's store in batches, by the thread of the store.
"""

import asyncio
from functools import partial
from typing import Any

import msgspec

from canonicall.agent.counters import Tally
from canonicall.client.failure import REFUSED
from canonicall.client.notices import Switched
from canonicall.codec.decode import decode_request, decode_response
from canonicall.codec.streams import StreamDecoder
from canonicall.errors import CanonicallError
from canonicall.events import StreamEnded
from canonicall.facts.target import Target
from canonicall.gateway.turns import Turn
from canonicall.guard.replies import checked_reply
from canonicall.reply import Reply
from canonicall.request import Tool
from canonicall.store.counters import CounterTable
from canonicall.store.database import Database
from canonicall.store.engine import StoreError

_LATER_SECONDS = 1.0
_SIGNS = (b'"tool_calls"', b'"tool_use"', b'"function_call"', b'"functionCall"')
"""What replies with calls have in them."""
_HISTORY = {"gemini": "contents", "openai-responses": "input"}
_UNREADABLE = (CanonicallError, msgspec.MsgspecError, UnicodeError, RecursionError)


class CallCounts:
    """Counts for one gateway, through all its settings."""

    def __init__(self, tally: Tally, database: Database) -> None:
        self.tally = tally
        self._table = CounterTable(database)
        self._is_due: asyncio.TimerHandle | None = None
        self._writing: asyncio.Task[None] | None = None

    def ended(self, turn: Turn, now: float) -> None:
        """Count what a turn says of its providers, and have it written."""
        if turn.target is not None and turn.reply:
            self._count_forwarded(turn, turn.target)
        for notice in turn.notices:
            # Another target is asked after a failure, which is counted below.
            if notice.refused_by and not isinstance(notice, Switched):
                target = getattr(notice, "target", None)
                model = target.model if isinstance(target, Target) else ""
                self.refused(notice.refused_by, model)
        for failure in turn.failures:
            if failure.kind == REFUSED and failure.provider:
                self.refused(failure.provider, failure.model)
        if self.tally.has_news and self._is_due is None:
            loop = asyncio.get_running_loop()
            self._is_due = loop.call_later(_LATER_SECONDS, self._begin_writing, now)

    def refused(self, provider: str, model: str) -> None:
        """A provider refused a request."""
        self.tally.add(provider, "tool_api_400_total", model=model)

    async def close(self, now: float) -> None:
        """Write what was counted."""
        if self._is_due is not None:
            self._is_due.cancel()
        if self._writing is not None:
            await self._writing
        if self.tally.has_news:
            await self._write(now)

    def _begin_writing(self, now: float) -> None:
        self._is_due = None
        self._writing = asyncio.ensure_future(self._write(now))

    async def _write(self, now: float) -> None:
        try:
            await self._table.prepare(now)
        except StoreError:
            # The store is lost for now: what was counted is written with what comes next.
            return
        self._table.add(self.tally.take(), now)

    def _count_forwarded(self, turn: Turn, target: Target) -> None:
        if not turn.body.get("tools") or not any(sign in turn.reply for sign in _SIGNS):
            return
        try:
            reply, tools = _reply(turn.reply, target), _tools(turn.body, target.format)
        except _UNREADABLE:
            return
        count = partial(self.tally.count, target.provider, model=target.model)
        checked_reply(reply, tools, "report", count=count)


def _reply(data: bytes, target: Target) -> Reply:
    """The reply in a body, or in the bytes of a stream."""
    if data.lstrip()[:1] == b"{":
        return decode_response(data, target.format)
    decoder = StreamDecoder(target.format, provider=target.provider)
    decoder.feed(data)
    end = decoder.close()[-1]
    assert isinstance(end, StreamEnded)  # noqa: S101  the last event always is
    return end.reply


def _tools(body: dict[str, Any], format: str) -> tuple[Tool, ...]:
    """The tools that a request offers; its history is not read."""
    return decode_request({**body, _HISTORY.get(format, "messages"): []}, format).tools

"""Middleware: what a user puts between a session, its model and its tools.

Each hook gets a value and gives one back, the same or another. The chain goes in order on the way
to the model or the tool, and in reverse on the way back.
"""

from collections.abc import Iterable

from canonicall.agent.inputs import CallEnded
from canonicall.blocks import ToolCall, ToolResult
from canonicall.reply import Reply
from canonicall.request import Request


class ToolMiddleware:
    """Override what is needed; everything else passes unchanged."""

    def process_request(self, request: Request) -> Request:
        """What the model is asked."""
        return request

    def process_response(self, reply: Reply) -> Reply:
        """What the model answered, before anything comes of it."""
        return reply

    def process_call(self, call: ToolCall) -> ToolCall | ToolResult:
        """A call that is about to run; a result in its place means that it is not run."""
        return call

    def process_result(self, call: ToolCall, result: ToolResult) -> ToolResult:
        """What a tool gave, before it is written."""
        del call
        return result


class Chain:
    """Several as one."""

    def __init__(self, links: Iterable[ToolMiddleware] = ()) -> None:
        self._links = tuple(links)

    def request(self, request: Request) -> Request:
        for link in self._links:
            request = link.process_request(request)
        return request

    def reply(self, reply: Reply) -> Reply:
        for link in reversed(self._links):
            reply = link.process_response(reply)
        return reply

    def call(self, call: ToolCall) -> ToolCall | ToolResult:
        for link in self._links:
            made = link.process_call(call)
            if isinstance(made, ToolResult):
                return made
            call = made
        return call

    def ended(self, call: ToolCall, ended: CallEnded) -> CallEnded:
        """The end of a call with its result as the chain leaves it."""
        result = ended.result
        if result is None or not self._links:
            return ended
        for link in reversed(self._links):
            result = link.process_result(call, result)
        return CallEnded(ended.call_id, result, seconds=ended.seconds)

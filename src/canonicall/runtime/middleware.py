"""Middleware: what a user puts between a session, its model and its tools.

Each hook gets a value and gives one back, the same or another. The chain goes in order on the way
to the model or the tool, and in reverse on the way back. A hook that raises, or gives back
something else, ends what it was asked about, and nothing besides: the turn, or the one call.
"""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from msgspec.structs import replace

from canonicall.agent.batch import Batch
from canonicall.agent.inputs import CallEnded
from canonicall.blocks import ToolCall, ToolResult
from canonicall.errors import CanonicallError
from canonicall.outcome import Outcome
from canonicall.reply import Reply
from canonicall.request import Request
from canonicall.tools.toolset import Toolset

_Value = TypeVar("_Value")


class MiddlewareError(CanonicallError):
    """A hook of a middleware raised, or gave back what it must not."""


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
        """Raises `MiddlewareError`."""
        for link in self._links:
            request = _given(link.process_request, Request, request)
        return request

    def reply(self, reply: Reply) -> Reply:
        """Raises `MiddlewareError`."""
        for link in reversed(self._links):
            reply = _given(link.process_response, Reply, reply)
        return reply

    def call(self, call: ToolCall) -> ToolCall | CallEnded:
        """The call to run, or its end: it was answered, or must not be run."""
        made: ToolCall | ToolResult = call
        try:
            for link in self._links:
                made = _given(link.process_call, (ToolCall, ToolResult), call)
                if isinstance(made, ToolResult):
                    return CallEnded(call.id, made)
                # It is the same call, whatever is changed about it.
                call = made if made.id == call.id else replace(made, id=call.id)
        except MiddlewareError as error:
            return CallEnded(call.id, outcome=Outcome.NOT_RUN, why=str(error))
        return call

    def batch(self, batch: Batch, tools: Toolset) -> tuple[Batch, list[CallEnded]]:
        """What is to run of a batch, and the ends of what is not."""
        if not self._links:
            return batch, []
        ends: list[CallEnded] = []
        waves = []
        for wave in batch.waves:
            ready = []
            for planned in wave:
                made = self.call(planned.call)
                if isinstance(made, ToolCall) and made.name not in tools:
                    why = f"middleware made it a call of {made.name!r}, and there is no such tool"
                    made = CallEnded(made.id, outcome=Outcome.NOT_RUN, why=why)
                if isinstance(made, CallEnded):
                    ends.append(made)
                else:
                    ready.append(replace(planned, call=made))
            waves.append(tuple(ready))
        return Batch(tuple(waves)), ends

    def ended(self, call: ToolCall, ended: CallEnded) -> CallEnded:
        """The end of a call with its result as the chain leaves it.

        What a broken hook was to change or to hide is not shown as it is: the result is lost.
        """
        result = ended.result
        if result is None or not self._links:
            return ended
        try:
            for link in reversed(self._links):
                result = _given(link.process_result, ToolResult, call, result)
        except MiddlewareError as error:
            return CallEnded(
                ended.call_id,
                outcome=Outcome.RESULT_LOST,
                why=str(error),
                seconds=ended.seconds,
            )
        return CallEnded(ended.call_id, result, seconds=ended.seconds)


def _given(hook: Callable[..., _Value], wanted: Any, *values: Any) -> _Value:
    """What a hook gives back."""
    name = getattr(hook, "__qualname__", repr(hook))
    try:
        given = hook(*values)
    except Exception as error:
        raise MiddlewareError(f"{name} raised {type(error).__name__}: {error}") from error
    if not isinstance(given, wanted):
        raise MiddlewareError(f"{name} gave back {type(given).__name__}")
    return given

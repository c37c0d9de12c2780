"""One question to the model, from its start to what the machine hears of it.

What the model says is passed on as it comes. Where it is cut off, or fails in the middle, its words
were read by somebody, so they belong to the conversation. A call that was not complete is no call.
"""

from collections.abc import Callable
from typing import TypeAlias

from msgspec.structs import replace

from canonicall.agent.commands import CallModel
from canonicall.agent.counters import Tally
from canonicall.agent.inputs import ModelFailed, ModelReplied
from canonicall.blocks import Block, Text, Thinking, ToolCall
from canonicall.events import Event, MessageStarted, StreamEnded, TextAdded, ThinkingAdded
from canonicall.facts.target import Target
from canonicall.folding import fold
from canonicall.runtime.events import AgentEvent, ErrorEvent, StatusEvent, TextEvent
from canonicall.runtime.middleware import Chain, MiddlewareError
from canonicall.runtime.model import Model, ModelError, Notice, Repaired
from canonicall.runtime.observer import RunObserver

Answer: TypeAlias = ModelReplied | ModelFailed

_REFUSED = (400, 422)
"""Providers have either for a request that is not as they want it."""
_CANCELLED = "it was cancelled"


class ModelRun:
    """Asks the model once."""

    def __init__(
        self,
        command: CallModel,
        chain: Chain,
        tally: Tally,
        watching: RunObserver,
        tell: Callable[[AgentEvent], None],
        *,
        keeps_words: bool = True,
    ) -> None:
        """`keeps_words`: whether what was said before an early end is kept."""
        self._command = command
        self._keeps_words = keeps_words
        self._chain = chain
        self._tally = tally
        self._watching = watching
        self._tell = tell
        self._events: list[Event] = []
        """What has come of the reply."""
        self._answered: Target | None = None
        """Who gave it, where the model says so."""

    async def to_its_end(self, model: Model) -> Answer:
        """Ask, and give what the machine is to hear of it."""
        command = self._command
        self._watching.model_started(command.request, command.target)
        error = "cancelled"
        answer: Answer = ModelFailed(_CANCELLED)
        try:
            answer, error = await self._answer(model)
        finally:
            self._watching.model_ended(answer, error)
        return answer

    def cut_off(self) -> Answer:
        """What the machine is to hear where nobody waits for the rest."""
        failed = self._failed(_CANCELLED)
        return failed if failed.said is None else ModelReplied(failed.said)

    def _failed(self, why: str) -> ModelFailed:
        """That there will be no reply, with what had been said by then."""
        reply = fold(self._events)
        message = reply.message
        whole = tuple(block for block in message.blocks if not _is_unfinished(block))
        if not self._keeps_words or not whole:
            return ModelFailed(why)
        calls = sum(isinstance(block, ToolCall) for block in message.blocks)
        left_out = calls - sum(isinstance(block, ToolCall) for block in whole)
        if left_out:
            told = f"{left_out} of {calls} calls were not complete, and are not kept"
            self._tell(StatusEvent(kind="cut", detail=told))
        try:
            kept = replace(reply, message=replace(message, blocks=whole))
            return ModelFailed(why, self._chain.reply(kept))
        except MiddlewareError as error:
            self._tell(ErrorEvent(message=str(error), kind="middleware"))
            return ModelFailed(why)

    async def _answer(self, model: Model) -> tuple[Answer, str]:
        """What the model answers, passed on as it comes; if it fails, in which way."""
        target = self._command.target
        try:
            request = self._chain.request(self._command.request)
            async for one in model.ask(request, target, notice=self._tell_notice):
                if isinstance(one, TextAdded | ThinkingAdded):
                    self._tell(TextEvent(text=one.text, thinking=isinstance(one, ThinkingAdded)))
                elif isinstance(one, StreamEnded):
                    reply = self._chain.reply(one.reply)
                    return ModelReplied(reply, target=self._answered), ""
                elif isinstance(one, MessageStarted):
                    # Another attempt: what an earlier one said is not part of this reply.
                    self._events.clear()
                self._events.append(one)
        except ModelError as error:
            if error.refused_by is not None:
                self._count_refusal(error.refused_by, error.refused_model)
            elif error.status in _REFUSED:
                self._count_refusal(target.provider, target.model)
            told = ErrorEvent(message=error.message, kind=error.kind, diagnostics=error.diagnostics)
            self._tell(told)
            return self._failed(error.message), error.kind or str(error.status or "")
        except MiddlewareError as error:
            self._tell(ErrorEvent(message=str(error), kind="middleware"))
            return ModelFailed(str(error)), "middleware"
        except Exception as error:  # noqa: BLE001  # a run ends, whatever a model does
            kind = type(error).__name__
            self._tell(ErrorEvent(message=str(error), kind=kind))
            return self._failed(f"{kind}: {error}"), kind
        return self._failed("the stream ended without a reply"), "stream_ended"

    def _tell_notice(self, notice: Notice) -> None:
        target = getattr(notice, "target", None)
        named = target if isinstance(target, Target) else None
        if notice.kind == "answered":
            self._answered = named
        # Refusals that the model gets over by itself never come as an error.
        self._count_refusal(notice.refused_by, named.model if named is not None else "")
        told = StatusEvent(kind=notice.kind, detail=notice.detail)
        if isinstance(notice, Repaired):
            told = replace(told, findings=notice.findings, diagnostics=notice.diagnostics)
        self._tell(told)

    def _count_refusal(self, provider: str, model: str) -> None:
        if provider:
            self._tally.add(provider, "tool_api_400_total", model=model)


def _is_unfinished(block: Block) -> bool:
    """Whether a block of a reply that was cut off says nothing, or is a call that was cut."""
    if isinstance(block, Text | Thinking):
        return not block.text and not block.opaque
    return isinstance(block, ToolCall) and block.truncated

"""Chunks of a streamed chat completion, put together to the response they would have been.

A chunk's delta is an increment of the message. Hosts differ in where they put reasoning, usage and
errors, and in how they number calls; what they add to a chunk beside the delta is kept as it came
last. Only the first choice is told while it streams.
"""

from typing import Any

from msgspec.structs import replace

from canonicall.blocks import Block, Native, Opaque, Origin, Text, Thinking, ToolCall
from canonicall.events import (
    ErrorReported,
    Event,
    FinishReported,
    MessageStarted,
    SignatureAdded,
    UsageReported,
)
from canonicall.findings import Finding
from canonicall.folding import CUT_SHORT
from canonicall.wire.openai_chat import FORMAT, TARGET
from canonicall.wire.openai_chat.errors import decode_error
from canonicall.wire.openai_chat.finish import decode_finish, decode_usage
from canonicall.wire.openai_chat.messages import decode_assistant_blocks
from canonicall.wire.openai_chat.native import HINT, own_fields
from canonicall.wire.openai_chat.parts import REFUSED
from canonicall.wire.openai_chat.reasoning import decode_thinking_chunk
from canonicall.wire.openai_chat.stream_message import GrowingMessage
from canonicall.wire.reading import list_at, object_at, text_at
from canonicall.wire.streaming import Blocks, Growth

_WORDS = ("choices", 0, "delta", "content")
_TEXT, _REFUSAL, _THINKING = "text", "refusal", "thinking"
_NOT_AROUND = ("choices", "object", "obfuscation")
_TYPED = ("id", "model", "usage")


class StreamDecoding:
    """Reads the chunks of one stream."""

    ends_with_done = True

    def __init__(self, origin: Origin | None, domain: str | None) -> None:
        self.complete = False
        self.error: ErrorReported | None = None
        self.findings: list[Finding] = []
        self.growth: Growth | None = None
        self._origin = origin or Origin(provider=TARGET.provider, format=FORMAT)
        self._domain = TARGET.domain if domain is None else domain
        self._body: dict[str, Any] = {}
        self._size = 0
        self._blocks = Blocks()
        self._choices: dict[int, GrowingMessage] = {}
        self._open = ""
        self._index = 0
        self._kept: Text | Thinking = Text(text="")
        self._started = False
        self._finish_told = ""
        self._told_more = False

    def frame(
        self,
        name: str,  # noqa: ARG002  chunks have no names
        data: dict[str, Any],
        events: list[Event],
    ) -> None:
        """Take one chunk in."""
        self.growth = None
        choices = data.get("choices")
        # Nearly all chunks of a stream have the same fields around the delta: those are read once.
        if (
            len(data) != self._size
            or not self._started
            or not choices
            or data.get("usage") is not None
            or "error" in data
        ):
            self._keep(data)
            self._report(data, events)
        if not choices:
            return
        for number, value in enumerate(list_at(choices, "$.choices")):
            choice = value if value.__class__ is dict else object_at(value, f"$.choices[{number}]")
            index = choice.get("index")
            self._take(choice, index if isinstance(index, int) else number, data, events)
            if isinstance(choice.get("usage"), dict) and not self._body.get("usage"):
                self._report_usage(choice["usage"], events)
        if len(choices) > 1 or self.complete:
            self.growth = None

    def end(self, events: list[Event]) -> None:
        """Tell that what is open is whole; a call that may have been cut stays open."""
        self._start(events)
        message = self._choices.get(0)
        if message is not None:
            self._tell_rest(message, events)
            if self.complete and self.error is None:
                message.calls.end(events, is_limited=self._finish_told in CUT_SHORT)
            else:
                message.calls.cut(events)

    def whole(self) -> dict[str, Any]:
        """The body of a response without streaming."""
        order = sorted(self._choices, key=lambda index: (index != 0, index))
        choices = [self._choices[index].whole(index) for index in order]
        return self._body | {"choices": choices}

    def _keep(self, data: dict[str, Any]) -> None:
        """Keep what stands around the delta; later values take the place of earlier ones.

        But for the id: hosts that change it within a stream (Avian, Groq) still mean one reply.
        """
        self._size = len(data)
        for field, value in data.items():
            if field in _NOT_AROUND or value is None or (field in self._body and value in ("", [])):
                continue
            if field == "id" and self._body.get("id"):
                continue
            self._body[field] = value if field not in _TYPED else _typed(field, value)

    def _report(self, data: dict[str, Any], events: list[Event]) -> None:
        """Tell of figures and errors, wherever a host puts them."""
        groq = data.get("x_groq")
        usage = data.get("usage") or (groq.get("usage") if isinstance(groq, dict) else None)
        self._report_usage(usage, events)
        error = data.get("error") or (groq.get("error") if isinstance(groq, dict) else None)
        is_bare_error = "choices" not in data and "message" in data and "code" in data
        if error or is_bare_error:
            self._fail({"error": error} if error else data, events)

    def _report_usage(self, usage: Any, events: list[Event]) -> None:
        figures = decode_usage(object_at(usage or {}, "$.usage"))
        if figures is not None:
            self._start(events)
            events.append(UsageReported(figures))

    def _fail(self, body: dict[str, Any], events: list[Event]) -> None:
        self._start(events)
        told = decode_error(body)
        self.error = ErrorReported(told.message or "unknown error", told.type, body)
        events.append(self.error)

    def _start(self, events: list[Event]) -> None:
        if self._started:
            return
        self._started = True
        model, id = self._body.get("model"), self._body.get("id")
        origin = replace(
            self._origin,
            model=model if isinstance(model, str) else "",
            response_id=id if isinstance(id, str) else "",
        )
        events.append(MessageStarted(origin))

    def _take(
        self, choice: dict[str, Any], index: int, data: dict[str, Any], events: list[Event]
    ) -> None:
        message = self._choices.get(index)
        if message is None:
            message = self._choices[index] = GrowingMessage(self._blocks)
        delta = choice.get("delta")
        if delta is None and not message.began:
            delta = choice.get("message")
        if index == 0 and not self._started:
            self._start(events)
        if delta:
            self._told(message, object_at(delta, f"$.choices[{index}].delta"), index, events)
        if len(choice) > 2 or choice.get("finish_reason"):
            reason = text_at(choice.get("finish_reason"), f"$.choices[{index}].finish_reason")
            message.merge_choice(choice)
            if choice.get("logprobs"):
                self.growth = None
            if index == 0 and choice.get("error"):
                self._fail({"error": choice["error"]}, events)
            if reason:
                self._finish(message, data, index, events)

    def _told(
        self, message: GrowingMessage, delta: dict[str, Any], index: int, events: list[Event]
    ) -> None:
        """Take a delta in and tell of it, if it is of the choice that counts."""
        where = f"$.choices[{index}].delta"
        thought, words, refusal = message.add(delta, where)
        told = None if index else events
        if told is not None:
            if thought:
                self._switch(_THINKING, message, told)
                self._blocks.thinking(self._index, thought, told)
            if words:
                self._switch(_TEXT, message, told)
                self._blocks.text(self._index, words, told)
            if refusal:
                self._switch(_REFUSAL, message, told)
                self._blocks.text(self._index, refusal, told)
            if words and not index and message.only_adds_words(delta):
                self.growth = Growth(_WORDS, self._add_words)
        calls, legacy = delta.get("tool_calls"), delta.get("function_call")
        if (calls or legacy) and told is not None:
            self._close(message, told)
        if calls:
            message.calls.add(calls, f"{where}.tool_calls", told)
            if len(delta) == 1 and not index:
                self.growth = message.calls.growth
        if legacy:
            message.calls.add_legacy(legacy, f"{where}.function_call", told)

    def _add_words(self, text: str, events: list[Event]) -> None:
        """Words that go on with those of the chunk before."""
        self._choices[0].add_words(text)
        self._blocks.text(self._index, text, events)

    def _switch(self, kind: str, message: GrowingMessage, events: list[Event]) -> None:
        """Make the open block one of this kind."""
        if self._open == kind:
            return
        self._close(message, events)
        self._open = kind
        block: Text | Thinking = Text(text="")
        if kind == _REFUSAL:
            block = Text(text="", native=REFUSED)
        elif kind == _THINKING:
            block = Thinking(native=Native(FORMAT, {HINT: message.reasoning_field}))
        self._kept = block
        self._index = self._blocks.start(block, events)

    def _close(self, message: GrowingMessage, events: list[Event]) -> None:
        """End the open block; details of the reasoning so far go with it."""
        if not self._open:
            return
        block = replace(self._kept, text=self._blocks.said(self._index))
        if isinstance(block, Thinking):
            block = self._sealed(block, message)
            events += [SignatureAdded(self._index, opaque) for opaque in block.opaque]
        self._blocks.end(self._index, block, events)
        self._open = ""

    def _sealed(self, thought: Thinking, message: GrowingMessage) -> Thinking:
        """`thought` with the state that came with it."""
        part = message.last_thinking if message.reasoning_field == "content" else None
        if part is not None:
            decoded = decode_thinking_chunk(part, "$", self._domain)
            thought = replace(decoded, text=thought.text)
        details = message.take_details()
        if not details:
            return thought
        return replace(thought, opaque=(*thought.opaque, Opaque(self._domain, "details", details)))

    def _finish(
        self, message: GrowingMessage, data: dict[str, Any], index: int, events: list[Event]
    ) -> None:
        self.complete = True
        self._keep(data)
        if index:
            return
        self._tell_rest(message, events)
        native = message.choice.get("native_finish_reason")
        finish = decode_finish(
            message.choice["finish_reason"],
            bool(message.calls.calls),
            native if isinstance(native, str) else None,
        )
        message.calls.end(events, is_limited=finish in CUT_SHORT)
        if finish != self._finish_told:
            self._finish_told = finish
            events.append(FinishReported(finish))

    def _tell_rest(self, message: GrowingMessage, events: list[Event]) -> None:
        """Tell what is known only now: that the words are whole, and what came beside them."""
        self._close(message, events)
        details = message.take_details()
        if details:
            native = Native(FORMAT, {HINT: message.reasoning_field})
            opaque = (Opaque(self._domain, "details", details),)
            self._blocks.whole(Thinking(opaque=opaque, native=native), events)
        if message.has_more and not self._told_more:
            self._told_more = True
            for block in decode_assistant_blocks(
                message.whole(0)["message"], "$", self._domain, []
            ):
                if not isinstance(block, (Thinking, ToolCall)) and not _is_words(block):
                    self._blocks.whole(block, events)


def _typed(field: str, value: Any) -> Any:
    """A field of the body that has to be of a type, or the reply could not be read."""
    read = object_at if field == "usage" else text_at
    return read(value, f"$.{field}")


def _is_words(block: Block) -> bool:
    """Whether a block was told of piece by piece: the transcript of sound was not."""
    return isinstance(block, Text) and not own_fields(block.native).get(HINT)

"""Lines of a streamed chat response, put together to the response they would have been.

The message of a line is an increment: more words, more of a thought, whole calls. The last line
says that it is done and has the counts; a line with an error ends the stream instead.
"""

from typing import Any

from msgspec.structs import replace

from canonicall.blocks import Origin, Text, Thinking, ToolCall
from canonicall.events import (
    ErrorReported,
    Event,
    FinishReported,
    MessageStarted,
    UsageReported,
)
from canonicall.findings import Finding
from canonicall.folding import raw_arguments
from canonicall.wire.ollama import TARGET
from canonicall.wire.ollama.errors import decode_error
from canonicall.wire.ollama.finish import decode_finish, decode_usage
from canonicall.wire.ollama.messages import FORMAT, decode_call, decode_images
from canonicall.wire.reading import list_at, object_at, objects_at, text_at
from canonicall.wire.streaming import Blocks

_USUAL = {"model", "created_at", "message", "done"}
_AROUND = ("message", "created_at", "done", "error")
_LISTS = ("images", "tool_calls")


class StreamDecoding:
    """Reads the lines of one stream."""

    ends_with_done = False

    def __init__(self, origin: Origin | None, domain: str | None) -> None:  # noqa: ARG002
        self.complete = False
        self.error: ErrorReported | None = None
        self.findings: list[Finding] = []
        self._origin = origin or Origin(provider=TARGET.provider, format=FORMAT)
        self._body: dict[str, Any] = {}
        self._message: dict[str, Any] = {"role": "assistant"}
        self._said: dict[str, list[str]] = {}
        """The pieces of the message's texts, by the name of the field."""
        self._blocks = Blocks()
        self._open: Text | Thinking | None = None
        self._index = 0
        self._started = False

    def frame(
        self,
        name: str,  # noqa: ARG002  lines have no names
        data: dict[str, Any],
        events: list[Event],
    ) -> None:
        """Take one line in."""
        done = data.get("done") is True
        if not self._started:
            self._merge(data)
            self._start(events)
        # Nearly all lines have nothing new around the message.
        elif done or data.keys() != _USUAL:
            self._merge(data)
        message = data.get("message")
        if message:
            self._take(object_at(message, "$.message"), events)
        if data.get("error"):
            told = decode_error(data)
            self.error = ErrorReported(told.message or "unknown error", native=data)
            events.append(self.error)
        if done:
            self._finish(data, events)

    def end(self, events: list[Event]) -> None:
        """Tell that what is open is whole. Calls always are."""
        if not self._started:
            self._start(events)
        self._close(events)

    def whole(self) -> dict[str, Any]:
        """The body of a response without streaming."""
        texts = {name: "".join(pieces) for name, pieces in self._said.items()}
        return {**self._body, "message": self._message | texts, "done": self.complete}

    def _merge(self, data: dict[str, Any]) -> None:
        """Keep what stands around the message; later values take the place of earlier ones."""
        for name in ("model", "done_reason"):
            text_at(data.get(name), f"$.{name}")
        for name, field in data.items():
            if name in _AROUND or field is None:
                continue
            known = self._body.get(name)
            is_growing = isinstance(known, list) and isinstance(field, list)
            self._body[name] = [*known, *field] if known and is_growing else field

    def _start(self, events: list[Event]) -> None:
        self._started = True
        model = self._body.get("model") or self._origin.model
        events.append(MessageStarted(replace(self._origin, model=model)))

    def _take(self, message: dict[str, Any], events: list[Event]) -> None:
        thought = message.get("thinking")
        if thought:
            self._add("thinking", text_at(thought, "$.message.thinking"), Thinking, events)
        content = message.get("content")
        if content:
            self._add("content", text_at(content, "$.message.content"), Text, events)
        elif content is not None:
            self._said.setdefault("content", [])
        if len(message) > 2:
            self._take_rest(message, events)

    def _add(
        self, name: str, text: str, kind: type[Text] | type[Thinking], events: list[Event]
    ) -> None:
        """Words or reasoning; each is one field of the message, however often they alternate."""
        if type(self._open) is not kind:
            self._close(events)
            self._open = kind(text="")
            self._index = self._blocks.start(self._open, events)
        self._said.setdefault(name, []).append(text)
        add = self._blocks.text if kind is Text else self._blocks.thinking
        add(self._index, text, events)

    def _take_rest(self, message: dict[str, Any], events: list[Event]) -> None:
        """Calls, images, and fields that only this format knows."""
        images = decode_images(message, "$.message")
        if images:
            self._close(events)
            for image in images:
                self._blocks.whole(image, events)
            self._grow("images", message["images"])
        for call, where in objects_at(message.get("tool_calls"), "$.message.tool_calls"):
            self._close(events)
            self._tell(decode_call(call, where, len(self._calls())), events)
            self._grow("tool_calls", [call])
        for name, field in message.items():
            if name not in ("role", "content", "thinking", *_LISTS) and field is not None:
                self._message[name] = field

    def _tell(self, call: ToolCall, events: list[Event]) -> None:
        index = self._blocks.start(replace(call, args=None, raw=None), events)
        self._blocks.arguments(index, raw_arguments(call), events)
        self._blocks.end(index, call, events)

    def _grow(self, name: str, more: list[Any]) -> None:
        self._message.setdefault(name, []).extend(more)

    def _calls(self) -> list[Any]:
        return list_at(self._message.get("tool_calls"), "$.message.tool_calls")

    def _close(self, events: list[Event]) -> None:
        if self._open is not None:
            said = self._blocks.said(self._index)
            self._blocks.end(self._index, replace(self._open, text=said), events)
            self._open = None

    def _finish(self, data: dict[str, Any], events: list[Event]) -> None:
        self.complete = True
        self._close(events)
        usage = decode_usage(data)
        if usage is not None:
            events.append(UsageReported(usage))
        raw = text_at(data.get("done_reason"), "$.done_reason")
        events.append(FinishReported(decode_finish(raw, bool(self._calls()))))

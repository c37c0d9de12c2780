"""The events of Cohere's chat, version 2.

`message-start`; content, plan and calls, each begun, added to and ended before the next begins,
with citations in between; `message-end` with the reason and the figures. `[DONE]` may follow.
Content and calls are numbered apart. A `message-end` with an error ends a stream that failed.
"""

from collections.abc import Callable, Iterator

from canonicall.verify.node import Node
from canonicall.verify.streams.calls import Call, Calls, Reasons
from canonicall.verify.streams.grammar import Grammar
from canonicall.verify.violation import Violation

REASONS = Reasons(
    calls=frozenset({"TOOL_CALL"}),
    plain=frozenset({"COMPLETE", "STOP_SEQUENCE"}),
    cut=frozenset({"MAX_TOKENS", "TIMEOUT"}),
)
FAILED = "ERROR"
CONTENT = {"text", "thinking"}


class CohereGrammar(Grammar):
    """One streamed message."""

    source = "docs.cohere.com: v2 chat streaming; cohere.types.V2ChatStreamResponse"

    def __init__(self) -> None:
        super().__init__()
        self._has_started = False
        self._open = ("", -1)
        """What is open, and its number."""
        self._contents = 0
        self._content = ""
        self._input: Call | None = None
        self._calls = Calls(REASONS, self.source, may_be_empty=True)
        self._citations: set[int | None] = set()
        self._is_done = False
        self._events: dict[str, Callable[[Node], Iterator[Violation]]] = {
            "message-start": self._message_start,
            "content-start": self._content_start,
            "content-delta": self._content_delta,
            "content-end": self._ended,
            "tool-plan-delta": self._plan_delta,
            "tool-call-start": self._call_start,
            "tool-call-delta": self._call_delta,
            "tool-call-end": self._ended,
            "citation-start": self._citation_start,
            "citation-end": self._citation_end,
            "message-end": self._message_end,
        }

    def frame(self, name: str, data: Node) -> Iterator[Violation]:
        kind = data.text("type")
        if name != kind:
            yield self.broken("event_name_differs", data.where)
        if self.is_over:
            yield self.broken("event_after_end", data.where)
        elif kind in self._events:
            if not self._has_started and kind != "message-start":
                yield self.broken("stream_not_started", data.where)
            yield from self._events[kind](data)
        elif kind != "debug":
            yield self.broken("unknown_event", data.at("type"))

    def done(self, where: str) -> Iterator[Violation]:
        if not self.is_over:
            yield self.broken("event_out_of_order", where)
        elif self._is_done:
            yield self.broken("event_after_end", where)
        self._is_done = True

    def _message_start(self, data: Node) -> Iterator[Violation]:
        if self._has_started:
            yield self.broken("stream_started_twice", data.where)
        self._has_started = True
        yield from self.missing(data, "id")
        message = data.node("delta").node("message")
        if message.text("role") != "assistant":
            yield self.broken("frame_field_missing", message.at("role"))

    def _content_start(self, data: Node) -> Iterator[Violation]:
        yield from self._begin("content", self._contents, data)
        self._contents += 1
        content = data.node("delta").node("message").node("content")
        self._content = content.text("type")
        if self._content not in CONTENT:
            yield self.broken("delta_does_not_fit", content.at("type"))
        else:
            yield from self.missing(content, self._content)
            content.text(self._content)

    def _content_delta(self, data: Node) -> Iterator[Violation]:
        yield from self._is_open("content", data)
        content = data.node("delta").node("message").node("content")
        if self._content not in content.fields:
            yield self.broken("delta_does_not_fit", content.where)
        content.text(self._content)

    def _plan_delta(self, data: Node) -> Iterator[Violation]:
        yield from self._nothing_open(data)
        message = data.node("delta").node("message")
        yield from self.missing(message, "tool_plan")
        message.text("tool_plan")

    def _call_start(self, data: Node) -> Iterator[Violation]:
        yield from self._begin("tool-call", len(self._calls), data)
        call = data.node("delta").node("message").node("tool_calls")
        function = call.node("function")
        if not (call.text("id") and call.text("type") == "function" and function.text("name")):
            yield self.broken("call_incomplete", call.where)
        yield from self._calls.named(call.text("id"), call.at("id"))
        self._input = self._calls.add(call.where)
        self._input.pieces.append(function.text("arguments"))

    def _call_delta(self, data: Node) -> Iterator[Violation]:
        yield from self._is_open("tool-call", data)
        function = data.node("delta").node("message").node("tool_calls").node("function")
        yield from self.missing(function, "arguments")
        if self._input is not None:
            self._input.pieces.append(function.text("arguments"))

    def _ended(self, data: Node) -> Iterator[Violation]:
        yield from self._is_open(data.text("type").removesuffix("-end"), data)
        self._open = ("", -1)

    def _citation_start(self, data: Node) -> Iterator[Violation]:
        citations = data.node("delta").node("message").node("citations")
        yield from self.missing(citations, "start", "end", "text")
        self._citations.add(data.integer("index"))

    def _citation_end(self, data: Node) -> Iterator[Violation]:
        index = data.integer("index")
        if index not in self._citations:
            yield self.broken("block_not_open", data.at("index"))
        self._citations.discard(index)

    def _message_end(self, data: Node) -> Iterator[Violation]:
        delta = data.node("delta")
        reason = delta.text("finish_reason")
        self.is_over = True
        if reason == FAILED:
            return
        yield from self._nothing_open(data)
        if self._citations:
            yield self.broken("block_left_open", data.where)
        if reason:
            yield from self._calls.finished(reason, delta.at("finish_reason"))
        else:
            yield self.broken("finish_missing", delta.at("finish_reason"))
        self.complete = True

    def _begin(self, kind: str, number: int, data: Node) -> Iterator[Violation]:
        yield from self._nothing_open(data)
        if data.integer("index") != number:
            yield self.broken("index_out_of_order", data.at("index"))
        self._open = (kind, number)

    def _is_open(self, kind: str, data: Node) -> Iterator[Violation]:
        if self._open != (kind, data.integer("index")):
            yield self.broken("block_not_open", data.at("index"))

    def _nothing_open(self, data: Node) -> Iterator[Violation]:
        if self._open[0]:
            yield self.broken("block_left_open", data.where)
            self._open = ("", -1)

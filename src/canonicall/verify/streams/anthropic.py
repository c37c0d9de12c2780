"""The events of the Messages API.

`message_start`, then block after block, each begun, added to and stopped before the next begins,
then `message_delta` with the reason and `message_stop`. `ping` may stand anywhere, and `error` ends
a stream at any place.
"""

from collections.abc import Callable, Iterator

from canonicall.verify.node import Node
from canonicall.verify.streams.calls import Call, Calls, Reasons
from canonicall.verify.streams.grammar import Grammar
from canonicall.verify.violation import Violation

REASONS = Reasons(
    calls=frozenset({"tool_use"}),
    plain=frozenset({"end_turn", "stop_sequence"}),
    cut=frozenset({"max_tokens", "model_context_window_exceeded", "refusal"}),
    other=frozenset({"pause_turn", "compaction"}),
)
# What may be added to a block; to all others nothing, they come whole.
DELTAS = {
    "text": {"text_delta", "citations_delta"},
    "thinking": {"thinking_delta", "signature_delta"},
    "tool_use": {"input_json_delta"},
    "server_tool_use": {"input_json_delta"},
    "mcp_tool_use": {"input_json_delta"},
    "compaction": {"compaction_delta"},
}
DELTA_FIELDS = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
    "input_json_delta": "partial_json",
}
_CALL_FIELDS = ("id", "name", "input")
BLOCK_FIELDS = {
    "text": ("text",),
    "thinking": ("thinking", "signature"),
    "redacted_thinking": ("data",),
    "tool_use": _CALL_FIELDS,
    "server_tool_use": _CALL_FIELDS,
    "mcp_tool_use": _CALL_FIELDS,
}
# A client of Anthropic skips frames whose event it does not know by name.
_SKIPPED = "official clients skip a frame whose name is missing"


class AnthropicGrammar(Grammar):
    """One streamed message."""

    source = "platform.claude.com: streaming; anthropic.types.RawMessageStreamEvent"

    def __init__(self) -> None:
        super().__init__()
        self._has_started = False
        self._blocks = 0
        self._open: Node | None = None
        """The block that was begun and not stopped."""
        self._input: Call | None = None
        self._calls = Calls(REASONS, self.source, may_be_empty=True)
        self._server_calls = Calls(REASONS, self.source, may_be_empty=True)
        self._reason = ""
        self._events: dict[str, Callable[[Node], Iterator[Violation]]] = {
            "message_start": self._message_start,
            "content_block_start": self._block_start,
            "content_block_delta": self._block_delta,
            "content_block_stop": self._block_stop,
            "message_delta": self._message_delta,
            "message_stop": self._message_stop,
            "error": self._error,
        }

    def frame(self, name: str, data: Node) -> Iterator[Violation]:
        kind = data.text("type")
        if name != kind:
            yield self.broken("event_name_differs", data.where, why="" if name else f"{_SKIPPED}.")
        if self.is_over:
            yield self.broken("event_after_end", data.where)
        elif kind in self._events:
            if not self._has_started and kind not in ("message_start", "error"):
                error = f'Unexpected event order, got {kind} before "message_start"'
                yield self.broken("stream_not_started", data.where, error)
            yield from self._events[kind](data)
        elif kind != "ping":
            yield self.broken("unknown_event", data.at("type"))

    def _error(self, data: Node) -> Iterator[Violation]:
        yield from self.missing(data.node("error"), "type", "message")
        self.failed()

    def _message_start(self, data: Node) -> Iterator[Violation]:
        if self._has_started:
            yield self.broken("stream_started_twice", data.where)
        self._has_started = True
        message = data.node("message")
        yield from self.missing(message, "id", "type", "role", "content", "model", "usage")
        yield from self.missing(message.node("usage"), "input_tokens", "output_tokens")
        if message.values("content") or message.has("stop_reason"):
            why = "a message starts without content and without a reason."
            yield self.broken("event_out_of_order", message.where, why=why)

    def _block_start(self, data: Node) -> Iterator[Violation]:
        yield from self._closed(data)
        if self._reason:
            yield self.broken("event_out_of_order", data.where, why="the reason was given before.")
        if data.integer("index") != self._blocks:
            yield self.broken("index_out_of_order", data.at("index"), "list index out of range")
        self._blocks += 1
        block = self._open = data.node("content_block")
        kind = block.text("type")
        yield from self.missing(block, "type", *BLOCK_FIELDS.get(kind, ()))
        self._input = None
        if kind in ("server_tool_use", "mcp_tool_use"):
            self._input = self._server_calls.add(block.at("input"))
        elif kind == "tool_use":
            self._input = self._calls.add(block.at("input"))
            yield from self._calls.named(block.text("id"), block.at("id"))
            if not (block.text("id") and block.text("name")):
                yield self.broken("call_incomplete", block.where)

    def _block_delta(self, data: Node) -> Iterator[Violation]:
        delta = data.node("delta")
        kind = delta.text("type")
        block = self._opened(data)
        if block is None:
            yield self.broken("block_not_open", data.at("index"), "list index out of range")
            return
        if kind not in DELTAS.get(block.text("type"), ()):
            yield self.broken("delta_does_not_fit", delta.at("type"))
            return
        if kind in DELTA_FIELDS:
            yield from self.missing(delta, DELTA_FIELDS[kind])
            text = delta.text(DELTA_FIELDS[kind])
            if self._input is not None:
                if text and block.node("input").fields:
                    yield self.broken("content_twice", delta.at(DELTA_FIELDS[kind]))
                self._input.pieces.append(text)

    def _block_stop(self, data: Node) -> Iterator[Violation]:
        if self._opened(data) is None:
            yield self.broken("block_not_open", data.at("index"), "list index out of range")
            return
        self._open = None

    def _message_delta(self, data: Node) -> Iterator[Violation]:
        yield from self._closed(data)
        error = "'NoneType' object has no attribute 'output_tokens'"
        yield from self.missing(data, "delta")
        yield from self.missing(data.node("usage"), "output_tokens", error=error)
        reason = data.node("delta").text("stop_reason")
        if reason and self._reason:
            yield self.broken("event_out_of_order", data.where, why="a reason was given before.")
        elif reason:
            self._reason = reason
            where = data.node("delta").at("stop_reason")
            yield from self._calls.finished(reason, where)
            yield from self._server_calls.arguments(is_cut=reason in REASONS.cut)

    def _message_stop(self, data: Node) -> Iterator[Violation]:
        yield from self._closed(data)
        if not self._reason:
            yield self.broken("finish_missing", data.where)
        self.is_over = self.complete = True

    def _opened(self, data: Node) -> Node | None:
        """The open block, if it is the one that the event names."""
        return self._open if data.integer("index") == self._blocks - 1 else None

    def _closed(self, data: Node) -> Iterator[Violation]:
        if self._open is not None:
            yield self.broken("block_left_open", data.where)
            self._open = None

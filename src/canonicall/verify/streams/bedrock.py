"""The events of ConverseStream.

`messageStart`, then block after block, `messageStop` with the reason, and `metadata` with the
figures. Only calls and other blocks that have something to say at once are begun; a block of text
or reasoning begins with its first piece. All are stopped. An exception ends the stream.
"""

from collections.abc import Callable, Iterator

from canonicall.verify.node import Node
from canonicall.verify.streams.calls import Call, Calls, Reasons
from canonicall.verify.streams.grammar import Grammar, Reader
from canonicall.verify.streams.readers import AwsFrames
from canonicall.verify.violation import Violation

REASONS = Reasons(
    calls=frozenset({"tool_use"}),
    plain=frozenset({"end_turn", "stop_sequence"}),
    cut=frozenset(
        {
            "max_tokens",
            "model_context_window_exceeded",
            "content_filtered",
            "guardrail_intervened",
            "malformed_tool_use",
            "malformed_model_output",
        }
    ),
)
EXCEPTIONS = {
    "internalServerException",
    "modelStreamErrorException",
    "modelTimeoutException",
    "serviceUnavailableException",
    "throttlingException",
    "validationException",
}
STARTS = {"toolUse": ("toolUseId", "name"), "toolResult": ("toolUseId",), "image": ("format",)}
# What a block holds, told by its first piece: text may have citations.
KINDS = {
    "text": "text",
    "citation": "text",
    "reasoningContent": "reasoningContent",
    "toolUse": "toolUse",
    "toolResult": "toolResult",
    "image": "image",
}
REASONING = ("text", "signature", "redactedContent")


class BedrockGrammar(Grammar):
    """One streamed message."""

    source = "docs.aws.amazon.com: ConverseStream; the service model of bedrock-runtime"

    def __init__(self) -> None:
        super().__init__()
        self._has_started = False
        self._blocks = 0
        self._kind = ""
        """What the open block holds; empty where none is open."""
        self._input: Call | None = None
        self._calls = Calls(REASONS, self.source)
        self._has_stopped = False
        self._events: dict[str, Callable[[Node], Iterator[Violation]]] = {
            "messageStart": self._message_start,
            "contentBlockStart": self._block_start,
            "contentBlockDelta": self._block_delta,
            "contentBlockStop": self._block_stop,
            "messageStop": self._message_stop,
            "metadata": self._metadata,
        }

    def reader(self) -> Reader:
        return AwsFrames()

    def frame(self, name: str, data: Node) -> Iterator[Violation]:
        kind, _, event = name.partition(":")
        is_exception = kind == "exception"
        if self.is_over:
            yield self.broken("event_after_end", data.where)
        elif event not in (EXCEPTIONS if is_exception else self._events):
            # botocore hands it on as an empty event, at which langchain-aws raises.
            yield self.broken("unknown_event", data.where, "list index out of range")
        elif is_exception:
            yield from self.missing(data, "message")
            self.failed()
        else:
            if not self._has_started and event != "messageStart":
                yield self.broken("stream_not_started", data.where)
            elif self._has_stopped and event != "metadata":
                yield self.broken("event_out_of_order", data.where)
            yield from self._events[event](data)

    def end(self, where: str) -> Iterator[Violation]:
        if self._has_stopped and not self.is_over:
            yield self.broken("usage_missing", where)
        else:
            yield from super().end(where)

    def _message_start(self, data: Node) -> Iterator[Violation]:
        if self._has_started:
            yield self.broken("stream_started_twice", data.where)
        self._has_started = True
        if data.text("role") != "assistant":
            yield self.broken("frame_field_missing", data.at("role"))

    def _block_start(self, data: Node) -> Iterator[Violation]:
        start = data.node("start")
        kinds = [kind for kind in STARTS if start.has(kind)]
        yield from self._begin(data, kinds[0] if kinds else "text")
        if len(kinds) != 1:
            why = "a block of text or reasoning begins with its first piece."
            yield self.broken("event_out_of_order", start.where, why=why)
            return
        yield from self.missing(start.node(kinds[0]), *STARTS[kinds[0]])
        if kinds == ["toolUse"]:
            call = start.node("toolUse")
            if not (call.text("toolUseId") and call.text("name")):
                yield self.broken("call_incomplete", call.where)
            # A tool of the provider's own is not for the client to answer.
            if call.text("type") != "server_tool_use":
                self._input = self._calls.add(call.where)
                yield from self._calls.named(call.text("toolUseId"), call.at("toolUseId"))

    def _begin(self, data: Node, kind: str) -> Iterator[Violation]:
        if self._kind:
            yield self.broken("block_left_open", data.where)
        if data.integer("contentBlockIndex") != self._blocks:
            yield self.broken("index_out_of_order", data.at("contentBlockIndex"))
        self._blocks += 1
        self._kind = kind
        self._input = None

    def _block_delta(self, data: Node) -> Iterator[Violation]:
        delta = data.node("delta")
        members = [member for member in KINDS if delta.has(member)]
        if len(members) != 1:
            yield self.broken(
                "delta_does_not_fit", delta.where, why="a delta is exactly one thing."
            )
            return
        kind = KINDS[members[0]]
        if not self._kind or data.integer("contentBlockIndex") != self._blocks - 1:
            if kind in STARTS:
                yield self.broken("block_not_open", data.at("contentBlockIndex"))
                return
            yield from self._begin(data, kind)
        if kind != self._kind:
            yield self.broken("delta_does_not_fit", delta.where)
        elif kind == "toolUse":
            yield from self.missing(delta.node("toolUse"), "input")
            if self._input is not None:
                self._input.pieces.append(delta.node("toolUse").text("input"))
        elif kind == "reasoningContent":
            held = delta.node(kind)
            if sum(held.has(key) for key in REASONING) != 1:
                yield self.broken("delta_does_not_fit", held.where)
        else:
            delta.text("text")

    def _block_stop(self, data: Node) -> Iterator[Violation]:
        if not self._kind or data.integer("contentBlockIndex") != self._blocks - 1:
            yield self.broken("block_not_open", data.at("contentBlockIndex"))
        self._kind = ""

    def _message_stop(self, data: Node) -> Iterator[Violation]:
        if self._kind:
            yield self.broken("block_left_open", data.where)
            self._kind = ""
        self._has_stopped = True
        if reason := data.text("stopReason"):
            yield from self._calls.finished(reason, data.at("stopReason"))
        else:
            yield self.broken("finish_missing", data.at("stopReason"))

    def _metadata(self, data: Node) -> Iterator[Violation]:
        if not self._has_stopped:
            yield self.broken("event_out_of_order", data.where)
        usage = data.node("usage")
        yield from self.missing(usage, "inputTokens", "outputTokens", "totalTokens")
        yield from self.missing(data.node("metrics"), "latencyMs")
        self.is_over = self.complete = True

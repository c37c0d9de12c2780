"""The lines of Ollama's native chat.

Each line has the next piece of the message; calls come whole, with their arguments as an object.
The last line is `done`, with the reason and the counts. A line with `error` ends the stream.
"""

from collections.abc import Iterator

from canonicall.verify.node import Node, WrongKind
from canonicall.verify.streams.calls import Calls, Reasons
from canonicall.verify.streams.grammar import Grammar, Reader
from canonicall.verify.streams.readers import Lines
from canonicall.verify.violation import Violation

# "stop" stands for a finished turn and for calls alike.
REASONS = Reasons(
    calls=frozenset(),
    plain=frozenset(),
    cut=frozenset({"length"}),
    other=frozenset({"stop", "load", "unload"}),
)
COUNTS = (
    "total_duration",
    "load_duration",
    "prompt_eval_count",
    "prompt_eval_duration",
    "eval_count",
    "eval_duration",
)


class OllamaGrammar(Grammar):
    """One streamed message."""

    source = "docs.ollama.com: api/chat; ollama api/types.go ChatResponse"

    def __init__(self) -> None:
        super().__init__()
        self._calls = Calls(REASONS, self.source)

    def reader(self) -> Reader:
        return Lines()

    def frame(self, name: str, data: Node) -> Iterator[Violation]:  # noqa: ARG002  # lines have none
        if self.is_over:
            yield self.broken("event_after_end", data.where)
        elif data.has("error"):
            data.text("error")
            self.failed()
        else:
            yield from self._line(data)

    def _line(self, data: Node) -> Iterator[Violation]:
        yield from self.missing(data, "model", "created_at", "message", "done")
        message = data.node("message")
        if message.text("role") != "assistant":
            yield self.broken("frame_field_missing", message.at("role"))
        if message.get("content") is None:
            yield self.broken("frame_field_missing", message.at("content"))
        message.text("content")
        message.text("thinking")
        for call in message.nodes("tool_calls"):
            yield from self._call(call)
        done = data.get("done")
        if not isinstance(done, bool | None):
            raise WrongKind(data.at("done"), "boolean", done)
        if done:
            yield from self._ended(data)

    def _call(self, node: Node) -> Iterator[Violation]:
        function = node.node("function")
        if not function.text("name"):
            yield self.broken("call_incomplete", function.where)
        if function.has("index") and function.integer("index") != len(self._calls):
            yield self.broken("index_out_of_order", function.at("index"))
        yield from self._calls.named(node.text("id"), node.at("id"))
        if not isinstance(function.get("arguments"), dict):
            error = "Input should be a valid dictionary"
            yield self.broken("arguments_not_object", function.at("arguments"), error)
        self._calls.add(function.where, is_freeform=True)

    def _ended(self, data: Node) -> Iterator[Violation]:
        self.is_over = self.complete = True
        for name in COUNTS:
            data.integer(name)
        if reason := data.text("done_reason"):
            yield from self._calls.finished(reason, data.at("done_reason"))
        else:
            yield self.broken("finish_missing", data.at("done_reason"))

"""The chunks of a streamed chat completion.

Chunks have one id. The first delta of a choice has its role; a call begins with its number, id,
type and name, and goes on with pieces of its arguments; a choice ends with its reason. Usage comes
in a chunk without choices behind all of them, and `[DONE]` is last. `error` in place of a chunk
ends the stream.
"""

from collections.abc import Iterator

from canonicall.verify.node import Node
from canonicall.verify.streams.calls import Call, Calls, Reasons
from canonicall.verify.streams.grammar import Grammar
from canonicall.verify.violation import Violation

REASONS = Reasons(
    calls=frozenset({"tool_calls", "function_call"}),
    plain=frozenset({"stop"}),
    cut=frozenset({"length", "content_filter"}),
)
# A call has one of these, and its text in the field that stands behind it.
CALL_TYPES = {"function": "arguments", "custom": "input"}
_LATE = "the choice has ended before."


class Choice:
    """What is known of one choice."""

    def __init__(self, source: str) -> None:
        self.calls = Calls(REASONS, source)
        self.open: list[Call] = []
        self.types: list[str] = []
        self.has_ended = False
        self.legacy: Call | None = None


class OpenaiChatGrammar(Grammar):
    """One streamed completion."""

    source = "platform.openai.com: chat streaming; openai.types.chat.ChatCompletionChunk"

    def __init__(self) -> None:
        super().__init__()
        self._id = ""
        self._choices: dict[int, Choice] = {}
        self._has_usage = False
        self._has_failed = False

    def frame(self, name: str, data: Node) -> Iterator[Violation]:
        if self.is_over or self._has_failed:
            yield self.broken("event_after_end", data.where)
        elif data.has("error"):
            yield from self.missing(data.node("error"), "message")
            self._has_failed = True
        else:
            if name:
                yield self.broken("event_name_differs", data.where, why="chunks have no names.")
            yield from self._chunk(data)

    def done(self, where: str) -> Iterator[Violation]:
        if self.is_over:
            yield self.broken("event_after_end", where)
        elif not self._has_failed:
            if not self._choices:
                yield self.broken("stream_not_started", where)
            if any(not choice.has_ended for choice in self._choices.values()):
                yield self.broken("finish_missing", where)
            self.complete = True
        self.is_over = True

    def end(self, where: str) -> Iterator[Violation]:
        if not self._has_failed:
            yield from super().end(where)

    def _chunk(self, data: Node) -> Iterator[Violation]:
        yield from self.missing(data, "id", "object", "created", "model", "choices")
        if data.text("object") != "chat.completion.chunk":
            yield self.broken("unknown_event", data.at("object"))
        id = data.text("id")
        if self._id and id != self._id:
            yield self.broken("stream_id_changed", data.at("id"))
        self._id = self._id or id
        choices = data.nodes("choices")
        yield from self._usage(data, is_alone=not choices)
        for choice in choices:
            yield from self._choice(choice)

    def _usage(self, data: Node, *, is_alone: bool) -> Iterator[Violation]:
        """Usage comes once, alone, and behind every choice."""
        if data.has("usage"):
            usage = data.node("usage")
            yield from self.missing(usage, "prompt_tokens", "completion_tokens", "total_tokens")
        elif not is_alone or data.has("moderation"):
            return
        all_ended = self._choices and all(choice.has_ended for choice in self._choices.values())
        if not (is_alone and all_ended) or self._has_usage:
            yield self.broken("event_out_of_order", data.where)
        self._has_usage = True

    def _choice(self, node: Node) -> Iterator[Violation]:
        yield from self.missing(node, "index", "delta")
        index = node.integer("index") or 0
        delta = node.node("delta")
        choice = self._choices.get(index)
        if choice is None:
            if index != len(self._choices):
                yield self.broken("index_out_of_order", node.at("index"))
            choice = self._choices[index] = Choice(self.source)
            if delta.text("role") != "assistant":
                yield self.broken("frame_field_missing", delta.at("role"))
        elif choice.has_ended:
            yield self.broken("event_out_of_order", node.where, why=_LATE)
        elif delta.has("role"):
            yield self.broken("content_twice", delta.at("role"))
        delta.text("content")
        delta.text("refusal")
        for call in delta.nodes("tool_calls"):
            yield from self._call(choice, call)
        yield from self._function_call(choice, delta)
        if reason := node.text("finish_reason"):
            choice.has_ended = True
            yield from choice.calls.finished(reason, node.at("finish_reason"))

    def _call(self, choice: Choice, node: Node) -> Iterator[Violation]:
        index = node.integer("index")
        if index is None:
            error = "Expected list delta entry to have an `index` key"
            yield self.broken("frame_field_missing", node.at("index"), error)
            return
        kind = node.text("type")
        if 0 <= index < len(choice.open):
            kind = choice.types[index]
            # Clients add strings up: an id or a name that is repeated is doubled.
            for held, key in ((node, "id"), (node.node(kind), "name")):
                if held.text(key):
                    yield self.broken("content_twice", held.at(key))
        else:
            yield from self._call_started(choice, node, index, kind)
            kind, index = choice.types[-1], -1
        choice.open[index].pieces.append(node.node(kind).text(CALL_TYPES[kind]))

    def _call_started(
        self, choice: Choice, node: Node, index: int, kind: str
    ) -> Iterator[Violation]:
        if index != len(choice.open):
            yield self.broken("index_out_of_order", node.at("index"))
        if not (node.text("id") and kind in CALL_TYPES and node.node(kind).text("name")):
            yield self.broken("call_incomplete", node.where)
        yield from choice.calls.named(node.text("id"), node.at("id"))
        choice.types.append(kind if kind in CALL_TYPES else "function")
        is_freeform = kind == "custom"
        choice.open.append(choice.calls.add(node.where, is_freeform=is_freeform))

    def _function_call(self, choice: Choice, delta: Node) -> Iterator[Violation]:
        """The one call that answers had before there were several."""
        if not delta.has("function_call"):
            return
        node = delta.node("function_call")
        if choice.legacy is None:
            choice.legacy = choice.calls.add(node.where)
            yield from self.missing(node, "name")
        choice.legacy.pieces.append(node.text("arguments"))

"""The chunks of a streamed generateContent.

Each chunk is a whole response whose parts are the next piece. A call is one part with its arguments
as an object; only Vertex streams arguments, as `partialArgs` up to a part that does not continue.
The last chunk with a candidate has its reason; a prompt that was blocked has a reason of its own in
place of candidates. `error` in place of a chunk ends the stream.
"""

from collections.abc import Iterator

from canonicall.framing.detect import AnyFraming
from canonicall.verify.node import Node
from canonicall.verify.streams.calls import Calls, Reasons
from canonicall.verify.streams.grammar import Grammar, Reader
from canonicall.verify.violation import Violation

# STOP stands for a finished turn and for calls alike.
REASONS = Reasons(
    calls=frozenset(),
    plain=frozenset(),
    cut=frozenset({"MAX_TOKENS", "CONTINUATION"}),
    other=frozenset(
        {
            "STOP",
            "SAFETY",
            "RECITATION",
            "LANGUAGE",
            "OTHER",
            "BLOCKLIST",
            "PROHIBITED_CONTENT",
            "SPII",
            "MALFORMED_FUNCTION_CALL",
            "IMAGE_SAFETY",
            "UNEXPECTED_TOOL_CALL",
            "TOO_MANY_TOOL_CALLS",
            "IMAGE_PROHIBITED_CONTENT",
            "NO_IMAGE",
            "IMAGE_RECITATION",
            "IMAGE_OTHER",
            "MALFORMED_RESPONSE",
        }
    ),
)
# A part is exactly one of these; the rest of its fields say something about it.
PARTS = {
    "text",
    "functionCall",
    "inlineData",
    "fileData",
    "executableCode",
    "codeExecutionResult",
    "toolCall",
    "toolResponse",
}


class Candidate:
    """What is known of one candidate."""

    def __init__(self, source: str) -> None:
        self.calls = Calls(REASONS, source)
        self.streamed = ""
        """Where the call stands whose arguments go on in the next part; empty where none does."""
        self.has_ended = False


class GeminiGrammar(Grammar):
    """One streamed response, as server-sent events or as one array."""

    source = "ai.google.dev: streamGenerateContent; google.genai.types.GenerateContentResponse"

    def __init__(self) -> None:
        super().__init__()
        self._id = ""
        self._is_blocked = False
        self._has_failed = False
        self._candidates: dict[int, Candidate] = {}

    def reader(self) -> Reader:
        return AnyFraming()

    def frame(self, name: str, data: Node) -> Iterator[Violation]:
        if self._has_failed:
            yield self.broken("event_after_end", data.where)
        elif data.has("error"):
            yield from self.missing(data.node("error"), "code", "message", "status")
            self._has_failed = True
        else:
            if name:
                yield self.broken("event_name_differs", data.where, why="chunks have no names.")
            yield from self._chunk(data)

    def end(self, where: str) -> Iterator[Violation]:
        """Nothing but the reason of each candidate says that the reply is whole."""
        if self._has_failed:
            return
        if not (self._candidates or self._is_blocked):
            yield self.broken("stream_not_ended", where)
            return
        self.complete = True
        for candidate in self._candidates.values():
            if not candidate.has_ended:
                self.complete = False
                yield self.broken("finish_missing", where)

    def _chunk(self, data: Node) -> Iterator[Violation]:
        id = data.text("responseId")
        if id and self._id and id != self._id:
            yield self.broken("stream_id_changed", data.at("responseId"))
        self._id = self._id or id
        self._is_blocked = self._is_blocked or data.node("promptFeedback").has("blockReason")
        usage = data.node("usageMetadata")
        for key in usage.fields:
            if key.endswith("TokenCount"):
                usage.integer(key)
        for node in data.nodes("candidates"):
            yield from self._candidate(node)

    def _candidate(self, node: Node) -> Iterator[Violation]:
        index = node.integer("index") or 0
        candidate = self._candidates.get(index)
        if candidate is None:
            if index != len(self._candidates):
                yield self.broken("index_out_of_order", node.at("index"))
            candidate = self._candidates[index] = Candidate(self.source)
        if candidate.has_ended:
            yield self.broken("event_out_of_order", node.where, why="it has ended before.")
        content = node.node("content")
        if content.fields and content.text("role") != "model":
            yield self.broken("frame_field_missing", content.at("role"))
        for part in content.nodes("parts"):
            yield from self._part(candidate, part)
        if reason := node.text("finishReason"):
            candidate.has_ended = True
            where = node.at("finishReason")
            yield from candidate.calls.finished(reason, where)
            if candidate.streamed and reason not in REASONS.cut:
                yield self.broken("block_left_open", candidate.streamed)

    def _part(self, candidate: Candidate, part: Node) -> Iterator[Violation]:
        kinds = [name for name in part.fields if name in PARTS]
        if len(kinds) != 1:
            yield self.broken("delta_does_not_fit", part.where, why="a part is exactly one thing.")
        part.text("text")
        part.text("thoughtSignature")
        if "functionCall" in kinds:
            yield from self._call(candidate, part.node("functionCall"))

    def _call(self, candidate: Candidate, node: Node) -> Iterator[Violation]:
        goes_on = node.get("willContinue") is True
        if not candidate.streamed:
            if not node.text("name"):
                yield self.broken("call_incomplete", node.where)
            yield from candidate.calls.named(node.text("id"), node.at("id"))
            call = candidate.calls.add(node.at("args"), is_freeform=True)
            if node.has("args") and not isinstance(node.get("args"), dict):
                error = "Input should be a valid dictionary"
                yield self.broken("arguments_not_object", call.where, error)
        elif node.text("name"):
            yield self.broken("block_left_open", candidate.streamed)
        if node.has("args") and (goes_on or node.has("partialArgs") or candidate.streamed):
            yield self.broken("content_twice", node.at("args"))
        candidate.streamed = node.where if goes_on else ""

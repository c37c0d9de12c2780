"""`verify_stream` and `StreamChecker`: the bytes of a stream in, what breaks its grammar out."""

from collections.abc import Iterator

import msgspec

from canonicall.errors import MalformedBody, UnknownName
from canonicall.findings import Report
from canonicall.framing.frame import Frame
from canonicall.verify.node import Node, WrongKind
from canonicall.verify.streams.anthropic import AnthropicGrammar
from canonicall.verify.streams.bedrock import BedrockGrammar
from canonicall.verify.streams.cohere import CohereGrammar
from canonicall.verify.streams.gemini import GeminiGrammar
from canonicall.verify.streams.grammar import Grammar
from canonicall.verify.streams.ollama import OllamaGrammar
from canonicall.verify.streams.openai_chat import OpenaiChatGrammar
from canonicall.verify.streams.openai_responses import OpenaiResponsesGrammar
from canonicall.verify.violation import Violation, refuse

GRAMMARS: dict[str, type[Grammar]] = {
    "anthropic": AnthropicGrammar,
    "bedrock": BedrockGrammar,
    "cohere": CohereGrammar,
    "gemini": GeminiGrammar,
    "ollama": OllamaGrammar,
    "openai-chat": OpenaiChatGrammar,
    "openai-responses": OpenaiResponsesGrammar,
}
_DONE = b"[DONE]"
_FRAMING = "the framing of the format"


def verify_stream(data: bytes, format: str) -> Report:
    """What is wrong with a whole stream of a wire format; nothing if every client can read it.

    Bytes that cannot be read are a violation as well, never an exception. A stream that the
    format's own error ends is sound. An unknown format raises `UnknownName`.
    """
    checker = StreamChecker(format)
    return Report.of([*checker.feed(data), *checker.close()])


class StreamChecker:
    """Judges one stream while it is written or read, in pieces of any size."""

    def __init__(self, format: str) -> None:
        if format not in GRAMMARS:
            raise UnknownName("format", format, GRAMMARS)
        self._grammar = GRAMMARS[format]()
        self._reader = self._grammar.reader()
        self._count = 0
        self._is_closed = False

    @property
    def complete(self) -> bool:
        """Whether the end of a whole reply was seen: false after an error, and before any end."""
        return self._grammar.complete

    def feed(self, data: bytes) -> list[Violation]:
        """What is wrong with the frames that these bytes complete."""
        found: list[Violation] = []
        if self._is_closed:
            return found
        try:
            for frame in self._reader.feed(data):
                found += self._judged(frame)
        except MalformedBody as damaged:
            # Nothing tells where the next frame begins: the rest cannot be read.
            self._is_closed = True
            found.append(self._unreadable(damaged.what))
        return found

    def close(self) -> list[Violation]:
        """What is wrong with the stream stopping here."""
        if self._is_closed:
            return []
        self._is_closed = True
        # Official clients drop what the end of the bytes cuts off, so nobody looks into it here.
        cut = [refuse("frame_cut", self._where, source=_FRAMING) for _ in self._reader.close()]
        return cut + list(self._grammar.end(self._where))

    @property
    def _where(self) -> str:
        return f"frames[{self._count}]"

    def _judged(self, frame: Frame) -> list[Violation]:
        found: list[Violation] = []
        try:
            for violation in self._violations(frame):
                found.append(violation)  # noqa: PERF402  # what was found before it raised counts
        except WrongKind as wrong:
            found.append(
                refuse(
                    "frame_malformed",
                    wrong.where,
                    source=self._grammar.source,
                    why=f"{wrong.what}.",
                )
            )
        self._count += 1
        return found

    def _violations(self, frame: Frame) -> Iterator[Violation]:
        if frame.data == _DONE:
            yield from self._grammar.done(self._where)
            return
        try:
            data = msgspec.json.decode(frame.data)
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            yield self._unreadable(f"not JSON: {error}")
            return
        if not isinstance(data, dict):
            yield self._unreadable("the payload is not an object.")
            return
        yield from self._grammar.frame(frame.name, Node(data, self._where))

    def _unreadable(self, what: str) -> Violation:
        return refuse("frame_unreadable", self._where, what, source=_FRAMING)

"""A door: one wire format as its provider serves it. Each format has one, with the same questions.

Where is it (`asked`), who is there (`key`), is what came back ours (`broken_seals`), what is added
to a reply (`sealed`), and in which words everything else is told. What a format and the rules of
its provider have in common with the library is taken from `wire/` and `verify/`.
"""

import re
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any, ClassVar

from msgspec import Struct

from canonicall.reply import Reply
from canonicall.target import Target
from canonicall.testing.exchange import Piece, SimRequest
from canonicall.verify.violation import Violation
from canonicall.wire.error_body import ErrorBody

GENERATE, COUNT, MODELS, MODEL, STORED, INPUT_ITEMS, DELETE = (
    "generate",
    "count",
    "models",
    "model",
    "stored",
    "input_items",
    "delete",
)
"""What can be asked for at a door."""


class Asked(Struct, frozen=True):
    """What a request wants."""

    action: str
    name: str = ""
    """The model, or the id of what is stored, where the path says it."""
    streams: bool | None = None
    """Whether the path says that the reply is streamed; None where the body says so."""


class Door:
    """The questions, with the answers that most formats have in common."""

    format: ClassVar[str]
    routes: ClassVar[tuple[tuple[str, str, str], ...]]
    """Method, pattern of the path's end, what is asked for."""
    stream_type: ClassVar[str] = "text/event-stream"

    def asked(self, request: SimRequest) -> Asked | None:
        """What is asked for; None where this format has nothing at that path."""
        for method, pattern, action in self.routes:
            found = re.search(pattern, request.path)
            if found is not None and request.method == method:
                return Asked(action, found.groupdict().get("name") or "")
        return None

    def key(self, request: SimRequest) -> str:
        """The key the client shows; empty where it shows none."""
        scheme, _, key = request.headers.get("authorization", "").partition(" ")
        return key if scheme.lower() == "bearer" else ""

    def streams(self, asked: Asked, body: dict[str, Any]) -> bool:
        """Whether the reply is to be streamed."""
        return body.get("stream") is True if asked.streams is None else asked.streams

    def model(self, asked: Asked, body: dict[str, Any]) -> str:
        """The model that is asked."""
        named = body.get("model")
        return asked.name or (named if isinstance(named, str) else "")

    def broken_seals(self, body: dict[str, Any], target: Target) -> Iterator[Violation]:
        """What came back sealed and is not as it was made."""
        del body, target
        return iter(())

    def sealed(self, reply: Reply, body: dict[str, Any], target: Target) -> Reply:
        """`reply` with the signatures this provider puts on it."""
        del body, target
        return reply

    def response(self, body: dict[str, Any], target: Target, number: int) -> dict[str, Any]:
        """The body of a response with what only the provider itself fills in."""
        del target, number
        return body

    def framed(self, pieces: Sequence[bytes], request: SimRequest) -> Iterator[Piece]:
        """The pieces of a stream as this request wants them framed."""
        del request
        return iter(pieces)

    def error(self, status: int, error: ErrorBody, target: Target) -> Any:
        """The body of an error response."""
        del status, target
        module = import_module(f"canonicall.wire.{self.format.replace('-', '_')}.errors")
        body: dict[str, Any] = module.encode_error(error)
        return body

    def refusal_status(self, code: str, target: Target) -> int:
        """The status that goes with a violation."""
        del code, target
        return 400

    def no_model(self, model: str) -> ErrorBody:
        """What is said of a model that is not there."""
        return ErrorBody(f"The model `{model}` does not exist", "not_found_error")

    def no_key(self, shown: str) -> ErrorBody:
        """What is said to a client without a valid key."""
        del shown
        return ErrorBody("Invalid API key.", "authentication_error")

    def models(self, names: Sequence[str]) -> dict[str, Any]:
        """The list of models."""
        return {"object": "list", "data": [self.one_model(name) for name in names]}

    def one_model(self, name: str) -> dict[str, Any]:
        """One model of the list."""
        return {"id": name, "object": "model", "created": 0, "owned_by": "simulator"}

    def tokens(self, count: int) -> dict[str, Any]:
        """The answer to a question for the number of tokens."""
        return {"input_tokens": count}

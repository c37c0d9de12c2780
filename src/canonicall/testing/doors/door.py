"""A door: one wire format as its provider serves it. Each format has one, with the same questions.

Where is it (`asked`), who is there (`key`), is what came back ours (`broken_seals`), what is added
to a reply (`sealed`), and in which words everything else is told. What a format and the rules of
its provider have in common with the library is taken from `wire/` and `verify/`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, ClassVar, assert_never

from msgspec import Struct

from canonicall.blocks import Block, Text
from canonicall.facts.host_errors import ErrorForm
from canonicall.facts.registry import errors_of
from canonicall.facts.target import Target
from canonicall.reply import Reply
from canonicall.testing.exchange import Piece, SimRequest
from canonicall.testing.failure import Failure
from canonicall.verify.violation import Violation
from canonicall.wire.error_body import ErrorBody

GENERATE, COUNT, MODELS, MODEL, SHOW, VERSION, STORED, INPUT_ITEMS, DELETE, CANCEL, COMPACT = (
    "generate",
    "count",
    "models",
    "model",
    "show",
    "version",
    "stored",
    "input_items",
    "delete",
    "cancel",
    "compact",
)
"""What can be asked for at a door."""
CONVERSATIONS = (
    "conversations",
    "conversation",
    "conversation_items",
    "conversation_item",
)
KEPT = (STORED, INPUT_ITEMS, DELETE, CANCEL, *CONVERSATIONS)
"""What is answered from the state that a provider keeps."""
STREAM = "stream"
"""A reply that is streamed, where the path says so and not the body."""


class Asked(Struct, frozen=True):
    """What a request wants."""

    action: str
    name: str = ""
    """The model, or the id of what is stored, where the path says it."""
    streams: bool | None = None
    """Whether the path says that the reply is streamed; None where the body says so."""
    item: str = ""
    """The id of a part of what is stored, where the path says it."""


class State:
    """What a provider keeps between requests; most formats keep nothing."""

    def named(self, body: dict[str, Any]) -> dict[str, Any]:
        """`body` with what a stored prompt says, the model among it."""
        return body

    def opened(self, body: dict[str, Any], request: SimRequest, target: Target) -> dict[str, Any]:
        """`body` with the turns it refers to; raises `Failure` where they are not kept."""
        del request, target
        return body

    def violations(self, whole: dict[str, Any]) -> Iterator[Violation]:
        """What is wrong in a whole body with what is kept."""
        del whole
        return iter(())

    def check(self, whole: dict[str, Any], target: Target) -> None:
        """A failure where something in a whole body that keeps the rules is not as it was made."""
        del whole, target

    def keep(self, asked: dict[str, Any], whole: dict[str, Any], made: dict[str, Any]) -> None:
        """Keep the response `made`."""

    def answered(self, asked: Asked, request: SimRequest, body: dict[str, Any]) -> dict[str, Any]:
        """The answer to a question about what is kept."""
        raise NotImplementedError


class Door:
    """The questions, with the answers that most formats have in common."""

    format: ClassVar[str]
    routes: ClassVar[tuple[tuple[str, str, str], ...]]
    """Method, pattern of the path's end, what is asked for."""
    stream_type: ClassVar[str] = "text/event-stream"
    has_object_arguments: ClassVar[bool] = False
    """Whether a whole body has arguments as an object, and a stream has them as text."""
    request_header: ClassVar[str] = "x-request-id"
    """Where a response says which request it answers."""
    names_param: ClassVar[bool] = False
    """Whether an error has the parameter and a code apart from its text."""
    most_bytes: ClassVar[int] = 0
    """How large a request may be; 0 where no limit is known."""
    no_model_named: ClassVar[str] = "you must provide a model parameter"
    not_json: ClassVar[str] = "We could not parse the JSON body of your request: {why}"

    def asked(self, request: SimRequest) -> Asked | None:
        """What is asked for; None where this format has nothing at that path."""
        for method, pattern, action in self.routes:
            found = re.search(pattern, request.path)
            if found is not None and request.method == method:
                named = found.groupdict()
                is_told = any(one == STREAM for *_, one in self.routes)
                streams = action == STREAM if is_told else None
                name, item = named.get("name") or "", named.get("item") or ""
                return Asked(GENERATE if action == STREAM else action, name, streams, item)
        return None

    def has_path(self, request: SimRequest) -> bool:
        """Whether something stands at the path, be it for another method."""
        return any(re.search(pattern, request.path) for _, pattern, _ in self.routes)

    def state(self, *, is_lenient: bool, prompts: Mapping[str, Mapping[str, Any]]) -> State:
        """What is kept between requests, as yet empty. Where it `is_lenient`, references to what
        only the real provider keeps pass."""
        del is_lenient, prompts
        return State()

    def readable(self, body: dict[str, Any]) -> dict[str, Any]:
        """`body` as the model reads it: with the text of summaries that are packed."""
        return body

    def summary(self, text: str, target: Target, id: str) -> Block:
        """The block that holds a summary of a conversation."""
        del target, id
        return Text(text=text)

    def is_compaction(self, body: dict[str, Any]) -> bool:
        """Whether a summary is asked for in place of a reply."""
        del body
        return False

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

    def needs_model(self, body: dict[str, Any], target: Target) -> bool:
        """Whether a body that names no model is refused for it."""
        del body, target
        return True

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

    def repeats(self, request: dict[str, Any]) -> dict[str, Any]:
        """The fields of a response that repeat what the request asks for."""
        del request
        return {}

    def counts_streams(self, body: dict[str, Any], target: Target) -> bool:
        """Whether a stream says at its end what it cost."""
        del body, target
        return True

    def shaped(self, pieces: list[bytes], target: Target) -> list[bytes]:
        """The pieces of a stream as this host cuts them."""
        del target
        return pieces

    def type_of_stream(self, request: SimRequest) -> str:
        """The content type of a stream as this request wants it framed."""
        del request
        return self.stream_type

    def framed(self, pieces: Sequence[bytes], request: SimRequest) -> Iterator[Piece]:
        """The pieces of a stream as this request wants them framed."""
        del request
        return iter(pieces)

    def error(self, status: int, error: ErrorBody, target: Target) -> Any:
        """The body of an error response, in the host's own form where it has one."""
        form = errors_of(target.provider).bodies.get(self.format)
        if form is not None:
            return error_body(form, status, error)
        module = import_module(f"canonicall.wire.{self.format.replace('-', '_')}.errors")
        body: dict[str, Any] = module.encode_error(error)
        return body

    def told(self, said: Any, number: str) -> Any:
        """The body of an error response with the number of the request, where it has it."""
        del number
        return said

    def error_headers(self, error: ErrorBody) -> dict[str, str]:
        """What an error response says in its headers; `_` stands for `-`."""
        del error
        return {}

    def refusal_status(self, code: str, target: Target) -> int:
        """The status that goes with a violation."""
        del code, target
        return 400

    def wrong_method(self, request: SimRequest) -> Failure:
        """The answer to a method that nothing at this path has."""
        del request
        return Failure(405, ErrorBody("Method Not Allowed", "invalid_request_error"))

    def too_large(self) -> Failure:
        """The answer to a body that is larger than `most_bytes`."""
        return Failure(413, ErrorBody("Request exceeds the maximum size", "request_too_large"))

    def no_model(self, target: Target) -> Failure:
        """The answer where the model is not there."""
        what = f"The model `{target.model}` does not exist"
        return Failure(404, ErrorBody(what, "not_found_error"))

    def no_key(self, shown: str) -> Failure:
        """The answer to a client without a valid key."""
        del shown
        return Failure(401, ErrorBody("Invalid API key.", "authentication_error"))

    def models(self, names: Sequence[str], target: Target) -> dict[str, Any]:
        """The list of models."""
        return {"object": "list", "data": [self.one_model(name, target) for name in names]}

    def one_model(self, name: str, target: Target) -> dict[str, Any]:
        """One model of the list."""
        del target
        return {"id": name, "object": "model", "created": 0, "owned_by": "simulator"}

    def shown(self, target: Target) -> dict[str, Any]:
        """A model that a body names, with all that can be said of it."""
        return self.one_model(target.model, target)

    def version(self) -> dict[str, Any]:
        """Which version of a server this is, where it says that."""
        return {}

    def counted(self, body: dict[str, Any]) -> dict[str, Any]:
        """The request whose tokens are counted: it is judged as if it asked for a reply."""
        return body

    def tokens(self, count: int) -> dict[str, Any]:
        """The answer to a question for the number of tokens."""
        return {"input_tokens": count}


def error_body(form: ErrorForm, status: int, error: ErrorBody) -> dict[str, Any]:
    """An error in one of the forms that hosts have instead of their format's."""
    match form:
        case "flat":
            kind = error.type or "invalid_request_error"
            said = {"object": "error", "message": error.message, "type": kind}
            return {**said, "param": error.param or None, "code": error.code or None}
        case "code_and_text":
            code = error.code or "Client specified an invalid argument"
            return {"code": code, "error": error.message}
        case "status_code":
            return {"error": {"message": error.message, "code": status, **(error.native or {})}}
        case "detail":
            return {"detail": error.message}
        case _:
            assert_never(form)


def list_of(holder: Any, name: str) -> list[Any]:
    """The list that a field of a foreign value holds; empty where it holds something else."""
    value = holder.get(name) if isinstance(holder, dict) else None
    return value if isinstance(value, list) else []

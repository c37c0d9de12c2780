"""A front door: one wire format as clients of it expect to be served.

Where it is, what is asked for, and in which shape errors and lists of models are told. What a
request and a reply mean is read and written by `wire/`.
"""

import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from importlib import import_module
from typing import Any, ClassVar, TypeAlias

from msgspec import Struct

from canonicall.facts.target import Target
from canonicall.findings import Finding
from canonicall.gateway.exchange import HttpRequest, Refused
from canonicall.wire.error_body import ErrorBody

GENERATE, COUNT, MODELS, MODEL = "generate", "count", "models", "model"
COMPACT = "compact"
"""A summary in place of a conversation."""
STORED, INPUT_ITEMS, DELETE, CANCEL = "stored", "input_items", "delete", "cancel"
CONVERSATION_MAKE, CONVERSATION = "conversation_make", "conversation"
CONVERSATION_UPDATE, CONVERSATION_DELETE = "conversation_update", "conversation_delete"
CONVERSATION_ITEMS, CONVERSATION_ITEMS_ADD = "conversation_items", "conversation_items_add"
CONVERSATION_ITEM, CONVERSATION_ITEM_DELETE = "conversation_item", "conversation_item_delete"
STREAM = "stream"
"""Like GENERATE, where the path says that the reply is streamed."""
METHODS = ("POST", "GET", "DELETE")
MODEL_NAME = r"(?P<name>.+)(?<!:generateContent)(?<!:streamGenerateContent)(?<!:countTokens)"
"""The name of a model in a path. A colon may be in it; Google's methods follow one."""
Routes: TypeAlias = tuple[tuple[str, str, str], ...]

_LARGEST_PAGE = 1000
"""Anthropic and Google list no more at a time."""
_LONGEST_NUMBER = 10
_ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    422: "invalid_request_error",
    429: "rate_limit_error",
    503: "overloaded_error",
    504: "timeout_error",
    529: "overloaded_error",
}
"""The words of Anthropic, which are the most exact; other formats have theirs for them."""


class Asked(Struct, frozen=True):
    """What a request wants."""

    action: str
    name: str = ""
    """The model, or the id of what is stored, where the path says it."""
    item: str = ""
    """The id of an item of it."""


def page_size(asked: str, usual: int) -> int:
    """How many entries a page has."""
    return min(max(whole_number(asked, usual), 1), _LARGEST_PAGE)


def whole_number(text: str, otherwise: int) -> int:
    """The number in a query, or another where there is none: the longest ones cannot be read."""
    return int(text) if text.isdecimal() and len(text) < _LONGEST_NUMBER else otherwise


class Front:
    """The answers that most formats have in common."""

    format: ClassVar[str]
    routes: ClassVar[Routes]
    """Method, pattern of the path, what is asked for; `(?P<name>...)` is the model, or an id."""
    beside: ClassVar[str] = "(?!)"
    """Pattern of the paths that are this format's, whether something is there or not."""
    call_prefix: ClassVar[str] = "call_"
    response_prefix: ClassVar[str] = ""
    body_headers: ClassVar[tuple[str, ...]] = ()
    """What a client says of the body in headers: the owner of the format gets them with it."""
    streamed_errors: ClassVar[tuple[str, ...]] = ()
    """Kinds of refusals that a client which streams reads from the stream, not from the status."""

    def __init__(self) -> None:
        self._routes = [(method, re.compile(path), what) for method, path, what in self.routes]
        self._beside = re.compile(self.beside)

    def asked(self, request: HttpRequest) -> Asked | None:
        """What is asked for; None where this format has nothing at that path."""
        for method, path, action in self._routes:
            found = path.fullmatch(request.path)
            if found is not None and request.method == method:
                named = found.groupdict()
                return Asked(action, named.get("name") or "", named.get("item") or "")
        return None

    def is_beside(self, request: HttpRequest) -> bool:
        """Whether a request for something that is not there comes from a client of this format."""
        return self._beside.fullmatch(request.path) is not None

    def served(self, body: dict[str, Any]) -> tuple[dict[str, Any], list[Finding]]:
        """`body` without what no target can be asked for, and what was left out."""
        return body, []

    def unserved(self, body: Mapping[str, Any], target: Target) -> Refused | None:
        """The refusal of what `body` asks for and a reply of this target cannot have."""
        del body, target
        return None

    def model(self, asked: Asked, body: Mapping[str, Any]) -> str:
        """The model that is asked for."""
        named = body.get("model")
        return asked.name or (named if isinstance(named, str) else "")

    def streams(self, asked: Asked, body: Mapping[str, Any]) -> bool:
        """Whether the reply is to be streamed."""
        return asked.action == STREAM or body.get("stream") is True

    def stream_type(self, request: HttpRequest) -> str:
        """The content type of a stream, as this request wants it framed."""
        del request
        return "text/event-stream"

    def framed(
        self, pieces: AsyncGenerator[bytes, None], request: HttpRequest
    ) -> AsyncGenerator[bytes, None]:
        """The pieces of a stream as this request wants them framed."""
        del request
        return pieces

    def repeats(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """The fields of a reply that repeat what the request in `body` asks for."""
        del body
        return {}

    def dated(self, body: dict[str, Any], begun: float, ended: float) -> dict[str, Any]:
        """The body of a reply, with the times that this format has fields for."""
        del begun, ended
        return body

    def error(self, refused: Refused, request_id: str = "") -> Any:
        """The body of an error; `request_id`: the request, for the formats that name it there."""
        del request_id
        status = refused.status
        kind = _ERROR_TYPES.get(status, "api_error" if status >= 500 else "invalid_request_error")
        module = import_module(f"canonicall.wire.{self.format.replace('-', '_')}.errors")
        body: Any = module.encode_error(
            ErrorBody(refused.message, kind, refused.code, refused.param)
        )
        return body

    def overflow(self, tokens: int, limit: int) -> Refused:
        """A prompt that is too long, as clients recognise it; figures that are unknown are 0."""
        raise NotImplementedError

    def models(self, names: Sequence[str], query: Mapping[str, str]) -> dict[str, Any]:
        """The list of models, or the page of it that is asked for."""
        del query
        return {"object": "list", "data": [self.one_model(name) for name in names]}

    def one_model(self, name: str) -> dict[str, Any]:
        """One model of the list."""
        return {"id": name, "object": "model", "created": 0, "owned_by": "canonicall"}

    def tokens(self, count: int) -> dict[str, Any]:
        """The answer to a question for the number of tokens."""
        return {"input_tokens": count}

"""A front door: one wire format as clients of it expect to be served.

Where it is, what is asked for, and in which shape errors and lists of models are told. What a
request and a reply mean is read and written by `wire/`.
"""

import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from importlib import import_module
from typing import Any, ClassVar, TypeAlias

from msgspec import Struct

from canonicall.gateway.exchange import HttpRequest, Refused
from canonicall.wire.error_body import ErrorBody

GENERATE, COUNT, MODELS, MODEL = "generate", "count", "models", "model"
STORED, INPUT_ITEMS, DELETE, CANCEL = "stored", "input_items", "delete", "cancel"
STREAM = "stream"
"""Like GENERATE, where the path says that the reply is streamed."""
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
    call_prefix: ClassVar[str] = "call_"
    response_prefix: ClassVar[str] = ""
    streamed_errors: ClassVar[tuple[str, ...]] = ()
    """Kinds of refusals that a client which streams reads from the stream, not from the status."""

    def __init__(self) -> None:
        self._routes = [(method, re.compile(path), what) for method, path, what in self.routes]

    def asked(self, request: HttpRequest) -> Asked | None:
        """What is asked for; None where this format has nothing at that path."""
        for method, path, action in self._routes:
            found = path.fullmatch(request.path)
            if found is not None and request.method == method:
                return Asked(action, found.groupdict().get("name") or "")
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

    def dated(self, body: dict[str, Any], now: float) -> dict[str, Any]:
        """The body of a reply, with the time where this format tells it."""
        del now
        return body

    def error(self, refused: Refused) -> Any:
        """The body of an error."""
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

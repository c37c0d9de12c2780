"""APIs that keep conversations for their clients and are not served here.

In: a request to a path of such an API. Out: the error that its provider has for an address without
a service, with what to use in its place. The conversations that the gateway keeps are those of the
Responses API and the threads of the Messages API; a client of another API would lose its history
without notice if it were answered in any other way.
"""

import re
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from canonicall.gateway.exchange import HttpRequest, HttpResponse

_NOT_FOUND = 404
_GEMINI = r"(?:/gemini)?/v1(?:beta\d*|alpha)?(?:/projects/[^/]+/locations/[^/]+)?"
_OPENAI = r"(?:/openai)?/v1"


def _openai_error(message: str) -> dict[str, Any]:
    """As api.openai.com answers at an address that it does not know."""
    return {
        "error": {
            "message": message,
            "type": "invalid_request_error",
            "param": None,
            "code": None,
        }
    }


def _google_error(message: str) -> dict[str, Any]:
    """google-genai, errors.py: code, message and status."""
    return {"error": {"code": _NOT_FOUND, "message": message, "status": "NOT_FOUND"}}


def _mistral_error(message: str) -> dict[str, Any]:
    """mistralai, models/sdkerror.py takes any body; api.mistral.ai has these fields."""
    return {"object": "error", "message": message, "type": "not_found", "code": None}


class _Unserved(Struct, frozen=True):
    """An API, where it is, and how its provider writes errors."""

    path: re.Pattern[str]
    what: str
    instead: str
    error: Callable[[str], dict[str, Any]]


_APIS = (
    # google-genai, _gaos/interactions.py and agents.py.
    _Unserved(
        re.compile(rf"{_GEMINI}/(?:interactions|agents)(?:/.*)?"),
        "The Interactions API is not served by this gateway.",
        "Send the whole conversation to models/MODEL:generateContent.",
        _google_error,
    ),
    # google-genai, caches.py.
    _Unserved(
        re.compile(rf"{_GEMINI}/cachedContents(?:/.*)?"),
        "Cached content is not served by this gateway.",
        "Send the content with each request.",
        _google_error,
    ),
    # openai, resources/beta: assistants and threads.
    _Unserved(
        re.compile(rf"{_OPENAI}/(?:assistants|threads)(?:/.*)?"),
        "The Assistants API is not served by this gateway.",
        "Use /v1/responses with `conversation` or `previous_response_id`.",
        _openai_error,
    ),
    # mistralai, agents.py and beta_agents.py.
    _Unserved(
        re.compile(r"(?:/mistral)?/v1/agents(?:/.*)?"),
        "The Agents API is not served by this gateway.",
        "Send the instructions, the tools and the whole conversation to /v1/chat/completions.",
        _mistral_error,
    ),
)


def unserved_answer(request: HttpRequest) -> HttpResponse | None:
    """The answer at a path of an API that is not served; None for any other path."""
    for api in _APIS:
        if api.path.fullmatch(request.path) is None or not _is_meant(api, request):
            continue
        message = f"Invalid URL ({request.method} {request.path}). {api.what} {api.instead}"
        return HttpResponse.json(api.error(message), _NOT_FOUND, x_should_retry="false")
    return None


def _is_meant(api: _Unserved, request: HttpRequest) -> bool:
    """Whether the client is one of this API: Google's and Mistral's agents share `/v1/agents`."""
    is_googles = api.error is _google_error
    is_shared = request.path.startswith("/v1/")
    return not (is_googles and is_shared) or "x-goog-api-key" in request.headers

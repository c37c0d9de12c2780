"""Everything a front serves beside replies: models, counts of tokens, stored responses."""

from typing import Any

from canonicall.codec import decode_request, encode_request
from canonicall.errors import CanonicallError, MostlyUnread, UnknownName
from canonicall.gateway.exchange import HttpRequest, HttpResponse, Refused
from canonicall.gateway.fronts.front import (
    CANCEL,
    COUNT,
    DELETE,
    INPUT_ITEMS,
    MODEL,
    MODELS,
    STORED,
    Asked,
    Front,
)
from canonicall.gateway.governance.keys import VirtualKey
from canonicall.gateway.reading import parsed_body
from canonicall.gateway.responses_state import as_list
from canonicall.gateway.sessions import session_of
from canonicall.gateway.state import State
from canonicall.gateway.usage import tokens_in


async def answer(
    state: State, request: HttpRequest, front: Front, asked: Asked, key: VirtualKey | None
) -> HttpResponse:
    """The answer to anything but a request for a reply; `key`: the one that was shown."""
    owner = "" if key is None else key.name
    match asked.action:
        case action if action == MODELS:
            # Whoever chooses from the list gets what it chose.
            names = [name for name in state.routes.names if key is None or key.allows(name)]
            return HttpResponse.json(front.models(names, request.query))
        case action if action == MODEL:
            return HttpResponse.json(front.one_model(_known_model(state, asked.name)))
        case action if action == COUNT:
            return _counted(state, request, front, asked)
        case action if action in (STORED, INPUT_ITEMS, CANCEL):
            stored = await _stored(state, asked.name, owner)
            if action == CANCEL:
                what = "Only responses that were made in the background can be cancelled."
                raise Refused(400, "malformed", what)
            if action == INPUT_ITEMS:
                return HttpResponse.json(as_list(stored, request.query))
            return HttpResponse.json(stored["response"])
        case action if action == DELETE:
            if not await state.keeping.forget_response(asked.name, owner=owner):
                raise _not_stored(asked.name)
            gone = {"id": asked.name, "object": "response", "deleted": True}
            return HttpResponse.json(gone)
        case _:
            raise Refused(404, "not_found", f"Nothing is served at {request.path}.")


def _known_model(state: State, name: str) -> str:
    try:
        return state.routes.find(name).name
    except UnknownName as error:
        raise Refused(404, "model_not_found", str(error)) from None


def _counted(state: State, request: HttpRequest, front: Front, asked: Asked) -> HttpResponse:
    """About how many tokens a request has: its size as the target would get it."""
    body = parsed_body(request.body, state.settings.server)
    # Gemini's count wraps the request that is meant.
    inner = body.get("generateContentRequest")
    body = inner if isinstance(inner, dict) else body
    model = front.model(asked, body)
    try:
        chain = state.routes.find(model).chain(session_of(request, body, ""))
        decoded = decode_request(body, front.format)
        count = tokens_in(encode_request(decoded, chain[0]))
    except UnknownName as error:
        raise Refused(404, "model_not_found", str(error)) from None
    except MostlyUnread as error:
        raise Refused(422, "unread", str(error)) from None
    except CanonicallError as error:
        raise Refused(400, "malformed", str(error)) from None
    return HttpResponse.json(front.tokens(count), x_canonicall_estimate="true")


async def _stored(state: State, id: str, owner: str) -> dict[str, Any]:
    stored = await state.keeping.response(id, owner=owner)
    if stored is None:
        raise _not_stored(id)
    return stored


def _not_stored(id: str) -> Refused:
    return Refused(404, "not_found", f"Response with id '{id}' not found.")

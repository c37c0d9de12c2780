"""Everything a front serves beside replies: models, counts of tokens, stored responses."""

import os
from typing import Any

from canonicall.codec.decode import decode_request
from canonicall.codec.encode import encode_request
from canonicall.errors import CanonicallError, MostlyUnread, UnknownName
from canonicall.gateway.conversations import ACTIONS, Conversations
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
from canonicall.gateway.references import References
from canonicall.gateway.responses_state import as_list, input_of, listed
from canonicall.gateway.routing import Route
from canonicall.gateway.sessions import session_of
from canonicall.gateway.state import State
from canonicall.gateway.summaries import opened
from canonicall.gateway.turn_tree import RESPONSE, Line
from canonicall.gateway.usage import tokens_in
from canonicall.store.engine import StoreError


async def answer(
    state: State, request: HttpRequest, front: Front, asked: Asked, key: VirtualKey | None
) -> HttpResponse:
    """The answer to anything but a request for a reply; `key`: the one that was shown."""
    owner = "" if key is None else key.name
    if asked.action in ACTIONS:
        return await Conversations(state, request, asked, owner).answer()
    match asked.action:
        case action if action == MODELS:
            # Whoever chooses from the list gets what it chose.
            names = [name for name in state.routes.names if key is None or key.allows(name)]
            return HttpResponse.json(front.models(names, request.query))
        case action if action == MODEL:
            return HttpResponse.json(front.one_model(_known_model(state, asked.name)))
        case action if action == COUNT:
            return await _counted(state, request, front, asked, owner)
        case action if action in (STORED, INPUT_ITEMS, CANCEL, DELETE):
            return await _of_stored(state, request, asked, owner)
        case _:
            raise Refused(404, "not_found", f"Nothing is served at {request.path}.")


async def _of_stored(state: State, request: HttpRequest, asked: Asked, owner: str) -> HttpResponse:
    """The answer about a stored response."""
    if asked.action == DELETE:
        if not await state.keeping.forget_response(asked.name, owner=owner):
            raise _not_stored(asked.name)
        gone = {"id": asked.name, "object": "response", "deleted": True}
        return HttpResponse.json(gone)
    line = await _stored(state, asked.name, owner)
    if asked.action == CANCEL:
        what = "Only responses that were made in the background can be cancelled."
        raise Refused(400, "malformed", what)
    if asked.action == INPUT_ITEMS:
        said = await input_of(line, state.keeping, owner=owner)
        named = [listed(one, f"msg_{asked.name}_{at}") for at, one in enumerate(said)]
        return HttpResponse.json(as_list(named, request.query))
    if request.query.get("stream") == "true":
        what = (
            "This response cannot be streamed because it was not created with background=true."
            " Retrieve it without `stream`."
        )
        raise Refused(400, "malformed", what, param="stream")
    return HttpResponse.json(line.last["response"])


def _known_model(state: State, name: str) -> str:
    try:
        return state.routes.find(name).name
    except UnknownName as error:
        raise Refused(404, "model_not_found", str(error)) from None


async def _counted(
    state: State, request: HttpRequest, front: Front, asked: Asked, owner: str
) -> HttpResponse:
    """About how many tokens a request has: its size as the target would get it."""
    body = parsed_body(request.body, state.settings.server)
    # Gemini's count wraps the request that is meant.
    inner = body.get("generateContentRequest")
    body = inner if isinstance(inner, dict) else body
    model = front.model(asked, body)
    try:
        route = state.routes.find(model)
        body = await _whole(state, request, front, owner, (body, route))
        chain = route.chain(session_of(request, body, ""))
        decoded = decode_request(opened(body, front.format), front.format)
        count = tokens_in(encode_request(decoded, chain[0]))
    except UnknownName as error:
        raise Refused(404, "model_not_found", str(error)) from None
    except MostlyUnread as error:
        raise Refused(422, "unread", str(error)) from None
    except StoreError:
        raise
    except CanonicallError as error:
        raise Refused(400, "malformed", str(error)) from None
    return HttpResponse.json(front.tokens(count), x_canonicall_estimate="true")


async def _whole(
    state: State,
    request: HttpRequest,
    front: Front,
    owner: str,
    asked: tuple[dict[str, Any], Route],
) -> dict[str, Any]:
    """The body with the stored turns that it refers to."""
    references = References(state, request, front.format, owner, holder=os.urandom(12).hex())
    try:
        return (await references.whole(*asked)).body
    finally:
        references.release()


async def _stored(state: State, id: str, owner: str) -> Line:
    line = await state.keeping.turns.line(RESPONSE, id, owner=owner)
    if line is None:
        raise _not_stored(id)
    return line


def _not_stored(id: str) -> Refused:
    return Refused(404, "not_found", f"Response with id '{id}' not found.")

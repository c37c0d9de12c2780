"""Which wire format answers at an address, and which models it has.

Nothing is generated for this: lists of models are free, and a request without messages is refused
by everybody, each in the shape of its own errors. Out: the place to ask, or an error that says what
stands there instead.
"""

from urllib.parse import quote

import msgspec
from msgspec import Struct

from canonicall.client.transport import TransportError
from canonicall.discovery.addresses import DiscoveryError, Place, places, with_other_auth
from canonicall.discovery.answer import Answer, Kind
from canonicall.discovery.asking import Asker
from canonicall.discovery.model_lists import (
    first_that_talks,
    format_of_list,
    listed_models,
)
from canonicall.discovery.statement import Evidence, Statement

_THERE: tuple[Kind, ...] = ("taken", "refused", "busy")
_NOWHERE = "/no-such-path"
_UNKNOWN_MODEL = "probe"
"""Stands in the path of formats that name the model there, as long as none is known."""


class Identified(Struct, frozen=True):
    """An endpoint that answers."""

    places: tuple[tuple[Place, Statement], ...]
    """Where it answers, the likeliest first, with what says so."""
    model: str
    models: tuple[str, ...]
    refuses_any_path: bool
    """It answers a path that nobody has as if it were there: then a refusal proves no format."""


class _Tried(Struct, frozen=True):
    place: Place
    kind: Kind
    evidence: Evidence
    status: int


async def identified(asker: Asker, url: str, *, model: str, format: str) -> Identified:
    """The format that answers at `url`; `DiscoveryError` where none does."""
    candidates = places(url, format)
    listing, models, seen = await _models(asker, candidates, url)
    wanted = model or first_that_talks(models)
    if listing:
        # The shape of the list says whose it is, so that one is asked first.
        candidates.sort(key=lambda one: one.format != listing)
    tried: list[_Tried] = []
    for candidate in candidates:
        if any(one.place.format == candidate.format and _is_there(one) for one in tried):
            continue
        tried += await _tried(asker, candidate, wanted)
    there = [one for one in tried if _is_there(one)]
    if not there:
        raise _nothing_there(url, tried)
    if not wanted:
        help = "Name one, with model= or --model."
        raise DiscoveryError("it lists no models.", where=url, help=help)
    listed = () if seen is None else (seen,)
    found = (
        (one.place, Statement("wire_format", one.place.format, (one.evidence, *listed)))
        for one in there
    )
    refuses_any = len(there) > 1 and await _refuses_any_path(asker, there[0].place)
    return Identified(tuple(found), wanted, models, refuses_any)


def request_url(place: Place, model: str, *, stream: bool = False) -> str:
    """Where a reply is asked for."""
    endpoint = place.endpoint
    path = (endpoint.stream_path if stream else "") or endpoint.path
    return place.base + path.replace("{model}", quote(model.removeprefix("models/"), safe=""))


async def _models(
    asker: Asker, candidates: list[Place], url: str
) -> tuple[str, tuple[str, ...], Evidence | None]:
    """The format that a list of models is of, the models, and the exchange; all may be empty.

    The address itself may be a list's place for several formats: each is asked only once, and the
    first list that is found is enough.
    """
    asker.tell(f"Looking for a list of models at {url}")
    asked: set[tuple[str, str]] = set()
    for place in candidates:
        question = (place.models_url, place.auth)
        if not place.models_url or question in asked:
            continue
        asked.add(question)
        try:
            answer = await asker.get(place.models_url, place.headers(asker.key.reveal()))
        except TransportError as error:
            raise _unreachable(error) from None
        names = listed_models(answer.body) if answer.status == 200 else ()
        if names:
            evidence = Evidence("models", f"GET {question[0]}", answer.shown(asker.secrets))
            return format_of_list(answer.body), names, evidence
    return "", (), None


async def _tried(asker: Asker, place: Place, model: str) -> list[_Tried]:
    """What is at a place; where the key is refused, the key is shown in the other way as well."""
    first = await _asked(asker, place, model)
    other = with_other_auth(place)
    if first.kind != "unauthorized" or other is None or not asker.key:
        return [first]
    return [first, await _asked(asker, other, model)]


async def _asked(asker: Asker, place: Place, model: str) -> _Tried:
    """The answer to a request that has no messages."""
    url = request_url(place, model or _UNKNOWN_MODEL)
    body = {"model": model} if model and not place.endpoint.names_model else {}
    asker.tell(f"Trying {place.format} at {place.base}")
    try:
        answer = await asker.post(url, place.headers(asker.key.reveal()), msgspec.json.encode(body))
    except TransportError as error:
        raise _unreachable(error) from None
    sent = f"POST {url} {msgspec.json.encode(body).decode()}"
    evidence = Evidence("format", sent, answer.shown(asker.secrets))
    return _Tried(place, _kind(answer, place.format), evidence, answer.status)


async def _refuses_any_path(asker: Asker, place: Place) -> bool:
    """Whether a path that nobody has is answered like one that is there."""
    asker.tell(f"Trying a path that nobody has at {place.base}")
    try:
        answer = await asker.post(place.base + _NOWHERE, place.headers(asker.key.reveal()), b"{}")
    except TransportError as error:
        raise _unreachable(error) from None
    return _kind(answer, place.format) in _THERE


def _kind(answer: Answer, format: str) -> Kind:
    """As the answer says, but for what answers anything: that is no API of this format."""
    kind = answer.kind(format)
    return "broken" if kind == "taken" and not isinstance(answer.body, dict) else kind


def _is_there(one: _Tried) -> bool:
    return one.kind in _THERE


def _unreachable(error: TransportError) -> DiscoveryError:
    return DiscoveryError(error.what, where=error.where, help=error.help or "Check the address.")


def _nothing_there(url: str, tried: list[_Tried]) -> DiscoveryError:
    """Why nothing could be asked, the likeliest cause first."""
    by_kind = {one.kind: one for one in reversed(tried)}
    if "unauthorized" in by_kind:
        one = by_kind["unauthorized"]
        what = f"the key is missing or not valid ({one.evidence.received[:200]})."
        help = "Give a valid one: key=, or --key-env with the name of a variable."
        return DiscoveryError(what, where=one.place.base, help=help)
    if "page" in by_kind:
        what = "a web page answers here, no API."
        help = "Look for the base URL in the documentation: it often ends with /v1."
        return DiscoveryError(what, where=url, help=help)
    if any(300 <= one.status < 400 for one in tried):
        what = "the address leads to another one."
        return DiscoveryError(what, where=url, help="Give the address that answers.")
    formats = ", ".join(dict.fromkeys(one.place.format for one in tried))
    what = f"none of these formats answers here: {formats}."
    help = "Check the path: it often ends with /v1."
    return DiscoveryError(what, where=url, help=help)

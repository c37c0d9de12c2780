"""A provider without the provider: requests in, the responses it would give out. No sockets.

What the real provider refuses is refused, with its status and its words: first the rules that
`verify` knows, then signatures and ids that only the issuer can check. What passes goes to a model:
a script, or the small one that is built in.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from canonicall.codec import decode_request, encode_response
from canonicall.errors import CanonicallError
from canonicall.providers.endpoint import ENDPOINTS
from canonicall.providers.registry import get_profile, get_target
from canonicall.reply import Reply
from canonicall.target import Target
from canonicall.testing.doors import DOORS
from canonicall.testing.doors.door import (
    CANCEL,
    COUNT,
    DELETE,
    INPUT_ITEMS,
    MODEL,
    MODELS,
    SHOW,
    STORED,
    VERSION,
    Asked,
    Door,
)
from canonicall.testing.doors.openai_responses import StoredResponses
from canonicall.testing.error_kinds import kind_of_missing
from canonicall.testing.exchange import SimRequest, SimResponse
from canonicall.testing.failure import Failure
from canonicall.testing.faults import HEADER, Entry, Fault, Schedule, faults_in
from canonicall.testing.known_models import models_of
from canonicall.testing.model_limits import beyond_the_model
from canonicall.testing.refusals import failures_in, parsed, refusal, unreadable
from canonicall.testing.replies import issued, without_cut_arguments
from canonicall.testing.script import Model
from canonicall.testing.small_model import SmallModel
from canonicall.testing.streaming import cut, paced, spoilt, stream_of
from canonicall.verify import verify
from canonicall.verify.violation import Violation
from canonicall.wire.error_body import ErrorBody


class Exchange(Struct, frozen=True):
    """What a simulator was asked and what it thought of it."""

    target: Target
    body: dict[str, Any]
    status: int
    violations: tuple[Violation, ...] = ()


class Simulator:
    """One provider, in all the formats it speaks."""

    def __init__(
        self,
        provider: str = "openai",
        *,
        model: Model | None = None,
        models: Sequence[str] = (),
        faults: Iterable[Entry] | Schedule = (),
        keys: Sequence[str] = (),
        signatures: Literal["own", "any"] = "own",
        call_tools: str | Iterable[str] = (),
    ) -> None:
        """
        `models`: the only ones there are; else any name will do. `keys`: the only valid ones; else
        any will do. `signatures`: "any" lets those pass that only the real provider could check.
        `call_tools`: the tools that the built-in model may call, as names or patterns; it calls
        no other, and none by default.
        """
        self.profile = get_profile(provider)
        self.model: Model = model or SmallModel(call_tools=call_tools)
        self.seen: list[Exchange] = []
        """Every request for a reply, in order."""
        self._models = tuple(models)
        self._schedule = faults if isinstance(faults, Schedule) else Schedule(faults)
        self._keys = tuple(keys)
        self._signatures = signatures
        self._stored = StoredResponses()
        self._answers = 0
        self._requests = 0

    def answer(self, request: SimRequest) -> SimResponse:
        """The response to a request. Never raises on anything a client sends."""
        self._requests += 1
        usual = {format: self._at_usual_path(request, format) for format in self.profile.formats}
        for format, moved in usual.items():
            asked = DOORS[format].asked(moved)
            if asked is not None:
                target = self._target(format, asked.name)
                return self._at_door(DOORS[format], asked, request, target)
        held = [DOORS[format] for format, moved in usual.items() if DOORS[format].has_path(moved)]
        door = held[0] if held else DOORS[self.profile.formats[0]]
        what = f"{request.method} {request.path} is not served by {self.profile.name}"
        failure = Failure(404, ErrorBody(what, kind_of_missing(door.format)))
        failure = door.wrong_method(request) if held else failure
        return self._refused(door, failure, self._target(door.format, ""))

    def _at_door(
        self, door: Door, asked: Asked, request: SimRequest, target: Target
    ) -> SimResponse:
        try:
            response = self._answered(door, asked, request, target)
        except Failure as failure:
            return self._refused(door, failure, target)
        return replace(response, headers={**response.headers, **self._numbered(door)})

    def _refused(self, door: Door, failure: Failure, target: Target) -> SimResponse:
        said = door.error(failure.status, failure.error, target)
        said = door.told(said, self._numbered(door)[door.request_header])
        headers = failure.headers | door.error_headers(failure.error)
        response = SimResponse.json(failure.status, said, **headers)
        return replace(response, headers={**response.headers, **self._numbered(door)})

    def _numbered(self, door: Door) -> dict[str, str]:
        """The header that says which request is answered."""
        return {door.request_header: f"req_{self._requests:024d}"}

    def _at_usual_path(self, request: SimRequest, format: str) -> SimRequest:
        """The same at the path of the format, where this host has another of its own."""
        own = self.profile.endpoints.get(format)
        if own is None or not own.path or own.names_model or not request.path.endswith(own.path):
            return request
        return replace(request, path=ENDPOINTS[format].path)

    def _answered(
        self, door: Door, asked: Asked, request: SimRequest, target: Target
    ) -> SimResponse:
        key = door.key(request)
        if not key or (self._keys and key not in self._keys):
            raise door.no_key(key)
        if asked.action in (MODELS, MODEL, VERSION):
            return SimResponse.json(200, self._known(door, asked, target))
        if asked.action in (STORED, INPUT_ITEMS, DELETE, CANCEL):
            return self._from_store(asked)
        if door.most_bytes and len(request.body) > door.most_bytes:
            raise door.too_large()
        body = parsed(request.body, door, target)
        target = self._target(door.format, door.model(asked, body))
        if asked.action == SHOW:
            self._need_model(door, target, body)
            return SimResponse.json(200, door.shown(target))
        if asked.action == COUNT:
            self._need_model(door, target, body)
            self._need_sound(door, door.counted(body), target)
            return SimResponse.json(200, door.tokens(len(request.body) // 4 + 1))
        try:
            response = self._reply(door, asked, request, body, target)
        except Failure as failure:
            self.seen.append(Exchange(target, body, failure.status, failure.violations))
            raise
        self.seen.append(Exchange(target, body, 200))
        return response

    def _known(self, door: Door, asked: Asked, target: Target) -> dict[str, Any]:
        """What a provider says of itself."""
        if asked.action == VERSION:
            return door.version()
        if asked.action == MODELS:
            return door.models(self._named_models(), target)
        self._need_model(door, target)
        return door.one_model(asked.name, target)

    def _reply(
        self, door: Door, asked: Asked, request: SimRequest, body: dict[str, Any], target: Target
    ) -> SimResponse:
        self._need_model(door, target, body)
        faults = self._faults(request, target)
        whole = self._whole(body) if door.keeps_responses else body
        violations = tuple(self._violations(door, whole, target))
        if violations:
            raise refusal(violations, whole, door, target)
        for failure in (*beyond_the_model(whole, target), *failures_in(faults, target)):
            raise failure
        reply = self._made(door, whole, target, faults)
        if door.streams(asked, body):
            return self._streamed(door, request, reply, whole, target, faults)
        if Fault.ERROR_IN_200 in faults:
            error = ErrorBody("The server had an error while processing your request.", "api_error")
            return SimResponse.json(200, door.error(500, error, target))
        return SimResponse.json(200, self._kept(door, reply, whole, target))

    def _need_sound(self, door: Door, body: dict[str, Any], target: Target) -> None:
        """A failure where the rules are broken; signatures are not looked at for a count."""
        violations = tuple(_judged(body, target))
        if violations:
            raise refusal(violations, body, door, target)

    def _violations(self, door: Door, body: dict[str, Any], target: Target) -> Iterable[Violation]:
        """What the provider would refuse; the rules come before what only it can check."""
        yield from _judged(body, target)
        if self._signatures == "own":
            yield from door.broken_seals(body, target)
            if door.keeps_responses:
                yield from self._stored.unknown_items(body)
                yield from self._stored.parted_items(body)

    def _whole(self, body: dict[str, Any]) -> dict[str, Any]:
        """`body` with the turns it refers to. Those of the real provider are unknown here."""
        lost = self._stored.lost(body) if self._signatures == "own" else None
        if lost is not None:
            raise lost
        return self._stored.whole(body)

    def _made(
        self, door: Door, body: dict[str, Any], target: Target, faults: frozenset[Fault]
    ) -> Reply:
        """What the model says to this, as the provider sends it."""
        try:
            request = decode_request(body, door.format, provider=self.profile.name)
        except CanonicallError as error:
            raise unreadable(str(error), target) from None
        try:
            said = self.model(request)
        except CanonicallError as error:
            raise Failure(500, ErrorBody(f"simulator: {error}", "api_error")) from None
        self._answers += 1
        reply = issued(said, request, target, self._answers, faults)
        return door.sealed(reply, body, target)

    def _streamed(
        self,
        door: Door,
        request: SimRequest,
        reply: Reply,
        body: dict[str, Any],
        target: Target,
        faults: frozenset[Fault],
    ) -> SimResponse:
        if not door.counts_streams(body, target):
            reply = replace(reply, usage=None)
        told = stream_of(reply, door.format, faults)
        if Fault.LATE_NAMES not in faults:
            told = door.shaped(told, target)
        pieces = list(door.framed(spoilt(told, faults), request))
        if Fault.ERROR_IN_200 not in faults:
            self._kept(door, reply, body, target)
        is_cut = Fault.CUT_STREAM in faults
        sent = cut(pieces) if is_cut else pieces
        headers = {"content-type": door.type_of_stream(request), "cache-control": "no-cache"}
        return SimResponse(200, headers, paced(iter(sent), faults), is_cut)

    def _kept(
        self, door: Door, reply: Reply, body: dict[str, Any], target: Target
    ) -> dict[str, Any]:
        """The body of the response, which is stored where the provider does that."""
        if door.has_object_arguments:
            reply = without_cut_arguments(reply)
        made = door.response(encode_response(reply, door.format), target, self._answers)
        if door.keeps_responses:
            self._stored.keep(body, made)
        return made

    def _from_store(self, asked: Asked) -> SimResponse:
        if asked.action == DELETE and self._stored.delete(asked.name):
            gone = {"id": asked.name, "object": "response", "deleted": True}
            return SimResponse.json(200, gone)
        is_input = asked.action == INPUT_ITEMS
        found = (self._stored.input_items if is_input else self._stored.get)(asked.name)
        if found is None or asked.action == DELETE:
            what = f"Response with id '{asked.name}' not found."
            raise Failure(404, ErrorBody(what, "invalid_request_error"))
        if asked.action == CANCEL:
            # No reply is still being made here, in the background or not.
            what = "Cannot cancel a synchronous response."
            raise Failure(400, ErrorBody(what, "invalid_request_error"))
        return SimResponse.json(200, found)

    def _faults(self, request: SimRequest, target: Target) -> frozenset[Fault]:
        planned = self._schedule.take()
        asked_for = request.headers.get(HEADER, "")
        try:
            return planned | faults_in(asked_for)
        except CanonicallError as error:
            raise unreadable(f"simulator: {HEADER}: {error}", target) from None

    def _target(self, format: str, model: str) -> Target:
        return get_target(f"{self.profile.name}/{format}:{model}")

    def _named_models(self) -> Sequence[str]:
        return self._models or models_of(self.profile.name)

    def _need_model(self, door: Door, target: Target, body: dict[str, Any] | None = None) -> None:
        own = self.profile.endpoints.get(door.format)
        is_named = bool(target.model) or (own is not None and own.names_model)
        if body is not None and not is_named and door.needs_model(body, target):
            raise unreadable(door.no_model_named, target)
        if self._models and target.model not in self._models:
            raise door.no_model(target)


def _judged(body: dict[str, Any], target: Target) -> Iterable[Violation]:
    """The rules of the service that a body breaks."""
    return (one for one in verify(body, target.as_served) if isinstance(one, Violation))

"""A provider without the provider: requests in, the responses it would give out. No sockets.

What the real provider refuses is refused, with its status and its words: first the rules that
`verify` knows, then signatures and ids that only the issuer can check. What passes goes to a model:
a script, or the small one that is built in.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from canonicall.codec import decode_request, encode_response
from canonicall.errors import CanonicallError
from canonicall.providers.registry import get_profile, get_target
from canonicall.reply import Reply
from canonicall.target import Target
from canonicall.testing.doors import DOORS
from canonicall.testing.doors.door import (
    COUNT,
    DELETE,
    INPUT_ITEMS,
    MODEL,
    MODELS,
    STORED,
    Asked,
    Door,
)
from canonicall.testing.doors.openai_responses import StoredResponses
from canonicall.testing.exchange import SimRequest, SimResponse
from canonicall.testing.faults import HEADER, Entry, Fault, Schedule, faults_in
from canonicall.testing.known_models import models_of
from canonicall.testing.refusals import Failure, failures_in, refusal
from canonicall.testing.replies import issued
from canonicall.testing.script import Model
from canonicall.testing.small_model import SmallModel
from canonicall.testing.streaming import cut, paced, stream_of
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
    ) -> None:
        """
        `models`: the only ones there are; else any name will do. `keys`: the only valid ones; else
        any will do. `signatures`: "any" lets those pass that only the real provider could check.
        """
        self.profile = get_profile(provider)
        self.model: Model = model or SmallModel()
        self.seen: list[Exchange] = []
        """Every request for a reply, in order."""
        self._models = tuple(models)
        self._schedule = faults if isinstance(faults, Schedule) else Schedule(faults)
        self._keys = tuple(keys)
        self._signatures = signatures
        self._stored = StoredResponses()
        self._answers = 0

    def answer(self, request: SimRequest) -> SimResponse:
        """The response to a request. Never raises on anything a client sends."""
        for format in self.profile.formats:
            door = DOORS[format]
            asked = door.asked(request)
            if asked is not None:
                target = self._target(format, asked.name)
                try:
                    return self._answered(door, asked, request, target)
                except Failure as failure:
                    said = door.error(failure.status, failure.error, target)
                    return SimResponse.json(failure.status, said, **failure.headers)
        what = f"{request.method} {request.path} is not served by {self.profile.name}"
        return SimResponse.json(404, {"error": {"message": what, "type": "not_found_error"}})

    def _answered(
        self, door: Door, asked: Asked, request: SimRequest, target: Target
    ) -> SimResponse:
        key = door.key(request)
        if not key or (self._keys and key not in self._keys):
            raise Failure(401, door.no_key(key))
        if asked.action == MODELS:
            return SimResponse.json(200, door.models(self._named_models()))
        if asked.action == MODEL:
            self._need_model(door, asked.name)
            return SimResponse.json(200, door.one_model(asked.name))
        if asked.action in (STORED, INPUT_ITEMS, DELETE):
            return self._from_store(asked)
        body = _parsed(request.body)
        target = self._target(door.format, door.model(asked, body))
        self._need_model(door, target.model)
        if asked.action == COUNT:
            return SimResponse.json(200, door.tokens(len(request.body) // 4 + 1))
        return self._reply(door, asked, request, body, target)

    def _reply(
        self, door: Door, asked: Asked, request: SimRequest, body: dict[str, Any], target: Target
    ) -> SimResponse:
        faults = self._faults(request)
        whole = self._stored.whole(body)
        if whole is None:
            id = body.get("previous_response_id")
            what = f"Previous response with id '{id}' not found."
            kind, code = "invalid_request_error", "previous_response_not_found"
            raise Failure(400, ErrorBody(what, kind, code, "previous_response_id"))
        violations = tuple(self._violations(door, whole, target))
        if violations:
            failure = refusal(violations[0], door, target)
            self.seen.append(Exchange(target, body, failure.status, violations))
            raise failure
        for failure in failures_in(faults, target):
            self.seen.append(Exchange(target, body, failure.status))
            raise failure
        self.seen.append(Exchange(target, body, 200))
        reply = self._made(door, whole, target, faults)
        if door.streams(asked, body):
            return self._streamed(door, request, reply, whole, faults)
        if Fault.ERROR_IN_200 in faults:
            error = ErrorBody("The server had an error while processing your request.", "api_error")
            return SimResponse.json(200, door.error(500, error, target))
        made = door.response(encode_response(reply, door.format), target, self._answers)
        if door.format == "openai-responses":
            self._stored.keep(whole, made)
        return SimResponse.json(200, made)

    def _violations(self, door: Door, body: dict[str, Any], target: Target) -> Iterable[Violation]:
        """What the provider would refuse; the rules come before what only it can check."""
        yield from (one for one in verify(body, target) if isinstance(one, Violation))
        if self._signatures == "own":
            yield from door.broken_seals(body, target)
            if door.format == "openai-responses":
                yield from self._stored.unknown_items(body)

    def _made(
        self, door: Door, body: dict[str, Any], target: Target, faults: frozenset[Fault]
    ) -> Reply:
        """What the model says to this, as the provider sends it."""
        request = decode_request(body, door.format, provider=self.profile.name)
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
        faults: frozenset[Fault],
    ) -> SimResponse:
        pieces = list(door.framed(stream_of(reply, door.format, faults), request))
        if door.format == "openai-responses":
            self._stored.keep(body, _with_output(pieces, reply, door.format))
        is_cut = Fault.CUT_STREAM in faults
        sent = cut(pieces) if is_cut else pieces
        headers = {"content-type": door.stream_type, "cache-control": "no-cache"}
        return SimResponse(200, headers, paced(iter(sent), faults), is_cut)

    def _from_store(self, asked: Asked) -> SimResponse:
        if asked.action == DELETE and self._stored.delete(asked.name):
            gone = {"id": asked.name, "object": "response", "deleted": True}
            return SimResponse.json(200, gone)
        found = (
            self._stored.get(asked.name)
            if asked.action == STORED
            else self._stored.input_items(asked.name)
        )
        if found is None or asked.action == DELETE:
            what = f"Response with id '{asked.name}' not found."
            raise Failure(404, ErrorBody(what, "invalid_request_error"))
        return SimResponse.json(200, found)

    def _faults(self, request: SimRequest) -> frozenset[Fault]:
        planned = self._schedule.take()
        asked_for = request.headers.get(HEADER, "")
        try:
            return planned | faults_in(asked_for)
        except CanonicallError as error:
            what = f"simulator: {HEADER}: {error}"
            raise Failure(400, ErrorBody(what, "invalid_request_error")) from None

    def _target(self, format: str, model: str) -> Target:
        return get_target(f"{self.profile.name}/{format}:{model}")

    def _named_models(self) -> Sequence[str]:
        return self._models or models_of(self.profile.name)

    def _need_model(self, door: Door, model: str) -> None:
        if self._models and model not in self._models:
            raise Failure(404, door.no_model(model))


def _parsed(data: bytes) -> dict[str, Any]:
    try:
        body = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        what = f"We could not parse the JSON body of your request: {error}"
        raise Failure(400, ErrorBody(what, "invalid_request_error")) from None
    if not isinstance(body, dict):
        what = "The body of the request has to be a JSON object."
        raise Failure(400, ErrorBody(what, "invalid_request_error"))
    return body


def _with_output(pieces: list[Any], reply: Reply, format: str) -> dict[str, Any]:
    """The response that a stream adds up to: the one its last event shows."""
    for piece in reversed(pieces):
        for event in reversed(piece.split(b"\n\n")):
            _, _, data = event.partition(b"data: ")
            if data.startswith(b'{"type":"response.completed"'):
                shown: dict[str, Any] = msgspec.json.decode(data)["response"]
                return shown
    return encode_response(replace(reply, native=None), format)

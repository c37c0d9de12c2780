"""A provider without the provider: requests in, the responses it would give out. No sockets.

What the real provider refuses is refused, with its status and its words: first the rules that
`verify` knows, then signatures and ids that only the issuer can check. What passes goes to a model:
a script, or the small one that is built in.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from canonicall.blocks import Message, Native
from canonicall.codec.decode import decode_request
from canonicall.codec.encode import encode_response
from canonicall.errors import CanonicallError
from canonicall.facts.endpoint import format_endpoint
from canonicall.facts.habits import error_type
from canonicall.facts.registry import get_profile, get_target
from canonicall.facts.target import Target
from canonicall.reply import PAUSED, Reply
from canonicall.request import Request
from canonicall.testing.doors import DOORS
from canonicall.testing.doors.conversations import as_items, is_asked, listed_form
from canonicall.testing.doors.door import (
    COMPACT,
    COUNT,
    KEPT,
    MODEL,
    MODELS,
    SHOW,
    VERSION,
    Asked,
    Door,
)
from canonicall.testing.exchange import SimRequest, SimResponse
from canonicall.testing.failure import Failure
from canonicall.testing.faults import HEADER, Entry, Fault, Schedule, faults_in
from canonicall.testing.habits import models_of
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


class _Turn(Struct, frozen=True):
    """One request for a reply that is going to be answered."""

    door: Door
    request: SimRequest
    body: dict[str, Any]
    """As it was sent."""
    whole: dict[str, Any]
    """With all that it refers to."""
    target: Target
    faults: frozenset[Fault]


class Simulator:
    """One provider, in all the formats it speaks."""

    def __init__(  # noqa: PLR0913  each is a choice of its own
        self,
        provider: str = "openai",
        *,
        model: Model | None = None,
        models: Sequence[str] = (),
        faults: Iterable[Entry] | Schedule = (),
        keys: Sequence[str] = (),
        signatures: Literal["own", "any"] = "own",
        call_tools: str | Iterable[str] = (),
        prompts: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        """
        `models`: the only ones there are; else any name will do. `keys`: the only valid ones; else
        any will do. `signatures`: "any" lets those pass that only the real provider could check.
        `call_tools`: the tools that the built-in model may call, as names or patterns; it calls
        no other, and none by default. `prompts`: stored prompts by id and version, each with the
        fields of a Responses request; `{{name}}` in their texts is a variable.
        """
        self.profile = get_profile(provider)
        self.model: Model = model or SmallModel(call_tools=call_tools)
        self.seen: list[Exchange] = []
        """Every request for a reply, in order."""
        self._models = tuple(models)
        self._schedule = faults if isinstance(faults, Schedule) else Schedule(faults)
        self._keys = tuple(keys)
        self._signatures = signatures
        is_lenient = signatures == "any"
        self._states = {
            format: DOORS[format].state(is_lenient=is_lenient, prompts=prompts or {})
            for format in self.profile.formats
        }
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
        failure = Failure(404, ErrorBody(what, error_type(door.format, 404)))
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
        return replace(request, path=format_endpoint(format).path)

    def _answered(
        self, door: Door, asked: Asked, request: SimRequest, target: Target
    ) -> SimResponse:
        key = door.key(request)
        if not key or (self._keys and key not in self._keys):
            raise door.no_key(key)
        if asked.action in (MODELS, MODEL, VERSION):
            return SimResponse.json(200, self._known(door, asked, target))
        state = self._states[door.format]
        if asked.action in KEPT:
            given = parsed(request.body, door, target) if request.body else {}
            return SimResponse.json(200, state.answered(asked, request, given))
        if door.most_bytes and len(request.body) > door.most_bytes:
            raise door.too_large()
        body = parsed(request.body, door, target)
        target = self._target(door.format, door.model(asked, state.named(body)))
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
        state = self._states[door.format]
        self._need_model(door, target, body)
        faults = self._faults(request, target)
        whole = state.opened(state.named(body), request, target)
        violations = tuple(self._violations(door, whole, target))
        if violations:
            raise refusal(violations, whole, door, target)
        state.check(whole, target)
        for failure in (*beyond_the_model(whole, target), *failures_in(faults, target)):
            raise failure
        turn = _Turn(door, request, body, whole, target, faults)
        if asked.action == COMPACT:
            return SimResponse.json(200, self._compacted(turn))
        reply = self._made(turn)
        if door.streams(asked, body):
            return self._streamed(turn, reply)
        if Fault.ERROR_IN_200 in faults:
            error = ErrorBody("The server had an error while processing your request.", "api_error")
            return SimResponse.json(200, door.error(500, error, target))
        return SimResponse.json(200, self._kept(turn, reply))

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
            yield from self._states[door.format].violations(body)

    def _made(self, turn: _Turn) -> Reply:
        """What the model says to this, as the provider sends it."""
        door, target = turn.door, turn.target
        request = self._read(turn)
        said = (
            self._summed_up(turn, request)
            if door.is_compaction(turn.whole)
            else self._said(request)
        )
        self._answers += 1
        reply = issued(said, request, target, self._answers, turn.faults)
        return door.sealed(reply, turn.whole, target)

    def _read(self, turn: _Turn) -> Request:
        """The request as the model reads it."""
        try:
            body = turn.door.readable(turn.whole)
            return decode_request(body, turn.door.format, provider=self.profile.name)
        except CanonicallError as error:
            raise unreadable(str(error), turn.target) from None

    def _said(self, request: Request) -> Reply:
        try:
            return self.model(request)
        except CanonicallError as error:
            raise Failure(500, ErrorBody(f"simulator: {error}", "api_error")) from None

    def _summed_up(self, turn: _Turn, request: Request) -> Reply:
        """A reply that is a summary and nothing else: a script has its text."""
        model = self.model
        if isinstance(model, SmallModel):
            text = model.summary(request)
        else:
            text = self._said(request).message.text
        summary = turn.door.summary(text, turn.target, str(self._answers))
        ended = Native(turn.door.format, {"stop_reason": "compaction"})
        return Reply(Message("assistant", (summary,), finish=PAUSED), native=ended)

    def _compacted(self, turn: _Turn) -> dict[str, Any]:
        """The messages of the user, and a summary of all the rest, as items."""
        request = self._read(turn)
        self._answers += 1
        reply = issued(
            self._summed_up(turn, request), request, turn.target, self._answers, turn.faults
        )
        made = encode_response(reply, turn.door.format)
        asked = [one for one in as_items(turn.whole.get("input")) if is_asked(one)]
        kept = [listed_form(one, f"{made['id']} {at}") for at, one in enumerate(asked)]
        told = {"id": made["id"], "object": "response.compaction", "created_at": self._answers}
        return {**told, "output": [*kept, *made["output"]], "usage": made["usage"]}

    def _streamed(self, turn: _Turn, reply: Reply) -> SimResponse:
        door, request, faults = turn.door, turn.request, turn.faults
        if not door.counts_streams(turn.whole, turn.target):
            reply = replace(reply, usage=None)
        told = stream_of(
            reply, door.format, faults, created=self._answers, repeats=door.repeats(turn.body)
        )
        if Fault.ERROR_IN_200 not in faults:
            self._kept(turn, reply)
        if Fault.LATE_NAMES not in faults:
            told = door.shaped(told, turn.target)
        pieces = list(door.framed(spoilt(told, faults), request))
        is_cut = Fault.CUT_STREAM in faults
        sent = cut(pieces) if is_cut else pieces
        headers = {"content-type": door.type_of_stream(request), "cache-control": "no-cache"}
        return SimResponse(200, headers, paced(iter(sent), faults), is_cut)

    def _kept(self, turn: _Turn, reply: Reply) -> dict[str, Any]:
        """The body of the response, which is stored where the provider does that."""
        door = turn.door
        if door.has_object_arguments:
            reply = without_cut_arguments(reply)
        made = encode_response(reply, door.format) | door.repeats(turn.body)
        made = door.response(made, turn.target, self._answers)
        self._states[door.format].keep(turn.body, turn.whole, made)
        return made

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

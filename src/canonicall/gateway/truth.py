"""What the gateway says of itself: reports, translations without a call, checks, explanations."""

from typing import Any

import msgspec

from canonicall.codec import translate
from canonicall.detection import request_format
from canonicall.errors import CanonicallError
from canonicall.facts.bodies import target_for
from canonicall.facts.target import Target
from canonicall.findings import Report
from canonicall.gateway.exchange import HttpRequest, HttpResponse, Refused
from canonicall.gateway.operations import is_operator
from canonicall.gateway.reading import parsed_body
from canonicall.gateway.state import State
from canonicall.gateway.turns import target_name, told
from canonicall.verify import explain, verify
from canonicall.verify.violation import Violation

_REPORTS = "/canonicall/reports/"


async def truth_answer(state: State, request: HttpRequest, owner: str) -> HttpResponse | None:
    """The answer at one of these paths; None at any other. Reports are for their `owner`."""
    if request.method == "GET" and request.path.startswith(_REPORTS):
        return await _report(state, request, owner)
    work = _POSTED.get(request.path)
    if work is None:
        return None
    if request.method != "POST":
        raise Refused(405, "method", f"{request.path} is asked with POST.")
    try:
        return HttpResponse.json(work(parsed_body(request.body, state.settings.server), state))
    except CanonicallError as error:
        raise Refused(400, "malformed", str(error)) from None


async def _report(state: State, request: HttpRequest, owner: str) -> HttpResponse:
    id = request.path.removeprefix(_REPORTS)
    report = await state.keeping.report(id)
    if report is None or report.get("key", "") != owner:
        what = f"No report has the id {id!r}: it is wrong, too old, or of another gateway."
        raise Refused(404, "not_found", what)
    if is_operator(request, state.settings, state.gate, state.backs.means.now()):
        return HttpResponse.json(report)
    text = msgspec.json.encode(report).decode()
    return HttpResponse.json(msgspec.Raw(state.backs.addresses.hidden(text).encode()))


def _translated(asked: dict[str, Any], state: State) -> dict[str, Any]:
    """`{body, to, from?}`: the exact body that `to` would get, and all that is changed for it."""
    body, source = _body_and_format(asked, "from")
    target = _target(asked, "to", state)
    encoded = translate(body, source, target)
    return {
        "from": source,
        "to": target_name(target),
        "format": target.format,
        "body": encoded.body,
        "findings": [told(one) for one in encoded.report],
        "ids": encoded.transcript.ids,
        "names": encoded.transcript.names,
        "violations": _told(verify(encoded.body, target)),
    }


def _checked(asked: dict[str, Any], state: State) -> dict[str, Any]:
    """`{body, as}`: what the provider would refuse in this body, with its own words."""
    body, _ = _body_and_format(asked, "format")
    target, named = _target(asked, "as", state, body), asked["as"]
    judged = verify(body, target.as_served if named in state.routes.names else named)
    found = _told(judged)
    return {
        "as": target_name(target),
        "accepted": not found,
        "violations": found,
        "notes": judged.notes,
    }


def _explained(asked: dict[str, Any], state: State) -> dict[str, Any]:
    """`{error, body?, as?}`: what an error means, what to do, and where it lies."""
    error = asked.get("error")
    if not isinstance(error, (str, dict)) or not error:
        raise Refused(400, "malformed", "`error` is missing: the provider's error as it came.")
    body = asked.get("body")
    target = _target(asked, "as", state, body) if asked.get("as") else None
    explained = explain(error, request=body if isinstance(body, dict) else None, target=target)
    return {"known": bool(explained), "meanings": msgspec.to_builtins(explained.entries)}


def _told(judged: Report) -> list[dict[str, Any]]:
    return [
        {**told(one), "error": one.error, "source": one.source}
        for one in judged
        if isinstance(one, Violation)
    ]


def _body_and_format(asked: dict[str, Any], name: str) -> tuple[dict[str, Any], str]:
    body = asked.get("body")
    if not isinstance(body, dict):
        what = "`body` is missing: the request body to look at, as a JSON object."
        raise Refused(400, "malformed", what)
    named = asked.get(name)
    if isinstance(named, str) and named:
        return body, named
    detected = request_format(body)
    if detected is None:
        raise Refused(400, "malformed", f"The format is not clear: name it in `{name}`.")
    return body, detected


def _target(asked: dict[str, Any], name: str, state: State, body: object = None) -> Target:
    """The target that is meant for this body, or the one that a model's name is routed to first."""
    named = asked.get(name)
    if not isinstance(named, str) or not named:
        raise Refused(400, "malformed", f"`{name}` is missing: a provider, or provider:model.")
    if named in state.routes.names:
        return state.routes.find(named).chain("")[0]
    return target_for(body, named)


_POSTED = {
    "/canonicall/translate": _translated,
    "/canonicall/check": _checked,
    "/canonicall/explain": _explained,
}

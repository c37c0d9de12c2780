"""What a client is told where nobody replied: the cause, in the shape that its provider has."""

import logging
import traceback
from collections.abc import Sequence

from canonicall.blocks import Message, Native
from canonicall.client.attempts import NoReply
from canonicall.client.failure import Failure
from canonicall.client.overflow import overflow_of
from canonicall.codec.streams import TOO_LARGE
from canonicall.events import ErrorReported, Event, StreamEnded
from canonicall.gateway.exchange import HttpResponse, Refused
from canonicall.gateway.fronts.front import Front
from canonicall.reply import ERROR, Reply
from canonicall.store.engine import StoreError
from canonicall.wire.formats import get_format

_LOG = logging.getLogger("canonicall.gateway")
_NO_STORE = "The store of the gateway cannot be read or written. Try again later."
_BY_KIND = {
    "request": 400,
    "authentication": 502,
    "setting": 502,
    "connection": 502,
    "cut": 502,
    "redirect": 502,
    TOO_LARGE: 502,
    "provider_error": 502,
    "timeout": 504,
    "overloaded": 503,
    "rate_limited": 429,
}
"""A provider that refuses the gateway's key says nothing about the client's."""


def refused_of(error: NoReply, front: Front) -> Refused:
    """The failure of the target that was meant, with the messages of the others. A context overflow
    is reported in the form that clients of the front know it by."""
    first = _worst(error.failures)
    overflow = overflow_of(first)
    if overflow is not None:
        refused = front.overflow(overflow.tokens, overflow.limit)
        refused.message = f"{refused.message} {first.message}"
        return refused
    status = _BY_KIND.get(first.kind) or (first.status if 400 <= first.status < 500 else 502)
    message = " | ".join(dict.fromkeys(one.message for one in error.failures))
    return Refused(status, first.kind or "failed", message, retry_after=first.wait)


def provider_refusal(failure: Failure, front: Front) -> Refused:
    """A failure with the provider's own code: its clients know what to do about it."""
    refused = refused_of(NoReply([failure]), front)
    native = failure.error
    if isinstance(native, dict):
        said = get_format(front.format).decode_error(native)
        inner = native.get("error")
        details = inner.get("details") if isinstance(inner, dict) else None
        refused.code, refused.param = said.code, said.param
        refused.details = dict(details) if isinstance(details, dict) else {}
    return refused


def unexpected(error: Exception, request_id: str) -> Refused:
    """The refusal for what nobody has thought of. Where it happened goes to the log of the process;
    what it says may quote a body or a key, so that is told to nobody."""
    if isinstance(error, StoreError):
        _LOG.error("request %s: the store cannot be used: %s", request_id, error)
        return Refused(500, "internal", _NO_STORE)
    places = "".join(traceback.format_tb(error.__traceback__))
    _LOG.error("request %s failed: %s\n%s", request_id, type(error).__name__, places)
    what = f"The gateway failed ({type(error).__name__}). Its log has more under {request_id}."
    return Refused(500, "internal", what)


def error_events(front: Front, refused: Refused) -> list[Event]:
    """The refusal as the end of a stream."""
    body = front.error(refused)
    failed = Reply(
        Message("assistant", partial=True, finish=ERROR),
        native=Native(front.format, {"error": body["error"]}),
    )
    return [
        ErrorReported(refused.message, refused.kind, body),
        StreamEnded(failed, complete=False, why=refused.message),
    ]


def error_response(front: Front, refused: Refused, headers: dict[str, str]) -> HttpResponse:
    """The refusal as a client of the front reads it."""
    body = front.error(refused, headers.get("x-canonicall-request-id", ""))
    made = HttpResponse.json(body, refused.status)
    if refused.retry_after is not None:
        headers = {**headers, "retry-after": str(max(1, round(refused.retry_after)))}
    if 400 <= refused.status < 500 and refused.status != 429:
        # Clients that retry on their own ask in vain.
        headers = {**headers, "x-should-retry": "false"}
    return HttpResponse(refused.status, {**made.headers, **headers}, made.body)


def _worst(failures: Sequence[Failure]) -> Failure:
    """The failure that the client can do most about: its own request's, else the first."""
    return next((one for one in failures if one.kind == "refused"), failures[0])

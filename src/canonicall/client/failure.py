"""What an attempt failed of: an error response, an error in a stream, a broken connection.

One value for all of them, without any key in it, from which is decided whether to try again, to
render again, or to ask somebody else.
"""

import re
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from canonicall.blocks import Native
from canonicall.client.notices import name_of
from canonicall.client.retrying import is_passing, is_passing_error, retry_after
from canonicall.client.secrets import Secret, hide, hide_in_bytes
from canonicall.client.transport import TransportError
from canonicall.codec.streams import DAMAGED, TOO_LARGE
from canonicall.errors import CanonicallError
from canonicall.events import ErrorReported, Event, StreamEnded
from canonicall.facts.target import Target
from canonicall.transcript.turns import Diagnostics
from canonicall.verify.explainer import explain
from canonicall.wire.error_body import ErrorBody
from canonicall.wire.formats import get_format

REFUSED = "refused"
"""The request itself is at fault: the one kind that another rendering may help."""
MALFORMED = "malformed_reply"
"""The type of the error that stands for a body which says 200 and is no reply."""
_KINDS = {
    400: REFUSED,
    401: "authentication",
    403: "authentication",
    404: "not_found",
    408: "timeout",
    413: "too_large",
    422: REFUSED,
    429: "rate_limited",
    503: "overloaded",
    529: "overloaded",
}
_HELP = {
    "authentication": "Check the key, and what it may be used for.",
    "not_found": "Check the name of the model and the address.",
    "too_large": "Shorten the conversation.",
    "redirect": "Set base_url to the address that answers.",
}
# Gemini answers a wrong key with 400: "API key not valid. Please pass a valid API key."
_ABOUT_KEY = re.compile(r"\bapi.?key\b|authenticat|unauthori[sz]ed|credential", re.IGNORECASE)
_PHASES = {
    "setup": "setting",
    "connect": "connection",
    "connection": "connection",
    "limit": TOO_LARGE,
}
_SHOWN = 600
_BY_CHANCE = frozenset({"call_made_invalid", "choice_not_followed", "reason_not_told"})
"""What an error can mean that the same request need not bring again."""
_T = TypeVar("_T")


class Failure(Struct, frozen=True, kw_only=True):
    """Why one attempt brought no reply."""

    kind: str
    message: str
    """For people: who, what, and what can be done."""
    status: int = 0
    passing: bool = False
    """It may be gone the next time."""
    wait: float | None = None
    """Seconds that the provider says to wait."""
    error: Any = None
    """The error as it came, for `explain`."""
    diagnostics: Diagnostics | None = None
    """Of the request that the provider answered with this error."""
    provider: str = ""
    """Who answered with an error, and for which model; empty without an answer."""
    model: str = ""
    saved: str = ""
    """The file that the request was written to, if it was refused and that is wanted."""


class AttemptFailed(Exception):
    """No reply, and nothing of one was passed on."""

    def __init__(self, failure: Failure) -> None:
        self.failure = failure
        super().__init__(failure.message)


def of_response(
    target: Target,
    status: int,
    headers: Mapping[str, str],
    data: bytes,
    *,
    secrets: tuple[Secret, ...],
    now: float,
) -> Failure:
    """An error response."""
    error = _read(target, headers, data)
    words = hide(error.message or data[:_SHOWN].decode("utf-8", "replace"), secrets)
    known = hide(" ".join(filter(None, (error.type, error.code))), secrets)
    kind = _kind(status, f"{known} {words}")
    if kind == "redirect":
        words = f"it leads to {hide(headers.get('location', '?').partition('?')[0], secrets)}"
    said = " ".join(filter(None, (f"HTTP {status}", known and f"({known})")))
    passing = is_passing(status, headers, f"{known} {words}")
    kind, passing = _at_fault(kind, passing, error.native or words)
    return Failure(
        kind=kind,
        message=_sentence(target, f"{said}: {words[:_SHOWN]}", _HELP.get(kind, "")),
        status=status,
        passing=passing,
        wait=retry_after(headers, now),
        error=error.native or words,
        provider=target.provider,
        model=target.model,
    )


def of_event(target: Target, event: ErrorReported, secrets: tuple[Secret, ...]) -> Failure:
    """An error that came inside a stream, or in a body that said 200."""
    if event.type == TOO_LARGE:
        return Failure(kind=TOO_LARGE, message=_sentence(target, f"the reply: {event.message}"))
    if event.type in (MALFORMED, DAMAGED):
        return of_cut(target, event.message)
    code = _status_in(event.native)
    passing = is_passing_error(event.type or event.message, code)
    known = f" ({hide(event.type, secrets)})" if event.type else ""
    words = hide(event.message, secrets)[:_SHOWN]
    kind = _KINDS.get(code or 0, "provider_error") if code else "provider_error"
    kind, passing = _at_fault(kind, passing, event.native or words)
    return Failure(
        kind=kind,
        message=_sentence(target, f"an error in the stream{known}: {words}"),
        passing=passing,
        error=event.native or words,
        provider=target.provider,
        model=target.model,
    )


def without_secrets(event: Event, secrets: tuple[Secret, ...]) -> Event:
    """`event` as it may be passed on: in what went wrong, providers quote keys."""
    match event:
        case ErrorReported():
            return _hidden(event, ErrorReported, secrets)
        case StreamEnded(complete=False):
            reply = event.reply
            if reply.native is not None:
                reply = replace(reply, native=_hidden(reply.native, Native, secrets))
            return replace(event, reply=reply, why=hide(event.why, secrets))
        case _:
            return event


def of_transport(target: Target, error: TransportError) -> Failure:
    """A connection that broke, or took too long."""
    # What cannot be sent never can; what took too long in all would take as long again.
    passing = error.phase not in ("setup", "total", "limit")
    message = _sentence(target, str(error))
    return Failure(kind=_PHASES.get(error.phase, "timeout"), message=message, passing=passing)


def of_cut(target: Target, why: str) -> Failure:
    """A stream that ended before it had begun, or a body with no whole reply in it."""
    return Failure(kind="cut", message=_sentence(target, why), passing=True)


def of_own(target: Target, kind: str, error: CanonicallError) -> Failure:
    """A request that could not be made."""
    return Failure(kind=kind, message=_sentence(target, str(error)))


def _hidden(value: _T, kind: type[_T], secrets: tuple[Secret, ...]) -> _T:
    data = msgspec.json.encode(value)
    shown = hide_in_bytes(data, secrets)
    return value if shown == data else msgspec.json.decode(shown, type=kind)


def _read(target: Target, headers: Mapping[str, str], data: bytes) -> ErrorBody:
    try:
        body = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return ErrorBody("")
    format = target.format if isinstance(body, dict) else "openai-chat"
    error = get_format(format).decode_error(body)
    if not error.message:
        # Gateways in front of a provider have an envelope of their own.
        error = get_format("openai-chat").decode_error(body)
    named = headers.get("x-amzn-errortype", "").partition(":")[0]
    return replace(error, type=error.type or named)


def _kind(status: int, words: str) -> str:
    kind = _KINDS.get(status, "")
    if status == 400 and _ABOUT_KEY.search(words):
        return "authentication"
    if kind:
        return kind
    return "redirect" if 300 <= status < 400 else "provider_error" if status >= 500 else "rejected"


def _at_fault(kind: str, passing: bool, error: Any) -> tuple[str, bool]:
    """Kind and `passing` of an error. A request that is refused for what is in it stays so: hosts
    report that inside of streams too, and as their own failure."""
    if kind != "provider_error":
        return kind, passing
    lasts = any(
        entry.code == "context_overflow" or (not entry.outside and entry.code not in _BY_CHANCE)
        for entry in explain(error).entries
    )
    return (REFUSED, False) if lasts else (kind, passing)


def _status_in(native: Any) -> int | None:
    """The status that an error in a stream has, where it has one: OpenRouter and Gemini say it."""
    inner = native.get("error", native) if isinstance(native, dict) else None
    code = inner.get("code") if isinstance(inner, dict) else None
    return code if isinstance(code, int) and not isinstance(code, bool) else None


def with_more(said: str, *more: str) -> str:
    """What a provider said, and sentences of ours behind it. Not all providers end theirs; an
    address stays as it can be copied."""
    ours = " ".join(filter(None, more))
    is_ended = said.endswith((".", "!", "?")) or "://" in said.rpartition(" ")[2]
    return f"{said}{'' if is_ended else '.'} {ours}" if ours else said


def _sentence(target: Target, what: str, help: str = "") -> str:
    return with_more(f"{name_of(target)}: {what}", help)

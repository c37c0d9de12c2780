"""An answer of an endpoint, read as far as it can be: a reply, an error, or neither."""

import re
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from canonicall.arguments import message_with_arguments
from canonicall.blocks import Origin
from canonicall.client.secrets import Secret, hide
from canonicall.errors import CanonicallError
from canonicall.events import Event, StreamEnded
from canonicall.facts.target import Target
from canonicall.folding import events_of
from canonicall.reply import Reply
from canonicall.streams import StreamDecoder
from canonicall.wire.error_body import ErrorBody
from canonicall.wire.formats import get_format

Kind: TypeAlias = Literal["taken", "refused", "unauthorized", "missing", "busy", "page", "broken"]
"""taken: a reply. refused: the request is at fault. unauthorized: the key is. missing: nothing is
at this path. busy: limits and errors of the server, which say nothing about the request. page: a
web page. broken: no answer that can be read."""

SHOWN = 400
"""Characters of a body that evidence shows."""
_KINDS: dict[int, Kind] = {
    **dict.fromkeys((401, 403, 407), "unauthorized"),
    **dict.fromkeys((404, 405, 501), "missing"),
    **dict.fromkeys((408, 425, 429), "busy"),
}
# Gemini answers a wrong key with 400: "API key not valid. Please pass a valid API key."
_ABOUT_KEY = re.compile(r"\bapi.?key\b.{0,30}(?:valid|missing|incorrect)", re.IGNORECASE)
_ABOUT_MODEL = re.compile(r"\bmodels?\b", re.IGNORECASE)
# What stands in place of the model where nothing is served: "POST /v1beta/models/x is not served".
_PATH = re.compile(r"\S*/\S*")


class Answer(Struct, frozen=True):
    """What came back, and where it broke off if it did."""

    status: int
    headers: Mapping[str, str]
    data: bytes
    broken: str = ""

    @property
    def text(self) -> str:
        return self.data.decode("utf-8", "replace")

    @property
    def is_page(self) -> bool:
        """Whether this is a web page: an address of people, or a proxy's error."""
        kind = self.headers.get("content-type", "")
        return kind.startswith("text/html") or self.data.lstrip()[:9].lower().startswith(
            (b"<!doctype", b"<html")
        )

    @property
    def body(self) -> Any:
        """The JSON in it; None where there is none."""
        try:
            return msgspec.json.decode(self.data)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return None

    def error(self, format: str) -> ErrorBody:
        """The error it tells of, in whatever envelope."""
        body = self.body
        if isinstance(body, dict):
            error = get_format(format).decode_error(body)
            if error.message:
                return error
        error = get_format("openai-chat").decode_error(body)
        return error if error.message else ErrorBody(self.text[:SHOWN])

    def kind(self, format: str) -> Kind:
        """What it means for a request of this format."""
        if self.is_page:
            return "page"
        if self.status == 200:
            body = self.body
            return "busy" if isinstance(body, dict) and body.get("error") else "taken"
        if self.status >= 500 and self.status not in _KINDS:
            return "busy"
        words = self.error(format).message
        kind = _KINDS.get(self.status)
        if kind == "missing" and _ABOUT_MODEL.search(_PATH.sub("", words)):
            return "refused"  # The path is there, the model is not.
        if kind is None and _ABOUT_KEY.search(words):
            return "unauthorized"
        return kind or ("refused" if 400 <= self.status < 500 else "broken")

    def shown(self, secrets: tuple[Secret, ...]) -> str:
        """The answer in short, without any key."""
        words = " ".join(hide(self.text, secrets).split())
        more = " ..." if len(words) > SHOWN else ""
        end = f" [{self.broken}]" if self.broken else ""
        return f"{self.status} {words[:SHOWN]}{more}{end}"


class Told(Struct, frozen=True):
    """A reply, with the events it came in where it was streamed."""

    reply: Reply
    events: tuple[Event, ...]
    complete: bool
    body: Any = None
    """The whole body, where it was not streamed."""


def told_in(answer: Answer, target: Target, *, stream: bool) -> Told | None:
    """The reply in an answer; None where there is none."""
    is_whole = answer.headers.get("content-type", "").startswith("application/json")
    if stream and not (is_whole and answer.data.lstrip()[:1] == b"{"):
        decoder = StreamDecoder(target.format, provider=target.provider)
        events = [*decoder.feed(answer.data), *decoder.close()]
        end = events[-1]
        if not isinstance(end, StreamEnded) or not end.reply.message.blocks:
            return None
        return Told(end.reply, tuple(events), end.complete)
    body = answer.body
    if not isinstance(body, dict):
        return None
    try:
        origin = Origin(target.provider, target.format, model=target.model)
        wire = get_format(target.format)
        reply = wire.decode_response(body, origin=origin, domain=target.domain)
        reply = replace(reply, message=message_with_arguments(reply.message, []))
    except CanonicallError:
        return None
    if not reply.message.blocks and not reply.finish:
        return None
    return Told(reply, tuple(events_of(reply)), True, body)

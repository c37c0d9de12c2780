"""`read_document`: the bytes of one stored transcript in, a canonical request out.

A document is of one of the `DOCUMENT_KINDS`. Each kind says by the beginning of the data whether it
is its own, and reads it; the first kind that says so gets the document. A further kind, such as the
session files of a program, is one more entry of that list.
"""

from typing import Any

import msgspec
from msgspec import Struct

from canonicall.client.refusals import RefusedRequest, refused_request
from canonicall.codec import decode_request
from canonicall.detection import CANONICAL, possible_formats, request_format
from canonicall.errors import MalformedBody, UnknownName
from canonicall.facts.target import FORMATS
from canonicall.findings import Action, Fault, Finding
from canonicall.frameworks import refuse_framework
from canonicall.importing.halves import halves_replaced, without_halves
from canonicall.importing.kinds import Document, DocumentKind
from canonicall.importing.sessions.agents import SESSION_KINDS
from canonicall.lookalikes import likeness, text_likeness
from canonicall.persisted import load
from canonicall.request import Request

AUTO = "auto"
_BOM = b"\xef\xbb\xbf"
_HEADER_LENGTH = 200
"""The stored form says in its first bytes what it is."""
_NOT_TEXT = {
    b"SQLite format 3\0": "a database. If it is opencode's, `canonicall import` reads it",
    b"\x28\xb5\x2f\xfd": "compressed. Unpack it with zstd -d",
    b"\x1f\x8b": "compressed. Unpack it with gunzip",
    b"PK\x03\x04": "compressed. Unpack it with unzip",
    b"\xff\xfe": "UTF-16. Save it as UTF-8",
    b"\xfe\xff": "UTF-16. Save it as UTF-8",
    b"{\0": "UTF-16. Save it as UTF-8",
    b"[\0": "UTF-16. Save it as UTF-8",
}
"""How files begin that are taken for JSON, and what they are."""
_WHAT_TO_GIVE = (
    'Give a request body (with "messages", "input" or "contents"), a list of messages, or a'
    " stored conversation"
)


class Recognised(Struct, frozen=True):
    """A request body whose format is told, before anything in it is decoded."""

    possible: tuple[str, ...]
    """The formats it can be, the likeliest first."""
    body: dict[str, Any]
    is_list: bool = False
    """The document is a bare list of messages; the body was made around it."""
    findings: tuple[Finding, ...] = ()
    """What had to be put right for it to be JSON at all."""
    refused: RefusedRequest | None = None
    """The body is in a file that was written when a provider refused it."""

    @property
    def format(self) -> str:
        return self.possible[0]


def read_document(data: bytes, format: str = AUTO) -> Document:
    """The transcript in `data`: of the format named, or of the one it shows.

    Raises `MalformedBody` or `UnreadableConversation` where nothing can be read.
    """
    kind = kind_of(data, format)
    return _read_body(data, format) if kind is BODY else kind.read(without_mark(data))


def kind_of(data: bytes, format: str = AUTO) -> DocumentKind:
    """The kind of a document, by its beginning or by the name it was given."""
    if format in FORMATS:
        return BODY
    start = without_mark(data)
    for kind in DOCUMENT_KINDS:
        if format == kind.name or (format == AUTO and kind.detects(start)):
            return kind
    if format == AUTO:
        return BODY
    raise UnknownName("format", format, format_names())


def format_names() -> tuple[str, ...]:
    """Every name that `read_document` takes for a format, besides "auto"."""
    return (*FORMATS, *(kind.name for kind in DOCUMENT_KINDS if kind is not BODY))


def recognise(data: bytes, format: str = AUTO) -> Recognised:
    """The request body in `data` and its format, judged without decoding it.

    Of a file with a refused request it is the body in the file.
    """
    value, mended = _mended_json(data)
    refused = refused_request(value)
    if refused is not None:
        format = refused.format if format == AUTO else format
        return Recognised((format,), refused.body, findings=mended, refused=refused)
    refuse_framework(value, "" if format == AUTO else format)
    body = _body_in(value, format)
    possible = possible_formats(body) if format == AUTO else (format,)
    if not possible or possible[0] == CANONICAL:
        raise MalformedBody(_seen(body))
    return Recognised(possible, body, isinstance(value, list), mended)


def without_mark(data: bytes) -> bytes:
    """`data` without the byte order mark that some editors write."""
    return data.removeprefix(_BOM)


def document_in(found: Recognised) -> Document:
    """The document of a body whose format is told already."""
    request = decode_request(found.body, found.format)
    assumed = (_assumed(found.possible),) if len(found.possible) > 1 else ()
    findings = (*found.findings, *assumed, *request.findings)
    return Document(found.format, request, found.body, findings)


def _read_body(data: bytes, format: str = AUTO) -> Document:
    return document_in(recognise(data, format))


def _read_canonical(data: bytes) -> Document:
    loaded = load(data)
    request = Request(loaded.conversation)
    return Document(CANONICAL, request, None, loaded.report.findings)


def _is_canonical(data: bytes) -> bool:
    line = data.lstrip()[:_HEADER_LENGTH].partition(b"\n")[0]
    try:
        return request_format(msgspec.json.decode(line)) == CANONICAL
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False


def _is_json(data: bytes) -> bool:
    return data.lstrip()[:1] in (b"{", b"[")


def parsed_json(data: bytes, what_to_give: str) -> Any:
    """The JSON value in a file; where there is none, the error says what to give instead."""
    data = without_mark(data)
    if not data.strip():
        raise MalformedBody(f"there is nothing in it. {what_to_give}.")
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        seen = next((what for begin, what in _NOT_TEXT.items() if data.startswith(begin)), None)
        what = f"this is {seen}." if seen else f"this is not JSON: {error}. {what_to_give}."
        if (text := text_likeness(data)) is not None:
            what = f"this is {text.what}. {what_to_give}."
        raise MalformedBody(what) from None
    except RecursionError:
        raise MalformedBody("this is nested too deeply to be read.") from None


def _mended_json(data: bytes) -> tuple[Any, tuple[Finding, ...]]:
    """The JSON value of a body; one that was cut within a character can be put right."""
    try:
        return parsed_json(data, _WHAT_TO_GIVE), ()
    except MalformedBody:
        mended = without_halves(data)
        if mended == data:
            raise
        return parsed_json(mended, _WHAT_TO_GIVE), (halves_replaced("$"),)


def _body_in(value: Any, format: str) -> dict[str, Any]:
    """`value` as a body: a bare list becomes the messages of one."""
    if isinstance(value, list):
        return {_list_field(value, format): value}
    if isinstance(value, dict):
        return value
    raise MalformedBody(_seen(value))


def _list_field(items: list[Any], format: str) -> str:
    """What a list of messages is called in its body. Only items of the Responses API have a type
    and only messages of Gemini have parts."""
    named = {"gemini": "contents", "openai-responses": "input"}
    if format != AUTO:
        return named.get(format, "messages")
    objects = [item for item in items if isinstance(item, dict)]
    if any("parts" in item for item in objects):
        return "contents"
    return "input" if any(isinstance(item.get("type"), str) for item in objects) else "messages"


def _seen(value: Any) -> str:
    """What was found instead, and what to give."""
    if not isinstance(value, dict):
        return f"this is JSON, but neither an object nor a list. {_WHAT_TO_GIVE}."
    seen = likeness(value)
    if seen.kind == "reply":
        what = f"this is a response, not a request ({seen.format}). `canonicall parse` reads it."
        return f"{what} {_WHAT_TO_GIVE}."
    if "role" in value:
        return f"this is a single message, not a transcript. {_WHAT_TO_GIVE}."
    if seen.instead:
        return f"this is {seen.what}, not a transcript. {seen.instead}"
    named = ", ".join(list(map(str, value))[:6])
    return f"no transcript is in this object (its fields: {named or 'none'}). {_WHAT_TO_GIVE}."


def _assumed(possible: tuple[str, ...]) -> Finding:
    others = " or ".join(possible[1:])
    why = f"The body could as well be {others}: it is read as {possible[0]}."
    return Finding("format_assumed", "$", Action.KEPT, why, Fault.NONE)


CANONICAL_FILE = DocumentKind(CANONICAL, _is_canonical, _read_canonical, is_whole_file=True)
BODY = DocumentKind("body", _is_json, _read_body)
DOCUMENT_KINDS: list[DocumentKind] = [CANONICAL_FILE, *SESSION_KINDS, BODY]
"""The kinds, in the order in which they are asked. A body is the last: any JSON could be one."""

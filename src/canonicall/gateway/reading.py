"""Requests from ASGI messages, within limits: of size, of depth, and of what can be unpacked."""

import json
import re
import zlib
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias
from urllib.parse import parse_qsl

import msgspec

from canonicall.findings import Finding
from canonicall.gateway.config import ServerSettings
from canonicall.gateway.exchange import HttpRequest, Refused
from canonicall.lookalikes import likeness, text_likeness
from canonicall.plain import plain_json

Scope: TypeAlias = dict[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[dict[str, Any]]]
Send: TypeAlias = Callable[[dict[str, Any]], Awaitable[None]]

_WINDOWS = {"gzip": 16 + zlib.MAX_WBITS, "x-gzip": 16 + zlib.MAX_WBITS, "deflate": zlib.MAX_WBITS}

_HALVES = re.compile(rb"\\u[dD][89a-fA-F]")
_SLASHES = re.compile("//+")
_DIGITS = 18


class ClientGone(Exception):
    """The client went away while it was sending, or before it was answered."""


def head_of(scope: Scope) -> HttpRequest:
    """A request without its body."""
    given = scope["headers"]
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in given}
    if len(headers) < len(given):
        # Joined as HTTP joins the values of one header: two hosts are no host.
        hosts = [value.decode("latin-1") for name, value in given if name == b"host"]
        headers |= {"host": ", ".join(hosts)} if hosts else {}
    query = scope.get("query_string", b"")
    named = dict(parse_qsl(query.decode("latin-1"), keep_blank_values=True)) if query else {}
    client = scope.get("client")
    path = _usual(scope["path"])
    # The server leaves the body of the answer out.
    method = "GET" if scope["method"] == "HEAD" else scope["method"]
    return HttpRequest(method, path, named, headers, b"", client[0] if client else "")


def _usual(path: str) -> str:
    """A path as it is meant: a base URL that ends in `/` or has the version already is joined with
    the paths of an SDK all the same."""
    if "//" in path:
        path = _SLASHES.sub("/", path)
    if path.startswith("/v1/v1"):
        path = path.removeprefix("/v1")
    return path.rstrip("/") or "/"


async def body_of(head: HttpRequest, receive: Receive, limits: ServerSettings) -> bytes:
    """The body that follows a head; `Refused` where it is too large."""
    most = limits.max_body_bytes
    told = head.headers.get("content-length", "")
    # So many digits are too much before they are read.
    if told.isdecimal() and (len(told) > _DIGITS or int(told) > most):
        raise _too_large(most)
    pieces: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        piece = message.get("body", b"")
        size += len(piece)
        if size > most:
            raise _too_large(most)
        pieces.append(piece)
        if not message.get("more_body"):
            break
    data = pieces[0] if len(pieces) == 1 else b"".join(pieces)
    coding = head.headers.get("content-encoding", "identity").strip().lower()
    return data if coding in ("", "identity") else _inflated(data, coding, most)


def parsed_body(data: bytes, limits: ServerSettings) -> dict[str, Any]:
    """The JSON object that a body is."""
    try:
        body = msgspec.json.decode(data)
    except RecursionError:
        raise _too_deep(limits.max_body_depth) from None
    except (msgspec.DecodeError, UnicodeError) as error:
        raise Refused(400, "malformed", _no_json(data, error)) from None
    if not isinstance(body, dict):
        what = f"The body has to be a JSON object. This is {likeness(body).what}."
        raise Refused(400, "malformed", what)
    if data.count(b"{") + data.count(b"[") > limits.max_body_depth:
        _refuse_deep(body, limits.max_body_depth)
    return body


def mended_body(
    data: bytes, limits: ServerSettings, *, strict: bool
) -> tuple[dict[str, Any], bytes, list[Finding]]:
    """The JSON object that a body is, its bytes, and what was mended in them; nothing is if
    `strict`."""
    try:
        return parsed_body(data, limits), data, []
    except Refused:
        found = None if strict else _mended(data)
        if found is None:
            raise
    mended, findings = found
    return parsed_body(mended, limits), mended, findings


def _mended(data: bytes) -> tuple[bytes, list[Finding]] | None:
    """A body whose texts hold halves of characters, in a form that can be sent; None where that is
    not what is wrong with it. Clients that cut texts in the middle of an emoji send such."""
    if not _HALVES.search(data):
        return None
    try:
        body, findings = plain_json(json.loads(data, parse_constant=_no_number), "$")
        return msgspec.json.encode(body), findings
    except (ValueError, RecursionError):
        return None


def _no_number(name: str) -> None:
    raise ValueError(name)


def _no_json(data: bytes, error: Exception) -> str:
    if not data.strip():
        return "The body is empty: it has to be a JSON object."
    seen = text_likeness(data)
    if seen is not None:
        return f"The body is {seen.what}: it has to be a JSON object."
    return f"The body is no JSON: {str(error).removeprefix('JSON is malformed: ').rstrip('.')}."


def _refuse_deep(body: Any, most: int) -> None:
    level: list[Any] = [body]
    for _ in range(most):
        level = [
            value
            for one in level
            for value in (one.values() if type(one) is dict else one)
            if type(value) is dict or type(value) is list
        ]
        if not level:
            return
    raise _too_deep(most)


def _inflated(data: bytes, coding: str, most: int) -> bytes:
    if coding not in _WINDOWS:
        what = f"The content-encoding {coding[:40]!r} is not known. Send gzip, deflate or none."
        raise Refused(415, "malformed", what)
    unpacking = zlib.decompressobj(_WINDOWS[coding])
    try:
        unpacked = unpacking.decompress(data, most + 1)
    except zlib.error as error:
        raise Refused(400, "malformed", f"The body is no {coding}: {error}.") from None
    if len(unpacked) > most:
        raise _too_large(most)
    if not unpacking.eof or unpacking.unused_data:
        what = f"The body is no whole {coding}: it is cut off, or something follows it."
        raise Refused(400, "malformed", what)
    return unpacked


def _too_large(most: int) -> Refused:
    what = f"The body is larger than {most} bytes (server.max_body_bytes)."
    return Refused(413, "too_large", what)


def _too_deep(most: int) -> Refused:
    what = f"The body is nested deeper than {most} levels (server.max_body_depth)."
    return Refused(400, "malformed", what)

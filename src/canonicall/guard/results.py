"""`result_blocks`: whatever a tool returned, as the content of a result.

Text stays text, bytes that are an image or a document become media, an exception becomes an error,
everything else becomes JSON. What is longer than the limit is shortened in the middle, with a
finding; the value itself stays with the caller.
"""

from base64 import b64encode
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from canonicall.blocks import Media, ResultContent, Text, ToolCall, ToolResult, Unknown
from canonicall.findings import Action, Fault, Finding
from canonicall.guard.returned_values import AsJson
from canonicall.outcome import Outcome
from canonicall.plain import clean_text

DEFAULT_LIMIT = 100_000
_SHORTEST_LIMIT = 200
_BLOCKS = (Text, Media, Unknown)
_BYTES = (bytes, bytearray, memoryview)
_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", "application/pdf"),
    (b"ID3", "audio/mpeg"),
    (b"OggS", "audio/ogg"),
    (b"fLaC", "audio/flac"),
    (b"PK\x03\x04", "application/zip"),
)
_RIFF = {b"WEBP": "image/webp", b"WAVE": "audio/wav"}


class Returned(Struct, frozen=True):
    """What a tool gave back, and how a model will see it."""

    content: tuple[ResultContent, ...]
    value: Any
    """All of it, as the tool returned it."""
    error: bool = False
    findings: tuple[Finding, ...] = ()

    def result(self, call: ToolCall) -> ToolResult:
        """The result of `call`."""
        return ToolResult(
            call_id=call.id,
            content=self.content,
            error=self.error,
            is_complete=True,
            outcome=Outcome.FAILED if self.error else Outcome.COMPLETED,
            name=call.name,
        )


def result_blocks(value: Any, *, limit: int = DEFAULT_LIMIT) -> Returned:
    """The content of a result for any Python value. `limit`: characters of text in all."""
    findings: list[Finding] = []
    if isinstance(value, ToolResult):
        content, error = value.content or (), value.error
    elif isinstance(value, BaseException):
        content, error = (Text(text=_told(value)),), True
    else:
        content, error = tuple(_content(value, findings)), False
    content = _shortened(content, max(limit, _SHORTEST_LIMIT), findings)
    return Returned(content, value, error, tuple(findings))


def _content(value: Any, findings: list[Finding]) -> list[ResultContent]:
    if value is None:
        return []
    if isinstance(value, _BLOCKS):
        return [value]
    if isinstance(value, str):
        text, more = clean_text(str(value), "value")
        findings += more
        return [Text(text=text)]
    if isinstance(value, _BYTES):
        return [_of_bytes(bytes(value))]
    if isinstance(value, (list, tuple)) and any(
        isinstance(one, (*_BLOCKS, *_BYTES)) for one in value
    ):
        return [block for one in value for block in _content(one, findings)]
    made = AsJson(findings).value(value)
    # A date or a member of an enum is a text of its own, not the JSON of one.
    return [Text(text=made if isinstance(made, str) else msgspec.json.encode(made).decode())]


def _of_bytes(data: bytes) -> ResultContent:
    media_type = _media_type(data)
    if not media_type and b"\x00" not in data:
        # The output of a program, a file: words that came undecoded.
        try:
            return Text(text=data.decode())
        except UnicodeDecodeError:
            pass
    encoded = b64encode(data).decode()
    return Media(media_type=media_type or "application/octet-stream", data=encoded)


def _media_type(data: bytes) -> str:
    for signature, media_type in _SIGNATURES:
        if data.startswith(signature):
            return media_type
    return _RIFF.get(data[8:12], "") if data.startswith(b"RIFF") else ""


def _told(error: BaseException) -> str:
    """An exception in words, without the paths and lines of a traceback."""
    try:
        said = str(error)
    except Exception:  # noqa: BLE001  # whatever the exception does, its type is known
        said = ""
    text = f"{type(error).__name__}: {said}" if said else type(error).__name__
    return clean_text(text, "value")[0]


def _shortened(
    content: tuple[ResultContent, ...], limit: int, findings: list[Finding]
) -> tuple[ResultContent, ...]:
    """The content with about `limit` characters of text; what comes first comes whole."""
    room = limit
    kept: list[ResultContent] = []
    left_out = 0
    for at, block in enumerate(content):
        if not isinstance(block, Text) or len(block.text) <= room:
            kept.append(block)
            room -= len(block.text) if isinstance(block, Text) else 0
        elif room:
            findings.append(_shortened_finding(f"content[{at}]", f"{len(block.text):,} characters"))
            kept.append(replace(block, text=_without_middle(block.text, room)))
            room = 0
        else:
            left_out += 1
    if left_out:
        findings.append(_shortened_finding("content", f"{left_out:,} more texts"))
        kept.append(Text(text=f"[... {left_out:,} more texts left out ...]"))
    return tuple(kept)


def _shortened_finding(where: str, what: str) -> Finding:
    why = f"{what} are more than there is room for; the value of the tool has all of it."
    return Finding("result_shortened", where, Action.CHANGED, why, Fault.NONE)


def _without_middle(text: str, room: int) -> str:
    note = f"\n[... {len(text):,} characters in all, the middle left out ...]\n"
    room = max(0, room - len(note))
    tail = room // 3
    return text[: room - tail] + note + text[len(text) - tail :]

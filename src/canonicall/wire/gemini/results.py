"""Results: a `functionResponse` to a ToolResult and back.

`response` is an object whose keys are the client's own choice. The key "output" or "result" with
text is that text, "error" marks a failure, any other object is read as its JSON text. The object
itself is kept in native "response" and written again for as long as the content says the same.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from canonicall.blocks import Media, Native, Opaque, ResultContent, Text, ToolResult, Unknown
from canonicall.findings import Action, Fault, Finding
from canonicall.wire.foreign_parts import foreign_part, unread_part
from canonicall.wire.gemini import FORMAT, TARGET
from canonicall.wire.gemini.fields import (
    DATA,
    fields_at,
    many_at,
    native_of,
    own_fields,
    split_part,
)
from canonicall.wire.gemini.media import decode_file, decode_inline, encode_media
from canonicall.wire.reading import text_at

KNOWN = ("id", "name", "response", "parts")
_OF_PARTS = tuple(
    name
    for name in TARGET.fields.part
    if "." not in name and name not in (*DATA, "mediaProcessing")
)
"""Fields of a part of a message that a part of a result does not have."""


def decode_result(
    answer: dict[str, Any],
    where: str,
    domain: str,
    opaque: tuple[Opaque, ...],
    rest: dict[str, Any],
    findings: list[Finding],
) -> ToolResult:
    """The result in a `functionResponse`. `rest` are native fields of the part around it."""
    response = answer.get("response", {})
    if not isinstance(response, dict):
        why = "The response of a function has to be an object; what stands there is taken as text."
        place = f"{where}.response"
        findings.append(Finding("response_not_object", place, Action.CHANGED, why, Fault.INPUT))
        response = {"output": response if isinstance(response, str) else _compact(response)}
    text, error = _read_response(response)
    if _write_response(text, error=error) != response:
        rest = {**rest, "response": response}
    words = () if text is None else (Text(text=text),)
    return ToolResult(
        call_id=text_at(answer.get("id"), f"{where}.id"),
        name=text_at(answer.get("name"), f"{where}.name"),
        content=(*words, *_decode_parts(answer.get("parts"), f"{where}.parts", domain, findings)),
        error=error,
        # google-genai, FunctionResponse.will_continue: more responses of this call will follow.
        is_complete=answer.get("willContinue") is not True,
        opaque=opaque,
        native=native_of(rest),
    )


def encode_result(result: ToolResult) -> dict[str, Any]:
    """The known fields of the `functionResponse` for a result."""
    known: dict[str, Any] = {"id": result.call_id} if result.call_id else {}
    known["name"] = result.name
    known["response"] = _response_of(result)
    parts = [_encode_part(part) for part in result.content or () if not isinstance(part, Text)]
    if parts:
        known["parts"] = parts
    return known


def _read_response(response: dict[str, Any]) -> tuple[str | None, bool]:
    """What a response object says, and whether it is an error."""
    # google-genai, FunctionResponse.response: "output" holds the output and "error" the details of
    # an error, if any; without them the whole object is the output.
    failed = response.get("error") is not None and response["error"] is not False
    if not response:
        return None, False
    if len(response) == 1:
        match response:
            case {"output": str(text)} | {"result": str(text)}:
                return text, False
            case {"error": str(text)}:
                return text, True
            case {"error": details} if failed:
                return _compact(details), True
    return _compact(response), failed


def _write_response(text: str | None, *, error: bool) -> dict[str, Any]:
    if error:
        return {"error": text or ""}
    return {} if text is None else {"output": text}


def _response_of(result: ToolResult) -> dict[str, Any]:
    """The response as it came, unless the result has changed since."""
    words = [part.text for part in result.content or () if isinstance(part, Text)]
    text = "\n".join(words) if words else None
    came = own_fields(result.native).get("response") if result.native is not None else None
    if isinstance(came, dict) and _read_response(came) == (text, result.error):
        return came
    return _write_response(text, error=result.error)


def _decode_parts(
    parts: Any, where: str, domain: str, findings: list[Finding]
) -> Iterator[ResultContent]:
    for index, part in enumerate(many_at(parts, where)):
        place = f"{where}[{index}]"
        for came in split_part(fields_at(part, place), place, findings):
            if fields := _own_fields(came, place, findings):
                yield _decode_part(fields, place, domain, findings)


def _own_fields(fields: dict[str, Any], where: str, findings: list[Finding]) -> dict[str, Any]:
    """The fields of a part, without those that only parts of messages have."""
    lost = [name for name in _OF_PARTS if name in fields]
    if not lost:
        return fields
    why = f"A part of a result does not have these fields: {', '.join(lost)}."
    findings.append(Finding("fields_dropped", where, Action.DROPPED, why, Fault.INPUT))
    return {name: field for name, field in fields.items() if name not in lost}


def _decode_part(
    fields: dict[str, Any], where: str, domain: str, findings: list[Finding]
) -> ResultContent:
    if "text" in fields and (text := foreign_part(fields, where, findings)) is not None:
        return text
    for name in ("inlineData", "fileData"):
        if name not in fields:
            continue
        place = f"{where}.{name}"
        data = fields_at(fields[name], place)
        native = _part_native(fields, name, data)
        media = (
            decode_inline(data, place, (), native)
            if name == "inlineData"
            else decode_file(data, place, domain, (), native)
        )
        if media is not None:
            return media
    if not fields.keys().isdisjoint(DATA):
        return unread_part("", fields, where, findings)
    return Unknown(native=Native(FORMAT, fields))


def _part_native(fields: dict[str, Any], name: str, data: dict[str, Any]) -> Native | None:
    rest = {key: value for key, value in fields.items() if key != name}
    extra = {k: v for k, v in data.items() if k not in ("mimeType", "data", "fileUri")}
    if extra:
        rest[name] = extra
    return native_of(rest)


def _encode_part(part: Media | Unknown) -> dict[str, Any]:
    rest = dict(own_fields(part.native))
    if isinstance(part, Unknown):
        return rest
    name, known = encode_media(part)
    return {name: {**rest.pop(name, {}), **known}, **rest}


def _compact(value: Any) -> str:
    return msgspec.json.encode(value).decode()

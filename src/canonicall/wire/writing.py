"""Writing what has the same form in several formats: words, arguments, data addresses."""

from typing import Any

import msgspec

from canonicall.admission import parse_arguments
from canonicall.blocks import Block, Code, Media, Summary, Text, ToolCall


def fenced(block: Code) -> str:
    """Program text as text, for formats that have no form of their own for it."""
    return f"```{block.language}\n{block.code}\n```"


def words_of(block: Block) -> str:
    """The text of a block that is text in one form or another, no text for any other."""
    match block:
        case Text() | Summary():
            return block.text
        case Code():
            return fenced(block)
        case _:
            return ""


def arguments_of(call: ToolCall) -> dict[str, Any]:
    """The arguments as an object; freeform input and broken JSON become its only field."""
    if call.args is not None:
        return call.args
    if call.kind == "custom":
        return {"input": call.raw or ""}
    parsed = parse_arguments(call.raw)
    return {"_raw": call.raw} if parsed is None else parsed


def object_text(raw: str) -> str:
    """Arguments as the text of an object, if they are one in any form: null, blank, text in text.

    What nobody can read stays as it came.
    """
    if raw.lstrip().startswith("{"):
        return raw
    parsed = parse_arguments(raw)
    return raw if parsed is None else msgspec.json.encode(parsed).decode()


def data_url(media: Media) -> str:
    """The address that holds the data of `media` itself."""
    return f"data:{media.media_type};base64,{media.data}"


def json_line(value: Any) -> bytes:
    """`value` as JSON that no reader takes for several lines.

    Line readers of Python (httpx, so Google's and Ollama's clients) end a line at these characters
    as well, which JSON may hold as they are.
    """
    data = msgspec.json.encode(value)
    if data.isascii():
        return data
    for char in ("\x85", "\u2028", "\u2029"):
        data = data.replace(char.encode(), b"\\u%04x" % ord(char))
    return data

"""Writing what has the same form in several formats: text and data addresses."""

import re
from typing import Any

import msgspec

from canonicall.blocks import Block, Code, Media, Summary, Text


def fenced(block: Code) -> str:
    """Program text as text, for formats that have no form of their own for it."""
    return f"```{block.language}\n{block.code}\n```"


def words_of(block: Block) -> str:
    """The text of a block that is text in one form or another, no text for any other."""
    if type(block) is Text:
        return block.text
    match block:
        case Text() | Summary():
            return block.text
        case Code():
            return fenced(block)
        case _:
            return ""


def data_url(media: Media) -> str:
    """The address that holds the data of `media` itself, its type as readers take it: bare."""
    bare = re.split("[;,]", media.media_type)[0].strip().lower()
    return f"data:{bare or 'application/octet-stream'};base64,{media.data}"


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

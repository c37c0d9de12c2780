"""Tokens: what replies that are forwarded say of them, and an estimate where they say nothing.

A chat stream has figures only if they were asked for. The gateway asks for them in the place of a
client that did not, and takes them out of the stream again. The estimate is the same that the
endpoints for counting tokens give.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib import import_module
from typing import Any

import msgspec
from msgspec import Struct

from canonicall.blocks import Block, Media, Text, Thinking, ToolCall, ToolResult
from canonicall.codec import Encoded, decode_request, decode_response, encode_request
from canonicall.errors import CanonicallError
from canonicall.events import StreamEnded
from canonicall.facts.target import Target
from canonicall.folding import raw_arguments
from canonicall.reply import Usage
from canonicall.streams import StreamDecoder

_BYTES_A_TOKEN = 4
_MEDIA_TOKENS = 1600
"""The most that an image takes at Anthropic (docs "Vision"); others are near."""
_MEDIA_BYTES_A_TOKEN = 40
"""Pages of a PDF take 1,500 to 3,000 tokens (docs "PDF support"), and some 100 kB in base64."""
_OPTIONS = "stream_options"
_QUESTION = b'{"stream_options":{"include_usage":true},'
_EVENT = re.compile(rb".*?(?:\r?\n){2}", re.DOTALL)
_NULL = re.compile(rb',\s*"usage"\s*:\s*null|"usage"\s*:\s*null\s*,\s*')
"""In every chunk of a stream that reports its tokens at the end."""
_UNREADABLE = (CanonicallError, msgspec.MsgspecError, UnicodeError, RecursionError)


class _Figures(Struct):
    """The fields that tokens are told in; all others are not even looked at."""

    usage: Any = None
    usageMetadata: Any = None  # noqa: N815  Gemini's own name


_READ = msgspec.json.Decoder(_Figures)


@cache
def _reader(format: str) -> Callable[[dict[str, Any]], Usage | None]:
    """What reads the figures of a front's format."""
    module = import_module(f"canonicall.wire.{format.replace('-', '_')}.finish")
    read: Callable[[dict[str, Any]], Usage | None] = module.decode_usage
    return read


def usage_in(data: bytes, format: str) -> Usage | None:
    """The tokens that a body, or the end of a stream, tells of."""
    try:
        if data.lstrip()[:1] == b"{":
            figures = _READ.decode(data)
            told = figures.usage or figures.usageMetadata
            return _reader(format)(told) if isinstance(told, dict) else None
        decoder = StreamDecoder(format)
        decoder.feed(data)
        end = decoder.close()[-1]
    except _UNREADABLE:
        return None
    return end.reply.usage if isinstance(end, StreamEnded) else None


def wants_usage(body: Mapping[str, Any]) -> bool:
    """Whether a chat request that streams asks for tokens."""
    options = body.get(_OPTIONS)
    return isinstance(options, dict) and options.get("include_usage") is True


def asking_usage(data: bytes, body: dict[str, Any]) -> tuple[bytes, dict[str, Any]]:
    """A chat request that asks for tokens, as bytes and as JSON. The rest of the bytes stays as it
    is, unless there are options already."""
    given = body.get(_OPTIONS)
    options = {**(given if isinstance(given, dict) else {}), "include_usage": True}
    asking = {**body, _OPTIONS: options}
    begin = data.find(b"{")
    if _OPTIONS in body or not body or data[:begin].strip():
        return msgspec.json.encode(asking), asking
    return data[:begin] + _QUESTION + data[begin + 1 :], asking


def without_usage(events: bytes) -> bytes:
    """Whole events of a chat stream without the figures that its client did not ask for."""
    if b'"usage"' not in events:
        return events
    # As OpenAI writes it; in texts the quotes would be escaped.
    events = events.replace(b',"usage":null', b"")
    if b'"usage"' not in events:
        return events
    shown = (_NULL.sub(b"", event) for event in _EVENT.findall(events))
    return b"".join(event for event in shown if not _tells_usage_alone(event))


class _Chunk(Struct):
    choices: Any = None
    usage: Any = None


_READ_CHUNK = msgspec.json.Decoder(_Chunk)


def _tells_usage_alone(event: bytes) -> bool:
    """Whether an event is the chunk that a stream has only because tokens were asked for."""
    if b'"usage"' not in event:
        return False
    data = event.partition(b"data:")[2]
    try:
        chunk = _READ_CHUNK.decode(data)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return False
    return chunk.choices == [] and isinstance(chunk.usage, dict)


def estimated_usage(body: dict[str, Any], format: str, target: Target, said: int) -> Usage:
    """About how many tokens an exchange took: the request in `body`, and `said` bytes of reply."""
    try:
        read = tokens_in(encode_request(decode_request(body, format), target))
    except _UNREADABLE:
        read = len(msgspec.json.encode(body)) // _BYTES_A_TOKEN
    return Usage(input_tokens=read, output_tokens=-(-said // _BYTES_A_TOKEN))


def size_in(data: bytes, format: str) -> int:
    """Bytes of what a model said in a reply or in a stream: text, thoughts, arguments."""
    try:
        if data.lstrip()[:1] == b"{":
            return size_of(decode_response(data, format).message.blocks)
        decoder = StreamDecoder(format)
        decoder.feed(data)
        end = decoder.close()[-1]
    except _UNREADABLE:
        return 0
    return size_of(end.reply.message.blocks) if isinstance(end, StreamEnded) else 0


def size_of(blocks: Iterable[Block]) -> int:
    """Bytes of what a model said in these blocks."""
    size = 0
    for block in blocks:
        if isinstance(block, Text | Thinking):
            size += len(block.text.encode("utf-8", "replace"))
        elif isinstance(block, ToolCall):
            size += len(block.name) + len(raw_arguments(block))
    return size


def tokens_in(encoded: Encoded) -> int:
    """About how many tokens a body has. What images and files are made of is not read as words."""
    blocks: list[Block] = [block for turn in encoded.transcript.turns for block in turn.blocks]
    blocks += [
        part for block in blocks if isinstance(block, ToolResult) for part in block.content or ()
    ]
    inline = [one for one in blocks if isinstance(one, Media) and one.data]
    words = len(encoded.data) - sum(len(one.data or "") for one in inline)
    return max(words, 0) // _BYTES_A_TOKEN + 1 + sum(map(_tokens_of, inline))


def _tokens_of(media: Media) -> int:
    if media.media_type.startswith("image/"):
        return _MEDIA_TOKENS
    return max(_MEDIA_TOKENS, len(media.data or "") // _MEDIA_BYTES_A_TOKEN)

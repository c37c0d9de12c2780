"""The tokens of replies that went through untouched."""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

import msgspec
from msgspec import Struct

from canonicall.errors import CanonicallError
from canonicall.events import StreamEnded
from canonicall.reply import Usage
from canonicall.streams import StreamDecoder


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
    except (CanonicallError, msgspec.MsgspecError, UnicodeError, RecursionError):
        return None
    return end.reply.usage if isinstance(end, StreamEnded) else None

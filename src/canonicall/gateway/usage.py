"""The tokens of replies that went through untouched."""

from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from canonicall.codec import decode_response
from canonicall.errors import CanonicallError
from canonicall.events import StreamEnded
from canonicall.reply import Usage
from canonicall.streams import StreamDecoder


class _Figures(Struct):
    """The fields that tokens are told in; all others are not even looked at."""

    usage: Any = None
    usageMetadata: Any = None  # noqa: N815  Gemini's own name


_READ = msgspec.json.Decoder(_Figures)


def usage_in(data: bytes, format: str) -> Usage | None:
    """The tokens that a body, or the end of a stream, tells of."""
    try:
        if data.lstrip()[:1] == b"{":
            figures = _READ.decode(data)
            told = {name: value for name, value in asdict(figures).items() if value}
            return decode_response(told, format).usage if told else None
        decoder = StreamDecoder(format)
        decoder.feed(data)
        end = decoder.close()[-1]
    except (CanonicallError, msgspec.MsgspecError, UnicodeError, RecursionError):
        return None
    return end.reply.usage if isinstance(end, StreamEnded) else None

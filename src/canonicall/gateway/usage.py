"""The tokens of replies that went through untouched."""

from canonicall.codec import decode_response
from canonicall.errors import CanonicallError
from canonicall.events import StreamEnded
from canonicall.reply import Usage
from canonicall.streams import StreamDecoder


def usage_in(data: bytes, format: str) -> Usage | None:
    """The tokens that a body, or the end of a stream, tells of."""
    try:
        if data.lstrip()[:1] == b"{":
            return decode_response(data, format).usage
        decoder = StreamDecoder(format)
        decoder.feed(data)
        end = decoder.close()[-1]
    except CanonicallError:
        return None
    return end.reply.usage if isinstance(end, StreamEnded) else None

"""Answers that hosts have packed though they were asked not to."""

import zlib
from collections.abc import Iterator

from canonicall.client.deadlines import Clock

_WINDOWS = {"gzip": 16 + zlib.MAX_WBITS, "x-gzip": 16 + zlib.MAX_WBITS, "deflate": zlib.MAX_WBITS}
_AT_ONCE = 256 * 1024


class Unpacking:
    """Gives the bytes of one body as they were; those of most as they come."""

    def __init__(self, coding: str, clock: Clock) -> None:
        coding = coding.strip().lower()
        self._clock = clock
        self._is_plain = coding in ("", "identity")
        if not self._is_plain and coding not in _WINDOWS:
            raise clock.failed("the answer is packed in a way that is not known.", "connection")
        self._packed = None if self._is_plain else zlib.decompressobj(_WINDOWS[coding])

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """The bytes as they were before, a few at a time: a little can unpack to very much."""
        if self._packed is None:
            yield data
            return
        while data:
            try:
                unpacked = self._packed.decompress(data, _AT_ONCE)
            except zlib.error:
                raise self._clock.failed("the answer cannot be unpacked.", "connection") from None
            data = self._packed.unconsumed_tail
            if unpacked:
                yield unpacked

"""Answers that hosts have packed though they were asked not to."""

import asyncio
import zlib
from collections.abc import AsyncIterator

from canonicall.client.deadlines import Clock

_WINDOWS = {"gzip": 16 + zlib.MAX_WBITS, "x-gzip": 16 + zlib.MAX_WBITS, "deflate": zlib.MAX_WBITS}
_METHOD = 8
"""The low half of the first byte where deflated bytes have the head of zlib; some have none."""
SLICE = 256 * 1024
"""Bytes that are unpacked at a time: a few packed bytes can become a thousand times as many."""


class Unpacking:
    """Gives the bytes of one body as they were; those of most as they come."""

    def __init__(self, coding: str, clock: Clock) -> None:
        self._coding = coding.strip().lower()
        self._clock = clock
        self._unpack: zlib._Decompress | None = None
        self.is_plain = self._coding in ("", "identity")
        if not self.is_plain and self._coding not in _WINDOWS:
            raise clock.failed("the answer is packed in a way that is not known.", "connection")

    async def slices(self, data: bytes) -> AsyncIterator[bytes]:
        """The bytes as they were before, a slice at a time. Others run between two slices, and
        whoever has enough of it need not take the next one."""
        if self._unpack is None:
            self._unpack = zlib.decompressobj(self._window(data[0]))
        while data:
            try:
                unpacked = self._unpack.decompress(data, SLICE)
            except zlib.error:
                raise self._clock.failed("the answer cannot be unpacked.", "connection") from None
            data = self._unpack.unconsumed_tail
            if unpacked:
                yield unpacked
                await asyncio.sleep(0)

    def _window(self, first: int) -> int:
        if self._coding == "deflate" and first & 0xF != _METHOD:
            return -zlib.MAX_WBITS
        return _WINDOWS[self._coding]

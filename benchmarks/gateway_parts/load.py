"""A load on one address: requests one after another on several connections."""

import asyncio
import time
from typing import NamedTuple


class Measured(NamedTuple):
    """What a load found; seconds."""

    requests: int
    seconds: float
    p50: float
    p99: float
    first_byte: float
    """The median to the first byte of a body."""


async def measure(
    port: int, path: str, body: bytes, *, requests: int, connections: int
) -> Measured:
    """Send the same request so often, and read each answer to its end."""
    head = (
        f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
        f"authorization: Bearer k\r\ncontent-length: {len(body)}\r\n\r\n"
    ).encode()
    times: list[float] = []
    firsts: list[float] = []
    left = requests

    async def client() -> None:
        nonlocal left
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 24)
        while left > 0:
            left -= 1
            begun = time.perf_counter()
            writer.write(head + body)
            firsts.append(await _answer(reader) - begun)
            times.append(time.perf_counter() - begun)
        writer.close()

    begun = time.perf_counter()
    await asyncio.gather(*(client() for _ in range(connections)))
    seconds = time.perf_counter() - begun
    times.sort()
    firsts.sort()
    middle, late = len(times) // 2, int(len(times) * 0.99)
    return Measured(len(times), seconds, times[middle], times[late], firsts[middle])


async def _answer(reader: asyncio.StreamReader) -> float:
    """Read one answer; when its body began."""
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    if not head.startswith(b"http/1.1 200"):
        rest = await reader.read(2000)
        raise RuntimeError(f"{head!r} {rest!r}")
    at = head.find(b"content-length:")
    if at >= 0:
        size = int(head[at + 15 :].split(b"\r\n", 1)[0])
        await reader.readexactly(size)
        return time.perf_counter()
    first = 0.0
    while True:
        line = await reader.readuntil(b"\r\n")
        first = first or time.perf_counter()
        size = int(line, 16)
        await reader.readexactly(size + 2)
        if size == 0:
            return first

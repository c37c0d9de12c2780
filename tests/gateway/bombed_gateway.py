"""A program for the test of packed bombs: a gateway and its upstream on sockets, eight bombs at once.

python bombed_gateway.py CONTENT-TYPE; it prints what came of it as a JSON line.
"""

import asyncio
import json
import resource
import sys
import zlib

from canonicall.client.direct_transport import DirectTransport
from canonicall.client.secrets import Secret
from canonicall.gateway.app import Gateway
from canonicall.gateway.config import Choice, ModelSettings, ProviderSettings, Settings
from gateway_support import UPSTREAM_KEY, ask
from loopback import listening

MEGABYTE = 1024 * 1024
UNPACKED = 1000 * MEGABYTE


def bomb():
    packer = zlib.compressobj(9, wbits=31)
    block = b" " * MEGABYTE
    return b"".join([packer.compress(block) for _ in range(UNPACKED // MEGABYTE)]) + packer.flush()


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


async def main(kind):
    body = bomb()
    head = f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-encoding: gzip\r\n"
    answer = head.encode() + b"content-length: %d\r\n\r\n" % len(body) + body
    asked = 0

    async def serve(reader, writer):
        nonlocal asked
        asked += 1
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()

    async with listening(serve) as port:
        told = await bombed(port, kind)
    sys.stdout.write(json.dumps({**told, "asked": asked, "packed": len(body)}))


async def bombed(port, kind):
    """What eight clients of a gateway get at once, and what it takes."""
    provider = ProviderSettings(
        keys=(Secret(UPSTREAM_KEY),), base_url=f"http://127.0.0.1:{port}/v1", profile="openai"
    )
    model = ModelSettings(choices=(Choice(target="up:m"),))
    gateway = Gateway(
        Settings(providers={"up": provider}, models={"m": model}), transport=DirectTransport()
    )
    before, healthy = peak(), 0
    streams = kind != "application/json"
    wanted = {"model": "m", "stream": streams, "messages": [{"role": "user", "content": "Hi"}]}
    bombs = [asyncio.ensure_future(ask(gateway, "/v1/chat/completions", wanted)) for _ in range(8)]
    while not all(one.done() for one in bombs):
        assert (await ask(gateway, "/healthz")).status == 200
        healthy += 1
        await asyncio.sleep(0)
    told = {
        "statuses": [one.result().status for one in bombs],
        "grown_megabytes": peak() - before,
        "healthy": healthy,
    }
    await gateway.close()
    return told


asyncio.run(main(sys.argv[1]))

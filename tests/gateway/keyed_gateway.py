"""A program for the tests of keys over several workers: the real gateway before simulated providers.

python keyed_gateway.py SETTINGS, as JSON; it prints what happens as JSON lines. Answers name the
process that gave them. The model `held` never answers, and says which process waits for it.
"""

import asyncio
import json
import os
import sys
from functools import partial

import msgspec
from msgspec.structs import replace

from canonicall.gateway.app import Gateway
from canonicall.gateway.config import Choice, ModelSettings, Settings, SettingsSource
from canonicall.gateway.server.processes import serve
from gateway_support import World, simulated_providers

FAST, HELD = "anthropic", "openai"


class Naming(Gateway):
    """Says with each answer which process it comes from."""

    async def __call__(self, scope, receive, send):
        async def named(message):
            if message["type"] == "http.response.start":
                process = (b"x-process", str(os.getpid()).encode())
                message = {**message, "headers": [*message["headers"], process]}
            await send(message)

        await super().__call__(scope, receive, named)


class Holding:
    """The simulators, one of which never answers."""

    def __init__(self):
        self._simulated = World().transport

    async def post(self, url, *arguments, **options):
        if HELD in url:
            tell("held", str(os.getpid()))
            await asyncio.Event().wait()
        return await self._simulated.post(url, *arguments, **options)

    async def close(self):
        await self._simulated.close()


def tell(event, text):
    # One write: without a buffer `print` writes the end of the line by itself, and other workers
    # may write in between.
    sys.stdout.write(json.dumps({"event": event, "text": text}) + "\n")
    sys.stdout.flush()


def settings():
    given = msgspec.json.decode(sys.argv[1].encode(), type=Settings)
    targets = {"fast": FAST, "held": HELD}
    models = {
        name: ModelSettings(choices=(Choice(target=f"{provider}:some"),))
        for name, provider in targets.items()
    }
    return replace(given, providers=simulated_providers([FAST, HELD]), models=models)


def main():
    make = partial(Naming, transport=Holding())
    source = SettingsSource(settings)
    sys.exit(serve(source, make, tell, on_ready=partial(tell, "ready")))


if __name__ == "__main__":
    main()

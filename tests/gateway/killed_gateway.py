"""A program for the tests of kill -9: the real gateway on a store, before slow simulated providers.

python killed_gateway.py STORE [DRAIN_SECONDS]; it prints its address as a JSON line. The model
repeats all that the user has said so far. What providers send comes in small pieces, so that a kill
meets it half-way.
"""

import asyncio
import json
import sys

from canonicall.gateway.app import Gateway
from canonicall.gateway.config import ServerSettings, Settings, SettingsSource, StoreSettings
from canonicall.gateway.server.processes import serve
from canonicall.testing import Simulator, says
from gateway_backs import models
from gateway_support import World, simulated_providers

PIECE = 150


def echo(request):
    """All that the user has said."""
    said = [one.text for one in request.conversation.messages if one.role == "user"]
    return says("|".join(said))


class Slow:
    """The answer of a provider, a little at a time."""

    def __init__(self, response):
        self._response = response
        self.status, self.headers = response.status, response.headers

    async def chunks(self):
        async for chunk in self._response.chunks():
            for at in range(0, len(chunk), PIECE):
                await asyncio.sleep(0.001)
                yield chunk[at : at + PIECE]

    def close(self):
        self._response.close()


class SlowTransport:
    """The simulators, slowly."""

    def __init__(self):
        self._simulated = World(lambda provider: Simulator(provider, model=echo)).transport

    async def post(self, *arguments, **options):
        return Slow(await self._simulated.post(*arguments, **options))

    async def close(self):
        await self._simulated.close()


def tell(event, text):
    sys.stdout.write(json.dumps({"event": event, "text": text}) + "\n")
    sys.stdout.flush()


def main():
    drain = float(sys.argv[2]) if len(sys.argv) > 2 else 20.0
    settings = Settings(
        server=ServerSettings(port=0, drain_seconds=drain),
        store=StoreSettings(path=sys.argv[1]),
        providers=simulated_providers(),
        models=models(),
    )
    source = SettingsSource(lambda: settings)

    def make(given):
        return Gateway(given, transport=SlowTransport())

    sys.exit(serve(source, make, tell, on_ready=lambda address: tell("ready", address)))


if __name__ == "__main__":
    main()

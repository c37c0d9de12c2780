"""A program for the tests of serving: the real server around an application of a few lines.

python tiny_gateway.py FILE [watch] [broken]; it prints what happens as JSON lines.
"""

import asyncio
import json
import os
import sys

from canonicall.gateway.config import SettingsSource, load_file
from canonicall.gateway.server.processes import serve


class Tiny:
    """Answers with its process and a setting; waits, streams or dies where the path says so."""

    def __init__(self, settings):
        self.settings = settings

    async def reload(self, settings):
        if settings.log.file == "refuse":
            raise RuntimeError("sk-very-secret")
        self.settings = settings

    async def __call__(self, scope, receive, send):
        if scope["type"] == "lifespan":
            await self.live(receive, send)
            return
        settings = self.settings
        while (await receive()).get("more_body"):
            pass
        _, action, *seconds = scope["path"].split("/")
        if action == "die":
            os._exit(9)
        if action == "renew":
            self.serving.renew()
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        if action == "slow":
            await send({"type": "http.response.body", "body": b" ", "more_body": True})
            await asyncio.sleep(float(seconds[0]))
        answer = {
            "process": os.getpid(),
            "setting": settings.log.file,
            "is_ending": self.serving.is_ending,
        }
        await send({"type": "http.response.body", "body": json.dumps(answer).encode()})

    async def live(self, receive, send):
        await receive()
        if "broken" in sys.argv:
            await send({"type": "lifespan.startup.failed", "message": "not today"})
            return
        await send({"type": "lifespan.startup.complete"})
        await receive()
        tell("closed", "")
        await send({"type": "lifespan.shutdown.complete"})


def tell(event, text):
    # One write: without a buffer `print` writes the end of the line by itself, and other workers
    # may write in between.
    sys.stdout.write(json.dumps({"event": event, "text": text}) + "\n")
    sys.stdout.flush()


def main():
    file = sys.argv[1]
    source = SettingsSource(lambda: load_file(file, os.environ).settings, file=file)

    def ready(address):
        tell("ready", address)

    sys.exit(serve(source, Tiny, tell, on_ready=ready, watches="watch" in sys.argv))


if __name__ == "__main__":
    main()

"""Endpoints to discover: simulated providers, with and without a socket between."""

import asyncio
from urllib.parse import urlsplit

from canonicall.discovery.discover import discover
from canonicall.testing.exchange import SimRequest
from canonicall.testing.habits import models_of
from canonicall.testing.simulator import Simulator
from canonicall.testing.small_model import SmallModel

URL = "http://endpoint.test"
KEY = "sk-test-0123456789abcdef"
WHEN = "2026-11-16"


class Answered:
    """An answer whose pieces are chunks."""

    def __init__(self, answer):
        self.status, self.headers, self._pieces = answer.status, answer.headers, answer.pieces

    async def chunks(self):
        for piece in self._pieces:
            yield piece

    def close(self):
        pass


class Wire:
    """A transport without a socket; `log` has method, path and status of every request."""

    def __init__(self, answer):
        """`answer`: takes a request and gives a response, as a simulator does."""
        self._answer = answer
        self.log = []
        self.headers = []

    async def post(self, url, headers, body, timeouts, *, proxy=""):
        return self._asked("POST", url, headers, body)

    async def get(self, url, headers, timeouts, *, proxy=""):
        return self._asked("GET", url, headers, b"")

    async def close(self):
        pass

    def _asked(self, method, url, headers, body):
        address = urlsplit(url)
        path = f"{address.path}?{address.query}" if address.query else address.path
        answer = self._answer(SimRequest.of(method, path, body, dict(headers)))
        self.log.append((method, address.path, answer.status))
        self.headers.append(dict(headers))
        return Answered(answer)

    @property
    def replies(self):
        """How many requests cost tokens."""
        return sum(method == "POST" and status == 200 for method, _, status in self.log)


def simulated(provider, **options):
    """A simulator whose model thinks where it is asked to."""
    return Simulator(
        provider, model=options.pop("model", None) or SmallModel(call_tools="*"), **options
    )


def found(simulator, url=URL, **options):
    """What is found out about a simulator, and the wire it went over."""
    wire = Wire(simulator.answer)
    given = {"model": models_of(simulator.profile.name)[0], "key": KEY, **options}
    return asyncio.run(discover(url, transport=wire, sleep=_no_time, **given)), wire


async def _no_time(seconds):
    del seconds

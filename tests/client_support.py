"""Simulated providers on a port, and a client that is set up for them."""

import asyncio
import time
from contextlib import asynccontextmanager
from itertools import count
from typing import ClassVar
from urllib.parse import urlsplit

import pytest

from canonicall.client.config import ClientConfig
from canonicall.client.model import HttpModel
from canonicall.client.retrying import RetryPolicy
from canonicall.client.transport import Timeouts
from canonicall.conversation import Conversation
from canonicall.events import StreamEnded
from canonicall.facts.registry import get_profile, get_target, provider_names
from canonicall.request import Request
from canonicall.runtime.model import ModelError
from canonicall.testing.exchange import SimRequest
from canonicall.testing.habits import models_of
from canonicall.testing.server import serve
from canonicall.testing.simulator import Simulator
from canonicall.tools.functions import tool

KEY = "sk-test-0123456789abcdef"
_PATHS = {"cohere": "/v2", "openai": "/v1", "gemini": "/v1beta"}
PLACES = [f"{name}/{format}" for name in provider_names() for format in get_profile(name).formats]


@tool
async def weather(city: str) -> str:
    """The weather."""
    return f"sunny in {city}"


def target(place, model=""):
    """The target that a place names, with a model that its provider has."""
    return get_target(f"{place}:{model or models_of(place.partition('/')[0])[0]}")


class Port:
    """One port for all tests: starting a server takes longer than most of them."""

    served: ClassVar = {}
    _numbers = count()
    _running = None

    @classmethod
    def serve(cls, simulator):
        """The address of a simulator from now on."""
        if cls._running is None:
            cls._running = serve(cls.served).start()
        name = f"{next(cls._numbers)}-{simulator.profile.name}"
        cls.served[name] = simulator
        return f"{cls._running.url}/{name}"

    @classmethod
    def stop(cls):
        if cls._running is not None:
            cls._running.stop()
            cls._running = None


class Direct:
    """A transport without a socket: each piece of a simulator's answer is a chunk of its own."""

    async def post(self, url, headers, body, timeouts, *, proxy=""):
        address = urlsplit(url)
        name = address.path.split("/")[1]
        path = address.path.removeprefix(f"/{name}")
        rest = f"{path}?{address.query}" if address.query else path
        answer = Port.served[name].answer(SimRequest.of("POST", rest, body, dict(headers)))
        return DirectResponse(answer)

    async def close(self):
        pass


class Clock:
    """A clock that is set by hand."""

    now = 0.0

    def __call__(self):
        return self.now


class DirectResponse:
    def __init__(self, answer):
        self.status, self.headers, self._pieces = answer.status, answer.headers, answer.pieces

    async def chunks(self):
        for piece in self._pieces:
            await asyncio.sleep(0)
            yield piece

    def close(self):
        pass


def settings(url, name, **more):
    """What sends a provider's requests to its simulator."""
    base = f"{url}{_PATHS.get(name, '')}"
    others = dict.fromkeys(get_profile(name).base_urls, base)
    if name == "vertex":
        others = {"anthropic": f"{base}/publishers/anthropic"}
    values = {"region": "us-east-1"}
    return {"key": KEY, "base_url": base, "base_urls": others, "values": values, **more}


@asynccontextmanager
async def client(
    *simulators,
    timeouts=None,
    fallbacks=(),
    attempts=3,
    transport=None,
    breaker=None,
    elapsed=time.monotonic,
    **more,
):
    """A client for simulators; `model.told` are the notices, `model.slept` the waits."""
    told, slept = [], []

    async def sleep(seconds):
        slept.append(seconds)
        await asyncio.sleep(0)

    names = [one.profile.name for one in simulators]
    config = ClientConfig(
        {
            name: settings(Port.serve(one), name, **more)
            for name, one in zip(names, simulators, strict=True)
        },
        timeouts=timeouts or Timeouts(connect=5, first_byte=20, between_bytes=20),
        retry=RetryPolicy(attempts=attempts),
        breaker=breaker,
    )
    async with HttpModel(
        config,
        transport=transport,
        fallbacks=fallbacks,
        notices=told.append,
        sleep=sleep,
        random=lambda: 0.5,
        elapsed=elapsed,
    ) as model:
        model.told, model.slept = told, slept
        yield model


async def asked(model, request, goal):
    """All events, and the reply."""
    events = [event async for event in model.ask(request, goal)]
    assert isinstance(events[-1], StreamEnded)
    return events, events[-1].reply


def simulator(place, *steps, **options):
    """A simulator of a place's provider; with steps, a scripted one."""
    from canonicall.testing.script import ScriptedModel  # noqa: PLC0415

    if steps:
        options["model"] = ScriptedModel(steps)
    return Simulator(place.partition("/")[0], **{"call_tools": "*", **options})


def arguments(reply):
    """The arguments of a reply's calls, as a conversation reads them."""
    return [one.args for one in Conversation().append(reply.message).calls]


def kinds(model):
    return [notice.kind for notice in model.told]


def question(*tools):
    """A first question."""
    conversation = Conversation()
    conversation.user("How is the weather?")
    return Request(conversation, tools)


async def refused(model, place, *tools):
    """The error in place of a reply."""
    with pytest.raises(ModelError) as caught:
        await asked(model, question(*tools), target(place))
    return caught.value

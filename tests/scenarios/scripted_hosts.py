"""A gateway before hosts that answer as a test tells them: frames, breaks and refusals of its own.

A host answers what is written down for it, one answer after another; behind the last one its
simulator answers. What was sent to whom is kept, byte for byte.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from msgspec.structs import replace

from canonicall.client.transport import Timeouts, TransportError
from canonicall.gateway.app import Gateway
from canonicall.gateway.config import Choice, ModelSettings
from canonicall.testing import Simulator
from canonicall.testing.exchange import SimResponse
from canonicall.testing.script import ScriptedModel, Step
from canonicall.testing.transport import SimulatedResponse, SimulatorTransport
from gateway_support import Answer, World, ask

Answered: TypeAlias = SimResponse | TransportError
PATHS = {
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "anthropic": "/v1/messages",
    "gemini": "/v1beta/models/m:generateContent",
}
_STREAMED = "/v1beta/models/m:streamGenerateContent?alt=sse"


def stream(*frames: bytes, cut: bool = False, kind: str = "text/event-stream") -> SimResponse:
    """A stream of these frames, each in a piece of its own; cut: the connection breaks then."""
    return SimResponse(200, {"content-type": kind}, frames, cut)


def no_connection(where: str = "sim") -> TransportError:
    return TransportError("nobody listens there.", where=where, phase="connect")


class Hosts(World):
    """All providers, some of which have their answers written down."""

    def __init__(
        self,
        answers: Mapping[str, Sequence[Answered]] | None = None,
        make: Callable[[str], Simulator] = Simulator,
    ) -> None:
        super().__init__(make)
        self.answers = {provider: list(given) for provider, given in (answers or {}).items()}
        self.sent: list[tuple[str, bytes]] = []
        """Provider and body of every request, in order."""
        self.waits: list[float] = []
        """The pauses that were made before another attempt; none of them is waited for."""

    @property
    def transport(self) -> SimulatorTransport:
        return _Written(self)

    def gateway(self, models: Mapping[str, ModelSettings] | None = None, **options: Any) -> Gateway:
        gateway = super().gateway(models, **options)
        backs = gateway.state.backs

        async def sleep(seconds: float) -> None:
            self.waits.append(seconds)

        backs.means = replace(backs.means, sleep=sleep)
        return gateway

    def bodies(self, provider: str) -> list[dict[str, Any]]:
        """What one provider was asked."""
        return [json.loads(data) for to, data in self.sent if to == provider]


class _Written(SimulatorTransport):
    def __init__(self, hosts: Hosts) -> None:
        super().__init__(lambda url: hosts.of(_provider(url)))
        self._hosts = hosts

    async def post(
        self,
        url: str,
        headers: Mapping[str, str],
        body: bytes,
        timeouts: Timeouts,
        *,
        proxy: str = "",
    ) -> SimulatedResponse:
        self._hosts.sent.append((_provider(url), body))
        written = self._hosts.answers.get(_provider(url))
        if not written:
            return await super().post(url, headers, body, timeouts, proxy=proxy)
        answer = written.pop(0)
        if isinstance(answer, TransportError):
            raise answer
        return SimulatedResponse(answer, urlsplit(url).path)


def _provider(url: str) -> str:
    return (urlsplit(url).hostname or "").split(".")[0]


def saying(*steps: Step) -> Callable[[str], Simulator]:
    """Simulators that say these things, one after another."""
    return lambda provider: Simulator(provider, model=ScriptedModel(steps))


def model(first: str, *others: str) -> dict[str, ModelSettings]:
    """The model `m`, for which these targets answer, in this order."""
    return {"m": ModelSettings(choices=(Choice(target=first),), fallbacks=others)}


async def asked(
    gateway: Gateway, front: str, body: dict[str, Any], *, streams: bool = False, **headers: str
) -> Answer:
    """The answer at a front door; `_` in the name of a header stands for `-`."""
    path = _STREAMED if streams and front == "gemini" else PATHS[front]
    if front != "gemini":
        body = {"model": "m", **body, "stream": streams}
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return await ask(gateway, path, body, headers=named)


def question(front: str, words: str = "Go.") -> dict[str, Any]:
    """A body that asks for something, in the format of a front."""
    match front:
        case "gemini":
            return {"contents": [{"role": "user", "parts": [{"text": words}]}]}
        case "openai-responses":
            return {"input": words}
        case _:
            return {"max_tokens": 99, "messages": [{"role": "user", "content": words}]}

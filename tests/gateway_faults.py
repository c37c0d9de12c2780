"""Upstreams that go wrong on purpose, and clients that see what comes of it.

`Upstream` is a transport without a socket: it plays what it is given, byte for byte, and knows what
was opened and closed. Keys are planted in every request; `Told` holds whatever leaves the gateway,
so that each test can end by asking that no key is in it.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct
from msgspec.structs import replace

from canonicall.blocks import Message, Origin, Text, Thinking, ToolCall
from canonicall.client.transport import Timeouts, Transport, TransportError
from canonicall.events import ArgumentsAdded, Event
from canonicall.folding import events_of
from canonicall.framing.limits import DEFAULT_LIMITS, ReplyLimits
from canonicall.gateway.app import Gateway
from canonicall.gateway.config import (
    Choice,
    KeySettings,
    ModelSettings,
    RepairSettings,
    Settings,
)
from canonicall.gateway.served import Begun, Served, Watcher
from canonicall.reply import TOOL_CALLS, Reply, Usage
from canonicall.streams import StreamEncoder
from gateway_support import UPSTREAM_KEY, Answer, ask, simulated_providers

CLIENT_KEY = "ck-client-planted-9876543210"
BROKEN = TransportError("the connection broke.", where="http://up.sim", phase="connection")

BACKS = {
    "openai-chat": "openai/openai-chat:gpt-5",
    "openai-responses": "openai/openai-responses:gpt-5",
    "anthropic": "anthropic:claude-sonnet-4-5",
    "gemini": "gemini:gemini-2.5-pro",
    "bedrock": "bedrock/bedrock:some.model",
    "cohere": "cohere:command-a",
    "ollama": "ollama/ollama:qwen3",
}
"""One target for each wire format."""
_STREAM_TYPES = {"bedrock": "application/vnd.amazon.eventstream", "ollama": "application/x-ndjson"}
_SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}


class Front(Struct, frozen=True):
    """How one front is asked to stream."""

    format: str
    path: str
    body: dict[str, Any]

    def streamed(self, model: str) -> tuple[str, dict[str, Any]]:
        """Path and body of a request that streams."""
        if self.format == "gemini":
            return f"{self.path}/{model}:streamGenerateContent?alt=sse", self.body
        return self.path, {**self.body, "model": model, "stream": True}

    def whole(self, model: str) -> tuple[str, dict[str, Any]]:
        """Path and body of a request for a whole reply."""
        if self.format == "gemini":
            return f"{self.path}/{model}:generateContent", self.body
        return self.path, {**self.body, "model": model}


_SAID = [{"role": "user", "content": "The weather in Paris and Rome?"}]
_NAMED = {"name": "get_weather", "description": "The weather.", "parameters": _SCHEMA}
FRONTS = {
    one.format: one
    for one in (
        Front(
            "openai-chat",
            "/v1/chat/completions",
            {"messages": _SAID, "tools": [{"type": "function", "function": _NAMED}]},
        ),
        Front(
            "openai-responses",
            "/v1/responses",
            {"input": _SAID, "tools": [{"type": "function", **_NAMED}], "store": False},
        ),
        Front(
            "anthropic",
            "/v1/messages",
            {
                "messages": _SAID,
                "max_tokens": 1000,
                "tools": [{"name": "get_weather", "input_schema": _SCHEMA}],
            },
        ),
        Front(
            "gemini",
            "/v1beta/models",
            {
                "contents": [{"role": "user", "parts": [{"text": _SAID[0]["content"]}]}],
                "tools": [{"functionDeclarations": [_NAMED]}],
            },
        ),
    )
}

CALLS = (
    ToolCall(id="call_1", name="get_weather", args={"city": "Paris"}, raw='{"city":"Paris"}'),
    ToolCall(id="call_2", name="get_weather", args={"city": "Rome"}, raw='{"city":"Rome"}'),
)
WORDS = "I will look at both."


def said(*blocks: Any) -> Reply:
    """A whole reply of these blocks."""
    finish = TOOL_CALLS if any(isinstance(one, ToolCall) for one in blocks) else "stop"
    usage = Usage(input_tokens=9, output_tokens=5)
    origin = Origin(response_id="resp_up")
    return Reply(Message("assistant", tuple(blocks), origin=origin, finish=finish), usage)


FULL = said(Thinking(text="Two cities."), Text(text=WORDS), *CALLS)


def stream_of(reply: Reply, format: str) -> bytes:
    """The bytes of a reply that is streamed in a format; arguments come in two pieces."""
    encoder = StreamEncoder(format, seed="up")
    return b"".join(encoder.feed_all(_halved(event)) for event in events_of(reply))


def _halved(event: Event) -> list[Event]:
    if not isinstance(event, ArgumentsAdded):
        return [event]
    half = len(event.text) // 2
    return [replace(event, text=event.text[:half]), replace(event, text=event.text[half:])]


class Play(Struct, frozen=True):
    """One answer of an upstream: pieces of bytes, and what breaks it, in order."""

    pieces: Iterable[bytes | Exception]
    status: int = 200
    headers: Mapping[str, str] = {}

    @classmethod
    def stream(cls, format: str, *pieces: bytes | Exception) -> "Play":
        """An answer with the content type that streams of a format have."""
        kind = _STREAM_TYPES.get(format, "text/event-stream")
        return cls(pieces, headers={"content-type": kind})

    @classmethod
    def json(cls, data: bytes, status: int = 200, **headers: str) -> "Play":
        """A body, and headers whose names have `_` for `-`."""
        named = {name.replace("_", "-"): text for name, text in headers.items()}
        return cls((data,), status, {"content-type": "application/json", **named})


class Playing(Transport, Protocol):
    """A transport that knows what was asked, and what is still open."""

    urls: list[str]
    open: int


class Upstream:
    """Plays answers one after another, the last one for ever; or what a function says."""

    def __init__(self, *plays: Play | Exception | Callable[[str, bytes], Play]) -> None:
        self._plays = list(plays)
        self.urls: list[str] = []
        self.bodies: list[bytes] = []
        self.open = 0
        self.is_closed = False

    async def post(
        self,
        url: str,
        headers: Mapping[str, str],
        body: bytes,
        timeouts: Timeouts,
        *,
        proxy: str = "",
    ) -> "Played":
        del timeouts, proxy
        assert UPSTREAM_KEY in f"{url} {dict(headers)}" or "bedrock" in url or "ollama" in url
        self.urls.append(url)
        self.bodies.append(body)
        play = self._plays.pop(0) if len(self._plays) > 1 else self._plays[0]
        if isinstance(play, Exception):
            raise play
        return Played(self, play if isinstance(play, Play) else play(url, body))

    async def all_closed(self) -> bool:
        """Whether no answer is open any more."""
        return self.open == 0

    async def close(self) -> None:
        self.is_closed = True


class Played:
    """One answer while it is read."""

    def __init__(self, upstream: Upstream, play: Play) -> None:
        self._upstream = upstream
        self._pieces = play.pieces
        self._is_open = True
        upstream.open += 1
        self.status, self.headers = play.status, play.headers

    async def chunks(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            if isinstance(piece, Exception):
                raise piece
            yield piece

    def close(self) -> None:
        self._upstream.open -= self._is_open
        self._is_open = False


class Told:
    """A watcher that keeps what it is told."""

    def __init__(self) -> None:
        self.begins: list[Begun] = []
        self.ends: list[Served] = []

    def begun(self, begun: Begun) -> None:
        self.begins.append(begun)

    def ended(self, served: Served) -> None:
        self.ends.append(served)


class Faulty:
    """A gateway before one upstream, with its waits written down instead of waited for."""

    def __init__(
        self,
        upstream: Playing,
        *chain: str,
        goes_on: bool = False,
        watchers: Sequence[Watcher] = (),
        replies: ReplyLimits = DEFAULT_LIMITS,
        keys: Mapping[str, KeySettings] | None = None,
    ) -> None:
        """`keys`: without any, clients on this machine are operators, and are told addresses."""
        first, *others = chain
        self.upstream = upstream
        self.told = Told()
        self.waits: list[float] = []
        settings = Settings(
            providers=simulated_providers(),
            models={"m": ModelSettings(choices=(Choice(target=first),), fallbacks=tuple(others))},
            repair=RepairSettings(continue_streams=goes_on),
            replies=replies,
            keys=dict(keys or {}),
        )
        self.gateway = Gateway(settings, transport=upstream, watchers=(self.told, *watchers))
        backs = self.gateway.state.backs
        backs.means = replace(backs.means, sleep=self._wait, random=lambda: 0.0)

    async def _wait(self, seconds: float) -> None:
        self.waits.append(seconds)
        await asyncio.sleep(0)

    async def ask(self, front: str | Front, *, streams: bool = True) -> Answer:
        """What a client of a front gets, with nothing left open behind it."""
        answer = await self.answer(front, streams=streams)
        assert self.upstream.open == 0
        return answer

    async def answer(self, front: str | Front, *, streams: bool = True) -> Answer:
        """What a client of a front gets; no key is in it, nor in what watchers are told."""
        one = front if isinstance(front, Front) else FRONTS[front]
        path, body = one.streamed("m") if streams else one.whole("m")
        answer = await ask(self.gateway, path, body, headers=CLIENT_HEADERS)
        assert_no_key(answer.body, answer.headers, self.told.begins[-1:], self.told.ends[-1:])
        return answer

    async def report(self, answer: Answer) -> dict[str, Any]:
        """What the gateway tells of an answer."""
        id = answer.headers["x-canonicall-request-id"]
        made = await ask(self.gateway, f"/canonicall/reports/{id}")
        assert made.status == 200
        assert_no_key(made.body)
        report: dict[str, Any] = made.json
        return report


CLIENT_HEADERS = {"authorization": f"Bearer {CLIENT_KEY}"}


def assert_no_key(*told: object) -> None:
    """No key is in what was told, however it is written."""
    shown = repr(told)
    assert UPSTREAM_KEY not in shown
    assert CLIENT_KEY not in shown

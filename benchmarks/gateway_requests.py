"""Requests to a gateway in this process, and an upstream that answers at once: no sockets.

What is measured is what the gateway does between the bytes of a request and those of its reply.
Requests and replies with different marks share no text, and their words come in the pieces in which
models write.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

import orjson

from canonicall.gateway import Gateway, read_settings
from request_bodies import chat_request, steps_of
from streams import anthropic_stream, chat_stream

EVENTS = 200
_WORDS = (
    "I read the parser first, because the error names a value that the caller never sets. The"
    " default is wrong: it is made once, when the module is loaded, and every later call gets the"
    " same list. I will move it into the function and add a test that calls it twice.\n\n"
    "    def parse(text, found=None):\n        found = [] if found is None else found\n\n"
)
_SETTINGS = b"""
[providers]
anthropic = { base_url = "http://127.0.0.1:9", key = "sk-proj-Zq7Tn0aLw3XcV9bRk2Hy8UdPm4Ge6SfJ1" }
openai = { base_url = "http://127.0.0.1:9/v1", key = "sk-proj-Zq7Tn0aLw3XcV9bRk2Hy8UdPm4Ge6SfJ1" }
"""
_USAGE = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
_MODELS = {"anthropic": "anthropic:claude-sonnet-4-5", "openai": "openai/openai-chat:gpt-4.1"}
_SCOPE: dict[str, Any] = {
    "type": "http",
    "method": "POST",
    "path": "/v1/chat/completions",
    "query_string": b"",
    "client": ("127.0.0.1", 5),
    "headers": [
        (b"host", b"127.0.0.1:8080"),
        (b"content-type", b"application/json"),
        (b"authorization", b"Bearer any"),
    ],
}


class Exchange(NamedTuple):
    """A request of a client, and the reply that the upstream has for it."""

    request: bytes
    kind: str
    reply: list[bytes]


class Replies:
    """A transport that answers each request with the next reply."""

    def __init__(self) -> None:
        self.next: Iterator[Exchange] = iter(())

    async def post(self, *_: object, **__: object) -> "Reply":
        """The head of the next reply."""
        return Reply(next(self.next))

    async def close(self) -> None:
        """Nothing is open."""


class Reply:
    """One reply of the upstream."""

    status = 200

    def __init__(self, exchange: Exchange) -> None:
        self._pieces = exchange.reply
        self.headers = {"content-type": exchange.kind}

    async def chunks(self) -> AsyncIterator[bytes]:
        """The pieces of its body."""
        for piece in self._pieces:
            yield piece

    def close(self) -> None:
        """Nothing is open."""


class Measured:
    """A gateway, its upstream, and the loop that both run in."""

    def __init__(self) -> None:
        self._upstream = Replies()
        settings = read_settings(_SETTINGS, "gateway.toml", {}).settings
        self._gateway = Gateway(settings, transport=self._upstream)
        self._loop = asyncio.new_event_loop()

    def ask(self, exchanges: list[Exchange]) -> None:
        """Send all requests, one after the other."""
        self._upstream.next = iter(exchanges)
        self._loop.run_until_complete(self._ask_all(exchanges))

    async def _ask_all(self, exchanges: list[Exchange]) -> None:
        for one in exchanges:
            await self._ask(one.request)

    async def _ask(self, body: bytes) -> None:
        pending = [{"type": "http.request", "body": body, "more_body": False}]
        forever = asyncio.Event()

        async def receive() -> dict[str, Any]:
            if not pending:
                await forever.wait()
            return pending.pop()

        async def send(message: dict[str, Any]) -> None:
            if message.get("status", 200) != 200:
                raise RuntimeError(f"the gateway answers {message['status']}")

        await self._gateway(dict(_SCOPE), receive, send)


@cache
def measured() -> Measured:
    """The gateway of this process."""
    return Measured()


def requests(provider: str, *, stream: bool) -> Callable[[list[str]], Callable[[], None]]:
    """Requests of a chat client to a provider, one for each mark: `subjects` measures them."""
    replies = {
        ("anthropic", False): _message,
        ("anthropic", True): lambda mark: anthropic_stream(EVENTS, mark, _WORDS),
        ("openai", False): _completion,
        ("openai", True): _chat_events,
    }
    reply = replies[provider, stream]
    kind = "text/event-stream" if stream else "application/json"

    def prepare(marks: list[str]) -> Callable[[], None]:
        made = [Exchange(_request(mark, provider, stream), kind, reply(mark)) for mark in marks]
        gateway = measured()
        return lambda: gateway.ask(made)

    return prepare


def _request(mark: str, provider: str, stream: bool) -> bytes:
    body = orjson.loads(chat_request(1, mark))
    return orjson.dumps({**body, "model": _MODELS[provider], "stream": stream})


def _chat_events(mark: str) -> list[bytes]:
    """A stream that tells of its tokens: the gateway asks for them."""
    *events, done = chat_stream(EVENTS, mark, _WORDS)
    told = orjson.dumps({"object": "chat.completion.chunk", "choices": [], "usage": _USAGE})
    return [*events, b"data: " + told + b"\n\n", done]


def _completion(mark: str) -> list[bytes]:
    (step,) = steps_of(1, mark)
    function = {"name": "read_file", "arguments": orjson.dumps(step.arguments).decode()}
    call = {"id": f"call_{step.id}", "type": "function", "function": function}
    message = {"role": "assistant", "content": _text(mark), "tool_calls": [call]}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls", "logprobs": None}
    body = {"id": f"chatcmpl-{mark}", "object": "chat.completion", "model": "gpt-4.1", "created": 1}
    return [orjson.dumps({**body, "choices": [choice], "usage": _USAGE})]


def _message(mark: str) -> list[bytes]:
    (step,) = steps_of(1, mark)
    call = {"id": f"toolu_{step.id}", "name": "read_file", "input": step.arguments}
    content = [{"type": "text", "text": _text(mark)}, {"type": "tool_use", **call}]
    body = {"id": f"msg_{mark}", "type": "message", "role": "assistant", "content": content}
    ended = {"model": "claude-sonnet-4-5", "stop_reason": "tool_use", "stop_sequence": None}
    return [orjson.dumps({**body, **ended, "usage": {"input_tokens": 100, "output_tokens": 20}})]


def _text(mark: str) -> str:
    return mark + _WORDS * 14

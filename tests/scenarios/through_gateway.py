"""The same request and the same stream once more, through a running gateway.

What the codec does alone says little of what a client gets: the gateway reads, remembers, restores
state, gives ids of its own and checks. It has to come to the same body, and to the same reply.
"""

import asyncio
import json
from functools import cache
from typing import Any

from msgspec.structs import replace

from canonicall.blocks import Text
from canonicall.codec import encode_response
from canonicall.facts.registry import get_target
from canonicall.facts.target import Target
from canonicall.gateway.app import Gateway
from canonicall.gateway.config import RepairSettings, Settings
from canonicall.runtime.middleware import ToolMiddleware
from gateway_faults import FRONTS, Play, Upstream, said
from gateway_support import Answer, ask, simulated_providers

HOSTS = {
    "openai-chat": "vllm/openai-chat:some-model",
    "openai-responses": "deepseek/openai-responses:some-model",
    "anthropic": "zai/anthropic:glm-4.6",
    "gemini": "vertex/gemini:gemini-2.5-pro",
    "bedrock": "bedrock/bedrock:some.model",
    "cohere": "cohere:command-a",
    "ollama": "ollama/ollama:qwen3",
}
"""Who speaks each format, and has its replies read: nothing is forwarded as it came."""
_ASIDE = ("model", "modelId", "stream", "stream_options")
"""What the gateway decides: whom it asks, and in which way the reply travels."""


class _Running:
    """One gateway, whose upstream plays what it is told, whoever is asked."""

    def __init__(self) -> None:
        self.play = Play(())
        self.upstream = Upstream(lambda url, body: self.play)
        settings = Settings(
            providers=simulated_providers(), repair=RepairSettings(continue_streams=False)
        )
        # Somebody who looks at everything: bodies that need no change are translated as well.
        self.gateway = Gateway(settings, transport=self.upstream, middleware=(ToolMiddleware(),))

    def ask(self, front: str, body: dict[str, Any], model: str, *, streams: bool) -> Answer:
        self.upstream.bodies.clear()
        path = FRONTS[front].path
        if front == "gemini":
            method = "streamGenerateContent?alt=sse" if streams else "generateContent"
            return asyncio.run(ask(self.gateway, f"{path}/{model}:{method}", body))
        return asyncio.run(ask(self.gateway, path, {**body, "model": model, "stream": streams}))


_running = cache(_Running)


def stream_through(frames: list[bytes], back: str, front: str) -> bytes | None:
    """The bytes that a client of the front gets for a stream; None where there is no such front."""
    if front not in FRONTS:
        return None
    running = _running()
    running.play = Play.stream(back, *frames)
    answer = running.ask(front, FRONTS[front].body, HOSTS[back], streams=True)
    assert answer.status == 200, answer.body
    return answer.body


def body_through(
    body: dict[str, Any] | str | bytes, front: str, target: Target
) -> dict[str, Any] | None:
    """The body that a target gets from the gateway; None where there is no such front, or where
    the target is not one that a name stands for."""
    name = f"{target.provider}/{target.format}:{target.model or 'some-model'}"
    is_known = replace(get_target(name), model=target.model) == target
    if front not in FRONTS or not is_known or target.stream_only:
        return None
    running = _running()
    whole = json.dumps(encode_response(said(Text(text="So.")), target.format)).encode()
    running.play = Play.json(whole)
    asked = body if isinstance(body, dict) else json.loads(body)
    answer = running.ask(front, asked, name, streams=False)
    assert answer.status == 200, answer.body
    (sent,) = running.upstream.bodies
    return comparable(json.loads(sent))


def comparable(body: dict[str, Any]) -> dict[str, Any]:
    """A body without what the gateway decides."""
    return {name: value for name, value in body.items() if name not in _ASIDE}

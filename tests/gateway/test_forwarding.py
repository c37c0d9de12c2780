"""Same format on both sides: bytes go through as they are, unless somebody has to look at them."""

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest

from canonicall.client.transport import Timeouts
from canonicall.gateway.settings import Choice, ModelSettings, RepairSettings
from canonicall.testing import Simulator
from canonicall.testing.transport import SimulatedResponse, SimulatorTransport
from front_bodies import FORMATS, request_of
from gateway_backs import BOTH, thinking_model
from gateway_support import Answer, World, ask

OWNERS = {
    "openai-chat": "openai/openai-chat:gpt-5.2",
    "openai-responses": "openai/openai-responses:gpt-5.2",
    "anthropic": "anthropic/anthropic:claude-opus-5-5",
    "gemini": "gemini/gemini:gemini-3-pro-preview",
}
STREAMED = pytest.mark.parametrize("streamed", [False, True])


class Wire:
    """Remembers the bytes that went up and came down."""

    def __init__(self, transport: SimulatorTransport) -> None:
        self._transport = transport
        self.up: list[bytes] = []
        self.down: list[bytes] = []

    async def post(
        self,
        url: str,
        headers: Mapping[str, str],
        body: bytes,
        timeouts: Timeouts,
        *,
        proxy: str = "",
    ) -> SimulatedResponse:
        self.up.append(body)
        response = await self._transport.post(url, headers, body, timeouts, proxy=proxy)
        kept, chunks = bytearray(), response.chunks

        async def watched() -> AsyncIterator[bytes]:
            async for chunk in chunks():
                kept.extend(chunk)
                yield chunk
            self.down.append(bytes(kept))

        response.chunks = watched  # type: ignore[method-assign]
        return response

    async def close(self) -> None:
        """Nothing is open."""


async def through(format: str, target: str, data: Any, **options: Any) -> tuple[Answer, Wire]:
    """What a client of the model `m` gets, and what went over the wire for it."""
    world = World(lambda name: Simulator(name, model=thinking_model))
    wire = Wire(world.transport)
    models = {"m": ModelSettings(choices=(Choice(target=target),))}
    gateway = world.gateway(models, transport=wire, **options)
    path, body = request_of(format, "m", BOTH, **data)
    answer = await ask(gateway, path, spaced(body))
    await gateway.close()
    return answer, wire


def spaced(body: Any) -> bytes:
    """JSON as no encoder of ours writes it: what is parsed and written again shows."""
    return json.dumps(body, indent=1, ensure_ascii=True).encode() + b"\n"


@STREAMED
@pytest.mark.parametrize("format", FORMATS)
async def test_the_owner_gets_and_gives_the_very_bytes(format: str, streamed: bool) -> None:
    answer, wire = await through(format, OWNERS[format], {"streamed": streamed})
    assert answer.status == 200
    assert answer.headers["x-canonicall-forwarded"] == "true"
    _, body = request_of(format, "m", BOTH, streamed=streamed)
    model = OWNERS[format].partition(":")[2]
    # An alias changes the value of the model, and nothing beside it.
    sent = spaced(body).replace(b'"model": "m"', f'"model": "{model}"'.encode())
    assert wire.up == [sent]
    assert wire.down == [answer.body]


@pytest.mark.parametrize("target", ["vertex/gemini:gemini-3-pro-preview", "zai/anthropic:glm-4.6"])
async def test_a_host_of_another_signing_domain_is_translated(target: str) -> None:
    format = target.partition("/")[2].partition(":")[0]
    answer, wire = await through(format, target, {})
    assert answer.status == 200
    assert "x-canonicall-forwarded" not in answer.headers
    assert wire.down != [answer.body]


async def test_hosts_that_only_speak_the_format_are_read_where_tools_are_offered() -> None:
    """Their models print calls into their words."""
    target = "vllm/openai-chat:some-model"
    answer, _ = await through("openai-chat", target, {})
    assert "x-canonicall-forwarded" not in answer.headers
    answer, wire = await through("openai-chat", target, {"tools": False})
    assert answer.headers["x-canonicall-forwarded"] == "true"
    assert wire.down == [answer.body]
    trusted = RepairSettings(leaks=False)
    answer, wire = await through("openai-chat", target, {}, repair=trusted)
    assert answer.headers["x-canonicall-forwarded"] == "true"


async def test_a_request_that_needs_repair_is_translated() -> None:
    orphan = {"role": "tool", "tool_call_id": "call_gone", "content": "x"}
    said = [{"role": "user", "content": BOTH}, orphan]
    answer, wire = await through("openai-chat", OWNERS["openai-chat"], {"messages": said})
    assert answer.status == 200
    assert "x-canonicall-forwarded" not in answer.headers
    assert answer.headers["x-canonicall-changes"] != "none"
    assert b"call_gone" not in wire.up[0]

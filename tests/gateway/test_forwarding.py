"""Same format on both sides: bytes go through as they are, unless somebody has to look at them."""

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest

from canonicall.blocks import Text
from canonicall.client.transport import Timeouts
from canonicall.codec import encode_response
from canonicall.gateway.config import Choice, ModelSettings, RepairSettings
from canonicall.testing import Simulator
from canonicall.testing.transport import SimulatedResponse, SimulatorTransport
from front_bodies import FORMATS, request_of
from gateway_backs import BOTH, thinking_model
from gateway_faults import FRONTS, Faulty, Front, Play, Upstream, said
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
    (down,) = wire.down
    if format == "openai-chat" and streamed:
        # Tokens are asked for in the place of the client, and kept from it.
        sent = b'{"stream_options":{"include_usage":true},' + sent[1:]
        events = down.split(b"\n\n")
        down = b"\n\n".join(one for one in events if b'"choices":[]' not in one)
        assert len(down) < len(wire.down[0])
    assert wire.up == [sent]
    assert down == answer.body


@pytest.mark.parametrize("target", ["vertex/gemini:gemini-3-pro-preview", "zai/anthropic:glm-4.6"])
async def test_a_host_of_another_signing_domain_is_translated(target: str) -> None:
    format = target.partition("/")[2].partition(":")[0]
    answer, wire = await through(format, target, {})
    assert answer.status == 200
    assert "x-canonicall-forwarded" not in answer.headers
    assert wire.down != [answer.body]


async def test_hosts_are_forwarded_to_unless_they_are_known_to_print_calls() -> None:
    for target, printed in (
        ("openrouter/openai-chat:openai/gpt-5", False),
        ("openrouter/openai-chat:qwen/qwen3-32b", True),
        (OWNERS["openai-chat"], False),
    ):
        for recover, is_read in (("known", printed), ("always", True), ("off", False)):
            repair = RepairSettings(recover=recover)
            answer, _ = await through("openai-chat", target, {}, repair=repair)
            assert answer.status == 200
            assert ("x-canonicall-forwarded" not in answer.headers) == is_read, (target, recover)


async def test_hosts_that_print_calls_are_read_where_tools_are_offered() -> None:
    target = "vllm/openai-chat:some-model"
    answer, _ = await through("openai-chat", target, {})
    assert "x-canonicall-forwarded" not in answer.headers
    answer, wire = await through("openai-chat", target, {"tools": False})
    assert answer.headers["x-canonicall-forwarded"] == "true"
    assert wire.down == [answer.body]
    trusted = RepairSettings(recover="off")
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


REFUSALS = {
    "openai-chat": (
        b'{"error": {"message": "Unsupported parameter: \'temperature\' is not supported with this'
        b' model.", "type": "invalid_request_error", "param": "temperature"}}'
    ),
    "openai-responses": (
        b'{"error": {"message": "Unsupported parameter: \'temperature\' is not supported with this'
        b' model.", "type": "invalid_request_error", "param": "temperature"}}'
    ),
    "anthropic": (
        b'{"type": "error", "error": {"type": "invalid_request_error", "message":'
        b' "`temperature` is deprecated for this model."}}'
    ),
}
TAKES_TEMPERATURE = {"anthropic": "anthropic:claude-sonnet-4-5"}
"""Where the owner's model above is known to refuse it."""
ASKED = {"openai-chat": {}, "openai-responses": {"store": False}, "anthropic": {"max_tokens": 99}}


@pytest.mark.parametrize("front", REFUSALS)
async def test_what_a_refusal_taught_is_not_asked_for_again(front: str) -> None:
    """The first refusal is paid for once; then a body that would be refused is translated at once,
    and one that would not goes through as it came."""
    whole = json.dumps(encode_response(said(Text(text="So.")), front)).encode()

    def answer(url: str, body: bytes) -> Play:
        del url
        return Play.json(REFUSALS[front], 400) if b"temperature" in body else Play.json(whole)

    upstream = Upstream(answer)
    world = Faulty(upstream, TAKES_TEMPERATURE.get(front, OWNERS[front]))
    turns = "input" if front == "openai-responses" else "messages"
    plain = Front(
        front,
        FRONTS[front].path,
        {turns: [{"role": "user", "content": "So?"}], **ASKED[front]},
    )
    warm = Front(front, plain.path, {**plain.body, "temperature": 0.5})

    assert (await world.ask(warm, streams=False)).status == 200
    upstream.bodies.clear()
    later = await world.ask(warm, streams=False)
    assert (later.status, len(upstream.bodies)) == (200, 1)
    assert "param_dropped" in later.headers["x-canonicall-changes"]
    forwarded = await world.ask(plain, streams=False)
    assert forwarded.headers["x-canonicall-forwarded"] == "true"
    assert (forwarded.status, len(upstream.bodies)) == (200, 2)

"""The gateway beside a minimal translating proxy on the same libraries, and beside nginx.

One worker on one core, an upstream that answers at once on the other, HTTP and parsing included.
Seconds are those of the processor for one request; latencies are printed beside them.
"""

import asyncio
import json
import sys
from typing import Any

from gateway_parts.load import Measured, measure
from gateway_parts.processes import Server, servers
from gateway_parts.upstream import EVENTS
from measuring import Ratio

_PATH = "/v1/chat/completions"
_ANTHROPIC, _OPENAI = "anthropic:claude-sonnet-4-5", "openai:gpt-4o"
_TURNS = {"1 KB": 1, "10 KB": 20, "100 KB": 200, "1 MB": 2000}
_STREAMS_AT_ONCE = 200
_TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": "The weather in a city.",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}},
                "required": ["city"],
            },
        },
    }
]


def ratios() -> list[Ratio]:
    """All of it, in one run."""
    with servers() as running:
        return asyncio.run(_measured(running))


async def _measured(running: dict[str, Server]) -> list[Ratio]:
    floor, ours = running["minimal_proxy"], running["gateway_server"]
    idle = ours.megabytes
    found = []
    for size, turns in _TURNS.items():
        count = 1500 if turns < 100 else 150 if turns < 1000 else 15
        least = await _cost(f"minimal proxy, {size}", floor, _body("m", turns), count)
        made = await _cost(f"translated, {size}", ours, _body(_ANTHROPIC, turns), count)
        passed = await _cost(f"forwarded, {size}", ours, _body(_OPENAI, turns), count)
        is_small = size == "1 KB"
        found.append(Ratio(f"translated, {size}", made, least, 1.5 if is_small else None))
        found.append(Ratio(f"forwarded, {size}", passed, least, 1.0 if is_small else None))
        if "nginx" in running:
            bare = await _cost(f"nginx, {size}", running["nginx"], _body("m", turns), count)
            found.append(Ratio(f"forwarded beside nginx, {size}", passed, bare, None))
    found += await _streams(floor, ours)
    _say(f"memory of the gateway: idle {idle:.0f} MB (goal 90), at the end {ours.megabytes:.0f} MB")
    return found


async def _streams(floor: Server, ours: Server) -> list[Ratio]:
    least = await _cost("minimal proxy, streamed", floor, _body("m", 1, stream=True), 150)
    made = await _cost("translated, streamed", ours, _body(_ANTHROPIC, 1, stream=True), 150)
    first = [
        (await _load(server, _body(model, 1, stream=True), 100, 1)).first_byte
        for server, model in ((floor, "m"), (ours, _ANTHROPIC))
    ]
    _say(f"first streamed byte: {(first[1] - first[0]) * 1e3:+.2f} ms of the floor (goal +1 ms)")
    many = await _load(
        ours, _body(_ANTHROPIC, 1, stream=True), 2 * _STREAMS_AT_ONCE, _STREAMS_AT_ONCE
    )
    _say(f"{_STREAMS_AT_ONCE} streams at once: p50 {many.p50:.2f} s, p99 {many.p99:.2f} s")
    return [Ratio("an event of a stream", made / EVENTS, least / EVENTS, 1.5)]


async def _cost(what: str, server: Server, body: bytes, count: int) -> float:
    """Seconds of the processor for one request."""
    await _load(server, body, max(count // 10, 3), 1)
    before = server.cpu
    found = await _load(server, body, count, 1)
    cost = (server.cpu - before) / found.requests
    speed = found.requests / found.seconds
    _say(
        f"{what:26} cpu {cost * 1e3:8.3f} ms  p50 {found.p50 * 1e3:8.2f} ms"
        f"  p99 {found.p99 * 1e3:8.2f} ms  {speed:7.0f} rps  {server.megabytes:4.0f} MB"
    )
    return cost


async def _load(server: Server, body: bytes, requests: int, connections: int) -> Measured:
    return await measure(server.port, _PATH, body, requests=requests, connections=connections)


def _body(model: str, turns: int, *, stream: bool = False) -> bytes:
    messages: list[dict[str, Any]] = [{"role": "system", "content": "You help with the weather."}]
    for number in range(turns):
        call = {"name": "get_weather", "arguments": json.dumps({"city": f"c{number}"})}
        id = f"call_{number}"
        messages += [
            {"role": "user", "content": f"What is the weather in city {number}? What do I wear?"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": id, "type": "function", "function": call}],
            },
            {"role": "tool", "tool_call_id": id, "content": "sunny and warm, a little wind"},
            {"role": "assistant", "content": "It is sunny; wear something light, and a hat."},
        ]
    messages.append({"role": "user", "content": "And in Rome?"})
    body = {"model": model, "messages": messages, "tools": _TOOLS, "stream": stream}
    return json.dumps(body).encode()


def _say(line: str) -> None:
    print(line, file=sys.stderr)

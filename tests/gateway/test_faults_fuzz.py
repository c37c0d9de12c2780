"""Ten thousand hostile requests: each gets an answer in the shape of its front, none a crash."""

import gc
import gzip
import json
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

from canonicall.gateway.config import Choice, ModelSettings, ServerSettings
from components import COMPONENTS
from gateway_faults import CLIENT_KEY, FRONTS, assert_no_key
from gateway_support import World, ask
from hostile_bodies import hostile

FEW, MANY = 300, 2_500
"""Requests for each front."""
MODELS = (
    *("openai/openai-chat:gpt-5", "openai/openai-responses:gpt-5", "anthropic:claude-sonnet-4-5"),
    *("gemini:gemini-2.5-pro", "bedrock/bedrock:some.model", "cohere:command-a"),
    *(
        "mistral:mistral-large-latest",
        "ollama/ollama:qwen3",
        "kimi:kimi-k2",
        "deepseek:deepseek-chat",
    ),
)
NAMES = {f"m{at}": model for at, model in enumerate(MODELS)}
_CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "The weather?"}]},
    {
        "role": "assistant",
        "content": "I look.",
        "tool_calls": [
            {
                "id": "call_1",
                "type": "function",
                "function": {"name": "get_weather", "arguments": '{"city":"Rome"}'},
            }
        ],
    },
    {"role": "tool", "tool_call_id": "call_1", "content": "sunny"},
    {"role": "user", "content": "And tomorrow?"},
]
_PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
LONGER: dict[str, dict[str, Any]] = {
    "openai-chat": {"messages": _CHAT, "tool_choice": "auto", "temperature": 0.5, "stop": ["x"]},
    "openai-responses": {
        "instructions": "Be brief.",
        "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "The weather?"}]},
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "abc"},
            {
                "type": "function_call",
                "call_id": "call_1",
                "name": "get_weather",
                "arguments": '{"city":"Rome"}',
            },
            {"type": "function_call_output", "call_id": "call_1", "output": "sunny"},
            {"role": "user", "content": "And tomorrow?"},
        ],
        "reasoning": {"effort": "low"},
        "text": {"format": {"type": "text"}},
    },
    "anthropic": {
        "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "The weather?"},
                    {
                        "type": "image",
                        "source": {"type": "base64", "media_type": "image/png", "data": _PIXEL},
                    },
                ],
            },
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "Hm.", "signature": "abc"},
                    {"type": "tool_use", "id": "t1", "name": "get_weather", "input": {"city": "R"}},
                ],
            },
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "sunny"}],
            },
        ],
        "tool_choice": {"type": "auto"},
        "metadata": {"user_id": "u"},
    },
    "gemini": {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "The weather?"}]},
            {
                "role": "model",
                "parts": [{"functionCall": {"name": "get_weather", "args": {"city": "Rome"}}}],
            },
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"name": "get_weather", "response": {"result": "sunny"}}},
                    {"inlineData": {"mimeType": "image/png", "data": _PIXEL}},
                ],
            },
        ],
        "generationConfig": {"temperature": 0.5, "stopSequences": ["x"]},
    },
}
"""Sound bodies that have all that a format is usually asked with."""


_OURS = {"model", "stream"}
_PROTOCOLS = {"anthropic": "anthropic-messages", "gemini": "gemini-generate"}


def sound_bodies(front: str) -> list[dict[str, Any]]:
    """What hostile bodies are made from: the one above, and recorded ones where they are at hand."""
    made = [{**FRONTS[front].body, **LONGER[front]}]
    corpus = COMPONENTS["corpus"].find()
    if corpus is None:
        return made
    recorded = []
    for path in sorted(corpus.glob("*.jsonl")):
        if path.name.startswith(front.partition("-")[0]):
            records = map(json.loads, path.read_text("utf-8").splitlines())
            recorded += [
                one["request"]
                for one in records
                if one["protocol"] == _PROTOCOLS.get(front, front)
                and isinstance(one["request"], dict)
                and len(str(one["request"])) < 6_000
            ]
    chosen = Random(front).sample(recorded, min(60, len(recorded)))  # noqa: S311  repeatable
    return made * 40 + chosen


def resident() -> int:
    """The memory of this process, in bytes."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * 4096


def assert_answered(front: str, status: int, data: bytes) -> None:
    """A reply, or an error that the clients of the front can read and that is not ours."""
    if status == 200:
        assert data
        return
    assert 400 <= status < 500, (status, data[:500])
    told = json.loads(data)["error"]
    assert told["message"], data
    assert "Traceback" not in told["message"]
    if front == "anthropic":
        assert json.loads(data)["type"] == "error"


@pytest.mark.parametrize("count", [FEW, pytest.param(MANY, marks=pytest.mark.deep)])
@pytest.mark.parametrize("front", FRONTS)
async def test_hostile_bodies_are_answered(front: str, count: int) -> None:
    random = Random(f"hostile {front}")  # noqa: S311  repeatable
    world = World()
    gateway = world.gateway(
        {name: ModelSettings(choices=(Choice(target=one),)) for name, one in NAMES.items()},
        server=ServerSettings(max_body_bytes=400_000),
    )
    sound = sound_bodies(front)
    statuses: Counter[int] = Counter()
    memory = 0
    for at in range(count):
        model = random.choice(list(NAMES))
        asked = FRONTS[front].streamed if random.random() < 0.5 else FRONTS[front].whole
        path, body = asked(model)
        body = {**random.choice(sound), **{name: body[name] for name in body.keys() & _OURS}}
        one = hostile(body, random)
        headers = {"authorization": f"Bearer {CLIENT_KEY}", **one.headers}
        try:
            answer = await ask(gateway, path, one.data, headers=headers)
            assert_answered(front, answer.status, answer.body)
        except BaseException as error:
            error.add_note(f"{at}: {NAMES[model]} {one.headers} {one.data[:3000]!r}")
            raise
        assert_no_key(answer.body, answer.headers)
        statuses[answer.status] += 1
        for simulator in world.simulators.values():
            simulator.seen.clear()
        if at == count // 2:
            memory = resident()
    assert resident() - memory < 20_000_000
    assert statuses[200] > count // 5, statuses
    assert gateway.state.open_requests == 0
    await gateway.close()


HALF = b'{"model":"m","messages":[{"role":"user","content":"\\ud800"}]}'


@pytest.mark.parametrize(
    ("data", "headers", "status"),
    [
        (gzip.compress(b"{}", mtime=0)[:-9], {"content-encoding": "gzip"}, 400),
        (gzip.compress(b"{}", mtime=0) * 2, {"content-encoding": "gzip"}, 400),
        (gzip.compress(b"[" * 500_000, mtime=0), {"content-encoding": "gzip"}, 413),
        (b"{}", {"content-encoding": "zstd"}, 415),
        (b"{}", {"content-length": "9" * 5000}, 413),
        (b'{"a":' * 300 + b"1" + b"}" * 300, {}, 400),
        (b"[" * 100_000, {}, 400),
        (HALF, {"x-canonicall-strict": "true"}, 400),
        (b'{"model":"m","temperature":NaN}', {}, 400),
        (HALF.replace(b"}]}", b',"name":NaN}]}'), {}, 400),
    ],
)
async def test_what_cannot_be_read_is_refused(
    data: bytes, headers: dict[str, str], status: int
) -> None:
    """Cut or doubled packing, bombs, unknown packing, sizes nobody can read, depth, no JSON."""
    gateway = World().gateway(server=ServerSettings(max_body_bytes=400_000))
    for front in FRONTS.values():
        path, _ = front.whole("m")
        answer = await ask(gateway, path, data, headers=headers)
        assert answer.status == status, answer.body
        assert_answered(front.format, answer.status, answer.body)
    await gateway.close()


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "OPTIONS", "BREW", ""])
async def test_unknown_paths_methods_and_queries_are_told(method: str) -> None:
    gateway = World().gateway()
    paths = [
        *(
            "/",
            "//",
            "/v1",
            "/v1/nothing",
            "/v1/messages/../x",
            "/%00",
            "/v1/responses/" + "x" * 5000,
        ),
        *("/v1beta/models/:generateContent", "/v1beta/models/m:explode", "/canonicall/reports/é"),
        *("/v1/models/nobody", "/v1/responses/nobody", "/canonicall/translate", "/canonicall"),
        *("/v1/messages?alt=%ff&alt=&=&&" + "a&" * 500, "/v1/chat/completions?key=" + CLIENT_KEY),
    ]
    for path in paths:
        for body in (b"", b"{}", b"[]", b"\xff", b'{"model":7}', b'{"body":{},"to":[]}'):
            headers = {"authorization": f"Bearer {CLIENT_KEY}", "anthropic-version": "\xff"}
            answer = await ask(gateway, path, body, method=method or "POST", headers=headers)
            assert answer.status in (200, 400, 404, 405), (path, answer.status, answer.body)
            assert answer.is_ended
            json.loads(answer.body)
            assert_no_key(answer.body, answer.headers)
    await gateway.close()

"""A client that offers a tool for free text gets calls with free text, whoever is behind."""

import json

import pytest

from canonicall.facts.registry import get_target
from canonicall.testing import Simulator, call, says
from canonicall.verify import verify_stream
from gateway_support import World, ask

PATCH = '*** Begin Patch\n*** Add File: a.txt\n+"a" \\ b\n*** End Patch\n'
TOOL = {"type": "custom", "name": "apply_patch", "description": "Changes files."}
BACKS = ["anthropic", "gemini", "kimi", "mistral", "bedrock", "cohere", "ollama"]


def asked(back: str, *, stream: bool) -> dict:
    named = f"{back}:some-model"
    return {"model": named, "input": "Please patch it.", "tools": [TOOL], "stream": stream}


def calls(response: dict) -> list[dict]:
    assert not [item for item in response["output"] if item["type"] == "function_call"]
    return [item for item in response["output"] if item["type"] == "custom_tool_call"]


def world() -> World:
    return World(
        lambda name: Simulator(name, model=lambda _: says(call("apply_patch", input=PATCH)))
    )


@pytest.mark.parametrize("back", BACKS)
async def test_a_whole_reply(back: str) -> None:
    assert not get_target(f"{back}:some-model").custom_tools
    gateway = world().gateway()
    answer = await ask(gateway, "/v1/responses", asked(back, stream=False))
    await gateway.close()
    assert answer.status == 200, answer.body
    (made,) = calls(answer.json)
    assert (made["name"], made["input"]) == ("apply_patch", PATCH)


@pytest.mark.parametrize("back", BACKS)
async def test_a_streamed_reply(back: str) -> None:
    gateway = world().gateway()
    answer = await ask(gateway, "/v1/responses", asked(back, stream=True))
    await gateway.close()
    assert answer.status == 200, answer.body
    assert not verify_stream(answer.body, "openai-responses")
    told = [
        json.loads(line[6:]) for line in answer.body.decode().splitlines() if line[:6] == "data: "
    ]
    pieces = [
        one["delta"] for one in told if one["type"] == "response.custom_tool_call_input.delta"
    ]
    assert "".join(pieces) == PATCH
    (made,) = calls(told[-1]["response"])
    assert (made["name"], made["input"]) == ("apply_patch", PATCH)

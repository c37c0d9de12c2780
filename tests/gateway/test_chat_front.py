"""The chat front before every back: calls come, results go back, the answer follows."""

from typing import Any

from batches import each
from canonicall.facts.registry import get_profile, provider_names
from canonicall.gateway.config import RepairSettings
from gateway_support import World, ask

TOOLS = [
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
BACKS = [f"{name}/{format}" for name in provider_names() for format in get_profile(name).formats]


@each("back", BACKS)
async def test_a_call_its_result_and_the_answer(back: str) -> None:
    world = World()
    gateway = world.gateway()
    messages: list[dict[str, Any]] = [{"role": "user", "content": "The weather in Paris?"}]
    body = {"model": f"{back}:some-model", "messages": messages, "tools": TOOLS}
    answer = await ask(gateway, "/v1/chat/completions", body)
    assert answer.status == 200, answer.body
    said = answer.json["choices"][0]["message"]
    assert [call["function"]["name"] for call in said["tool_calls"]] == ["get_weather"]
    messages.append(said)
    messages += [
        {"role": "tool", "tool_call_id": call["id"], "content": "sunny, 21 degrees"}
        for call in said["tool_calls"]
    ]
    answer = await ask(gateway, "/v1/chat/completions", body)
    assert answer.status == 200, answer.body
    assert "sunny" in answer.json["choices"][0]["message"]["content"]
    seen = world.of(back.partition("/")[0]).seen
    assert [one.status for one in seen] == [200, 200]
    await gateway.close()


async def test_strict_mode_does_not_mind_the_way_a_reply_travels() -> None:
    """The host only streams; the client gets the whole reply that it asked for."""
    gateway = World().gateway(repair=RepairSettings(strict=True))
    said = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello?"}]
    body = {"model": "chatgpt-codex:gpt-5.5", "messages": said}
    answer = await ask(gateway, "/v1/chat/completions", body)
    assert answer.status == 200, answer.body
    assert answer.json["object"] == "chat.completion"
    await gateway.close()

"""Hosts that write an empty text beside calls: clients get the calls alone, as in a stream."""

import json
from typing import Any

import pytest

from gateway_faults import BACKS, FRONTS, Faulty, Play, Upstream

CALL = {"name": "get_weather", "arguments": {"city": "Rome"}}
REPLIES: dict[str, dict[str, Any]] = {
    "openai-chat": {
        "choices": [
            {
                "index": 0,
                "finish_reason": "tool_calls",
                "message": {
                    "role": "assistant",
                    "content": "",
                    "tool_calls": [
                        {
                            "id": "call_1",
                            "type": "function",
                            "function": {**CALL, "arguments": json.dumps(CALL["arguments"])},
                        }
                    ],
                },
            }
        ]
    },
    "ollama": {
        "model": "qwen3",
        "message": {"role": "assistant", "content": "", "tool_calls": [{"function": CALL}]},
        "done": True,
        "done_reason": "stop",
    },
}


@pytest.mark.parametrize("back", REPLIES)
@pytest.mark.parametrize("front", [one for one in FRONTS if one != "openai-chat"])
async def test_an_empty_text_beside_calls_is_not_passed_on(front: str, back: str) -> None:
    upstream = Upstream(Play.json(json.dumps(REPLIES[back]).encode()))
    answer = await Faulty(upstream, BACKS[back]).ask(front, streams=False)
    assert answer.status == 200, answer.body
    said = {
        "openai-responses": lambda body: body["output"],
        "anthropic": lambda body: body["content"],
        "gemini": lambda body: body["candidates"][0]["content"]["parts"],
    }[front](answer.json)
    assert len(said) == 1
    assert "get_weather" in json.dumps(said)

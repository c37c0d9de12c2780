"""What a request leaves behind in memory: nothing that only a search for cycles would find."""

import gc
import json
from collections.abc import AsyncIterator, Mapping

import pytest

from canonicall.client.transport import Timeouts
from canonicall.gateway.app import Gateway
from gateway_support import World, ask

ANSWERS = {
    "anthropic": {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [
            {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"at": "it"}},
        ],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 9, "output_tokens": 30},
    },
    "openai": {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "Hello."},
                "finish_reason": "stop",
            }
        ],
    },
}


class Answer:
    """An answer that is there at once."""

    status = 200

    def __init__(self, body: bytes) -> None:
        self._body = body
        self.headers = {"content-type": "application/json"}

    async def chunks(self) -> AsyncIterator[bytes]:
        yield self._body

    def close(self) -> None:
        """Nothing is open."""


class Line:
    """A transport that answers everything alike."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    async def post(
        self,
        url: str,
        headers: Mapping[str, str],
        body: bytes,
        timeouts: Timeouts,
        *,
        proxy: str = "",
    ) -> Answer:
        return Answer(self._body)

    async def close(self) -> None:
        """Nothing is open."""


@pytest.mark.parametrize("provider", ANSWERS)
async def test_requests_leave_no_cycles(provider: str) -> None:
    """So a worker looks for them less often than Python does by itself."""
    gateway: Gateway = World().gateway(transport=Line(json.dumps(ANSWERS[provider]).encode()))
    tool = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}
    body = {
        "model": f"{provider}:m",
        "messages": [{"role": "user", "content": "Look at it."}],
        "tools": [tool],
    }
    for _ in range(3):
        await ask(gateway, "/v1/chat/completions", body)
    gc.collect()
    gc.disable()
    try:
        for _ in range(5):
            answer = await ask(gateway, "/v1/chat/completions", body)
            assert answer.status == 200, answer.body
        del answer
        assert gc.collect() == 0
    finally:
        gc.enable()

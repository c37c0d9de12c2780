"""The OpenAI SDK reads a stream of chat chunks: its client, its types, its accumulator."""

from typing import Any

import pytest

from judges.sources import MISSING

openai = pytest.importorskip("openai", reason=MISSING)
httpx = pytest.importorskip("httpx", reason=MISSING)
state = pytest.importorskip("openai.lib.streaming.chat", reason=MISSING)


def accumulated(stream: bytes) -> dict[str, Any]:
    """The completion that the SDK puts together; an error inside the stream raises its APIError."""
    transport = httpx.MockTransport(
        lambda _: httpx.Response(200, headers={"content-type": "text/event-stream"}, content=stream)
    )
    with httpx.Client(transport=transport) as http:
        client = openai.OpenAI(api_key="none", base_url="http://test", http_client=http)
        asked = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "stream": True}
        collected = state.ChatCompletionStreamState()
        for chunk in client.chat.completions.create(**asked):
            collected.handle_chunk(chunk)
    completion: dict[str, Any] = collected.current_completion_snapshot.to_dict(mode="json")
    return completion

"""The Anthropic SDK reads a stream: its client, its parser, its accumulator, and no network."""

import json
from typing import Any

import pytest

from judges.sources import MISSING

anthropic = pytest.importorskip("anthropic", reason=MISSING)
httpx2 = pytest.importorskip("httpx2", reason=MISSING)


def accumulated(stream: bytes) -> dict[str, Any]:
    """The final message that a user of the SDK gets for the bytes of a stream."""

    def answer(request: Any) -> Any:
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=stream)

    http = httpx2.Client(transport=httpx2.MockTransport(answer))
    client = anthropic.Anthropic(api_key="none", http_client=http, max_retries=0)
    asked = {"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": "Hi"}]}
    with client.beta.messages.stream(**asked) as events:
        message: dict[str, Any] = events.get_final_message().to_dict(mode="json")
    return message


_DELTAS = {
    "text": {"text_delta", "citations_delta"},
    "thinking": {"thinking_delta", "signature_delta"},
    "tool_use": {"input_json_delta"},
    "server_tool_use": {"input_json_delta"},
    "mcp_tool_use": {"input_json_delta"},
    "compaction": {"compaction_delta"},
}


def wire_events(stream: bytes) -> list[dict[str, Any]]:
    """The data of every event, each of which has to have its type as its name."""
    events = []
    for frame in stream.decode().split("\n\n")[:-1]:
        name, data = frame.split("\n")
        events.append(json.loads(data.removeprefix("data: ")))
        assert name == f"event: {events[-1]['type']}"
    return events


def follows_grammar(stream: bytes) -> bool:
    """Whether a complete stream is what the documentation of streaming says it is.

    One message that starts and stops, blocks one after the other, counted from 0, each with deltas
    of its own kind, then the reason and the figures.
    """
    kinds = iter([event for event in wire_events(stream) if event["type"] != "ping"])
    assert next(kinds)["type"] == "message_start"
    for number, event in enumerate(kinds):
        if event["type"] != "content_block_start":
            break
        allowed = _DELTAS.get(event["content_block"]["type"], set())
        assert event["index"] == number
        for inner in kinds:
            assert inner["index"] == number
            if inner["type"] == "content_block_stop":
                break
            assert inner["delta"]["type"] in allowed
        else:
            raise AssertionError("a block was not closed")
    assert event["type"] == "message_delta"
    assert event["delta"]["stop_reason"]
    assert [event["type"] for event in kinds] == ["message_stop"]
    return True

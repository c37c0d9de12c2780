"""What the official SDKs send when a server keeps the conversation, judged and sent on."""

import json
from typing import Any

import pytest

from canonicall import StateElsewhere, decode_request, encode_request, translate, verify
from judges.sources import MISSING

anthropic = pytest.importorskip("anthropic", reason=MISSING)
openai = pytest.importorskip("openai", reason=MISSING)
httpx = pytest.importorskip("httpx", reason=MISSING)
http = pytest.importorskip("httpx2", reason=MISSING)

CALL = {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {"city": "Oslo"}}
TEXT = {"type": "text", "text": "Sunny."}


def message(number: int, content: list[dict[str, Any]], stop: str) -> dict[str, Any]:
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-5",
        "content": content,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def sent_by_the_tool_runner(*replies: dict[str, Any]) -> list[dict[str, Any]]:
    """The bodies of a run with a tool, by the runner's own defaults."""
    bodies: list[dict[str, Any]] = []

    def answer(request: Any) -> Any:
        bodies.append(json.loads(request.content))
        return http.Response(200, json=replies[len(bodies) - 1])

    @anthropic.beta_tool
    def get_weather(city: str) -> str:
        """The weather in a city."""
        return f"Sunny in {city}"

    transport = http.MockTransport(answer)
    client = anthropic.Anthropic(api_key="k", http_client=http.Client(transport=transport))
    runner = client.beta.messages.tool_runner(
        model="claude-opus-5",
        max_tokens=100,
        system="Be brief.",
        tools=[get_weather],
        messages=[{"role": "user", "content": "The weather in Oslo?"}],
    )
    runner.until_done()
    return bodies


def test_the_tool_runner_of_anthropic_sends_deltas() -> None:
    first, *deltas = sent_by_the_tool_runner(
        message(1, [CALL], "tool_use"),
        message(2, [{**CALL, "id": "toolu_2"}], "tool_use"),
        message(3, [TEXT], "end_turn"),
    )
    assert first["thread"] == {"type": "create"}
    assert not verify(first, "anthropic")
    assert len(deltas) == 2
    for body in deltas:
        assert body["thread"]["type"] == "continue"
        assert not verify(body, "anthropic")
        made = encode_request(decode_request(body, "anthropic"), "anthropic")
        assert made.body == body
        assert made.report.counts == {"state_elsewhere": 1}
        for other in ("openai", "gemini", "bedrock", "vertex/anthropic:claude-opus-5"):
            with pytest.raises(StateElsewhere, match="`thread`"):
                translate(body, "anthropic", other)


@pytest.mark.parametrize(
    "fields",
    [
        {"previous_response_id": "resp_1"},
        {"conversation": "conv_1"},
        {"prompt": {"id": "pmpt_1", "version": "2", "variables": {"city": "Oslo"}}},
    ],
)
def test_the_client_of_openai_sends_deltas(fields: dict[str, Any]) -> None:
    bodies: list[dict[str, Any]] = []

    def answer(request: Any) -> Any:
        bodies.append(json.loads(request.content))
        return httpx.Response(200, json={"id": "resp_2", "object": "response", "output": []})

    transport = httpx.MockTransport(answer)
    client = openai.OpenAI(api_key="k", http_client=httpx.Client(transport=transport))
    output = {"type": "function_call_output", "call_id": "call_1", "output": "Sunny"}
    client.responses.create(model="gpt-5", input=[output], **fields)
    (body,) = bodies
    assert not verify(body, "openai/openai-responses")
    made = encode_request(decode_request(body, "openai-responses"), "openai/openai-responses")
    assert made.body == body
    with pytest.raises(StateElsewhere):
        translate(body, "openai-responses", "anthropic")

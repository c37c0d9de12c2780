"""The chain of one's own: process a request, send it, process the response, read the calls."""

from typing import Any

import pytest

from canonicall import InvalidValue, Request, ToolingMiddleware, ToolMiddleware, UnknownName
from canonicall.testing import Simulator, says
from canonicall.testing import call as calls
from canonicall.testing.exchange import SimRequest
from canonicall.testing.script import ScriptedModel

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
BODY: dict[str, Any] = {
    "model": "claude-sonnet-4-5",
    "messages": [{"role": "user", "content": "What's the weather?"}],
    "tools": [
        {
            "type": "function",
            "function": {"name": "get_weather", "description": "Get weather", "parameters": SCHEMA},
        }
    ],
}


def sent_to_anthropic(body: bytes, *script: Any) -> bytes:
    """What a simulated Anthropic answers."""
    provider = Simulator("anthropic", model=ScriptedModel(script))
    headers = {"x-api-key": "any", "anthropic-version": "2023-06-01"}
    response = provider.answer(SimRequest.of("POST", "/v1/messages", body, headers))
    assert response.status == 200, response.data
    return response.data


def test_calls_come_out_in_every_form() -> None:
    tooling = ToolingMiddleware("anthropic:claude-sonnet-4-5")
    sent = tooling.process_request(BODY)
    assert sent.body["tools"][0]["input_schema"] == SCHEMA
    answer = sent_to_anthropic(sent.data, says(calls("get_weather", city="Paris")))
    response = tooling.process_response(answer)

    [canonical] = response.tool_calls
    [anthropic] = response.get_tool_calls("anthropic")
    [openai] = response.get_tool_calls("openai")
    [generic] = response.get_tool_calls("generic")
    assert canonical.id.startswith("hist_tool_")
    assert canonical.args == {"city": "Paris"}
    suffix = canonical.id.removeprefix("hist_tool_")
    assert anthropic == {
        "type": "tool_use",
        "id": f"toolu_{suffix}",
        "name": "get_weather",
        "input": {"city": "Paris"},
    }
    assert openai["id"] == f"call_{suffix}"
    assert openai["function"] == {"name": "get_weather", "arguments": '{"city":"Paris"}'}
    assert generic["parameters"] == {"city": "Paris"}
    body = response.body("openai-chat")
    assert body["choices"][0]["finish_reason"] == "tool_calls"


def test_a_call_that_was_printed_as_text_is_a_call() -> None:
    tooling = ToolingMiddleware("vllm:hermes")
    tooling.process_request(BODY)
    printed = '<tool_call>{"name": "get_weather", "arguments": {"city": "Rome"}}</tool_call>'
    message = {"role": "assistant", "content": printed}
    answer = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    response = tooling.process_response(answer)
    assert [call.args for call in response.tool_calls] == [{"city": "Rome"}]
    assert "call_recovered" in [one.code for one in response.findings]


def test_arguments_are_mended_where_that_is_certain() -> None:
    tools = [
        {
            "type": "function",
            "function": {
                "name": "add",
                "parameters": {
                    "type": "object",
                    "properties": {"number": {"type": "integer"}},
                    "required": ["number"],
                },
            },
        }
    ]
    tooling = ToolingMiddleware("openai:gpt-4o")
    tooling.process_request({**BODY, "tools": tools})
    function = {"name": "add", "arguments": '{"number": "7"}'}
    message = {"role": "assistant", "tool_calls": [{"id": "c", "function": function}]}
    response = tooling.process_response({"choices": [{"message": message}]})
    assert response.tool_calls[0].args == {"number": 7}
    assert response.findings


def test_arguments_that_do_not_fit_are_told_and_left() -> None:
    tooling = ToolingMiddleware("openai:gpt-4o")
    tooling.process_request(BODY)
    function = {"name": "get_weather", "arguments": '{"town": "Rome"}'}
    message = {"role": "assistant", "tool_calls": [{"id": "c", "function": function}]}
    response = tooling.process_response({"choices": [{"message": message}]})
    assert response.tool_calls[0].args == {"town": "Rome"}
    assert [one.code for one in response.findings] == ["arguments_unfit"]


def test_links_of_ones_own_take_part() -> None:
    class Hushed(ToolMiddleware):
        def process_request(self, request: Request) -> Request:
            assert [tool.name for tool in request.tools] == ["get_weather"]
            request.conversation.user("In one word, please.")
            return request

    sent = ToolingMiddleware("anthropic:claude", links=[Hushed()]).process_request(BODY)
    assert "In one word, please." in str(sent.body["messages"])


def test_a_response_needs_its_request() -> None:
    tooling = ToolingMiddleware("openai")
    with pytest.raises(InvalidValue, match="Call process_request first"):
        tooling.process_response({"choices": []})


def test_an_unknown_form_is_named() -> None:
    tooling = ToolingMiddleware("openai:gpt-4o")
    tooling.process_request(BODY)
    response = tooling.process_response({"choices": [{"message": {"content": "Hello."}}]})
    with pytest.raises(UnknownName, match="anthropic"):
        response.get_tool_calls("xml")

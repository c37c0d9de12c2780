"""The chain of one's own: process a request, send it, process the response, read the calls."""

import json
from typing import Any

import pytest

from canonicall import (
    InvalidValue,
    Request,
    ToolingMiddleware,
    ToolMiddleware,
    UnknownName,
    get_target,
    verify,
)
from canonicall.facts.target import FORMATS
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
        "caller": {"type": "direct"},
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


def calls_of(*calls: tuple[str, str]) -> dict[str, Any]:
    """A reply of Chat Completions with calls of get_weather, each an id and arguments."""
    made = [
        {"id": id, "type": "function", "function": {"name": "get_weather", "arguments": text}}
        for id, text in calls
    ]
    return {"choices": [{"message": {"role": "assistant", "tool_calls": made}}]}


@pytest.mark.parametrize("format", [*FORMATS, "generic", "openai"])
def test_a_call_that_must_not_run_has_a_tool_error_in_every_form(format: str) -> None:
    """The error is found by the id that the same form gives the call."""
    tooling = ToolingMiddleware("openai:gpt-4o")
    tooling.process_request(BODY)
    response = tooling.process_response(calls_of(("call_1", "{}"), ("call_2", '{"city": "Rome"}')))
    bad, good = response.tool_calls
    assert set(response.tool_errors) == {bad.id}
    ((id, error),) = response.get_tool_errors(format).items()
    first, second = response.get_tool_calls(format)
    assert id in str(first)
    assert id not in str(second)
    assert error.missing == ("city",)
    told = json.loads(error.text)["tool_error"]
    assert told == {
        "tool": "get_weather",
        "refusal": "invalid",
        "message": error.message,
        "missing": ["city"],
        "schema": SCHEMA,
        "attempts_left": 2,
    }
    assert good.args == {"city": "Rome"}


def test_a_call_that_was_cut_has_a_tool_error_too() -> None:
    tooling = ToolingMiddleware("openai:gpt-4o")
    tooling.process_request(BODY)
    cut = calls_of(("call_1", '{"city": "Ro'))
    cut["choices"][0]["finish_reason"] = "length"
    (error,) = tooling.process_response(cut).tool_errors.values()
    assert error.refusal == "truncated"


def test_attempts_to_correct_a_call_end_and_begin_anew_with_the_user() -> None:
    exchange = ToolingMiddleware("openai:gpt-4o").exchange()
    messages = list(BODY["messages"])
    left = []
    for number in range(4):
        exchange.process_request({**BODY, "messages": messages})
        response = exchange.process_response(calls_of((f"call_{number}", "{}")))
        (error,) = response.tool_errors.values()
        left.append(error.attempts_left)
        message = response.body("openai-chat")["choices"][0]["message"]
        id = message["tool_calls"][0]["id"]
        messages += [message, {"role": "tool", "tool_call_id": id, "content": error.text}]
    assert left == [2, 1, 0, 0]
    messages.append({"role": "user", "content": "Try again."})
    exchange.process_request({**BODY, "messages": messages})
    (error,) = exchange.process_response(calls_of(("call_9", "{}"))).tool_errors.values()
    assert error.attempts_left == 2


def test_arguments_that_nobody_checks_are_no_errors() -> None:
    tooling = ToolingMiddleware("openai:gpt-4o", arguments="off")
    tooling.process_request(BODY)
    response = tooling.process_response(calls_of(("call_1", "{}")))
    assert not response.tool_errors
    assert not response.findings


@pytest.mark.parametrize("name", ["no-such-host", "no-such-host:some-model", "antropic:claude-x"])
def test_an_unknown_provider_is_treated_as_generic_and_reported(name: str) -> None:
    tooling = ToolingMiddleware(name)
    model = name.partition(":")[2]
    assert tooling.target == get_target(f"generic:{model}")
    sent = tooling.process_request(BODY)
    found = next(one for one in sent.report if one.code == "unknown_provider")
    assert repr(name.partition(":")[0]) in found.why
    assert ("Did you mean 'anthropic'?" in found.why) == name.startswith("antropic")
    response = tooling.process_response(calls_of(("x", '{"city": "Rome"}')))
    assert [one.args for one in response.tool_calls] == [{"city": "Rome"}]


def test_a_model_alone_is_not_taken_for_a_provider() -> None:
    with pytest.raises(UnknownName, match="openai:gpt-4o"):
        ToolingMiddleware("gpt-4o")


def test_old_ids_are_forgotten_before_new_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """An exchange does not grow for ever; a call that is forgotten is still a valid call."""
    monkeypatch.setattr("canonicall.runtime.tooling._MOST_IDS", 10)
    exchange = ToolingMiddleware("openai:gpt-4o").exchange()
    messages = list(BODY["messages"])
    for number in range(9):
        exchange.process_request({**BODY, "messages": messages})
        response = exchange.process_response(calls_of((f"call_{number}", '{"city": "Rome"}')))
        message = response.body("openai-chat")["choices"][0]["message"]
        id = message["tool_calls"][0]["id"]
        messages += [message, {"role": "tool", "tool_call_id": id, "content": "Sunny."}]
    sent = exchange.process_request({**BODY, "messages": messages})
    ids = [one["tool_call_id"] for one in sent.body["messages"] if one["role"] == "tool"]
    assert ids[-1] == "call_8"
    assert ids[0] != "call_0"
    assert len(set(ids)) == 9
    assert not verify(sent.body, "openai:gpt-4o")


def test_calls_that_the_provider_runs_are_not_the_clients() -> None:
    tooling = ToolingMiddleware("anthropic:claude-sonnet-4-5", format="anthropic")
    search = {"type": "web_search_20250305", "name": "web_search"}
    asked = {"model": "m", "max_tokens": 9, "messages": BODY["messages"], "tools": [search]}
    tooling.process_request(asked)
    call = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    found = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
    response = tooling.process_response({"role": "assistant", "content": [call, found]})
    assert response.get_tool_calls("anthropic") == response.get_tool_calls("generic") == []
    assert response.body("anthropic")["content"] == [call, found]


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

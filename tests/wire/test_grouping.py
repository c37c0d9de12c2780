"""Groups of tools before targets that have none: members stand alone, calls find their way back."""

import json

import pytest

from canonicall.blocks import Native, ToolCall
from canonicall.codec import decode_request, encode_request, translate
from canonicall.facts.registry import get_target
from canonicall.wire.grouping import members_of, tools_for
from gateway_support import World, ask

SCHEMA = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}
CLOSE = {"type": "function", "name": "close", "description": "Close it.", "parameters": SCHEMA}
EXEC = {"type": "custom", "name": "exec", "description": "Run a program."}
FILES = {"type": "namespace", "name": "files", "description": "Files.", "tools": [CLOSE]}
WINDOWS = {"type": "namespace", "name": "windows", "tools": [CLOSE, EXEC]}
BROUGHT = {"type": "additional_tools", "role": "developer", "tools": [WINDOWS, EXEC]}
CALLED = [
    {
        "type": "function_call",
        "call_id": "call_1",
        "namespace": "windows",
        "name": "close",
        "arguments": '{"id":"a"}',
    },
    {"type": "function_call_output", "call_id": "call_1", "output": "closed"},
]
ASKED = {"role": "user", "content": "Please close the file."}
OTHERS = ["anthropic", "gemini", "kimi", "bedrock", "cohere", "ollama"]


def body(*items, tools=()):
    return {"model": "m", "input": [ASKED, *items], "tools": list(tools)}


def names_in(encoded):
    """The names of tools, in the order they have in a body of any format."""
    found = []

    def walk(value):
        if isinstance(value, dict):
            if isinstance(value.get("name"), str):
                found.append(value["name"])
            for one in value.values():
                walk(one)
        elif isinstance(value, list):
            for one in value:
                walk(one)

    walk({key: encoded.body.get(key) for key in ("tools", "toolConfig")})
    return found


@pytest.mark.parametrize("target", OTHERS)
def test_members_of_groups_are_offered_each_for_itself(target):
    encoded = translate(body(BROUGHT, tools=[FILES, EXEC]), "openai-responses", target)
    named = ["exec", "files__close", "windows__close", "windows__exec", "exec_"]
    assert names_in(encoded) == named
    assert [one.code for one in encoded.report].count("tools_ungrouped") == 1
    assert "tool_dropped" not in [one.code for one in encoded.report]


def test_a_call_of_the_history_has_the_name_that_its_tool_is_offered_by():
    sent = translate(body(*CALLED, tools=[FILES, WINDOWS]), "openai-responses", "anthropic").body
    (used,) = [block for turn in sent["messages"] for block in turn["content"] if "input" in block]
    assert used["name"] == "windows__close"


def test_their_own_format_gets_groups_as_they_came():
    asked = body(BROUGHT, *CALLED, tools=[FILES, EXEC])
    sent = translate(asked, "openai-responses", "openai/openai-responses:m", provider="openai").body
    assert sent["tools"] == asked["tools"]
    assert sent["input"][1] == BROUGHT
    assert sent["input"][2]["namespace"] == "windows"
    assert sent["input"][2]["name"] == "close"


def test_a_namespace_that_is_no_group_is_left_alone():
    """OpenAI names a tool that a search has found as its own namespace."""
    alone = {**CALLED[0], "namespace": "close"}
    sent = translate(body(alone, CALLED[1], tools=[CLOSE, FILES]), "openai-responses", "anthropic")
    assert '"name":"close","input"' in json.dumps(sent.body, separators=(",", ":"))


def test_a_tool_that_its_provider_runs_is_dropped_from_a_group_with_a_finding():
    group = {"type": "namespace", "name": "web", "tools": [{"type": "web_search"}, CLOSE]}
    encoded = translate(body(tools=[group]), "openai-responses", "anthropic")
    assert names_in(encoded) == ["web__close"]
    assert "tool_dropped" in [one.code for one in encoded.report]


def test_groups_in_groups_without_end_are_cut():
    group = CLOSE
    for _ in range(150):
        group = {"type": "namespace", "name": "deep", "tools": [group]}
    request = decode_request(body(tools=[group]), "openai-responses")
    encoded = encode_request(request, "anthropic")
    assert "tool_dropped" in [one.code for one in encoded.report]


def test_calls_are_told_in_the_words_of_whoever_offered_the_group():
    tools = decode_request(body(tools=[FILES, WINDOWS]), "openai-responses").tools
    members = members_of(tools, get_target("anthropic"))
    own = members["windows__close"].own_call(ToolCall(name="windows__close", args={"id": "a"}))
    assert own.name == "close"
    assert own.native == Native("openai-responses", {"namespace": "windows"})
    assert [tool.name for tool in tools_for(own, tools)] == ["close", "exec"]


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("back", OTHERS)
async def test_a_call_through_the_gateway_names_its_group(back, stream):
    gateway = World().gateway()
    asked = body(tools=[FILES]) | {"model": f"{back}:some-model", "stream": stream}
    answer = await ask(gateway, "/v1/responses", asked)
    await gateway.close()
    assert answer.status == 200, answer.body
    response = answer.json if not stream else _completed(answer.body)
    (made,) = [item for item in response["output"] if item["type"] == "function_call"]
    assert (made["namespace"], made["name"]) == ("files", "close")
    assert "id" in json.loads(made["arguments"])
    assert "arguments_unfit" not in answer.headers["x-canonicall-changes"]


def _completed(data):
    last = data.decode().rsplit("event: response.completed\ndata: ", 1)[1]
    return json.loads(last)["response"]

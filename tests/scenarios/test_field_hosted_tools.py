"""Tools for free text, tools that providers run, tools in groups: I1 to I5 of the field catalogue.

All of it goes through the gateway: what the client is answered, and what the back is offered.
"""

import json

import pytest

from batches import each
from canonicall.testing.script import call, says
from gateway_support import ask
from scenarios.scripted_hosts import Hosts, asked, model, question, saying

PATCH = '*** Begin Patch\n*** Add File: a.txt\n+"quoted" \\ back\n*** End Patch\n'
GRAMMAR = {"type": "grammar", "syntax": "lark", "definition": "start: begin hunk+ end"}
APPLY_PATCH = {
    "type": "custom",
    "name": "apply_patch",
    "description": "Edits files.",
    "format": GRAMMAR,
}
BACKS = ["anthropic:c", "gemini:g", "kimi:k", "bedrock:b", "cohere:c", "ollama:o"]
"""None of them has tools for free text."""
EMPTY = {"type": "object", "properties": {}}
ONE = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}
LOOK = {
    "openai-chat": {"type": "function", "function": {"name": "look", "parameters": EMPTY}},
    "openai-responses": {"type": "function", "name": "look", "parameters": EMPTY},
    "anthropic": {"name": "look", "input_schema": EMPTY},
    "gemini": {"functionDeclarations": [{"name": "look"}]},
}
HOSTED = {
    "openai-chat": [{"type": "web_search"}],
    "openai-responses": [
        {"type": "web_search"},
        {"type": "file_search", "vector_store_ids": ["vs_1"]},
        {"type": "code_interpreter", "container": {"type": "auto"}},
        {"type": "local_shell"},
        {"type": "mcp", "server_label": "wiki", "server_url": "https://wiki.example/mcp"},
    ],
    "anthropic": [
        {"type": "web_search_20250305", "name": "web_search", "max_uses": 3},
        {"type": "bash_20250124", "name": "bash"},
    ],
    "gemini": [{"googleSearch": {}}, {"codeExecution": {}}],
}
UNKNOWN = {
    "openai-chat": {"type": "oracle", "oracle": {"name": "oracle", "depth": 3}},
    "openai-responses": {"type": "oracle", "name": "oracle", "depth": 3},
    "anthropic": {"type": "oracle_20991231", "name": "oracle", "depth": 3},
    "gemini": {"oracle": {"depth": 3}},
}
OWN = {
    "openai-chat": "openai:gpt-x",
    "openai-responses": "openai/openai-responses:gpt-x",
    "anthropic": "anthropic:c",
    "gemini": "gemini:g",
}
FRONTS = list(OWN)
FOREIGN = [(front, back) for front in FRONTS for back in OWN.values() if back != OWN[front]]


def provider_of(back):
    return back.partition(":")[0].partition("/")[0]


def names_in(value):
    """The names of all tools that a body offers."""
    if isinstance(value, list):
        return [name for one in value for name in names_in(one)]
    if not isinstance(value, dict):
        return []
    named = [value["name"]] if isinstance(value.get("name"), str) else []
    return named + [name for one in value.values() for name in names_in(one)]


def offered(body):
    return names_in(body.get("tools") or body.get("toolConfig", {}).get("tools"))


def texts_in(value, field=""):
    """Every text of a body and the field it stands in, those in arguments that are text too."""
    if isinstance(value, str) and value.startswith("{"):
        value = json.loads(value)
    if isinstance(value, str):
        return [(field, value)]
    if isinstance(value, list):
        value = dict(enumerate(value))
    if not isinstance(value, dict):
        return []
    return [text for name, one in value.items() for text in texts_in(one, name)]


def response_of(answer, streams):
    """The response object, whole or from the last event of a stream."""
    if not streams:
        return answer.json
    last = answer.body.decode().rsplit("event: response.completed\ndata: ", 1)[1]
    return json.loads(last)["response"]


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("back", BACKS)
async def test_i1_a_patch_comes_back_as_the_free_text_it_is(back, streams):
    """Codex offers apply_patch for free text; the call of another model came as a function's."""
    hosts = Hosts(make=saying(says(call("apply_patch", input=PATCH)), "Done."))
    gateway = hosts.gateway(model(back))
    body = {"input": "Add a file.", "tools": [APPLY_PATCH]}
    answer = await asked(gateway, "openai-responses", body, streams=streams)
    assert answer.status == 200, answer.body
    (made,) = [one for one in response_of(answer, streams)["output"] if "call_id" in one]
    assert (made["type"], made["name"], made["input"]) == (
        "custom_tool_call",
        "apply_patch",
        PATCH,
    )
    await gateway.close()


@pytest.mark.parametrize("back", BACKS)
async def test_i1_a_patch_of_the_history_reaches_models_without_free_text(back):
    """The other way: the call and its output go on as a call with one text, and its result."""
    hosts = Hosts(make=saying("Done."))
    gateway = hosts.gateway(model(back))
    made = {"type": "custom_tool_call", "call_id": "call_1", "name": "apply_patch", "input": PATCH}
    output = {"type": "custom_tool_call_output", "call_id": "call_1", "output": "Success."}
    items = [{"role": "user", "content": "Add a file."}, made, output]
    body = {"input": items, "tools": [APPLY_PATCH]}
    answer = await asked(gateway, "openai-responses", body)
    assert answer.status == 200, answer.body
    (seen,) = hosts.of(provider_of(back)).seen
    assert offered(seen.body) == ["apply_patch"]
    assert ("input", PATCH) in texts_in(seen.body)
    assert any("Success." in text for _, text in texts_in(seen.body))
    assert "tool_converted=1" in answer.headers["x-canonicall-changes"]
    await gateway.close()


async def test_i1_openai_itself_gets_the_tool_with_its_grammar():
    hosts = Hosts(make=saying("Done."))
    gateway = hosts.gateway(model("openai/openai-responses:gpt-x"))
    await asked(gateway, "openai-responses", {"input": "Go.", "tools": [APPLY_PATCH]})
    assert hosts.bodies("openai")[0]["tools"] == [APPLY_PATCH]
    await gateway.close()


@pytest.mark.parametrize("front", FRONTS)
async def test_i2_a_tool_of_a_type_nobody_knows_stays_at_home(front):
    """A type that is newer than the gateway was a 400; its owner knows it."""
    hosts = Hosts(make=saying("Done."))
    gateway = hosts.gateway(model(OWN[front]))
    tools = [UNKNOWN[front], LOOK[front]]
    answer = await asked(gateway, front, {**question(front), "tools": tools})
    assert answer.status == 200, answer.body
    assert hosts.bodies(provider_of(OWN[front]))[0]["tools"] == tools
    await gateway.close()


@pytest.mark.parametrize(("front", "back"), FOREIGN)
async def test_i2_a_tool_of_a_type_nobody_knows_fails_nothing_elsewhere(front, back):
    """The others are offered, and the request is answered."""
    hosts = Hosts(make=saying("Done."))
    gateway = hosts.gateway(model(back))
    tools = [UNKNOWN[front], LOOK[front]]
    answer = await asked(gateway, front, {**question(front), "tools": tools})
    assert answer.status == 200, answer.body
    assert offered(hosts.bodies(provider_of(back))[0]) == ["look"]
    await gateway.close()


@each("others", [True, False])
@each(("front", "back"), FOREIGN)
async def test_i3_a_tool_that_only_its_provider_runs_fails_nothing_elsewhere(front, back, others):
    """One search among the tools, and the whole request failed; so it did where it was alone."""
    hosts = Hosts(make=saying("Done."))
    gateway = hosts.gateway(model(back))
    tools = [*HOSTED[front], *([LOOK[front]] if others else [])]
    answer = await asked(gateway, front, {**question(front), "tools": tools})
    assert answer.status == 200, answer.body
    (seen,) = hosts.of(provider_of(back)).seen
    assert (seen.status, offered(seen.body)) == (200, ["look"] if others else [])
    await gateway.close()


@pytest.mark.parametrize(("front", "back"), FOREIGN)
async def test_i4_a_tool_that_is_left_out_is_told(front, back):
    """Silence is worse than a 400: the model never searches, and nobody knows why."""
    hosts = Hosts(make=saying("Done."))
    gateway = hosts.gateway(model(back))
    tools = [*HOSTED[front], LOOK[front]]
    answer = await asked(gateway, front, {**question(front), "tools": tools})
    changes = dict(one.split("=") for one in answer.headers["x-canonicall-changes"].split(", "))
    assert changes["tool_dropped"] == str(len(HOSTED[front]))
    id = answer.headers["x-canonicall-request-id"]
    report = (await ask(gateway, f"/canonicall/reports/{id}")).json
    lost = [one for one in report["request"] if one["code"] == "tool_dropped"]
    assert [one["where"] for one in lost] == [f"tools[{at}]" for at in range(len(HOSTED[front]))]
    await gateway.close()


@pytest.mark.parametrize(("front", "back"), FOREIGN)
async def test_i4_a_client_that_wants_all_or_nothing_is_refused_by_name(front, back):
    """In strict mode the tool is named, and nobody is asked."""
    hosts = Hosts()
    gateway = hosts.gateway(model(back))
    tools = [UNKNOWN[front], LOOK[front]]
    body = {**question(front), "tools": tools}
    answer = await asked(gateway, front, body, x_canonicall_strict="true")
    assert (answer.status, hosts.sent) == (422, [])
    assert "tool_dropped at tools[0]: " in answer.json["error"]["message"]
    assert "oracle" in answer.json["error"]["message"]
    await gateway.close()


NAMESPACES = [
    {
        "type": "namespace",
        "name": name,
        "description": f"The {name}.",
        "tools": [{"type": "function", "name": "close", "parameters": ONE}],
    }
    for name in ("files", "windows")
]


@pytest.mark.parametrize("back", BACKS)
async def test_i5_tools_in_namespaces_are_offered_each_by_a_name_of_its_own(back):
    """Codex groups its tools; models of other families were offered none of them."""
    hosts = Hosts(make=saying("Done."))
    gateway = hosts.gateway(model(back))
    answer = await asked(gateway, "openai-responses", {"input": "Go.", "tools": NAMESPACES})
    assert answer.status == 200, answer.body
    (seen,) = hosts.of(provider_of(back)).seen
    names = offered(seen.body)
    assert len(names) == len(set(names)) == 2
    assert ["files" in names[0], "windows" in names[1]] == [True, True]
    await gateway.close()


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("back", BACKS)
async def test_i5_a_call_comes_back_with_the_namespace_of_its_tool(back, streams):
    """The client knows the tool by its name and its namespace, not by the name it had there."""

    def closes_a_window(request):
        return says(call(request.tools[-1].name, id="w1"))

    gateway = Hosts(make=saying(closes_a_window)).gateway(model(back))
    body = {"input": "Go.", "tools": NAMESPACES}
    answer = await asked(gateway, "openai-responses", body, streams=streams)
    assert answer.status == 200, answer.body
    (made,) = [one for one in response_of(answer, streams)["output"] if "call_id" in one]
    assert (made["namespace"], made["name"]) == ("windows", "close")
    assert json.loads(made["arguments"]) == {"id": "w1"}
    await gateway.close()

"""Tools from JSON Schemas, and from the tool list of any provider."""

import pytest

from canonicall import (
    InvalidArguments,
    InvalidValue,
    MalformedBody,
    ToolContext,
    UnknownName,
    tool_from_schema,
    tools_from,
)

SCHEMA = {
    "type": "object",
    "properties": {"a-b": {"type": "integer"}, "name": {"type": "string"}},
    "required": ["a-b"],
    "additionalProperties": False,
}


def test_a_schema_and_a_function_of_the_arguments():
    made = tool_from_schema("count", SCHEMA, run=lambda arguments: arguments["a-b"], timeout=3)
    assert made.parameters is SCHEMA
    assert (made.timeout, made.external, made.style) == (3, False, "plain")
    assert made.call({"a-b": 1}) == 1
    assert made({"a-b": "whatever"}) == "whatever"


@pytest.mark.parametrize(
    ("arguments", "where"),
    [
        ({}, "args.a-b"),
        ({"a-b": "x"}, "args.a-b"),
        ({"a-b": 1, "nam": "x"}, "args.nam"),
        ([], "args"),
        (None, "args"),
    ],
)
def test_what_the_schema_refuses_is_not_run(arguments, where):
    made = tool_from_schema("count", SCHEMA, run=pytest.fail)
    with pytest.raises(InvalidArguments) as caught:
        made.call(arguments)
    assert (caught.value.tool, caught.value.where) == ("count", where)


@pytest.mark.parametrize("schema", [None, {}, {"type": "nonsense"}])
def test_a_schema_that_says_nothing_takes_everything(schema):
    made = tool_from_schema("any", schema, run=lambda arguments: arguments)
    assert made.call({"x": [1]}) == {"x": [1]}


@pytest.mark.parametrize("value", [object(), {1, 2}])
def test_what_is_no_json_is_refused(value):
    made = tool_from_schema("count", {"properties": {"x": {"type": "string"}}}, run=pytest.fail)
    with pytest.raises(InvalidArguments):
        made.call({"x": value})


def test_hostile_depth_is_refused():
    deep: list = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(InvalidArguments):
        tool_from_schema("count", SCHEMA, run=pytest.fail).call({"a-b": deep})


def test_a_function_of_the_arguments_may_ask_for_the_context():
    def run(arguments: dict, about: ToolContext):
        return arguments, about.call_id

    made = tool_from_schema("run", run=run)
    assert made.call({"x": 1}, ToolContext("c")) == ({"x": 1}, "c")


def test_without_a_function_it_is_external():
    made = tool_from_schema("ask", SCHEMA, description="Ask.")
    assert made.external
    assert made.description == "Ask."
    with pytest.raises(InvalidValue, match="nothing here runs"):
        made.call({"a-b": 1})


@pytest.mark.parametrize(("name", "schema"), [("", {}), (3, {}), ("x", [])])
def test_what_is_no_definition_is_refused(name, schema):
    with pytest.raises(InvalidValue):
        tool_from_schema(name, schema)


PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
ABOUT = {"name": "weather", "description": "Weather."}
LISTS = {
    "openai-chat": [{"type": "function", "function": {**ABOUT, "parameters": PARAMETERS}}],
    "openai-responses": [{"type": "function", **ABOUT, "parameters": PARAMETERS}],
    "anthropic": [{**ABOUT, "input_schema": PARAMETERS}],
    "gemini": [{"functionDeclarations": [{**ABOUT, "parametersJsonSchema": PARAMETERS}]}],
    "bedrock": [{"toolSpec": {**ABOUT, "inputSchema": {"json": PARAMETERS}}}],
    "cohere": [{"type": "function", "function": {**ABOUT, "parameters": PARAMETERS}}],
    "ollama": [{"type": "function", "function": {**ABOUT, "parameters": PARAMETERS}}],
}


@pytest.mark.parametrize("format", LISTS)
def test_the_list_of_every_format_gives_the_same_tool(format):
    tools = tools_from(LISTS[format], format, run={"weather": lambda arguments: arguments["city"]})
    assert tools.names == ("weather",)
    assert (tools["weather"].description, tools["weather"].parameters) == ("Weather.", PARAMETERS)
    assert tools["weather"].call({"city": "Basel"}) == "Basel"
    assert tools_from(LISTS[format], format)["weather"].external
    assert tools.findings == ()


def test_what_the_decoder_had_to_say_is_kept():
    flat = [{"type": "function", "name": "weather"}]
    tools = tools_from(flat, "openai-chat")
    assert [finding.code for finding in tools.findings] == ["flat_tool"]


def test_a_function_for_a_tool_that_is_not_there_is_an_error():
    with pytest.raises(UnknownName, match="Did you mean 'weather'"):
        tools_from(LISTS["anthropic"], "anthropic", run={"wether": print})


def test_what_is_no_list_of_tools_is_refused():
    with pytest.raises(MalformedBody):
        tools_from([3], "anthropic")
    with pytest.raises(UnknownName):
        tools_from([], "nobody")

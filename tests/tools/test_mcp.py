"""Tools of MCP servers. The judge is a server of the official SDK, in the same process."""

import asyncio
import base64

import mcp.types as sdk
import pytest
from mcp.client import Client
from mcp.server.mcpserver import MCPServer
from mcp.types import ToolAnnotations
from pydantic import BaseModel

from canonicall import (
    InvalidArguments,
    InvalidValue,
    Media,
    Outcome,
    Text,
    ToolCall,
    Toolset,
    mcp_result,
    tools_from_mcp,
    validate_call,
)

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()
WAV = base64.b64encode(b"RIFF0000WAVE").decode()


class Forecast(BaseModel):
    city: str
    degrees: list[int]


def server():
    made = MCPServer("judge")

    @made.tool(title="Add numbers", annotations=ToolAnnotations(readOnlyHint=True))
    def add(a: int, b: int = 1) -> int:
        """Add two numbers."""
        return a + b

    @made.tool(annotations=ToolAnnotations(destructiveHint=True))
    async def forecast(city: str) -> Forecast:
        return Forecast(city=city, degrees=[18, 21])

    @made.tool()
    def show() -> list[sdk.ContentBlock]:
        """Everything that a result can hold."""
        return [
            sdk.TextContent(type="text", text="Seen:"),
            sdk.ImageContent(type="image", data=PNG, mimeType="image/png"),
            sdk.AudioContent(type="audio", data=WAV, mimeType="audio/wav"),
            sdk.EmbeddedResource(
                type="resource",
                resource=sdk.TextResourceContents(
                    uri="note://1", mimeType="text/plain", text="Hi."
                ),
            ),
            sdk.EmbeddedResource(
                type="resource",
                resource=sdk.BlobResourceContents(uri="note://2", mimeType="image/png", blob=PNG),
            ),
            sdk.ResourceLink(
                type="resource_link", uri="note://3", name="third", mimeType="text/plain"
            ),
        ]

    return made


def with_server(work, **options):
    async def driven():
        async with Client(server()) as client:
            return await work(
                tools_from_mcp(await client.list_tools(), client.call_tool, **options)
            )

    return asyncio.run(driven())


async def called(tools, name, arguments):
    """A call, all the way: checked, run, its result made."""
    call = ToolCall(id="call_1", name=name, args=arguments)
    validated = validate_call(call, tools.offered)
    assert validated.ok
    bound = tools[name]
    return bound.returned(await bound.call(validated.call.args))


def test_the_definitions_of_a_server_are_tools():
    async def work(tools):
        return tools

    tools = with_server(work, trusted=True)
    assert isinstance(tools, Toolset)
    assert tools.names == ("add", "forecast", "show")
    add, forecast, show = tools
    assert (add.title, add.description, add.style) == (
        "Add numbers",
        "Add two numbers.",
        "coroutine",
    )
    assert add.parameters["required"] == ["a"]
    assert [one.read_only for one in tools] == [True, False, False]
    assert [one.needs_approval({}) for one in tools] == [False, True, False]
    assert forecast.output_schema["properties"]["city"]["type"] == "string"
    assert show.description == "Everything that a result can hold."


def test_a_server_that_is_not_trusted_cannot_say_that_a_tool_is_harmless():
    async def work(tools):
        return tools

    tools = with_server(work)
    assert [one.read_only for one in tools] == [False, False, False]
    assert [one.needs_approval({}) for one in tools] == [False, True, False]


def test_a_call_goes_to_the_server_and_comes_back():
    async def work(tools):
        return await called(tools, "add", {"a": 2})

    returned = with_server(work)
    assert returned.content == (Text(text="3"),)
    assert returned.value.structured_content == {"result": 3}
    result = returned.result(ToolCall(id="call_1", name="add"))
    assert (result.outcome, result.text) == (Outcome.COMPLETED, "3")


def test_a_renamed_tool_is_called_by_the_name_its_server_knows():
    async def work(tools):
        return await called(tools.prefixed("judge_"), "judge_add", {"a": 2, "b": 3})

    assert with_server(work).content == (Text(text="5"),)


def test_every_kind_of_content_becomes_a_block():
    async def work(tools):
        return await called(tools, "show", {})

    returned = with_server(work)
    assert returned.content == (
        Text(text="Seen:"),
        Media(media_type="image/png", data=PNG),
        Media(media_type="audio/wav", data=WAV),
        Text(text="note://1\nHi."),
        Media(media_type="image/png", data=PNG, name="note://2"),
        Text(text="third <note://3> (text/plain)"),
    )
    assert (returned.error, returned.findings) == (False, ())


def test_structured_content_is_told_once():
    async def work(tools):
        return await called(tools, "forecast", {"city": "Basel"})

    (block,) = with_server(work).content
    assert Forecast.model_validate_json(block.text) == Forecast(city="Basel", degrees=[18, 21])


def test_what_the_server_would_refuse_is_refused_before_it_is_asked():
    async def work(tools):
        with pytest.raises(InvalidArguments, match=r"args\.a"):
            tools["add"].call({"b": 1})

    with_server(work)


def test_an_error_of_the_server_is_a_failed_result():
    failed = sdk.CallToolResult(
        content=[sdk.TextContent(type="text", text="No such city.")], isError=True
    )
    result = mcp_result(failed).result(ToolCall(id="call_1", name="forecast"))
    assert (result.error, result.outcome, result.text) == (True, Outcome.FAILED, "No such city.")


def test_json_reads_like_the_objects_of_the_sdk():
    answer = sdk.CallToolResult(
        content=[sdk.TextContent(type="text", text="1")], structuredContent={"a": 1}
    )
    plain = answer.model_dump(by_alias=True, exclude_none=True, mode="json")
    assert mcp_result(plain).content == mcp_result(answer).content == (Text(text="1"),)
    definition = {"name": "x", "inputSchema": {"type": "object"}, "title": "X"}
    listed = [sdk.Tool(**definition), definition]
    for given in ([listed[0]], [listed[1]], {"tools": [listed[1]]}):
        (made,) = tools_from_mcp(given)
        assert (made.name, made.description, made.external) == ("x", "X", True)


@pytest.mark.parametrize(
    ("answer", "texts"),
    [
        ({"content": [], "structuredContent": {"a": 1}}, ['{"a":1}']),
        ({"structuredContent": {"a": 1}}, ['{"a":1}']),
        ({"content": []}, []),
        ({"content": None}, []),
        ("text", ["text"]),
        ({"rows": 3}, ['{"rows":3}']),
    ],
)
def test_answers_without_text(answer, texts):
    assert [block.text for block in mcp_result(answer).content] == texts


@pytest.mark.parametrize(
    "part",
    [
        {"type": "video", "data": "x"},
        {"type": "image"},
        {"type": "resource", "resource": {}},
        3,
        None,
    ],
)
def test_content_of_no_known_kind_is_told_as_text_and_reported(part):
    returned = mcp_result({"content": [part]})
    assert len(returned.content) == 1
    assert {finding.code for finding in returned.findings} == {"value_as_text"}


def test_nulls_of_a_server_stay():
    answer = sdk.CallToolResult(content=[], structuredContent={"a": None})
    assert mcp_result(answer).content == (Text(text='{"a":null}'),)
    schema = {"type": "object", "properties": {"a": {"default": None, "enum": [None, 1]}}}
    (made,) = tools_from_mcp([sdk.Tool(name="x", inputSchema=schema)])
    assert made.parameters == schema


def test_media_without_a_type_are_known_by_their_family():
    returned = mcp_result({"content": [{"type": "image", "data": PNG}]})
    assert returned.content == (Media(media_type="image/*", data=PNG),)


def test_an_answer_that_is_too_long_is_shortened():
    returned = mcp_result({"content": [{"type": "text", "text": "x" * 1000}]}, limit=300)
    assert len(returned.content[0].text) <= 300
    assert [finding.code for finding in returned.findings] == ["result_shortened"]


@pytest.mark.parametrize(
    ("given", "where"),
    [
        (3, "tools"),
        ({}, "tools"),
        ([3], "tools[0]"),
        ([{"name": ""}], "tools[0]"),
        ([{"name": "x", "inputSchema": []}], "tools[0].inputSchema"),
    ],
)
def test_what_is_no_list_of_definitions_is_refused(given, where):
    with pytest.raises(InvalidValue) as caught:
        tools_from_mcp(given)
    assert caught.value.where == where

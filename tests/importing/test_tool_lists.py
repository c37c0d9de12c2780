"""Which wire format a list of tools has, and where it stands in a file."""

import json

import pytest

from canonicall import MalformedBody, detect_tools_format, translate_tools
from canonicall.importing.tool_lists import read_tools
from canonicall.wire.formats import FORMATS

SCHEMA = {"type": "object", "properties": {"q": {"type": "string"}}}
FUNCTION = {"type": "function", "function": {"name": "find", "parameters": SCHEMA}}
FLAT = {"type": "function", "name": "find", "parameters": SCHEMA}


@pytest.mark.parametrize("format", FORMATS)
def test_what_we_write_is_recognised(format):
    """A list made for a format is of that format; functions look alike in three of them."""
    made = translate_tools([FUNCTION], "openai-chat", format).tools
    alike = format in ("cohere", "ollama")
    assert detect_tools_format(made) == ("openai-chat" if alike else format)


@pytest.mark.parametrize(
    ("tool", "format"),
    [
        ({"type": "web_search_20250305", "name": "web_search"}, "anthropic"),
        ({"type": "custom", "name": "find", "input_schema": SCHEMA}, "anthropic"),
        ({"type": "mcp_toolset", "mcp_server_name": "shop"}, "anthropic"),
        ({"type": "web_search"}, "openai-responses"),
        ({"type": "web_search_preview_2025_03_11"}, "openai-responses"),
        ({"type": "custom", "name": "patch"}, "openai-responses"),
        ({"name": "find", "parameters": SCHEMA}, "openai-responses"),
        ({"type": "custom", "custom": {"name": "patch"}}, "openai-chat"),
        ({"type": "builtin_function", "function": {"name": "$web_search"}}, "openai-chat"),
        ({"function_declarations": [{"name": "find"}]}, "gemini"),
        ({"googleSearch": {}}, "gemini"),
        ({"cachePoint": {"type": "default"}}, "bedrock"),
    ],
)
def test_one_tool_shows_its_format(tool, format):
    assert detect_tools_format([tool]) == format


def test_the_shape_of_most_tools_counts():
    assert detect_tools_format([FLAT, {"name": "a", "input_schema": SCHEMA}, FLAT]) == (
        "openai-responses"
    )


@pytest.mark.parametrize("value", [[], None, "tools", {}, [7, None], [{"colour": "red"}], [[]]])
def test_what_shows_nothing_has_no_format(value):
    assert detect_tools_format(value) is None


@pytest.mark.parametrize(
    ("value", "format"),
    [
        ([FLAT], "openai-responses"),
        ({"tools": [FUNCTION]}, "openai-chat"),
        ({"tools": [FUNCTION], "messages": [], "keep_alive": 5}, "ollama"),
        ({"tools": [FUNCTION], "messages": [], "documents": []}, "cohere"),
        ({"toolConfig": {"tools": [{"toolSpec": {"name": "find"}}]}}, "bedrock"),
        ({"toolConfig": {"functionCallingConfig": {}}, "tools": [{"googleSearch": {}}]}, "gemini"),
        ({"functions": [{"name": "find", "parameters": SCHEMA}]}, "openai-responses"),
        ([], "openai-chat"),
    ],
)
def test_a_list_is_found_where_it_stands(value, format):
    read = read_tools(b"\xef\xbb\xbf" + json.dumps(value).encode())
    assert read.format == format
    assert isinstance(read.tools, list)


def test_a_format_that_is_named_counts():
    assert read_tools(json.dumps([FUNCTION]).encode(), "ollama").format == "ollama"


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "nothing in it"),
        (b"{", "not JSON"),
        (b"7", "it is no object"),
        (b"{}", "its fields: none"),
        (b'{"tools": {}}', "its fields: tools"),
        (b'{"messages": []}', "its fields: messages"),
        (json.dumps(FUNCTION).encode(), "a single tool"),
        (b'[{"name": "find", "inputSchema": {}}]', "tools_from_mcp"),
        (b'[{"colour": "red"}]', "Name the format"),
        (b"[" * 100_000, "nested too deeply"),
    ],
)
def test_an_error_says_what_to_give(data, told):
    with pytest.raises(MalformedBody, match=told):
        read_tools(data)

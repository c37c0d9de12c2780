"""Tool lists that somebody stored: which wire format a list has, and where it stands in a file.

In: the bytes of a list of tools, or of an object that holds one, such as a request body. Out: the
list and its format. A tool shows its format by its shape; the shape that most tools of a list have
counts. Functions look alike in Chat Completions, Cohere and Ollama and mean the same there, so the
first of them is named unless the rest of the body tells.
"""

import re
from collections import Counter
from typing import Any

from msgspec import Struct

from canonicall.detection import (
    ANTHROPIC,
    BEDROCK,
    CHAT,
    FUNCTIONS,
    Formats,
    possible_formats,
)
from canonicall.errors import MalformedBody
from canonicall.facts.target import FORMATS
from canonicall.importing.documents import AUTO, parsed_json

RESPONSES = ("openai-responses",)
GEMINI = ("gemini",)

# Fields of a tool that has neither a type nor a name: only two formats have such tools.
_BARE: dict[str, Formats] = {
    **dict.fromkeys(("toolSpec", "cachePoint", "systemTool"), BEDROCK),
    **dict.fromkeys(("functionDeclarations", "function_declarations"), GEMINI),
    **dict.fromkeys(("googleSearch", "google_search", "googleSearchRetrieval"), GEMINI),
    **dict.fromkeys(("codeExecution", "code_execution", "urlContext", "url_context"), GEMINI),
    **dict.fromkeys(("computerUse", "fileSearch", "googleMaps", "enterpriseWebSearch"), GEMINI),
}
_DATED = re.compile(r"\w+_20\d{6}")
"""Anthropic dates the types of its own tools: web_search_20250305."""
_WHAT_TO_GIVE = 'Give a list of tools, or an object that has one as "tools"'


class ToolList(Struct, frozen=True):
    """A list of tools that was read."""

    format: str
    tools: list[Any]


def detect_tools_format(tools: Any) -> str | None:
    """The wire format of a list of tools, None where no tool in it shows one."""
    return next(iter(_possible(tools)), None)


def read_tools(data: bytes, format: str = AUTO) -> ToolList:
    """The tools in `data`: of the wire format named, or of the one they show.

    Raises `MalformedBody` where there are none to be read. An empty list is read as one.
    """
    value = parsed_json(data, _WHAT_TO_GIVE)
    tools = _list_in(value)
    if format != AUTO or not tools:
        return ToolList(FORMATS[0] if format == AUTO else format, tools)
    possible = _possible(tools)
    if not possible:
        raise MalformedBody(_unknown(tools))
    told = [one for one in possible_formats(value) if one in possible]
    return ToolList((*told, *possible)[0], tools)


def _possible(tools: Any) -> Formats:
    """The formats that most of the tools have, in their order of preference."""
    if not isinstance(tools, list):
        return ()
    votes = Counter(format for tool in tools for format in _formats_of(tool))
    most = max(votes.values(), default=0)
    return tuple(format for format in FORMATS if most and votes[format] == most)


def _formats_of(tool: Any) -> Formats:
    if not isinstance(tool, dict):
        return ()
    kind = tool.get("type")
    if "input_schema" in tool:
        return ANTHROPIC
    if isinstance(tool.get("function"), dict):
        return FUNCTIONS
    if not isinstance(kind, str):
        bare = next((_BARE[name] for name in tool if name in _BARE), ())
        # Flat functions without a type are what the first function lists of OpenAI held.
        return RESPONSES if not bare and {"name", "parameters"} <= tool.keys() else bare
    if _DATED.fullmatch(kind) or kind == "mcp_toolset":
        return ANTHROPIC
    return CHAT if isinstance(tool.get(kind), dict) else RESPONSES


def _list_in(value: Any) -> list[Any]:
    held = value
    if isinstance(value, dict):
        config = value.get("toolConfig")
        if isinstance(config, dict) and "tools" in config:
            held = config["tools"]
        else:
            held = value.get("tools", value.get("functions"))
    if isinstance(held, list):
        return held
    if isinstance(value, dict) and _formats_of(value):
        raise MalformedBody(f"this is a single tool. {_WHAT_TO_GIVE}.")
    named = ", ".join(list(map(str, value))[:6]) if isinstance(value, dict) else ""
    seen = f"its fields: {named or 'none'}" if isinstance(value, dict) else "it is no object"
    raise MalformedBody(f"there is no list of tools in it ({seen}). {_WHAT_TO_GIVE}.")


def _unknown(tools: list[Any]) -> str:
    if any(isinstance(tool, dict) and "inputSchema" in tool for tool in tools):
        return (
            "this is the list of an MCP server, no provider's."
            " In a program, tools_from_mcp reads it; here, rename inputSchema to input_schema."
        )
    return "no tool in it has the shape of a known format. Name the format that it is in."

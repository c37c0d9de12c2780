"""Places in a wire body: messages, their parts, tools and parameters, by JSON path.

In: a body of any format, coming in or going out. Out: paths such as `$.messages[4].tool_calls[0]`.
Only the paths of findings are read here; no decoder and no encoder depends on it. The shapes of all
formats are known in one place because no two of them contradict each other.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, Literal, TypeAlias

from canonicall.blocks import Block, Code, Media, Summary, Text, Thinking, ToolCall, ToolResult

Kind: TypeAlias = Literal["call", "result", "text", "thought", "media", "other"]

MESSAGES = ("messages", "input", "contents")
"""The fields that hold the messages of a request."""
INSTRUCTIONS = ("system", "instructions", "systemInstruction", "system_instruction")
"""The fields that hold instructions apart from the messages."""

_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]")
_HUMP = re.compile(r"(?<=[a-z0-9])([A-Z])")

_ITEMS: dict[str, Kind] = {
    "function_call": "call",
    "custom_tool_call": "call",
    "tool_search_call": "call",
    "function_call_output": "result",
    "custom_tool_call_output": "result",
    "tool_search_output": "result",
    "reasoning": "thought",
}
"""Items of the Responses API that are no messages."""
_TYPES: dict[str, Kind] = {
    "text": "text",
    "input_text": "text",
    "output_text": "text",
    "refusal": "text",
    "thinking": "thought",
    "redacted_thinking": "thought",
    "tool_use": "call",
    "tool_result": "result",
    "image": "media",
    "image_url": "media",
    "input_image": "media",
    "document": "media",
    "document_url": "media",
    "file": "media",
    "input_file": "media",
    "input_audio": "media",
    "audio_url": "media",
    "video_url": "media",
}
"""Parts that have a type."""
_BLOCKS: dict[type[Block], Kind] = {
    Text: "text",
    Summary: "text",
    Code: "text",
    Thinking: "thought",
    Media: "media",
}
_MEMBERS: dict[str, Kind] = {
    "toolUse": "call",
    "functionCall": "call",
    "function_call": "call",
    "toolResult": "result",
    "functionResponse": "result",
    "function_response": "result",
    "reasoningContent": "thought",
    "image": "media",
    "document": "media",
    "video": "media",
    "audio": "media",
    "inlineData": "media",
    "inline_data": "media",
    "fileData": "media",
    "file_data": "media",
    "text": "text",
}
"""Parts that are what their member says (Converse, generateContent)."""
_FIELDS: tuple[tuple[str, Kind | None], ...] = (
    ("reasoning_content", "thought"),
    ("reasoning", "thought"),
    ("thinking", "thought"),
    ("content", None),
    ("parts", None),
    ("tool_plan", "text"),
    ("refusal", "text"),
    ("audio", "media"),
    ("images", "media"),
    ("tool_calls", "call"),
    ("function_call", "call"),
)
"""The fields of a message, and of what kind they are where it is always the same."""
_SETTINGS = ("generationConfig", "inferenceConfig", "options", "additionalModelRequestFields")
"""The objects that hold parameters of some formats."""
_NAMES: dict[str, tuple[str, ...]] = {
    "max_tokens": (
        *("max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens"),
        *("maxTokens", "num_predict"),
    ),
    "top_p": ("top_p", "topP", "p"),
    "top_k": ("top_k", "topK", "k"),
    "stop": ("stop", "stop_sequences", "stopSequences"),
    "seed": ("seed", "random_seed"),
    "reasoning": (
        *("thinking", "reasoning", "reasoning_effort", "enable_thinking", "thinkingConfig"),
        *("output_config.effort", "think"),
    ),
    "output": (
        *("response_format", "text.format", "output_config.format", "output_format"),
        *("responseSchema", "responseJsonSchema", "responseMimeType", "outputConfig", "format"),
    ),
    "tools": ("tools", "functions", "toolConfig.tools"),
    "tool_choice": (
        *("tool_choice", "toolConfig.toolChoice", "toolConfig.functionCallingConfig"),
        *("function_call", "parallel_tool_calls"),
    ),
}
"""What parameters are called on the wire, where that is not their canonical name."""


def kind_of(block: Block) -> Kind:
    """What a block is written as."""
    if isinstance(block, ToolCall):
        return "other" if block.kind == "server" else "call"
    if isinstance(block, ToolResult):
        return "other" if block.opaque else "result"
    return _BLOCKS.get(type(block), "other")


def existing(path: str, body: Any) -> str:
    """The part of `path` that there is in `body`, in the spelling of the body; empty for none."""
    return found_at(path, body)[0]


def found_at(path: str, body: Any) -> tuple[str, Any]:
    """The same, with the value that is there."""
    found = "$"
    for name, number in _STEP.findall(path):
        if name and isinstance(body, dict):
            known = name if name in body else _snake(name)
            if known not in body:
                break
            body, found = body[known], f"{found}.{known}"
        elif number and isinstance(body, list) and int(number) < len(body):
            body, found = body[int(number)], f"{found}[{number}]"
        elif not (number == "0" and isinstance(body, (dict, str))):
            # One object may take the place of a list (generateContent).
            break
    return ("", None) if found == "$" else (found, body)


def parameter(name: str, body: Any) -> str:
    """The path of a parameter by its canonical name, empty where the body does not have it."""
    wired = _NAMES.get(name)
    if not isinstance(body, dict) or (wired is None and _STEP.fullmatch(f".{name}") is None):
        return ""
    for holder, path in _settings(body):
        for wire in wired or (name,):
            first, _, rest = wire.partition(".")
            known = first if first in holder else _snake(first)
            if known in holder and (not rest or _has(holder[known], rest)):
                return f"{path}.{known}.{rest}" if rest else f"{path}.{known}"
    return ""


def _settings(body: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    """The objects of a body that hold parameters, with their paths."""
    yield body, "$"
    for name in _SETTINGS:
        known = name if name in body else _snake(name)
        if isinstance(body.get(known), dict):
            yield body[known], f"$.{known}"


def _has(value: Any, name: str) -> bool:
    return isinstance(value, dict) and name in value


def canonical_name(path: str) -> str:
    """The canonical name of the parameter at a path of a body; empty for any other path."""
    rest = path.removeprefix("$.")
    for before in _SETTINGS:
        rest = rest.removeprefix(f"{before}.")
    for name, wired in _NAMES.items():
        if any(rest == wire or rest.startswith((f"{wire}.", f"{wire}[")) for wire in wired):
            return name
    return rest


def tool_paths(body: Any) -> dict[str, str]:
    """The paths of the tools that a body offers, by their names on the wire."""
    found: dict[str, str] = {}
    if isinstance(body, dict):
        config = body.get("toolConfig")
        held = config.get("tools") if isinstance(config, dict) else None
        for tools, path in (
            (body.get("tools"), "$.tools"),
            (body.get("functions"), "$.functions"),
            (held, "$.toolConfig.tools"),
        ):
            for name, place in _named_tools(tools, path):
                found.setdefault(name, place)
    return found


def parts_of(value: Any, path: str) -> Iterator[tuple[Kind, str]]:
    """The parts of a message, an item, or a list of parts, each with what it is and its path."""
    if isinstance(value, list):
        yield from _listed(value, path)
    elif isinstance(value, str):
        yield "text", path
    elif isinstance(value, dict):
        yield from _message_parts(value, path)


def _message_parts(message: dict[str, Any], path: str) -> Iterator[tuple[Kind, str]]:
    kind = message.get("type")
    if "role" not in message and isinstance(kind, str) and kind != "message":
        yield _ITEMS.get(kind, "other"), path
        return
    if message.get("role") in ("tool", "function") and "parts" not in message:
        yield "result", path
        return
    for field, of in _FIELDS:
        held = message.get(field)
        if isinstance(held, list):
            kinds = _listed(held, f"{path}.{field}")
            yield from ((of or kind, place) for kind, place in kinds)
        elif held and (of != "call" or isinstance(held, dict)):
            yield of or _part_kind(held), f"{path}.{field}"


def _listed(parts: list[Any], path: str) -> Iterator[tuple[Kind, str]]:
    for index, part in enumerate(parts):
        if not (isinstance(part, dict) and part.keys() == {"cachePoint"}):
            yield _part_kind(part), f"{path}[{index}]"


def _part_kind(part: Any) -> Kind:
    if isinstance(part, str):
        return "text"
    if not isinstance(part, dict):
        return "other"
    kind = part.get("type")
    if isinstance(kind, str):
        return _TYPES.get(kind, "other")
    if part.get("thought") is True:
        return "thought"
    return next((kind for name, kind in _MEMBERS.items() if name in part), "other")


def _named_tools(tools: Any, path: str) -> Iterator[tuple[str, str]]:
    for index, tool in enumerate(tools if isinstance(tools, list) else ()):
        place = f"{path}[{index}]"
        if not isinstance(tool, dict):
            continue
        for field in ("functionDeclarations", "function_declarations", "tools"):
            yield from _named_tools(tool.get(field), f"{place}.{field}")
        inner = (tool.get(field) for field in ("function", "custom", "toolSpec"))
        for held in (tool, *inner):
            if isinstance(held, dict) and isinstance(held.get("name"), str):
                yield held["name"], place
                break


def each_message(body: dict[str, Any]) -> Iterable[tuple[str, ...]]:
    """The path of each message, for formats in which every one of them is one message here."""
    messages = body.get("messages")
    return ((f"$.messages[{index}]",) for index in range(len(messages or ())))


@lru_cache(maxsize=1024)
def _snake(name: str) -> str:
    return _HUMP.sub(r"_\1", name).lower()

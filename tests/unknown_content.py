"""Requests with a part, or a field, that their format does not have: in every place, of every format.

`PLACES` are requests in which `PUT` stands for parts that are put in, `FIELDS` are requests in which
an object with the key `PUT` gets a field. Both are made for each format from one conversation: an
instruction, a question, an answer with a call, its result, and a tool.
"""

import copy
from collections.abc import Iterator
from typing import Any

PUT = "<put>"
FIELD = "mystery_field"
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
LINK = "https://example.com/a.png"

BASES: dict[str, dict[str, Any]] = {
    "openai-chat": {
        "model": "m",
        "messages": [
            {"role": "system", "content": [{"type": "text", "text": "Be brief."}]},
            {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
            {
                "role": "assistant",
                "content": [{"type": "text", "text": "Let me see."}],
                "tool_calls": [
                    {
                        "id": "call_1",
                        "type": "function",
                        "function": {"name": "f", "arguments": '{"a":"b"}'},
                    }
                ],
            },
            {
                "role": "tool",
                "tool_call_id": "call_1",
                "content": [{"type": "text", "text": "42"}],
            },
        ],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": SCHEMA}}],
    },
    "openai-responses": {
        "model": "m",
        "input": [
            {
                "type": "message",
                "role": "developer",
                "content": [{"type": "input_text", "text": "Be brief."}],
            },
            {
                "type": "message",
                "role": "user",
                "content": [{"type": "input_text", "text": "Hi"}],
            },
            {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "Let me see."}],
            },
            {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}"},
            {
                "type": "function_call_output",
                "call_id": "call_1",
                "output": [{"type": "input_text", "text": "42"}],
            },
        ],
        "tools": [{"type": "function", "name": "f", "parameters": SCHEMA, "strict": False}],
    },
    "anthropic": {
        "model": "m",
        "max_tokens": 99,
        "system": [{"type": "text", "text": "Be brief."}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "Let me see."},
                    {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"a": "b"}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "toolu_1",
                        "content": [{"type": "text", "text": "42"}],
                    }
                ],
            },
        ],
        "tools": [{"name": "f", "input_schema": SCHEMA}],
    },
    "gemini": {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "Hi"}]},
            {
                "role": "model",
                "parts": [
                    {"text": "Let me see."},
                    {"functionCall": {"name": "f", "args": {"a": "b"}}},
                ],
            },
            {
                "role": "user",
                "parts": [{"functionResponse": {"name": "f", "response": {"output": "42"}}}],
            },
        ],
        "tools": [{"functionDeclarations": [{"name": "f", "parameters": SCHEMA}]}],
    },
    "bedrock": {
        "system": [{"text": "Be brief."}],
        "messages": [
            {"role": "user", "content": [{"text": "Hi"}]},
            {
                "role": "assistant",
                "content": [
                    {"text": "Let me see."},
                    {"toolUse": {"toolUseId": "t1", "name": "f", "input": {"a": "b"}}},
                ],
            },
            {
                "role": "user",
                "content": [{"toolResult": {"toolUseId": "t1", "content": [{"text": "42"}]}}],
            },
        ],
        "toolConfig": {"tools": [{"toolSpec": {"name": "f", "inputSchema": {"json": SCHEMA}}}]},
    },
    "cohere": {
        "model": "m",
        "messages": [
            {"role": "system", "content": [{"type": "text", "text": "Be brief."}]},
            {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
            {
                "role": "assistant",
                "content": [{"type": "text", "text": "Let me see."}],
                "tool_calls": [
                    {
                        "id": "call_1",
                        "type": "function",
                        "function": {"name": "f", "arguments": '{"a":"b"}'},
                    }
                ],
            },
            {
                "role": "tool",
                "tool_call_id": "call_1",
                "content": [{"type": "text", "text": "42"}],
            },
        ],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": SCHEMA}}],
    },
    "ollama": {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hi"},
            {
                "role": "assistant",
                "content": "Let me see.",
                "tool_calls": [{"function": {"name": "f", "arguments": {"a": "b"}}}],
            },
            {"role": "tool", "tool_name": "f", "content": "42"},
        ],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": SCHEMA}}],
    },
}
"""One conversation in each format, with lists of parts wherever the format has them."""

PARTS: dict[str, dict[str, Any]] = {
    "unknown": {"type": "mystery", "data": "mystery"},
    "unknown with text": {"type": "mystery", "text": "mystery"},
    "no type": {"mystery": "mystery"},
    "no type, text": {"text": "mystery"},
    "no type, image_url": {"image_url": {"url": LINK}},
    "no type, image_url as text": {"image_url": LINK},
    "chat text": {"type": "text", "text": "mystery"},
    "chat image": {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
    "chat file": {"type": "file", "file": {"filename": "a.pdf", "file_data": "mystery"}},
    "chat audio": {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
    "chat refusal": {"type": "refusal", "refusal": "mystery"},
    "responses text": {"type": "input_text", "text": "mystery"},
    "responses answer": {"type": "output_text", "text": "mystery", "annotations": []},
    "responses image": {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}"},
    "responses file": {"type": "input_file", "filename": "a.pdf", "file_data": "mystery"},
    "responses thought": {"type": "reasoning", "summary": [], "encrypted_content": "mystery"},
    "claude image": {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": PNG},
    },
    "claude image by address": {"type": "image", "source": {"type": "url", "url": LINK}},
    "claude document": {
        "type": "document",
        "source": {"type": "text", "media_type": "text/plain", "data": "mystery"},
    },
    "claude thought": {"type": "thinking", "thinking": "mystery", "signature": "sig"},
    "claude search": {
        "type": "search_result",
        "source": "s",
        "title": "t",
        "content": [{"type": "text", "text": "mystery"}],
    },
    "claude server call": {
        "type": "server_tool_use",
        "id": "srvtoolu_1",
        "name": "web_search",
        "input": {},
    },
    "claude upload": {"type": "container_upload", "file_id": "mystery"},
    "gemini image": {"inlineData": {"mimeType": "image/png", "data": PNG}},
    "gemini file": {"fileData": {"fileUri": LINK, "mimeType": "image/png"}},
    "gemini code": {"executableCode": {"language": "PYTHON", "code": "mystery"}},
    "bedrock image": {"image": {"format": "png", "source": {"bytes": PNG}}},
    "bedrock document": {
        "document": {"format": "pdf", "name": "a", "source": {"bytes": "mystery"}}
    },
    "bedrock thought": {"reasoningContent": {"reasoningText": {"text": "mystery"}}},
    "bedrock guard": {"guardContent": {"text": {"text": "mystery"}}},
    "cohere document": {"type": "document", "document": {"data": "mystery"}},
    "cohere thought": {"type": "thinking", "thinking": "mystery"},
}
"""Parts that some format has, and parts that none has."""


def lists_of_parts(value: Any, path: str = "$") -> Iterator[tuple[str, list[Any]]]:
    """Every list of parts in a request, with its path. Tools are not parts."""
    for key, inner in value.items() if isinstance(value, dict) else ():
        place = f"{path}.{key}"
        if isinstance(inner, list) and key in ("content", "parts", "system", "output"):
            yield place, inner
        if isinstance(inner, list) and key != "tools":
            for at, one in enumerate(inner):
                yield from lists_of_parts(one, f"{place}[{at}]")
        elif isinstance(inner, dict) and key not in ("tools", "toolConfig"):
            yield from lists_of_parts(inner, place)


def objects(value: Any, path: str = "$") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every object in a request that is not the user's own JSON, with its path."""
    if isinstance(value, dict):
        yield path, value
        for key, inner in value.items():
            if key not in (
                "input",
                "args",
                "arguments",
                "parameters",
                "input_schema",
                "json",
            ) or isinstance(inner, list):
                yield from objects(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for at, one in enumerate(value):
            yield from objects(one, f"{path}[{at}]")


def with_part(format: str, part: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The request of a format with the part at the end of each list of parts."""
    count = len(list(lists_of_parts(BASES[format])))
    for number in range(count):
        body = copy.deepcopy(BASES[format])
        place, parts = list(lists_of_parts(body))[number]
        parts.append(copy.deepcopy(part))
        yield place, body


def with_field(format: str, value: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """The request of a format with one field more, in each of its objects."""
    count = len(list(objects(BASES[format])))
    for number in range(count):
        body = copy.deepcopy(BASES[format])
        place, one = list(objects(body))[number]
        one[FIELD] = value
        yield place, body

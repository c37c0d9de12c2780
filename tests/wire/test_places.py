"""Places in a wire body: parts of messages, tools and parameters of every format, by path."""

from batches import each
from canonicall import decode_request
from canonicall.wire.formats import get_format
from canonicall.wire.places import (
    canonical_name,
    existing,
    found_at,
    parameter,
    parts_of,
    tool_paths,
)

BODY = {"messages": [{"content": "x"}, {"content": [{"text": "y"}]}], "tool_config": {"a": 1}}


@each(
    ("path", "found"),
    [
        ("$.messages[1].content[0].text", "$.messages[1].content[0].text"),
        ("$.messages[1].content[7].text", "$.messages[1].content"),
        ("$.messages[0].content.text", "$.messages[0].content"),
        ("$.messages[0].content[0]", "$.messages[0].content"),
        ("$.toolConfig.a", "$.tool_config.a"),
        ("$.nothing", ""),
        ("$", ""),
        ("entries[0]", ""),
    ],
)
def test_a_path_is_followed_as_far_as_it_leads(path, found):
    assert existing(path, BODY) == found
    assert found_at(found, BODY)[0] == found


PARTS = [
    ({"role": "user", "content": "Hi"}, ["text .content"]),
    ({"role": "tool", "tool_call_id": "a", "content": "1"}, ["result "]),
    (
        {"role": "assistant", "content": None, "reasoning_content": "Hm", "tool_calls": [{}, {}]},
        ["thought .reasoning_content", "call .tool_calls[0]", "call .tool_calls[1]"],
    ),
    (
        {
            "role": "user",
            "content": [
                {"type": "tool_result"},
                {"type": "text", "text": "x"},
                {"type": "image"},
                {"type": "new"},
            ],
        },
        ["result .content[0]", "text .content[1]", "media .content[2]", "other .content[3]"],
    ),
    (
        {
            "role": "assistant",
            "content": [{"reasoningContent": {}}, {"toolUse": {}}, {"cachePoint": {}}],
        },
        ["thought .content[0]", "call .content[1]"],
    ),
    (
        {
            "role": "model",
            "parts": [
                {"text": "x", "thought": True},
                {"functionCall": {}, "thoughtSignature": "s"},
            ],
        },
        ["thought .parts[0]", "call .parts[1]"],
    ),
    ({"role": "function", "parts": [{"functionResponse": {}}]}, ["result .parts[0]"]),
    ({"type": "function_call", "name": "f"}, ["call "]),
    ({"type": "function_call_output", "call_id": "a"}, ["result "]),
    ({"type": "reasoning", "summary": []}, ["thought "]),
    ({"type": "web_search_call"}, ["other "]),
    (
        {"role": "assistant", "tool_plan": "I see.", "tool_calls": [{}]},
        ["text .tool_plan", "call .tool_calls[0]"],
    ),
    ({"role": "user", "content": "See", "images": ["aGk="]}, ["text .content", "media .images[0]"]),
    ([{"type": "text"}, {"type": "text"}], ["text [0]", "text [1]"]),
    ("Be brief.", ["text "]),
    (None, []),
]


@each(("message", "parts"), PARTS)
def test_the_parts_of_a_message(message, parts):
    assert [f"{kind} {path}" for kind, path in parts_of(message, "")] == parts


@each(
    ("body", "name", "path"),
    [
        ({"max_completion_tokens": 5}, "max_tokens", "$.max_completion_tokens"),
        (
            {"generationConfig": {"maxOutputTokens": 5}},
            "max_tokens",
            "$.generationConfig.maxOutputTokens",
        ),
        ({"generation_config": {"top_k": 5}}, "top_k", "$.generation_config.top_k"),
        ({"inferenceConfig": {"topP": 1}}, "top_p", "$.inferenceConfig.topP"),
        ({"options": {"num_predict": 1}}, "max_tokens", "$.options.num_predict"),
        ({"reasoning": {"effort": "low"}}, "reasoning", "$.reasoning"),
        ({"toolConfig": {"toolChoice": {}}}, "tool_choice", "$.toolConfig.toolChoice"),
        ({"user": "me"}, "user", "$.user"),
        ({"": 1}, "", ""),
        ({"a.b": 1}, "a.b", ""),
        ({"a[0]": 1}, "a[0]", ""),
        ({"temperature": 1}, "top_p", ""),
        (None, "top_p", ""),
    ],
)
def test_the_place_of_a_parameter(body, name, path):
    assert parameter(name, body) == path


@each(
    ("path", "name"),
    [
        ("$.thinking.type", "reasoning"),
        ("$.generationConfig.topK", "top_k"),
        ("$.temperature", "temperature"),
        ("$.response_format.type", "output"),
    ],
)
def test_the_parameter_at_a_place(path, name):
    assert canonical_name(path) == name


@each(
    ("body", "paths"),
    [
        (
            {"tools": [{"function": {"name": "f"}}, {"name": "g"}]},
            {"f": "$.tools[0]", "g": "$.tools[1]"},
        ),
        ({"functions": [{"name": "f"}]}, {"f": "$.functions[0]"}),
        ({"toolConfig": {"tools": [{"toolSpec": {"name": "f"}}]}}, {"f": "$.toolConfig.tools[0]"}),
        (
            {"tools": [{"functionDeclarations": [{"name": "f"}, {"name": "g"}]}]},
            {"f": "$.tools[0].functionDeclarations[0]", "g": "$.tools[0].functionDeclarations[1]"},
        ),
        ({"tools": "no list"}, {}),
        (None, {}),
    ],
)
def test_the_places_of_tools(body, paths):
    assert tool_paths(body) == paths


MESSAGES = [
    ("openai-chat", {"messages": [{"role": "user", "content": "x"}] * 2}, ["$.messages[0]", "$.messages[1]"]),
    (
        "anthropic",
        {
            "system": "x",
            "messages": [
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]},
                {
                    "role": "user",
                    "content": [
                        {"type": "tool_result", "tool_use_id": "a"},
                        {"type": "text", "text": "x"},
                    ],
                },
            ],
        },
        ["$.system", "$.messages[0]", "$.messages[1]", "$.messages[1]"],
    ),
    (
        "bedrock",
        {
            "system": [{"text": "x"}],
            "messages": [
                {
                    "role": "user",
                    "content": [{"toolResult": {"toolUseId": "a", "content": []}}, {"text": "x"}],
                }
            ],
        },
        ["$.system", "$.messages[0]", "$.messages[0]"],
    ),
    (
        "gemini",
        {
            "system_instruction": "x",
            "contents": [
                {"role": "user", "parts": [{"functionResponse": {"name": "f"}}, {"text": "x"}]},
                {"role": "model", "parts": [{"text": "x"}]},
            ],
        },
        ["$.systemInstruction", "$.contents[0]", "$.contents[0]", "$.contents[1]"],
    ),
    (
        "openai-responses",
        {
            "instructions": "x",
            "input": [
                {"role": "user", "content": "x"},
                {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"},
                {"type": "function_call", "call_id": "b", "name": "f", "arguments": "{}"},
                {"role": "assistant", "content": []},
                {"type": "function_call_output", "call_id": "a", "output": "1"},
                {"type": "function_call_output", "call_id": "b", "output": "1"},
            ],
        },
        [
            *("$.instructions", "$.input[0]", "$.input[1] $.input[2] $.input[3]"),
            "$.input[4] $.input[5]",
        ],
    ),
    ("openai-responses", {"input": "x"}, ["$.input"]),
    ("openai-responses", {"input": [{"role": "assistant", "content": []}]}, []),
]  # fmt: skip


@each(("format", "body", "places"), MESSAGES)
def test_every_message_of_a_request_has_its_place(format, body, places):
    found = [" ".join(paths) for paths in get_format(format).message_places(body)]
    assert found == places
    assert len(decode_request(body, format).conversation) == len(places)

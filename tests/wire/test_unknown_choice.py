"""A tool choice that canonicall has no word for stays with its format and goes to no other."""

import pytest

from canonicall.codec import translate

SCHEMA = {"type": "object", "properties": {}}
USER = {"role": "user", "content": "Go."}
FUNCTION = {"type": "function", "function": {"name": "f", "parameters": SCHEMA}}
CHAT = {"model": "m", "messages": [USER], "tools": [FUNCTION]}
BODIES = {
    "openai-chat": CHAT | {"tool_choice": "perhaps"},
    "cohere": CHAT | {"tool_choice": "PERHAPS"},
    "ollama": CHAT | {"tool_choice": "auto"},
    "openai-responses": {
        "input": [USER],
        "tools": [{"type": "function", "name": "f", "parameters": SCHEMA}],
        "tool_choice": "perhaps",
    },
    "anthropic": {
        "max_tokens": 9,
        "messages": [USER],
        "tools": [{"name": "f", "input_schema": SCHEMA}],
        "tool_choice": {"type": "perhaps"},
    },
    "gemini": {
        "contents": [{"role": "user", "parts": [{"text": "Go."}]}],
        "tools": [{"functionDeclarations": [{"name": "f"}]}],
        "toolConfig": {"functionCallingConfig": {"mode": "PERHAPS"}},
    },
    "bedrock": {
        "messages": [{"role": "user", "content": [{"text": "Go."}]}],
        "toolConfig": {
            "tools": [{"toolSpec": {"name": "f", "inputSchema": {"json": SCHEMA}}}],
            "toolChoice": {"perhaps": {}},
        },
    },
}
HOMES = {
    "openai-chat": "openai",
    "openai-responses": "openai/openai-responses",
} | {name: name for name in ("anthropic", "gemini", "bedrock", "cohere", "ollama")}


def chosen(body):
    config = body.get("toolConfig", {})
    calling = config.get("functionCallingConfig")
    return body.get("tool_choice") or config.get("toolChoice") or calling


@pytest.mark.parametrize("format", BODIES)
def test_at_home_it_is_sent_as_it_came(format):
    encoded = translate(BODIES[format], format, HOMES[format])
    assert chosen(encoded.body) == chosen(BODIES[format]) is not None
    (finding,) = (one for one in encoded.report if one.code == "unknown_choice")
    assert finding.action == "kept"


@pytest.mark.parametrize("format", BODIES)
def test_elsewhere_the_model_may_choose(format):
    other = "anthropic" if format != "anthropic" else "openai"
    encoded = translate(BODIES[format], format, other)
    assert chosen(encoded.body) is None
    assert {"param_dropped", "fields_dropped"} & set(encoded.report.counts)


@pytest.mark.parametrize("format", [name for name in BODIES if name != "ollama"])
def test_it_does_not_outlive_its_tools(format):
    body = {name: field for name, field in BODIES[format].items() if name != "tools"}
    if format == "bedrock":
        body["toolConfig"] = {"toolChoice": {"perhaps": {}}}
    assert chosen(translate(body, format, HOMES[format]).body) is None


def test_the_older_name_of_a_chat_choice_is_kept_as_the_newer():
    body = CHAT | {"function_call": "perhaps"}
    assert translate(body, "openai-chat", "openai").body["tool_choice"] == "perhaps"

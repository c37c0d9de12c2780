"""A tool choice that its format does not have is left out: every provider would refuse it."""

import pytest

from canonicall import translate, verify

SCHEMA = {"type": "object", "properties": {}}
USER = {"role": "user", "content": "Go."}
FUNCTION = {"type": "function", "function": {"name": "f", "parameters": SCHEMA}}
CHAT = {"model": "m", "messages": [USER], "tools": [FUNCTION]}
BODIES = {
    "openai-chat": CHAT | {"tool_choice": "perhaps"},
    "cohere": CHAT | {"tool_choice": "PERHAPS"},
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
} | {name: name for name in ("anthropic", "gemini", "bedrock", "cohere")}


def chosen(body):
    config = body.get("toolConfig", {})
    calling = config.get("functionCallingConfig")
    return body.get("tool_choice") or config.get("toolChoice") or calling


@pytest.mark.parametrize("format", BODIES)
@pytest.mark.parametrize("is_home", [True, False])
def test_the_model_may_choose(format, is_home):
    other = "anthropic" if format != "anthropic" else "openai"
    encoded = translate(BODIES[format], format, HOMES[format] if is_home else other)
    assert chosen(encoded.body) is None
    assert not verify(encoded.body, encoded.target)
    (finding,) = (one for one in encoded.report if one.code == "unknown_choice")
    assert finding.action == "dropped"


def test_ollama_which_reads_none_gets_it_as_it_came():
    body = CHAT | {"tool_choice": "auto"}
    encoded = translate(body, "ollama", "ollama")
    assert encoded.body["tool_choice"] == "auto"
    (finding,) = (one for one in encoded.report if one.code == "unknown_choice")
    assert finding.action == "kept"


def test_the_older_name_of_a_chat_choice_is_read_alike():
    encoded = translate(CHAT | {"function_call": "perhaps"}, "openai-chat", "openai")
    assert chosen(encoded.body) is None
    assert "unknown_choice" in encoded.report.counts

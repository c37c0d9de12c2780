"""What providers are known to refuse over tools and thinking, refused by each simulator in the words
they are known for: the table of error texts that the reference has, row by row."""

import re

import pytest

from canonicall.testing.simulator import Simulator
from testing.asking import CHAT, FUNCTIONS, MESSAGES, RESPONSES, SCHEMA, ask

USER = {"role": "user", "content": "Hi"}


def chat(*messages, model="any-model", **more):
    return {"model": model, "messages": list(messages), "tools": FUNCTIONS, **more}


def said(*ids, **more):
    calls = [
        {"id": id, "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}
        for id in ids
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls, **more}


def result(id, **more):
    return {"role": "tool", "tool_call_id": id, "content": "sunny", **more}


def claude(*messages, model="claude-haiku-4-5", **more):
    tools = [{"name": "look", "input_schema": {"type": "object"}}]
    body = {"model": model, "max_tokens": 3000, "messages": list(messages), "tools": tools}
    return {**body, **more}


def use(*ids, before=()):
    blocks = [{"type": "tool_use", "id": id, "name": "look", "input": {}} for id in ids]
    return {"role": "assistant", "content": [*before, *blocks]}


def used(*ids):
    blocks = [{"type": "tool_result", "tool_use_id": id, "content": "ok"} for id in ids]
    return {"role": "user", "content": blocks}


CLAUDE = {
    "results are missing": (
        claude(USER, use("t1"), USER),
        r"`tool_use` ids were found without `tool_result` blocks immediately after: t1",
    ),
    "a result without its call": (
        claude(USER, used("t1")),
        r"unexpected `tool_use_id` found in `tool_result` blocks: t1",
    ),
    "two results for one call": (
        claude(USER, use("t1"), used("t1", "t1")),
        r"each tool_use must have a single result",
    ),
    "one id for two calls": (
        claude(USER, use("t1", "t1"), used("t1")),
        r"`tool_use` ids must be unique",
    ),
    "characters of an id": (
        claude(USER, use("t:1"), used("t:1")),
        r"String should match pattern '\^\[a-zA-Z0-9_-\]\+\$'",
    ),
    "empty text": (
        claude({"role": "user", "content": [{"type": "text", "text": ""}]}),
        r"text content blocks must be non-empty",
    ),
    "blank text": (
        claude({"role": "user", "content": [{"type": "text", "text": " "}]}),
        r"text content blocks must contain non-whitespace text",
    ),
    "white space at the end": (
        claude(USER, {"role": "assistant", "content": "So "}),
        r"final assistant content cannot end with trailing whitespace",
    ),
    "a beginning of the reply": (
        claude(USER, {"role": "assistant", "content": "So"}, model="claude-opus-4-6"),
        r"does not support assistant message prefill",
    ),
    "no thought before the calls": (
        claude(USER, use("t1"), used("t1"), thinking={"type": "enabled", "budget_tokens": 1024}),
        r"Expected `thinking` or `redacted_thinking`, but found `tool_use`",
    ),
    "a thought of somebody else": (
        claude(
            USER,
            use("t1", before=[{"type": "thinking", "thinking": "Hm.", "signature": "c29tZQ=="}]),
            used("t1"),
        ),
        r"Invalid `signature` in `thinking` block",
    ),
    "a forced choice where none is possible": (
        claude(USER, model="claude-opus-5-5", tool_choice={"type": "any"}),
        r'tool_choice: type "tool" and "any" are not supported for this model',
    ),
    "a forced choice while thinking": (
        claude(
            USER,
            tool_choice={"type": "any"},
            thinking={"type": "enabled", "budget_tokens": 1024},
        ),
        r"Thinking may not be enabled when tool_choice forces tool use",
    ),
    "five cache marks": (
        claude(
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "Hi", "cache_control": {"type": "ephemeral"}}
                    for _ in range(5)
                ],
            }
        ),
        r"A maximum of 4 blocks with cache_control may be provided. Found 5",
    ),
}

HOSTS = {
    "results are missing": (
        "openai",
        chat(USER, said("call_1", "call_2"), result("call_1")),
        r"must be followed by tool messages responding to each 'tool_call_id'.*call_2",
    ),
    "a result without its call": (
        "openai",
        chat(USER, result("call_1")),
        r"must be a response to a preceeding message with 'tool_calls'",
    ),
    "a long id": (
        "openai",
        chat(USER, said("c" * 41), result("c" * 41)),
        r"string too long. Expected a string with maximum length 40, but got a string with length 41",
    ),
    "a switch without tools": (
        "openai",
        {"model": "gpt-5.2", "messages": [USER], "parallel_tool_calls": True},
        r"'parallel_tool_calls' is only allowed when 'tools' are specified",
    ),
    "a tool that was not declared": (
        "openai",
        chat(USER, tool_choice={"type": "function", "function": {"name": "fly"}}),
        r"Tool choice 'fly' not found in 'tools' parameter",
    ),
    "roles of Mistral": (
        "mistral",
        chat(
            USER,
            {"role": "assistant", "content": "So."},
            {"role": "system", "content": "Be brief."},
            USER,
        ),
        r"Unexpected role 'system' after role 'assistant'",
    ),
    "results of Mistral": (
        "mistral",
        chat(USER, said("abcdefghi", "abcdefghj"), result("abcdefghi", name="get_weather")),
        r"Not the same number of function calls and responses",
    ),
    "ids of Mistral": (
        "mistral",
        chat(USER, said("call_1"), result("call_1", name="get_weather")),
        r"must be a-z, A-Z, 0-9, with a length of 9",
    ),
    "reasoning of DeepSeek": (
        "deepseek",
        chat(USER, said("call_1"), result("call_1"), model="deepseek-reasoner"),
        r"reasoning_content .*must be passed back",
    ),
    "a forced choice of DeepSeek": (
        "deepseek",
        chat(USER, model="deepseek-reasoner", tool_choice="required"),
        r"Thinking mode does not support this tool_choice",
    ),
    "reasoning of Kimi": (
        "kimi",
        chat(USER, said("call_1"), result("call_1"), model="kimi-k2-thinking"),
        r"reasoning_content is missing in assistant tool call message at index 1",
    ),
    "pairs of Kimi": ("kimi", chat(USER, result("x")), r"tool_call_id x is not found"),
    "pairs of MiniMax": ("minimax", chat(USER, said("call_1"), USER), r"\(2013\)"),
    "messages of GLM": ("zai", chat(USER, said("call_1"), USER), r"messages parameter is illegal"),
    "arguments of Qwen": (
        "qwen",
        chat(
            USER,
            said("call_1")
            | {
                "tool_calls": [
                    {
                        "id": "call_1",
                        "type": "function",
                        "function": {"name": "get_weather", "arguments": "not JSON"},
                    }
                ]
            },
            result("call_1"),
        ),
        r"function\.arguments.*JSON format",
    ),
    "a field that Groq does not know": (
        "groq",
        chat(USER, {"role": "assistant", "content": "So.", "reasoning": "Hm."}, USER)
        | {"model": "llama-3.3-70b-versatile"},
        r"property 'reasoning' is unsupported",
    ),
}

CALL = {"type": "function_call", "call_id": "call_1", "name": "look", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "call_1", "output": "ok"}
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": []}
SOUND = {
    "type": "input_file",
    "filename": "a.mp3",
    "file_data": "data:audio/mpeg;base64,SUQz",
}
ITEMS = {
    "results are missing": ([USER, CALL], r"No tool output found for function call call_1"),
    "a result without its call": (
        [USER, OUTPUT],
        r"No tool call found for function call output with call_id call_1",
    ),
    "a long id": (
        [USER, CALL | {"call_id": "c" * 65}, OUTPUT | {"call_id": "c" * 65}],
        r"string too long. Expected a string with maximum length 64",
    ),
    "sound as a file": (
        [USER, CALL, OUTPUT | {"output": [SOUND]}],
        r"Invalid file data: 'input.2..output.0..file_data'.*unsupported MIME type 'audio/mpeg'",
    ),
    "sound as a file of the user": (
        [{"role": "user", "content": [SOUND]}],
        r"Invalid file data: 'input.0..content.0..file_data'.*unsupported MIME type 'audio/mpeg'",
    ),
    "the id of an item": (
        [USER, CALL | {"id": "call_9"}, OUTPUT],
        r"Expected an ID that begins with 'fc'",
    ),
    "reasoning alone": (
        [USER, THOUGHT | {"encrypted_content": "x"}, USER],
        r"of type 'reasoning' was provided without its required following item",
    ),
    "reasoning of somebody else": (
        [USER, THOUGHT | {"encrypted_content": "gAAAAA"}, CALL, OUTPUT],
        r"encrypted content .*could not be verified",
    ),
}


def gemini(*contents, **more):
    return {
        "contents": list(contents),
        "tools": [{"functionDeclarations": [{"name": "look", "parameters": SCHEMA}]}],
        **more,
    }


ASKED = {"role": "user", "parts": [{"text": "Hi"}]}
CALLED = {"role": "model", "parts": [{"functionCall": {"name": "look", "args": {}}}]}
ANSWERED = {
    "role": "user",
    "parts": [{"functionResponse": {"name": "look", "response": {"output": 1}}}],
}
PARTS = {
    "results are missing": (
        gemini(ASKED, CALLED | {"parts": CALLED["parts"] * 2}, ANSWERED),
        r"number of function response parts is equal to the number of function call parts",
    ),
    "a result without its call": (
        gemini(ASKED, ANSWERED),
        r"function response turn comes immediately after a function call turn",
    ),
    "a call of the user": (
        gemini(CALLED | {"role": "user"}),
        r"function call turn comes immediately after a user turn or after a function response turn",
    ),
    "no signature": (
        gemini(ASKED, CALLED, ANSWERED),
        r"Function call is missing a thought_signature in functionCall parts",
    ),
}


def converse(*messages, **more):
    tools = [{"toolSpec": {"name": "look", "inputSchema": {"json": {"type": "object"}}}}]
    return {"messages": list(messages), "toolConfig": {"tools": tools}, **more}


TOLD = {"role": "user", "content": [{"text": "Hi"}]}
USE = {
    "role": "assistant",
    "content": [{"toolUse": {"toolUseId": "t1", "name": "look", "input": {}}}],
}
USED = {
    "role": "user",
    "content": [{"toolResult": {"toolUseId": "t1", "content": [{"text": "ok"}]}}],
}
VIDEO = {"video": {"format": "mp4", "source": {"s3Location": {"uri": "s3://bucket/a.mp4"}}}}
SURPLUS = [{"toolResult": {"toolUseId": "t2", "content": [{"text": "ok"}]}}]
BLOCKS = {
    "results are missing": (
        converse(TOLD, USE, TOLD),
        r"Expected toolResult blocks at messages.2.content for the following Ids: t1",
    ),
    "more results than calls": (
        converse(TOLD, USE, USED | {"content": [*USED["content"], *SURPLUS]}),
        r"exceeds the number of toolUse blocks of previous turn",
    ),
    "no tools": (
        {"messages": [TOLD, USE, USED]},
        r"toolConfig field must be defined when using toolUse and toolResult content blocks",
    ),
    "blank text": (
        converse({"role": "user", "content": [{"text": " "}]}),
        r"The text field in the ContentBlock object at messages.0.content.0 is blank",
    ),
}


def refused(provider, path, body, words):
    simulator = Simulator(provider)
    status, answer = ask(simulator, path, body)
    assert status == 400, answer
    assert re.search(words, str(answer).replace("\\", ""), re.DOTALL), answer
    assert simulator.seen[-1].violations


@pytest.mark.parametrize(("body", "words"), CLAUDE.values(), ids=CLAUDE)
def test_the_messages_api(body, words):
    refused("anthropic", MESSAGES, body, words)


@pytest.mark.parametrize(("provider", "body", "words"), HOSTS.values(), ids=HOSTS)
def test_chat_completions(provider, body, words):
    refused(provider, CHAT, body, words)


@pytest.mark.parametrize(("items", "words"), ITEMS.values(), ids=ITEMS)
def test_the_responses_api(items, words):
    tools = [
        {"type": "function", "name": "look", "parameters": {"type": "object", "properties": {}}}
    ]
    body = {"model": "gpt-5.2", "tools": tools, "store": False, "input": items}
    refused("openai", RESPONSES, body, words)


@pytest.mark.parametrize(("body", "words"), PARTS.values(), ids=PARTS)
def test_gemini(body, words):
    refused("gemini", "/v1beta/models/gemini-3-pro-preview:generateContent", body, words)


@pytest.mark.parametrize(("body", "words"), BLOCKS.values(), ids=BLOCKS)
def test_converse(body, words):
    refused("bedrock", "/model/amazon.nova-pro-v1:0/converse", body, words)


@pytest.mark.parametrize(
    ("model", "content", "words"),
    [
        (
            "meta.llama3-3-70b-instruct-v1:0",
            [*USED["content"], {"text": "Well?"}],
            r"cannot be provided in the same turn",
        ),
        ("amazon.nova-pro-v1:0", None, r"cannot contain reasoning content"),
        (
            "us.amazon.nova-2-lite-v1:0",
            [{"toolResult": {"toolUseId": "t1", "content": [VIDEO]}}],
            r"Malformed input request: #/messages/2/content/0: extraneous key .toolResult. is not",
        ),
    ],
)
def test_converse_with_models_that_are_particular(model, content, words):
    thought = {"reasoningContent": {"reasoningText": {"text": "Hm."}}}
    replied = USE if content else USE | {"content": [thought, *USE["content"]]}
    body = converse(TOLD, replied, USED | {"content": content or USED["content"]})
    refused("bedrock", f"/model/{model}/converse", body, words)

"""The format of a request or reply: told by what only some formats write, and never by luck."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonicall import detect_format
from canonicall.detection import possible_formats, reply_format

ASKED = {"role": "user", "content": "Hi"}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


def body(*messages, **fields):
    return {"messages": [ASKED, *messages], **fields}


def calling(arguments, **fields):
    call = {"type": "function", "function": {"name": "f", "arguments": arguments}, **fields}
    return {"role": "assistant", "tool_calls": [call]}


@pytest.mark.parametrize(
    ("found", "value"),
    [
        ("canonical", {"canonicall": "conversation", "version": 1}),
        ("gemini", {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}),
        ("openai-responses", {"input": "Hi"}),
        ("openai-responses", {"input": [{"role": "user", "content": "Hi"}]}),
        ("openai-responses", {"previous_response_id": "resp_1"}),
        ("anthropic", body(tools=[{"name": "f", "input_schema": {}}])),
        ("anthropic", body(system="Be brief.")),
        ("anthropic", body({"role": "user", "content": [{"type": "tool_result"}]})),
        ("anthropic", body(thinking={"type": "enabled", "budget_tokens": 1024})),
        ("bedrock", {"messages": [{"role": "user", "content": [{"text": "Hi"}]}]}),
        ("bedrock", body(inferenceConfig={})),
        ("cohere", body(tool_choice="REQUIRED", tools=[{"function": {}}])),
        ("cohere", body({**calling("{}", id="f_1"), "tool_plan": "I call f."})),
        ("ollama", body(calling({}))),
        ("ollama", body(options={"seed": 1})),
        ("openai-chat", body(calling("{}", id="call_1"), tool_choice="auto")),
        ("openai-chat", body({"role": "developer", "content": "Be brief."})),
    ],
)
def test_one_mark_is_enough(found, value):
    assert possible_formats(value) == (found,)
    assert detect_format(value) == found


def test_plain_text_may_be_several_and_the_most_spoken_format_comes_first():
    assert possible_formats(body()) == ("openai-chat", "anthropic", "cohere", "ollama")
    assert detect_format(body()) == "openai-chat"


def test_tools_that_two_formats_write_alike_stay_open():
    answered = {"role": "tool", "tool_call_id": "x", "content": "1"}
    assert possible_formats(body(calling("{}", id="x"), answered)) == ("openai-chat", "cohere")


def test_marks_of_another_format_are_outvoted():
    """A stray field does not make a body another format's."""
    mixed = body(
        {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "f"}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1"}]},
        reasoning_effort="low",
    )
    assert detect_format(mixed) == "anthropic"


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        "text",
        7,
        {},
        {"role": "user", "content": "Hi"},
        {"input": "Hi", "generation_config": {}},
        {"input": [{"type": "user_input"}]},
        {"choices": []},
        {"choices": [{"delta": {"content": "Hi"}}], "object": "chat.completion.chunk"},
        {"type": "message", "role": "assistant", "content": []},
        {"message": "Hi", "id": "1"},
        {"error": {"message": "No."}},
        {"type": "error", "error": {"message": "No."}},
    ],
)
def test_what_is_neither_request_nor_reply_has_no_format(value):
    assert detect_format(value) is None


SAID = {"role": "assistant", "content": "Hi"}
REPLIES = [
    ("openai-chat", {"choices": [{"message": SAID}]}),
    ("openai-chat", {"object": "chat.completion", "choices": []}),
    ("openai-responses", {"object": "response", "output": [], "previous_response_id": None}),
    ("openai-responses", {"output": [], "status": "completed", "conversation": {"id": "conv_1"}}),
    ("anthropic", {"type": "message", "role": "assistant", "content": [], "stop_reason": None}),
    ("gemini", {"candidates": []}),
    ("gemini", {"promptFeedback": {"blockReason": "SAFETY"}}),
    ("bedrock", {"output": {"message": {"role": "assistant", "content": []}}}),
    ("cohere", {"id": "1", "message": SAID, "finish_reason": "COMPLETE"}),
    ("ollama", {"model": "m", "message": SAID, "done": True}),
]


@pytest.mark.parametrize(("format", "reply"), REPLIES)
def test_a_whole_reply_has_the_format_of_its_provider_and_is_no_request(format, reply):
    assert detect_format(reply) == reply_format(reply) == format
    assert possible_formats(reply) == ()


@pytest.mark.parametrize("reply", [reply for _, reply in REPLIES])
@pytest.mark.parametrize("field", ["messages", "contents"])
def test_a_body_with_messages_is_a_request_whatever_else_is_in_it(reply, field):
    assert reply_format({**reply, field: []}) is None
    assert possible_formats({**reply, field: []})


@given(JSON, JSON, JSON)
def test_no_reply_raises(one, two, three):
    for name in ("choices", "output", "candidates", "content"):
        for value in ({name: one, "message": two}, {name: [{"message": one}], "status": two}):
            reply_format({**value, "object": three, "type": "message"})


@given(JSON, JSON, JSON)
def test_nothing_raises(messages, tools, content):
    shaped = {"messages": [{"role": "user", "content": content}, messages], "tools": tools}
    for value in (messages, {"messages": messages, "tools": tools, "tool_choice": content}, shaped):
        assert len(possible_formats(value)) == len(set(possible_formats(value)))

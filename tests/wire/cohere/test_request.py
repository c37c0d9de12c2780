"""Whole Cohere requests."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from canonicall.blocks import Native, Origin
from canonicall.conversation import Conversation
from canonicall.errors import CanonicallError, MalformedBody
from canonicall.request import Params, Reasoning, Request, Tool, ToolChoice
from canonicall.testing.strategies import json_values
from canonicall.wire.cohere import TARGET
from canonicall.wire.cohere.request import decode_request
from wire.support import places, put, transcript, written

BODY = {
    "model": "m",
    "max_tokens": 9,
    "temperature": 0.5,
    "p": 0.9,
    "k": 3,
    "seed": 7,
    "stream": False,
    "stop_sequences": ["x"],
    "thinking": {"type": "enabled", "token_budget": 100},
    "tools": [{"type": "function", "function": {"name": "fff", "parameters": {"type": "object"}}}],
    "strict_tools": True,
    "tool_choice": "REQUIRED",
    "safety_mode": "OFF",
    "messages": [
        {"role": "system", "content": "be kind"},
        {"role": "user", "content": "hi"},
        {
            "role": "assistant",
            "tool_plan": "I look.",
            "tool_calls": [
                {"id": "f_1", "type": "function", "function": {"name": "fff", "arguments": "{}"}}
            ],
        },
        {"role": "tool", "tool_call_id": "f_1", "content": "1"},
    ],
}


def encoded(**fields):
    request = Request(Conversation(), model="m", **fields)
    return written(request, transcript(request), TARGET)


def test_a_whole_request_comes_back_key_for_key():
    request = decode_request(BODY)
    body, findings = written(request, transcript(request), TARGET)
    assert body == BODY
    assert list(body) == list(BODY)
    assert findings == []
    assert request.findings == ()


def test_what_a_request_means():
    request = decode_request(BODY)
    assert request.params == Params(
        max_tokens=9,
        temperature=0.5,
        top_p=0.9,
        top_k=3,
        stop=("x",),
        seed=7,
        stream=False,
        reasoning=Reasoning(enabled=True, budget=100),
    )
    assert request.tool_choice == ToolChoice("required")
    assert request.tools[0].strict is True
    assert request.native == Native("cohere", {"safety_mode": "OFF"})


def test_assistant_messages_know_where_they_come_from():
    reply = list(decode_request(BODY).conversation.messages)[2]
    assert reply.origin == Origin("cohere", "cohere", model="m")
    reply = list(decode_request(BODY, origin=Origin("x")).conversation.messages)[2]
    assert reply.origin == Origin("x")


def test_fields_that_say_nothing_are_not_repeated():
    body, _ = written(
        decode_request({"model": "m", "documents": [], "seed": None, "messages": []}),
        transcript(Request(Conversation())),
        TARGET,
    )
    assert body == {"model": "m", "messages": []}


@pytest.mark.parametrize(
    ("reasoning", "wire", "codes"),
    [
        (Reasoning(enabled=False), {"type": "disabled"}, []),
        (Reasoning(enabled=True), {"type": "enabled"}, []),
        (Reasoning(enabled=True, budget=5), {"type": "enabled", "token_budget": 5}, []),
        (Reasoning(effort="high"), {"type": "enabled"}, ["param_dropped"]),
    ],
)
def test_thinking_is_on_or_off_with_a_budget(reasoning, wire, codes):
    body, findings = encoded(params=Params(reasoning=reasoning))
    assert body["thinking"] == wire
    assert [f.code for f in findings] == codes


def test_strictness_holds_for_all_tools_or_none():
    body, findings = encoded(tools=(Tool("fff", strict=True), Tool("ggg")))
    assert "strict_tools" not in body
    assert [f.code for f in findings] == ["param_dropped"]


def test_a_named_tool_is_offered_alone_under_its_wire_name():
    request = Request(
        Conversation(),
        tools=(Tool("my.tool"), Tool("ggg")),
        tool_choice=ToolChoice("required", ("my.tool",)),
    )
    body, findings = written(request, transcript(request, {"my_tool": "my.tool"}), TARGET)
    assert [tool["function"]["name"] for tool in body["tools"]] == ["my_tool"]
    assert body["tool_choice"] == "REQUIRED"
    assert [f.code for f in findings] == ["choice_weakened"]


def test_without_tools_there_is_no_choice():
    assert "tool_choice" not in encoded(tool_choice=ToolChoice("required"))[0]


def test_the_targets_model_is_written():
    request = decode_request(BODY)
    body, _ = written(request, transcript(request), replace(TARGET, model="other"))
    assert body["model"] == "other"


@pytest.mark.parametrize(
    ("body", "where"),
    [
        (None, "$"),
        ({"model": 1}, "$.model"),
        ({"messages": {}}, "$.messages"),
        ({"stop_sequences": "x"}, "$.stop_sequences"),
        ({"thinking": True}, "$.thinking"),
    ],
)
def test_a_wrong_shape_is_refused_with_its_path(body, where):
    with pytest.raises(MalformedBody) as caught:
        decode_request(body)
    assert caught.value.where == where


@given(st.sampled_from(list(places(BODY))), json_values())
def test_any_value_in_any_place_is_read_or_refused_by_name(path, value):
    try:
        request = decode_request(put(BODY, path, value))
    except CanonicallError:
        return
    written(request, transcript(request), TARGET)


def test_fields_of_other_formats_are_not_sent():
    body, findings = encoded(native=Native("gemini", {"safetySettings": []}))
    assert "safetySettings" not in body
    assert [(f.code, f.where) for f in findings] == [("param_dropped", "native")]
    assert "safetySettings" in findings[0].why
